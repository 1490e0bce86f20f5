// Casts of spans for one instruction set. Included as vec.h is. The loops are plain: compilers vectorise them.
#pragma once

#include "cpu/kernels/elementwise/cast_kernels.h"
#include "cpu/kernels/vectors/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

/** What a span of Number::kBool holds. */
struct Flag {
  uint8_t byte;
};

template <class T>
constexpr bool is_float() {
  return std::is_floating_point_v<T>;
}

template <class From>
ORTOLAN_INLINE int64_t float_to_int64(From x) {
  return x >= From(-0x1p63) && x < From(0x1p63) ? static_cast<int64_t>(x) : INT64_MIN;
}

/** Any float, one at a time. */
template <class From, class To>
ORTOLAN_INLINE To float_to_integer(From x) {
  if constexpr (std::is_same_v<To, int32_t>) {
    return x >= From(-0x1p31) && x < From(0x1p31) ? static_cast<int32_t>(x) : INT32_MIN;
  } else if constexpr (std::is_same_v<To, uint64_t>) {
    const bool upper_half = x >= From(0x1p63) && x < From(0x1p64);
    return upper_half ? static_cast<uint64_t>(x) : static_cast<uint64_t>(float_to_int64(x));
  } else {
    return static_cast<To>(float_to_int64(x));
  }
}

/** The type through which floats below `kLimit` become To. */
template <class To>
using Whole = std::conditional_t<sizeof(To) <= 4, int32_t, int64_t>;

/** Floats below the limit of Whole<To>, which are nearly all, in loops without branches; others one at a time. */
template <class From, class To>
void cast_floats(const From* __restrict x, int64_t n, To* __restrict y) {
  constexpr int64_t kBlock = 256;
  constexpr From kLimit = sizeof(To) <= 4 ? From(0x1p31) : From(0x1p63);
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t count = least(kBlock, n - first);
    const From* from = x + first;
    To* to = y + first;
    int beyond = 0;
    for (int64_t i = 0; i < count; ++i) beyond |= !(__builtin_fabs(from[i]) < kLimit);
    if (beyond) {
      for (int64_t i = 0; i < count; ++i) to[i] = float_to_integer<From, To>(from[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(static_cast<Whole<To>>(from[i]));
    }
  }
}

template <class From, class To>
void cast_span(const void* from, int64_t n, void* to) {
  auto* __restrict x = static_cast<const From*>(from);
  auto* __restrict y = static_cast<To*>(to);
  if constexpr (std::is_same_v<To, Flag>) {
    auto* flags = static_cast<uint8_t*>(to);
    if constexpr (std::is_same_v<From, Flag>) {
      for (int64_t i = 0; i < n; ++i) flags[i] = x[i].byte != 0;
    } else {
      for (int64_t i = 0; i < n; ++i) flags[i] = x[i] != 0;
    }
  } else if constexpr (std::is_same_v<From, Flag>) {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<To>(x[i].byte != 0);
  } else if constexpr (is_float<From>() && !is_float<To>()) {
    cast_floats(x, n, y);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<To>(x[i]);
  }
}

/** Any number. */
void round_each_to_odd(const double* __restrict x, int64_t n, float* __restrict y) {
  for (int64_t i = 0; i < n; ++i) {
    const float nearest = static_cast<float>(x[i]);
    const double back = static_cast<double>(nearest);
    int32_t code;
    __builtin_memcpy(&code, &nearest, sizeof code);
    const bool finite = (code & 0x7fffffff) < 0x7f800000;
    const int32_t towards = __builtin_fabs(back) > __builtin_fabs(x[i]) ? -1 : 1;
    code += finite & (back != x[i]) & !(code & 1) ? towards : 0;
    __builtin_memcpy(y + i, &code, sizeof code);
  }
}

/** Of numbers in fp32's normal range by their bits: what is cut off is kept as the last bit that is left. */
void round_to_odd(const double* x, int64_t n, float* y) {
  constexpr int64_t kBlock = 256;
  constexpr uint64_t kCut = (uint64_t{1} << 29) - 1;
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t count = least(kBlock, n - first);
    const double* from = x + first;
    int special = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double a = __builtin_fabs(from[i]);
      special |= !((a >= 0x1p-126) & (a < 0x1p127)) & (a != 0);
    }
    if (special) {
      round_each_to_odd(from, count, y + first);
      continue;
    }
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t code = __builtin_bit_cast(uint64_t, from[i]);
      const uint64_t sticky = ((code & kCut) + kCut) & (kCut + 1);
      y[first + i] = static_cast<float>(__builtin_bit_cast(double, (code & ~kCut) | sticky));
    }
  }
}

template <class Bits>
void classify(const Bits* __restrict x, int64_t n, Bits infinity, const FloatClass& wanted, uint8_t* __restrict y) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  if (wanted.nan) {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Bits>(x[i] & ~kSign) > infinity;
    return;
  }
  // One comparison: a class that is not wanted looks for what the other one does, and none for what is not there.
  const Bits low = static_cast<Bits>(infinity | kSign);
  const Bits first = wanted.positive_infinity ? infinity : low;
  const Bits second = wanted.negative_infinity ? low : infinity;
  const bool any = wanted.positive_infinity || wanted.negative_infinity;
  for (int64_t i = 0; i < n; ++i) y[i] = any & ((x[i] == first) | (x[i] == second));
}

#define ORTOLAN_CASTS_FROM(From)                                                                                  \
  {                                                                                                               \
    cast_span<From, Flag>, cast_span<From, uint8_t>, cast_span<From, int8_t>, cast_span<From, uint16_t>,          \
        cast_span<From, int16_t>, cast_span<From, uint32_t>, cast_span<From, int32_t>, cast_span<From, uint64_t>, \
        cast_span<From, int64_t>, cast_span<From, float>, cast_span<From, double>                                 \
  }

}  // namespace

extern const CastKernels kCast;
const CastKernels kCast = {
    {ORTOLAN_CASTS_FROM(Flag), ORTOLAN_CASTS_FROM(uint8_t), ORTOLAN_CASTS_FROM(int8_t), ORTOLAN_CASTS_FROM(uint16_t),
     ORTOLAN_CASTS_FROM(int16_t), ORTOLAN_CASTS_FROM(uint32_t), ORTOLAN_CASTS_FROM(int32_t),
     ORTOLAN_CASTS_FROM(uint64_t), ORTOLAN_CASTS_FROM(int64_t), ORTOLAN_CASTS_FROM(float), ORTOLAN_CASTS_FROM(double)},
    round_to_odd,
    classify<uint16_t>,
    classify<uint32_t>,
    classify<uint64_t>,
};
#undef ORTOLAN_CASTS_FROM

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
