// Tests of what the processor is said to have: levels of instruction sets, caches, threads.
#include "base/cpu_features.h"

#include <gtest/gtest.h>

namespace ortolan::base {
namespace {

TEST(CpuFeatures, AreSane) {
  const CpuFeatures& cpu = cpu_features();
  EXPECT_LE(cpu.isa, cpu.detected);
  EXPECT_GE(cpu.l2_bytes, 64 << 10);
  EXPECT_GE(available_threads(), 1);
}

TEST(CpuFeatures, LevelsAreNamed) {
  const auto levels = isa_levels();
  for (const NamedIsaLevel& one : levels) {
    EXPECT_STREQ(isa_name(one.level), one.name);
    EXPECT_EQ(named_isa(one.name), one.level);
    EXPECT_LE(detect_isa(one.level), cpu_features().detected);
    EXPECT_FALSE(one.level > cpu_features().detected && has_isa(one.level, cpu_features().detected));
  }
  EXPECT_TRUE(has_isa(cpu_features().detected, cpu_features().detected));
  EXPECT_TRUE(has_isa(cpu_features().isa, cpu_features().detected));
  EXPECT_EQ(named_isa("generic"), IsaLevel::kGeneric);
  EXPECT_EQ(named_isa(nullptr), levels.back().level);
  EXPECT_EQ(named_isa("mmx"), levels.back().level);
#if defined(__x86_64__)
  EXPECT_STREQ(isa_name(IsaLevel::kAvx512Vnni), "avx512vnni");
  EXPECT_EQ(named_isa("avx512"), IsaLevel::kAvx512Vnni);
  EXPECT_EQ(named_isa("amx"), IsaLevel::kAmx);
#elif defined(__aarch64__)
  EXPECT_EQ(named_isa("neon"), IsaLevel::kGeneric);
  EXPECT_EQ(named_isa("i8mm"), IsaLevel::kI8mm);
  EXPECT_EQ(named_isa("sme"), IsaLevel::kSme);
#endif
}

TEST(CpuFeatures, ThreadsAreWithinMaskQuotaAndWhatAnEngineGives) {
  auto limit = [](int processors, double quota, const char* asked) {
    return thread_limit({processors, processors, quota}, asked);
  };
  EXPECT_EQ(limit(16, 0, nullptr), 16);
  EXPECT_EQ(limit(16, 2.5, nullptr), 2);
  EXPECT_EQ(limit(16, 0.5, nullptr), 1);
  EXPECT_EQ(limit(16, 0, "3"), 3);
  EXPECT_EQ(limit(16, 0, "3,2"), 3);
  EXPECT_EQ(limit(2, 0, "64"), 2);
  EXPECT_EQ(limit(16, 4, "8"), 4);
  for (const char* none : {"", "0", "-1", "many", "3x", "99999999999999999999x"}) {
    EXPECT_EQ(limit(16, 0, none), 16) << none;
  }
}

TEST(CpuFeatures, ThreadsAreOneACoreUnlessMoreAreAskedFor) {
  EXPECT_EQ(thread_limit({16, 8, 0}, nullptr), 8);
  EXPECT_EQ(thread_limit({16, 8, 12}, nullptr), 8);
  EXPECT_EQ(thread_limit({16, 8, 4}, nullptr), 4);
  EXPECT_EQ(thread_limit({16, 8, 0}, "12"), 12);
  EXPECT_EQ(thread_limit({16, 8, 0}, "64"), 16);
  EXPECT_EQ(count_cores({0, 1, 0, 1, 4}), 3);
  EXPECT_EQ(count_cores({}), 0);
}

}  // namespace
}  // namespace ortolan::base
