// Pooling of rows for one instruction set: loops that the compiler vectorises. Included as vec.h is.
#pragma once

#include "cpu/kernels/pool_kernels.h"
#include "cpu/kernels/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

struct Larger {
  template <class T>
  static T join(T a, T b) {
    return b > a ? b : a;
  }
};

struct Total {
  template <class T>
  static T join(T a, T b) {
    return a + b;
  }
};

template <class Op, class T>
void join_row(const T* row, int64_t n, T* to) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = Op::join(to[i], row[i]);
}

template <class Op, int kStride, class T>
void join_tap(const T* x, int64_t stride, int64_t count, T* y) {
  const int64_t step = kStride != 0 ? kStride : stride;
#pragma GCC ivdep
  for (int64_t o = 0; o < count; ++o) y[o] = Op::join(y[o], x[o * step]);
}

template <class Op, class T>
void join_neighbours(const T* x, int64_t taps, int64_t dilation, int64_t stride, int64_t count, T* y) {
  for (int64_t o = 0; o < count; ++o) y[o] = x[o * stride];
  for (int64_t t = 1; t < taps; ++t) {
    if (stride == 1) {
      join_tap<Op, 1>(x + t * dilation, stride, count, y);
    } else if (stride == 2) {
      join_tap<Op, 2>(x + t * dilation, stride, count, y);
    } else {
      join_tap<Op, 0>(x + t * dilation, stride, count, y);
    }
  }
}

template <class Op, class T>
constexpr PoolRowKernels<T> kRows = {join_row<Op, T>, join_neighbours<Op, T>};

}  // namespace

extern const PoolKernels kPool;
const PoolKernels kPool = {kRows<Larger, float>, kRows<Larger, double>, kRows<Larger, int8_t>, kRows<Larger, uint8_t>,
                           kRows<Total, float>};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
