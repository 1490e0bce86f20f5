// What bounds a process's memory, by texts as systems write them.
#include "base/memory/memory_limit.h"

#include <gtest/gtest.h>

namespace ortolan::base {
namespace {

using Texts = std::vector<std::string>;

constexpr const char* kMeminfo = "MemTotal:       16384000 kB\nMemFree:         1234567 kB\n";
constexpr size_t kMachine = size_t{16384000} * 1024;

TEST(MemoryLimitFiles, OfTheUnifiedHierarchyAreThoseOfAllGroupsAround) {
  EXPECT_EQ(memory_limit_files("0::/user.slice/app.scope\n"),
            (Texts{"/sys/fs/cgroup/user.slice/app.scope/memory.max", "/sys/fs/cgroup/user.slice/memory.max",
                   "/sys/fs/cgroup/memory.max"}));
  EXPECT_EQ(memory_limit_files("0::/\n"), Texts{"/sys/fs/cgroup/memory.max"});
}

TEST(MemoryLimitFiles, OfTheMemoryControllerStandInItsOwnHierarchy) {
  EXPECT_EQ(
      memory_limit_files("12:cpu,cpuacct:/a\n5:hugetlb,memory:/docker/b\n1:name=systemd:/c\n"),
      (Texts{"/sys/fs/cgroup/memory/docker/b/memory.limit_in_bytes",
             "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}));
}

TEST(MemoryLimitFiles, OfBothHierarchiesAreAllOfThem) {
  EXPECT_EQ(memory_limit_files("4:memory:/\n0::/a"),
            (Texts{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/a/memory.max",
                   "/sys/fs/cgroup/memory.max"}));
}

TEST(MemoryLimitFiles, OfOtherTextAreNone) {
  for (const char* text : {"", "\n\n", "nonsense", "0:", "0::", "3:cpu:/a", "0::relative"}) {
    EXPECT_EQ(memory_limit_files(text), Texts{}) << text;
  }
}

TEST(MemoryLimit, IsTheNumberUnlessThereIsNone) {
  EXPECT_EQ(memory_limit_of("536870912\n"), 536870912u);
  EXPECT_EQ(memory_limit_of("9223372036854771712\n"), 9223372036854771712u);
  for (const char* text : {"max\n", "", "-1\n", "99999999999999999999999\n"}) {
    EXPECT_EQ(memory_limit_of(text), kNoMemoryLimit) << text;
  }
}

TEST(MemoryOfMachine, StandsInMeminfo) {
  EXPECT_EQ(memory_of_machine(kMeminfo), kMachine);
  EXPECT_EQ(memory_of_machine("MemFree: 5 kB\nMemTotal: 2 kB\n"), 2048u);
  for (const char* text : {"", "MemFree: 5 kB\n", "MemTotal:\n", "MemTotal: 18446744073709551615 kB"}) {
    EXPECT_EQ(memory_of_machine(text), kNoMemoryLimit) << text;
  }
}

TEST(ShareOfMemory, IsOfTheTightestBound) {
  EXPECT_EQ(share_of_memory(kMeminfo, Texts{}), kMachine / 5 * 4);
  EXPECT_EQ(share_of_memory(kMeminfo, Texts{"max\n", "", "9223372036854771712\n"}), kMachine / 5 * 4);
  EXPECT_EQ(share_of_memory(kMeminfo, Texts{"max\n", "1000000\n", "2000000\n"}), 800000u);
  EXPECT_EQ(share_of_memory("", Texts{"1000000\n"}), 800000u);
  EXPECT_EQ(share_of_memory("", Texts{"max\n"}), kNoMemoryLimit);
}

TEST(ShareOfMemory, IsKnownHere) {
  EXPECT_GT(share_of_memory(), size_t{1} << 20);
  EXPECT_LT(share_of_memory(), kNoMemoryLimit);
}

}  // namespace
}  // namespace ortolan::base
