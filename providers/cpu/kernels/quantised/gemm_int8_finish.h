// What becomes of the sums of a product of bytes. Included as vec.h is.
#pragma once

#include "cpu/kernels/quantised/gemm_int8_kernels.h"
#include "cpu/kernels/vectors/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

ORTOLAN_INLINE void store_columns(float* c, int64_t columns, Vf v) {
  if (columns >= kLanes) {
    store(c, v);
  } else if (columns > 0) {
    store_n(c, columns, v);
  }
}
ORTOLAN_INLINE Vf load_columns(const float* p, int64_t columns) {
  return columns >= kLanes ? load(p) : columns > 0 ? load_n(p, columns) : Vf{};
}
ORTOLAN_INLINE float* as_floats(int32_t* c) { return reinterpret_cast<float*>(c); }

ORTOLAN_INLINE Vf finished(const Int8Block& g, Vi sum, Vf scale, Vf bias, int64_t row, int64_t column) {
  const Vf y = fma(to_float(sum), scale, bias);
  if (g.residual == nullptr) return y;
  return y + load_columns(g.residual + row * g.residual_stride + column, g.columns - column);
}

ORTOLAN_INLINE Vf bias_of(const Int8Block& g, int64_t column) {
  return g.bias == nullptr ? Vf{} : load_columns(g.bias + column, g.columns - column);
}

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
