// What bounds a run: the memory that it may hold, and the end that another thread asks for.
#include <thread>

#include "api_test_support.h"
#include "onnxruntime_session_options_config_keys.h"

namespace {

constexpr int kFloat = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, kInt64 = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64,
              kBool = ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL;

/** y = the largest of the running sums of x, spread to the shape that is given. */
std::string spread() {
  ModelWriter model;
  const int64_t axis = 0;
  model.input("x", kFloat, {"1"});
  model.input("shape", kInt64, {"1"});
  model.initializer("axis", kInt64, {}, &axis, sizeof axis);
  model.node("Expand", {"x", "shape"}, {"large"});
  model.node("CumSum", {"large", "axis"}, {"wave"});
  model.node("ReduceMax", {"wave"}, {"y"}, ModelWriter::int_attribute("keepdims", 0));
  model.output("y", kFloat, {});
  return model.bytes();
}

class RunBoundsTest : public ::testing::Test {
 protected:
  RunBoundsTest() { EXPECT_OK(api().CreateSessionOptions(options_.out())); }

  OrtStatus* run(OrtSession* session, int64_t size) {
    std::vector<float> ones = {1};
    std::vector<int64_t> shape = {size};
    const Value x = floats(ones, {1}), sizes = tensor_around(shape, {1}, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
    const OrtValue* inputs[] = {x, sizes};
    const char *in[] = {"x", "shape"}, *out = "y";
    OrtValue* result = nullptr;
    OrtStatus* status = api().Run(session, nullptr, in, inputs, 2, &out, 1, &result);
    if (status == nullptr) largest_ = content<float>(result)[0];
    api().ReleaseValue(result);
    return status;
  }

  Env env_ = make_env();
  SessionOptions options_;
  float largest_ = 0;
};

TEST_F(RunBoundsTest, MemoryBeyondTheBoundIsAStatusThatNamesTheNode) {
  EXPECT_OK(api().AddSessionConfigEntry(options_, kOrtolanSessionOptionsMaxRunBytes, "67108864"));
  const Session session = make_session(env_, spread(), options_);
  EXPECT_REFUSED(run(session, 67108864 / 4 + 1), ORT_FAIL, "Expand_node");
  EXPECT_OK(run(session, 1'000'000));
  EXPECT_EQ(largest_, 1e6f);
}

TEST_F(RunBoundsTest, NodesOfMemoryAreASwitch) {
  for (const char* value : {"0", "1"}) {
    EXPECT_OK(api().AddSessionConfigEntry(options_, kOrtolanSessionOptionsNuma, value));
    const Session session = make_session(env_, spread(), options_);
    EXPECT_OK(run(session, 1'000'000));
    EXPECT_EQ(largest_, 1e6f);
  }
  EXPECT_OK(api().AddSessionConfigEntry(options_, kOrtolanSessionOptionsNuma, "on"));
  Session none;
  const std::string model = spread();
  EXPECT_REFUSED(api().CreateSessionFromArray(env_, model.data(), model.size(), options_, none.out()),
                 ORT_INVALID_ARGUMENT, "session entry 'ortolan.numa' is 'on'; it must be 0 or 1");
}

TEST_F(RunBoundsTest, TheDefaultBoundKeepsTheProcessAlive) {
  const Session session = make_session(env_, spread(), options_);
  EXPECT_REFUSED(run(session, int64_t{1} << 46), ORT_FAIL, "Expand_node");
}

/** A loop of 2^40 trips that does nothing but count. */
std::string endless_loop() {
  ModelWriter body(17);
  body.input("i", kInt64, {});
  body.input("go_on", kBool, {});
  body.input("before", kFloat, {});
  body.node("Identity", {"go_on"}, {"still"});
  body.node("Identity", {"before"}, {"after"});
  body.output("still", kBool, {});
  body.output("after", kFloat, {});
  ModelWriter model(17);
  const int64_t trips = int64_t{1} << 40;
  model.input("x", kFloat, {});
  model.initializer("trips", kInt64, {}, &trips, sizeof trips);
  model.node("Loop", {"trips", "", "x"}, {"y"}, ModelWriter::graph_attribute("body", body));
  model.output("y", kFloat, {});
  return model.bytes();
}

TEST_F(RunBoundsTest, ARunEndsWhenAnotherThreadAsks) {
  const Session session = make_session(env_, endless_loop(), options_);
  RunOptions asked;
  ASSERT_OK(api().CreateRunOptions(asked.out()));
  std::vector<float> one = {1};
  const Value x = floats(one, {});
  const OrtValue* inputs[] = {x};
  const char *in = "x", *out = "y";
  OrtValue* result = nullptr;
  std::thread other([&] { EXPECT_OK(api().RunOptionsSetTerminate(asked)); });
  EXPECT_REFUSED(api().Run(session, asked, &in, inputs, 1, &out, 1, &result), ORT_FAIL,
                 "the run was stopped because terminate is set in its run options");
  other.join();
  EXPECT_EQ(result, nullptr);
}

}  // namespace
