// Pooling of lines for one instruction set. Included as vec.h is.
#pragma once

#include <limits>
#include <type_traits>
#include <utility>

#include "cpu/kernels/convolution/pool_kernels.h"
#include "cpu/kernels/vectors/vec.h"

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

#if defined(__AVX512BW__)
/** The first `n` elements of a vector. */
template <class T>
struct FirstOf {
  using Whole = Pack<T, kVectorBytes>;
  static constexpr int kCount = Whole::kCount;
  using V = typename Whole::V;
  uint64_t mask;

  explicit FirstOf(int64_t n) : mask((uint64_t{1} << n) - 1) {}
  V load(const T* p) const {
    if constexpr (sizeof(T) == 1) return (V)_mm512_maskz_loadu_epi8(mask, p);
    if constexpr (sizeof(T) == 2) return (V)_mm512_maskz_loadu_epi16(static_cast<__mmask32>(mask), p);
    if constexpr (sizeof(T) == 4) return (V)_mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), p);
    if constexpr (sizeof(T) == 8) return (V)_mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask), p);
  }
  void store(T* p, V v) const {
    if constexpr (sizeof(T) == 1) _mm512_mask_storeu_epi8(p, mask, (__m512i)v);
    if constexpr (sizeof(T) == 2) _mm512_mask_storeu_epi16(p, static_cast<__mmask32>(mask), (__m512i)v);
    if constexpr (sizeof(T) == 4) _mm512_mask_storeu_epi32(p, static_cast<__mmask16>(mask), (__m512i)v);
    if constexpr (sizeof(T) == 8) _mm512_mask_storeu_epi64(p, static_cast<__mmask8>(mask), (__m512i)v);
  }
  V load_even(const T* p) const { return Whole::load_even(p); }
};

/** Calls body(pack, i) for packs that cover [0, n), which may overlap. */
template <class T, class Body>
ORTOLAN_INLINE void for_packs(int64_t n, Body body) {
  using P = Pack<T, kVectorBytes>;
  if (n < P::kCount) return body(FirstOf<T>(n), 0);
  for (int64_t i = 0; i < n; i += P::kCount) body(P{}, least(i, n - P::kCount));
}
#else
/** Calls body(pack, i) for packs that cover [0, n), which may overlap. */
template <class T, int kBytes = kVectorBytes, class Body>
ORTOLAN_INLINE void for_packs(int64_t n, Body body) {
  constexpr int64_t count = kBytes / sizeof(T);
  if (n >= count) {
    for (int64_t i = 0; i < n; i += count) body(Pack<T, kBytes>{}, least(i, n - count));
  } else if constexpr (kBytes > (sizeof(T) == 1 ? 8 : 16)) {
    for_packs<T, kBytes / 2>(n, body);
  } else {
    for (int64_t i = 0; i < n; ++i) body(Pack<T, sizeof(T)>{}, i);
  }
}
#endif

struct Larger {
  template <class T>
  static constexpr T kNeutral = std::numeric_limits<T>::lowest();
  template <class V>
  ORTOLAN_INLINE V join(V a, V b) {
    return b > a ? b : a;
  }
  static constexpr bool kDivides = false;
  template <class P, class V>
  ORTOLAN_INLINE V finish(const P&, V v, const PoolDivisors&, int64_t) {
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
  static constexpr bool kDivides = true;
  /** v / size: a product with the inverse, made exact by what is left over. */
  template <class P, class V>
  ORTOLAN_INLINE V finish(const P& pack, V v, const PoolDivisors& by, int64_t at) {
    const V size = pack.load(by.sizes + at);
#if defined(__FMA__)
    const V inverse = pack.load(by.inverses + at), near = v * inverse, left = v - near * size;
    const V whole = near + left * inverse;
    return left == left ? whole : near;
#else
    return v / size;
#endif
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
template <class Op, int kCount, class P, class T>
ORTOLAN_INLINE typename P::V join_all(const P& pack, typename P::V joined, const T* line, int64_t count, int64_t step) {
  if constexpr (kCount == 0) {
    for (int64_t k = 0; k < count; ++k) joined = Op::join(joined, pack.load(line + k * step));
  } else {
#pragma GCC unroll 5
    for (int k = 0; k < kCount; ++k) joined = Op::join(joined, pack.load(line + k * step));
  }
  return joined;
}

/** One output line from one band. */
template <class Op, int kCount, class T>
ORTOLAN_INLINE void join_band(const T* x, int64_t step, int64_t count, int64_t length, T* to) {
  for_packs<T>(length, [&]<class P>(const P& pack, int64_t i) {
    const typename P::V neutral = typename P::V{} + Op::template kNeutral<T>;
    pack.store(to + i, join_all<Op, kCount>(pack, neutral, x + i, count, step));
  });
}

/** One output line from several bands. */
template <class Op, class T>
void join_bands(const T* x, const PoolLines& lines, int64_t count, T* to) {
  for_packs<T>(lines.length, [&]<class P>(const P& pack, int64_t i) {
    typename P::V joined = typename P::V{} + Op::template kNeutral<T>;
    for (int64_t o = 0; o < lines.outer; ++o) {
      const T* line = x + o * lines.outer_step + i;
      for (int64_t m = 0; m < lines.middle; ++m, line += lines.middle_step) {
        joined = join_all<Op, 0>(pack, joined, line, count, lines.step);
      }
    }
    pack.store(to + i, joined);
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
template <class Op, int kStride, int kTaps, class P, class T>
ORTOLAN_INLINE typename P::V join_taps(const P& pack, const T* x, int64_t taps, int64_t dilation) {
  if constexpr (kStride != 2) return join_all<Op, kTaps>(pack, pack.load(x), x + dilation, taps - 1, dilation);
  typename P::V joined = pack.load_even(x);
  for (int64_t k = 1; k < taps; ++k) joined = Op::join(joined, pack.load_even(x + k * dilation));
  return joined;
}

template <class Op, int kStride, int kTaps, class T>
ORTOLAN_INLINE void join_rows(const T* x, const PoolTaps& t, const PoolDivisors* divisors, T* y) {
  const int64_t rows = t.rows, count = t.count, pitch = t.pitch, taps = t.taps, step = t.dilation;
  for (int64_t r = 0; r < rows; ++r, x += pitch, y += count) {
    const PoolDivisors by = Op::kDivides ? divisors[r] : PoolDivisors{};
    for_packs<T>(count, [&]<class P>(const P& pack, int64_t o) {
      const auto joined = join_taps<Op, kStride, kTaps>(pack, x + o * kStride, taps, step);
      pack.store(y + o, Op::finish(pack, joined, by, o));
    });
  }
}

#if defined(__AVX2__)
/** Stores the elements of two vectors, seen as one list, that stand at `places`. */
template <class P, class Places, class T>
ORTOLAN_INLINE void store_picked(T* picked, typename P::V low, typename P::V high, Places places) {
#if defined(__clang__)  // it has no shuffle by variables
  T both[2 * P::kCount];
  P::store(both, low);
  P::store(both + P::kCount, high);
  for (int i = 0; i < P::kCount; ++i) picked[i] = both[places[i]];
#else
  P::store(picked, __builtin_shuffle(low, high, places));
#endif
}

/** Outputs far apart: two vectors of neighbours are joined, and those wanted picked from them. */
template <class Op, int kTaps, class T>
ORTOLAN_INLINE void join_far_rows(const T* x, const PoolTaps& t, const PoolDivisors* divisors, T* y) {
  using P = Pack<T, kVectorBytes>;
  typedef std::conditional_t<sizeof(T) == 4, int32_t, int64_t> Place;
  typename Pack<Place, kVectorBytes>::V places;
  for (int i = 0; i < P::kCount; ++i) places[i] = static_cast<Place>(i * t.stride);
  const int64_t most = least(P::kCount, (2 * P::kCount - 1) / t.stride + 1);
  const P whole;
  const auto join_at = [&](const T* from) {
    return join_all<Op, kTaps>(whole, P::load(from), from + t.dilation, t.taps - 1, t.dilation);
  };
  for (int64_t r = 0; r < t.rows; ++r, x += t.pitch, y += t.count) {
    const PoolDivisors by = Op::kDivides ? divisors[r] : PoolDivisors{};
    for (int64_t first = 0; first < t.count; first += most) {
      const int64_t count = least(most, t.count - first);
      const T* from = x + first * t.stride;
      const typename P::V low = join_at(from);
      const typename P::V high = (count - 1) * t.stride < P::kCount ? low : join_at(from + P::kCount);
      T picked[P::kCount];
      store_picked<P>(picked, low, high, places);
      for_packs<T>(count, [&]<class Q>(const Q& pack, int64_t o) {
        pack.store(y + first + o, Op::finish(pack, pack.load(picked + o), by, first + o));
      });
    }
  }
}
#endif

/** One output after the other. */
template <class Op, class T>
void join_single(const T* x, const PoolTaps& t, const PoolDivisors* divisors, T* y) {
  const Pack<T, sizeof(T)> one;
  for (int64_t r = 0; r < t.rows; ++r, x += t.pitch, y += t.count) {
    const PoolDivisors by = Op::kDivides ? divisors[r] : PoolDivisors{};
    for (int64_t o = 0; o < t.count; ++o) {
      const T* from = x + o * t.stride;
      const auto joined = join_all<Op, 0>(one, one.load(from), from + t.dilation, t.taps - 1, t.dilation);
      one.store(y + o, Op::finish(one, joined, by, o));
    }
  }
}

template <class Op, class T>
void join_neighbours(const T* x, const PoolTaps& t, const PoolDivisors* divisors, T* y) {
  if (t.stride == 2) return join_rows<Op, 2, 0>(x, t, divisors, y);
  if (t.stride == 1) {
    return with_count(t.taps - 1, [&]<int kTaps> { join_rows<Op, 1, kTaps>(x, t, divisors, y); });
  }
#if defined(__AVX2__)
  if constexpr (sizeof(T) >= 4) {
    if (t.stride <= Pack<T, kVectorBytes>::kCount) {
      return with_count(t.taps - 1, [&]<int kTaps> { join_far_rows<Op, kTaps>(x, t, divisors, y); });
    }
  }
#endif
  join_single<Op>(x, t, divisors, y);
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
