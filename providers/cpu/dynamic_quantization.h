// Quantisation to uint8 with scale and zero point taken from the values: 0 and both extremes are within the range.
#pragma once

#include "runtime/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

struct DynamicFormat {
  float scale = 1;
  int32_t zero = 0;
};

/** Of `count` values; DynamicQuantizeLinear's rule. */
DynamicFormat dynamic_format(ThreadPool& threads, const float* x, int64_t count);
/** y = saturate(round_half_even(x / scale) + zero). */
void quantize_dynamic(ThreadPool& threads, const DynamicFormat& format, const float* x, int64_t count, uint8_t* y);

}  // namespace ortolan::cpu
