// The file that a profiler writes, whatever its events are called.
#include "runtime/execution/profiler.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace ortolan::runtime {
namespace {

/** The names in the file, in which events were given `names`. */
std::vector<std::string> written(const std::vector<std::string>& names) {
  Profiler profiler(join(::testing::TempDir(), "profiler_test_", getpid()));
  for (const std::string& name : names) profiler.add_session_event(name, Profiler::Clock::now());
  const std::string path = profiler.end();
  const auto events = nlohmann::json::parse(std::ifstream(path));
  std::filesystem::remove(path);
  std::vector<std::string> found;
  for (const auto& event : events) found.push_back(event.at("name"));
  return found;
}

TEST(Profiler, WritesAnyTextAsJson) {
  const std::vector<std::string> names = {"plain", "\"quoted\\\"", "line\nend\x01", "π 日本 \U0001F426", ""};
  EXPECT_EQ(written(names), names);
}

TEST(Profiler, ReplacesWhatIsNoText) {
  const std::string bad = "\uFFFD";
  EXPECT_EQ(written({"a\xFFz", "\xC3", "\xC0\xAF", "\xE2\x82z", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xF0\x9F\x90"}),
            (std::vector<std::string>{"a" + bad + "z", bad, bad + bad, bad + bad + "z", bad + bad + bad,
                                      bad + bad + bad + bad, bad + bad + bad}));
}

}  // namespace
}  // namespace ortolan::runtime
