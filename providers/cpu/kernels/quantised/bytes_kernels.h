// What one instruction set provides for spans of bytes; contracts: bytes.h. Internal to the kernels.
#pragma once

#include "cpu/kernels/quantised/bytes.h"

namespace ortolan::cpu::kernels {

struct BytesKernels {
  using Pair = void (*)(const BytePair& pair, const uint8_t* a, const uint8_t* b, int64_t n, uint8_t* y);
  void (*map)(const uint8_t* table, const uint8_t* x, int64_t n, uint8_t* y);
  Pair add, multiply;
  int64_t (*sum)(const uint8_t* x, int64_t n, bool is_signed);
  void (*accumulate)(const uint8_t* x, int64_t n, bool is_signed, int32_t* sums);
  int32_t (*dot_s16)(const int16_t* a, const int16_t* b, int64_t n);
};

}  // namespace ortolan::cpu::kernels
