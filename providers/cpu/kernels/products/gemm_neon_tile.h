// The sums of a tile of eight rows of packed A and twelve columns, for arm64. Included as vec.h is.
//
// In assembly: 24 sums and what multiplies them take 31 of the 32 registers, and compilers, which load ahead, spill.
#pragma once

#include "cpu/kernels/products/gemm_tile_body.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

struct PackedTile {
  const float* a;        // eight rows, one k after the other
  const float* b;        // twelve columns of a row
  int64_t b_step_bytes;  // from one row of B to the next
  int64_t k;
};

// clang-format off
// The three sums of a row become 0; have a lane of `a` times the row of B in v28 to v30 added; are written by the
// assembly, while what it reads is still needed.
#define ORTOLAN_ZERO_ROW(s0, s1, s2) "movi %" s0 ".4s, #0\n\tmovi %" s1 ".4s, #0\n\tmovi %" s2 ".4s, #0\n\t"
#define ORTOLAN_ADD_ROW(s0, s1, s2, a, lane)           \
  "fmla %" s0 ".4s, v28.4s, " a ".s[" lane "]\n\t"     \
  "fmla %" s1 ".4s, v29.4s, " a ".s[" lane "]\n\t"     \
  "fmla %" s2 ".4s, v30.4s, " a ".s[" lane "]\n\t"
#define ORTOLAN_WRITTEN_ROW(row) "=&w"(t.sum[row][0]), "=&w"(t.sum[row][1]), "=&w"(t.sum[row][2])
// One k, whose values of A are two registers.
#define ORTOLAN_ADD_K(a0, a1)                          \
  "ld1 {v28.4s-v30.4s}, [x10], x11\n\t"                \
  ORTOLAN_ADD_ROW("0", "1", "2", a0, "0")              \
  ORTOLAN_ADD_ROW("3", "4", "5", a0, "1")              \
  ORTOLAN_ADD_ROW("6", "7", "8", a0, "2")              \
  ORTOLAN_ADD_ROW("9", "10", "11", a0, "3")            \
  ORTOLAN_ADD_ROW("12", "13", "14", a1, "0")           \
  ORTOLAN_ADD_ROW("15", "16", "17", a1, "1")           \
  ORTOLAN_ADD_ROW("18", "19", "20", a1, "2")           \
  ORTOLAN_ADD_ROW("21", "22", "23", a1, "3")
#define ORTOLAN_ADD_TWO_K               \
  "ld1 {v24.4s-v27.4s}, [x9], #64\n\t"  \
  ORTOLAN_ADD_K("v24", "v25")           \
  ORTOLAN_ADD_K("v26", "v27")

// Sets the sums, each made in the order of k. Eight k are 192 products and 14 other instructions.
ORTOLAN_INLINE void sum_packed_8x12(const PackedTile& from, Tile<8, 3>& t) {
  asm volatile(
      ORTOLAN_ZERO_ROW("0", "1", "2")
      ORTOLAN_ZERO_ROW("3", "4", "5")
      ORTOLAN_ZERO_ROW("6", "7", "8")
      ORTOLAN_ZERO_ROW("9", "10", "11")
      ORTOLAN_ZERO_ROW("12", "13", "14")
      ORTOLAN_ZERO_ROW("15", "16", "17")
      ORTOLAN_ZERO_ROW("18", "19", "20")
      ORTOLAN_ZERO_ROW("21", "22", "23")
      "ldp x9, x10, [%24]\n\t"
      "ldp x11, x12, [%24, #16]\n\t"
      "subs x12, x12, #8\n\t"
      "b.lt 2f\n"
      "1:\n\t"  // eight k at a time
      ORTOLAN_ADD_TWO_K
      ORTOLAN_ADD_TWO_K
      ORTOLAN_ADD_TWO_K
      ORTOLAN_ADD_TWO_K
      "subs x12, x12, #8\n\t"
      "b.ge 1b\n"
      "2:\n\t"
      "adds x12, x12, #8\n\t"
      "b.eq 4f\n"
      "3:\n\t"  // those left over
      "ldp q24, q25, [x9], #32\n\t"
      ORTOLAN_ADD_K("v24", "v25")
      "subs x12, x12, #1\n\t"
      "b.ne 3b\n"
      "4:\n\t"
      : ORTOLAN_WRITTEN_ROW(0), ORTOLAN_WRITTEN_ROW(1), ORTOLAN_WRITTEN_ROW(2), ORTOLAN_WRITTEN_ROW(3),
        ORTOLAN_WRITTEN_ROW(4), ORTOLAN_WRITTEN_ROW(5), ORTOLAN_WRITTEN_ROW(6), ORTOLAN_WRITTEN_ROW(7)
      : "r"(&from)
      : "x9", "x10", "x11", "x12", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "memory", "cc");
}

#undef ORTOLAN_ADD_TWO_K
#undef ORTOLAN_ADD_K
#undef ORTOLAN_WRITTEN_ROW
#undef ORTOLAN_ADD_ROW
#undef ORTOLAN_ZERO_ROW
// clang-format on

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
