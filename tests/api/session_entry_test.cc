// Session entries that stand for setters.
#include "api_test_support.h"

namespace {

class SessionEntryTest : public ::testing::Test {
 protected:
  SessionEntryTest() { EXPECT_OK(api().CreateSessionOptions(options_.out())); }
  OrtStatus* set(const char* key, const char* value) { return api().AddSessionConfigEntry(options_, key, value); }
  bool has(const char* key) {
    int found = -1;
    EXPECT_OK(api().HasSessionConfigEntry(options_, key, &found));
    return found == 1;
  }
  ExecutionMode mode() {
    auto mode = ORT_SEQUENTIAL;
    EXPECT_OK(api().GetSessionExecutionMode(options_, &mode));
    return mode;
  }
  bool plans_memory() {
    int on = -1;
    EXPECT_OK(api().GetMemPatternEnabled(options_, &on));
    return on == 1;
  }
  SessionOptions options_;
};

TEST_F(SessionEntryTest, SetWhatTheSettersSet) {
  EXPECT_OK(set("session.execution_mode", "parallel"));
  EXPECT_EQ(mode(), ORT_PARALLEL);
  EXPECT_OK(set("session.execution_mode", "Sequential"));
  EXPECT_EQ(mode(), ORT_SEQUENTIAL);
  EXPECT_OK(set("session.enable_mem_pattern", "false"));
  EXPECT_FALSE(plans_memory());
  EXPECT_OK(set("session.enable_mem_pattern", "1"));
  EXPECT_TRUE(plans_memory());
  EXPECT_FALSE(has("session.execution_mode"));
  EXPECT_OK(set("session.unknown", "x"));
  EXPECT_TRUE(has("session.unknown"));
}

TEST_F(SessionEntryTest, TakeWhatTheirSettersTake) {
  for (const char* key : {"session.intra_op_num_threads", "session.inter_op_num_threads", "session.log_severity_level",
                          "session.log_verbosity_level"}) {
    EXPECT_OK(set(key, "+2"));
    EXPECT_OK(set(key, "-1"));
    EXPECT_REFUSED(set(key, "2x"), ORT_INVALID_ARGUMENT, "must be a whole number");
  }
  for (const char* key : {"session.enable_cpu_mem_arena", "session.use_deterministic_compute",
                          "session.use_per_session_threads", "session.enable_mem_pattern"}) {
    EXPECT_OK(set(key, "True"));
    EXPECT_REFUSED(set(key, "2"), ORT_INVALID_ARGUMENT, "must be 0, 1, false or true");
  }
  EXPECT_OK(set("session.graph_optimization_level", "enable_layout"));
  EXPECT_REFUSED(set("session.graph_optimization_level", "0"), ORT_INVALID_ARGUMENT, "must be disable_all");
  EXPECT_REFUSED(set("session.execution_mode", ""), ORT_INVALID_ARGUMENT, "must be sequential or parallel");
  EXPECT_REFUSED(set("", "x"), ORT_INVALID_ARGUMENT, "config_key is empty");
}

}  // namespace
