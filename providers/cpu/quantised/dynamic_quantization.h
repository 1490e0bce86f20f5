// Quantisation to uint8 with scale and zero point taken from the values: 0 and both extremes are within the range.
#pragma once

#include "cpu/kernels/elementwise/convert.h"
#include "runtime/kernels/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

struct DynamicFormat {
  float scale = 1;
  int32_t zero = 0;
};

/** The range of `count` values. */
kernels::ValueRange range_of(ThreadPool& threads, const float* x, int64_t count);
/** DynamicQuantizeLinear's rule; the scale of finite values is finite. */
DynamicFormat dynamic_format(const kernels::ValueRange& range);
/** y = saturate(round_half_even(x / scale) + zero). */
void quantize_dynamic(ThreadPool& threads, const DynamicFormat& format, const float* x, int64_t count, uint8_t* y);

/** Makes NaN of each row of y, n values that lie ldy apart, where the row of x, k values side by side, holds one: there
    is no code for it. For the results of products whose left operand is quantised. */
void spread_nan(ThreadPool& threads, int64_t rows, const float* x, int64_t k, float* y, int64_t n, int64_t ldy);

/** An optional output of two floats: the range of another output, which a kernel finds beside its work. */
class RangeOutput {
 public:
  RangeOutput(KernelContext& context, size_t i) : context_(context), i_(i), wanted_(context.has_output(i)) {}

  /** What has to include the values; NULL where nobody wants to know. */
  kernels::ValueRange* wanted() { return wanted_ ? &range_ : nullptr; }
  void finish();

 private:
  KernelContext& context_;
  size_t i_;
  bool wanted_;
  kernels::ValueRange range_;
};

}  // namespace ortolan::cpu
