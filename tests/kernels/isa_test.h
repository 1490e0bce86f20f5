// A test that runs once for each instruction set of this machine, and random spans to feed it.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "base/cpu_features.h"
#include "cpu/kernels/kernel_table.h"

namespace ortolan::cpu::kernels {

class IsaTest : public testing::TestWithParam<base::IsaLevel> {
 protected:
  void SetUp() override {
    if (!use_isa(GetParam())) GTEST_SKIP() << "this processor has no " << base::isa_name(GetParam());
  }
  void TearDown() override { use_isa(base::cpu_features().isa); }

  std::vector<float> normal(int64_t n, float deviation = 1) {
    std::normal_distribution<float> distribution(0, deviation);
    std::vector<float> values(n);
    for (float& v : values) v = distribution(random_);
    return values;
  }
  int64_t integer(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }

  std::mt19937 random_{12345};
};

/** How far y is from the exact value, in units of the last place of fp32 near it; 0 where both are NaN or equal. */
inline double ulps(float y, double exact) {
  const float nearest = static_cast<float>(exact);
  if (std::isnan(exact) || std::isinf(nearest)) {
    return (std::isnan(exact) && std::isnan(y)) || y == nearest ? 0 : HUGE_VAL;
  }
  if (!std::isfinite(y)) return HUGE_VAL;
  int exponent;
  std::frexp(std::max(std::fabs(exact), 0x1p-126), &exponent);
  return std::fabs(y - exact) / std::ldexp(1.0, exponent - 24);
}

/** All levels of this architecture. */
inline std::vector<base::IsaLevel> every_level() {
  std::vector<base::IsaLevel> levels;
  for (const base::NamedIsaLevel& one : base::isa_levels()) levels.push_back(one.level);
  return levels;
}

/** Those with such a family, of ORTOLAN_TILE_FAMILIES: one, or none. */
template <class Family>
std::vector<base::IsaLevel> levels_with(const Family* KernelTable::*family) {
  std::vector<base::IsaLevel> levels;
  for (const KernelTable& table : kernel_tables()) {
    if (table.*family != nullptr) levels.push_back(table.isa);
  }
  return levels;
}

/** False, with nothing changed, where this processor multiplies floats by no tiles. */
inline bool use_tiles() {
  const std::vector<base::IsaLevel> levels = levels_with(&KernelTable::split_f32);
  return !levels.empty() && use_isa(levels.front());
}

/** Whether a * b + c of vectors is rounded once. */
inline bool fuses(base::IsaLevel level) {
#if defined(__FP_FAST_FMAF)
  return true;
#else
  return level != base::IsaLevel::kGeneric;
#endif
}

#define ORTOLAN_FOR_EACH_ISA(Suite)                                      \
  INSTANTIATE_TEST_SUITE_P(Isa, Suite, testing::ValuesIn(every_level()), \
                           [](const auto& info) { return base::isa_name(info.param); })

}  // namespace ortolan::cpu::kernels
