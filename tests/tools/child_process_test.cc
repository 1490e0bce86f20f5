// Tests of work in child processes: its result, its failure, its crash, its hang.
#include "common/child_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "common/error.h"

namespace ortolan::tools {
namespace {

using End = ChildResult::End;

TEST(ChildProcess, GivesTheResult) {
  ChildResult result = run_in_child([] { return std::string(300000, 'x'); }, 60);
  EXPECT_EQ(result.end, End::kDone);
  EXPECT_EQ(result.text, std::string(300000, 'x'));
}

TEST(ChildProcess, AnExceptionIsAFailure) {
  ChildResult result = run_in_child([]() -> std::string { fail("no good"); }, 60);
  EXPECT_EQ(result.end, End::kFailed);
  EXPECT_EQ(result.text, "no good");
}

TEST(ChildProcess, ACrashStaysInTheChild) {
  ChildResult result = run_in_child(
      []() -> std::string {
        raise(SIGKILL);
        return {};
      },
      60);
  EXPECT_EQ(result.end, End::kCrashed);
  EXPECT_EQ(result.text, "Killed");
}

TEST(ChildProcess, AnEndWithoutResultIsACrash) {
  ChildResult result = run_in_child([]() -> std::string { _exit(3); }, 60);
  EXPECT_EQ(result.end, End::kCrashed);
  EXPECT_EQ(result.text, "ended with status 3");
}

TEST(ChildProcess, AHangIsEnded) {
  ChildResult result = run_in_child([]() -> std::string { return pause(), ""; }, 0.2);
  EXPECT_EQ(result.end, End::kTimedOut);
}

TEST(ChildProcess, MeasuresPeakMemory) {
  ChildResult result = run_in_child(
      [] {
        std::vector<char> block(64 << 20, 1);
        return std::string(1, block[block.size() / 2] + '0');
      },
      60);
  EXPECT_EQ(result.text, "1");
  EXPECT_GT(result.peak_kilobytes, 64 << 10);
}

}  // namespace
}  // namespace ortolan::tools
