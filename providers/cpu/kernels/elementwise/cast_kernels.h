// What one instruction set provides for casts. Internal to the kernels.
#pragma once

#include "cpu/kernels/elementwise/cast.h"

namespace ortolan::cpu::kernels {

struct CastKernels {
  using Cast = void (*)(const void* x, int64_t n, void* y);
  Cast cast[kNumbers][kNumbers];  // [from][to]
  void (*round_to_odd)(const double* x, int64_t n, float* y);
  void (*classify16)(const uint16_t* x, int64_t n, uint16_t infinity, const FloatClass& wanted, uint8_t* y);
  void (*classify32)(const uint32_t* x, int64_t n, uint32_t infinity, const FloatClass& wanted, uint8_t* y);
  void (*classify64)(const uint64_t* x, int64_t n, uint64_t infinity, const FloatClass& wanted, uint8_t* y);
};

}  // namespace ortolan::cpu::kernels
