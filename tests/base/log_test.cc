// Logging and key-value lists.
#include "base/log.h"

#include <gtest/gtest.h>

#include <regex>
#include <vector>

#include "base/key_values.h"

namespace ortolan::base {
namespace {

class KeepingSink : public LogSink {
 public:
  void write(Severity severity, std::string_view log_id, std::string_view where, std::string_view text) override {
    messages.push_back(join(static_cast<int>(severity), ' ', log_id, ' ', where, ' ', text));
  }
  std::vector<std::string> messages;
};

TEST(Log, MessagesBelowTheLeastSeverityAreDropped) {
  auto sink = std::make_shared<KeepingSink>();
  Logger logger(sink, "id", Severity::kWarning);
  logger.log(Severity::kInfo, "here", "dropped");
  logger.log(Severity::kWarning, "here", "kept ", 1, " of ", 2);
  logger.set_least(Severity::kError);
  logger.log(Severity::kWarning, "here", "dropped");
  ASSERT_EQ(sink->messages.size(), 1u);
  EXPECT_EQ(sink->messages[0], "2 id here kept 1 of 2");
}

TEST(Log, LineHasTheKnownForm) {
  std::string line = log_line(Severity::kError, "abc", "file.cc:7 run", "text");
  EXPECT_TRUE(std::regex_match(line, std::regex("[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{9} "
                                                "\\[E:onnxruntime:abc, file\\.cc:7 run\\] text")))
      << line;
}

TEST(KeyValues, KeepOrderAndPointers) {
  KeyValues entries;
  entries.set("b", "2");
  entries.set("a", "1");
  entries.set("b", "3");
  EXPECT_EQ(entries.size(), 2u);
  EXPECT_STREQ(entries.key_strings()[0], "a");
  EXPECT_STREQ(entries.value_strings()[1], "3");
  KeyValues copy = entries;
  entries.remove("a");
  entries.remove("unknown");
  EXPECT_EQ(entries.find("a"), nullptr);
  EXPECT_EQ(*copy.find("a"), "1");
  EXPECT_STREQ(copy.key_strings()[0], "a");
}

}  // namespace
}  // namespace ortolan::base
