// Pooling of lines for one instruction set. Included as vec.h is.
#pragma once

#include <limits>
#include <utility>

#include "cpu/kernels/pool_kernels.h"
#include "cpu/kernels/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

template <class T, int kBytes>
struct Pack {
  static constexpr int kCount = kBytes / static_cast<int>(sizeof(T));
  typedef T V __attribute__((vector_size(kBytes)));
  typedef T Loose __attribute__((vector_size(kBytes), aligned(1), may_alias));

  ORTOLAN_INLINE V load(const T* p) { return *reinterpret_cast<const Loose*>(p); }
  ORTOLAN_INLINE void store(T* p, V v) { *reinterpret_cast<Loose*>(p) = v; }
  /** p[0], p[2], ...; p[2*kCount - 1] is read, too. */
  ORTOLAN_INLINE V load_even(const T* p) {
    if constexpr (kCount == 1) return V{*p};
    return even(load(p), load(p + kCount), std::make_index_sequence<kCount>());
  }
  template <size_t... I>
  ORTOLAN_INLINE V even(V a, V b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, (2 * I)...);
  }
};

/** Calls body<bytes>(i) for packs that cover [0, n), which may overlap. */
template <class T, int kBytes = kVectorBytes, class Body>
ORTOLAN_INLINE void for_packs(int64_t n, Body body) {
  constexpr int64_t count = kBytes / sizeof(T);
  if (n >= count) {
    for (int64_t i = 0; i < n; i += count) body.template operator()<kBytes>(least(i, n - count));
  } else if constexpr (kBytes > (sizeof(T) == 1 ? 8 : 16)) {
    for_packs<T, kBytes / 2>(n, body);
  } else {
    for (int64_t i = 0; i < n; ++i) body.template operator()<sizeof(T)>(i);
  }
}

struct Larger {
  template <class T>
  static constexpr T kNeutral = std::numeric_limits<T>::lowest();
  template <class V>
  ORTOLAN_INLINE V join(V a, V b) {
    return b > a ? b : a;
  }
  template <class P, class V>
  ORTOLAN_INLINE V finish(V v, float, const float*) {
    return v;
  }
};

struct Mean {
  template <class T>
  static constexpr T kNeutral = 0;
  template <class V>
  ORTOLAN_INLINE V join(V a, V b) {
    return a + b;
  }
  template <class P, class V>
  ORTOLAN_INLINE V finish(V v, float rows, const float* columns) {
    return v / (rows * P::load(columns));
  }
};

/** Calls body.operator()<count>() for the usual small counts, body.operator()<0>() for others. */
template <class Body>
ORTOLAN_INLINE void with_count(int64_t count, Body body) {
  switch (count) {
    case 1:
      return body.template operator()<1>();
    case 2:
      return body.template operator()<2>();
    case 3:
      return body.template operator()<3>();
    case 4:
      return body.template operator()<4>();
    case 5:
      return body.template operator()<5>();
    default:
      return body.template operator()<0>();
  }
}

/** Lines, `step` apart: kCount of them or, where that is 0, `count`. */
template <class Op, class P, int kCount, class T>
ORTOLAN_INLINE typename P::V join_all(typename P::V joined, const T* line, int64_t count, int64_t step) {
  if constexpr (kCount == 0) {
    for (int64_t k = 0; k < count; ++k) joined = Op::join(joined, P::load(line + k * step));
  } else {
#pragma GCC unroll 5
    for (int k = 0; k < kCount; ++k) joined = Op::join(joined, P::load(line + k * step));
  }
  return joined;
}

/** One output line from one band. */
template <class Op, int kCount, class T>
ORTOLAN_INLINE void join_band(const T* x, int64_t step, int64_t count, int64_t length, T* to) {
  for_packs<T>(length, [&]<int kBytes>(int64_t i) {
    using P = Pack<T, kBytes>;
    const typename P::V neutral = typename P::V{} + Op::template kNeutral<T>;
    P::store(to + i, join_all<Op, P, kCount>(neutral, x + i, count, step));
  });
}

/** One output line from several bands. */
template <class Op, class T>
void join_bands(const T* x, const PoolLines& lines, int64_t count, T* to) {
  for_packs<T>(lines.length, [&]<int kBytes>(int64_t i) {
    using P = Pack<T, kBytes>;
    typename P::V joined = typename P::V{} + Op::template kNeutral<T>;
    for (int64_t o = 0; o < lines.outer; ++o) {
      const T* line = x + o * lines.outer_step + i;
      for (int64_t m = 0; m < lines.middle; ++m, line += lines.middle_step) {
        joined = join_all<Op, P, 0>(joined, line, count, lines.step);
      }
    }
    P::store(to + i, joined);
  });
}

template <class Op, class T>
void join_lines(const T* x, const PoolLines& lines, const PoolBand* bands, int64_t rows, T* to) {
  const bool single = lines.outer == 1 && lines.middle == 1;
  for (int64_t p = 0; p < lines.planes; ++p, x += lines.plane_step) {
    for (int64_t r = 0; r < rows; ++r, to += lines.pitch) {
      const T* first = x + bands[r].at;
      const int64_t count = bands[r].count;
      if (!single) {
        join_bands<Op>(first, lines, count, to);
        continue;
      }
      with_count(count, [&]<int kCount> { join_band<Op, kCount>(first, lines.step, count, lines.length, to); });
    }
  }
}

/** The outputs from `x` on of one line. */
template <class Op, class P, int kStride, int kTaps, class T>
ORTOLAN_INLINE typename P::V join_taps(const T* x, int64_t taps, int64_t dilation) {
  if constexpr (kStride != 2) return join_all<Op, P, kTaps>(P::load(x), x + dilation, taps - 1, dilation);
  typename P::V joined = P::load_even(x);
  for (int64_t k = 1; k < taps; ++k) joined = Op::join(joined, P::load_even(x + k * dilation));
  return joined;
}

template <class Op, int kStride, int kTaps, class T>
ORTOLAN_INLINE void join_rows(const T* x, const PoolTaps& t, const float* row_sizes, const float* column_sizes, T* y) {
  constexpr int bytes = kStride == 0 ? static_cast<int>(sizeof(T)) : kVectorBytes;
  const int64_t rows = t.rows, count = t.count, pitch = t.pitch, stride = t.stride, taps = t.taps, step = t.dilation;
  for (int64_t r = 0; r < rows; ++r, x += pitch, y += count) {
    const float size = row_sizes == nullptr ? 0.0f : row_sizes[r];
    for_packs<T, bytes>(count, [&]<int kBytes>(int64_t o) {
      using P = Pack<T, kBytes>;
      const auto joined = join_taps<Op, P, kStride, kTaps>(x + o * stride, taps, step);
      P::store(y + o, Op::template finish<P>(joined, size, column_sizes + o));
    });
  }
}

template <class Op, class T>
void join_neighbours(const T* x, const PoolTaps& t, const float* row_sizes, const float* column_sizes, T* y) {
  if (t.stride == 2) return join_rows<Op, 2, 0>(x, t, row_sizes, column_sizes, y);
  if (t.stride != 1) return join_rows<Op, 0, 0>(x, t, row_sizes, column_sizes, y);
  with_count(t.taps - 1, [&]<int kTaps> { join_rows<Op, 1, kTaps>(x, t, row_sizes, column_sizes, y); });
}

// The floats that are negative count down from the integer that their bits are.
ORTOLAN_INLINE int16_t turned(int16_t bits) { return static_cast<int16_t>(bits ^ ((bits >> 15) & 0x7FFF)); }
ORTOLAN_INLINE int16_t least_half(uint16_t infinity) { return static_cast<int16_t>(~infinity); }

void order_halves(const uint16_t* x, int64_t n, uint16_t infinity, int16_t* y) {
  const int16_t least = least_half(infinity), most = static_cast<int16_t>(infinity);
  for (int64_t i = 0; i < n; ++i) {
    const int16_t ordered = turned(static_cast<int16_t>(x[i]));
    y[i] = ordered > most ? least : ordered < least ? least : ordered;
  }
}

void restore_halves(const int16_t* x, int64_t n, uint16_t infinity, uint16_t* y) {
  const int16_t least = least_half(infinity);
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<uint16_t>(turned(x[i] < least ? least : x[i]));
}

template <class Op, class T>
constexpr PoolSteps<T> kSteps = {join_lines<Op, T>, join_neighbours<Op, T>};

}  // namespace

extern const PoolKernels kPool;
const PoolKernels kPool = {
    kSteps<Larger, float>,   kSteps<Larger, double>, kSteps<Larger, int16_t>,        kSteps<Larger, int8_t>,
    kSteps<Larger, uint8_t>, kSteps<Mean, float>,    {order_halves, restore_halves},
};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
