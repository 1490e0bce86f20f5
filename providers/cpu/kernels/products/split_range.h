// Which powers of two the rows and columns of a product on bfloat16 are multiplied by. Included as vec.h is.
#pragma once

#include <cstdint>

#include "cpu/kernels/products/split_f32_kernels.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

constexpr uint32_t kLeastMaximum = 0x30800000;  // 2^-30
constexpr uint32_t kMostMaximum = 0x4e800000;   // 2^30
constexpr uint32_t kInfinity = 0x7f800000;

bool in_range(uint32_t maximum) { return maximum == 0 || maximum - kLeastMaximum <= kMostMaximum - kLeastMaximum; }

// Where Inf or NaN is, no other element matters, as long as its products stay finite.
float exponent_for(uint32_t maximum) {
  if (in_range(maximum)) return 0;
  if (maximum >= kInfinity) return -60;
  const int top = 31 - __builtin_clz(maximum);  // of a denormal
  return static_cast<float>(-(maximum >> 23 != 0 ? static_cast<int>(maximum >> 23) - 127 : top - 149));
}

// `maxima`: the bits of the largest magnitude of each row or column.
void set_range(const uint32_t* maxima, SplitRange& range) {
  range = {};
  for (int i = 0; i < 32; ++i) {
    range.exponents[i] = exponent_for(maxima[i]);
    range.scaled = range.scaled || range.exponents[i] != 0;
    if (maxima[i] >= kInfinity) range.odd |= 1u << i;
  }
}

// The block that the next call finishes.
[[maybe_unused]] void set_pending(SplitSequence& q, const SplitBlock& block) {
  q.pending = block;
  q.finished_rows = 0;
  q.scaled = block.a_range->scaled || block.b_range->scaled;
  if (!q.scaled) return;
  __builtin_memcpy(q.row_exponents, block.a_range->exponents, sizeof q.row_exponents);
  __builtin_memcpy(q.column_exponents, block.b_range->exponents, sizeof q.column_exponents);
}

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
