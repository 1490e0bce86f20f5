// Loops over numbers for one instruction set. Included as vec.h is. Most are plain: compilers vectorise them.
#pragma once

#include "cpu/kernels/elementwise/number_loops_kernels.h"
#include "cpu/kernels/elementwise/number_matrices_body.h"
#include "cpu/kernels/vectors/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

/** The type in which arithmetic on T wraps around: not below int's size, where products could overflow int. */
template <class T>
struct WrappingOf {
  using type = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
};
template <>
struct WrappingOf<double> {
  using type = double;
};
template <class T>
using Wrapping = typename WrappingOf<T>::type;

template <class T>
ORTOLAN_INLINE T add(T a, T b) {
  return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
}
template <class T>
ORTOLAN_INLINE T subtract(T a, T b) {
  return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b));
}
template <class T>
ORTOLAN_INLINE T multiply(T a, T b) {
  return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
}
/** Of int32 by fp32 reciprocals: a quotient of 22 bits, another one of what that leaves, and a last step of one. */
ORTOLAN_INLINE int32_t divide_int32(int32_t a, int32_t b) {
  constexpr float kLargest = 2147483520;  // the largest float that int32 holds
  const float reciprocal = 1.0f / static_cast<float>(b), estimate = static_cast<float>(a) * reciprocal;
  const auto first = static_cast<int32_t>(estimate > kLargest ? kLargest : estimate);
  const int32_t left = subtract(a, multiply(first, b));
  const int32_t quotient = add(first, static_cast<int32_t>(static_cast<float>(left) * reciprocal));
  const int32_t rest = subtract(a, multiply(quotient, b));
  const auto size = static_cast<uint32_t>(rest < 0 ? subtract(0, rest) : rest);
  const auto divisor = static_cast<uint32_t>(b < 0 ? subtract(0, b) : b);
  const int32_t step = (a ^ b) < 0 ? -1 : 1;
  const bool too_far = (rest != 0) & ((rest ^ a) < 0);
  return add(quotient, too_far ? -step : size >= divisor ? step : 0);
}
template <class T>
ORTOLAN_INLINE T divide(T a, T b) {
  if constexpr (std::is_same_v<T, double>) {
    return a / b;
  } else {
    return divide_int32(a, b);
  }
}
template <class T>
ORTOLAN_INLINE T smaller(T a, T b) {
  if constexpr (std::is_integral_v<T>) return a < b ? a : b;
  return (a != a) | (a < b) ? a : b;
}
template <class T>
ORTOLAN_INLINE T larger(T a, T b) {
  if constexpr (std::is_integral_v<T>) return b < a ? a : b;
  return (a != a) | (b < a) ? a : b;
}
template <class T>
ORTOLAN_INLINE uint8_t equals(T a, T b) {
  return a == b;
}
template <class T>
ORTOLAN_INLINE uint8_t greater(T a, T b) {
  return a > b;
}
template <class T>
ORTOLAN_INLINE uint8_t not_less(T a, T b) {
  return a >= b;
}

template <class In, class Out, Out (*kFunction)(In, In)>
constexpr NumberLoops loops() {
  return {[](const void* a, const void* b, void* y, int64_t n) {
            auto *x0 = static_cast<const In*>(a), *x1 = static_cast<const In*>(b);
            auto* out = static_cast<Out*>(y);
#pragma GCC ivdep  // y is an input or apart
            for (int64_t i = 0; i < n; ++i) out[i] = kFunction(x0[i], x1[i]);
          },
          [](const void* a, const void* b, void* y, int64_t n) {
            const In x0 = *static_cast<const In*>(a);
            auto* x1 = static_cast<const In*>(b);
            auto* out = static_cast<Out*>(y);
#pragma GCC ivdep  // y is an input or apart
            for (int64_t i = 0; i < n; ++i) out[i] = kFunction(x0, x1[i]);
          },
          [](const void* a, const void* b, void* y, int64_t n) {
            auto* x0 = static_cast<const In*>(a);
            const In x1 = *static_cast<const In*>(b);
            auto* out = static_cast<Out*>(y);
#pragma GCC ivdep  // y is an input or apart
            for (int64_t i = 0; i < n; ++i) out[i] = kFunction(x0[i], x1);
          }};
}

template <class T>
void unary_abs(const void* from, void* to, int64_t n, double) {
  auto* x = static_cast<const T*>(from);
  auto* y = static_cast<T*>(to);
#pragma GCC ivdep  // y is x or apart
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<T, double>) {
      y[i] = __builtin_fabs(x[i]);
    } else {
      y[i] = x[i] < 0 ? subtract<T>(0, x[i]) : x[i];
    }
  }
}

template <class T, T (*kFunction)(T, T)>
void unary_loop(const void* from, void* to, int64_t n, double slope) {
  auto* x = static_cast<const T*>(from);
  auto* y = static_cast<T*>(to);
  const T p = static_cast<T>(slope);
#pragma GCC ivdep  // y is x or apart
  for (int64_t i = 0; i < n; ++i) y[i] = kFunction(x[i], p);
}
template <class T>
ORTOLAN_INLINE T negative(T x, T) {
  if constexpr (std::is_same_v<T, double>) return -x;
  return subtract<T>(0, x);
}
template <class T>
ORTOLAN_INLINE T sign(T x, T) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>((x > 0) - (x < 0));
  const T value = x > 0 ? T{1} : x < 0 ? T{-1} : T{0};
  return x != x ? x : value;
}
template <class T>
ORTOLAN_INLINE T relu(T x, T) {
  return x < 0 ? T{0} : x;
}
template <class T>
ORTOLAN_INLINE T leaky(T x, T slope) {
  return x < 0 ? slope * x : x;
}
template <class T>
ORTOLAN_INLINE T flip(T x, T) {
  return static_cast<T>(~x);
}

template <class T>
using Vector __attribute__((vector_size(kVectorBytes), may_alias, aligned(1))) = T;
typedef double Vd __attribute__((vector_size(kVectorBytes)));

#if defined(__AVX512F__)
ORTOLAN_INLINE Vd root(Vd x) { return (Vd)_mm512_sqrt_pd((__m512d)x); }
template <int kMode>
ORTOLAN_INLINE Vd rounded(Vd x) {
  return (Vd)_mm512_roundscale_pd((__m512d)x, kMode);
}
#elif defined(__AVX2__)
ORTOLAN_INLINE Vd root(Vd x) { return (Vd)_mm256_sqrt_pd((__m256d)x); }
template <int kMode>
ORTOLAN_INLINE Vd rounded(Vd x) {
  return (Vd)_mm256_round_pd((__m256d)x, kMode);
}
#else
ORTOLAN_INLINE Vd root(Vd x) { return Vd{std::sqrt(x[0]), std::sqrt(x[1])}; }
template <int kMode>
ORTOLAN_INLINE Vd rounded(Vd x) {
  for (int i = 0; i < 2; ++i)
    x[i] = kMode == 8 ? std::nearbyint(x[i]) : kMode == 9 ? std::floor(x[i]) : std::ceil(x[i]);
  return x;
}
#endif

template <Vd (*kFunction)(Vd)>
void unary_vectors(const void* from, void* to, int64_t n, double) {
  constexpr int64_t kWidth = kVectorBytes / 8;
  auto* x = static_cast<const double*>(from);
  auto* y = static_cast<double*>(to);
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    Vd v;
    __builtin_memcpy(&v, x + i, sizeof v);
    v = kFunction(v);
    __builtin_memcpy(y + i, &v, sizeof v);
  }
  if (i == n) return;
  Vd v = {};
  for (int64_t j = 0; j < n - i; ++j) v[j] = x[i + j];
  v = kFunction(v);
  for (int64_t j = 0; j < n - i; ++j) y[i + j] = v[j];
}

/** What one reduction does with a partial result and an element, or vectors of them. */
template <ReduceOp kOp, class V>
ORTOLAN_INLINE V combine(V sum, V x) {
  if constexpr (kOp == ReduceOp::kSum) return sum + x;
  if constexpr (kOp == ReduceOp::kSumSquares) return sum + x * x;
  if constexpr (kOp == ReduceOp::kSumAbs) return sum + (x < 0 ? -x : x);
  if constexpr (kOp == ReduceOp::kProduct) return sum * x;
  if constexpr (kOp == ReduceOp::kMax) return (x != x) | (x > sum) ? x : sum;
  if constexpr (kOp == ReduceOp::kMin) return (x != x) | (x < sum) ? x : sum;
}
/** How partial results are put together. */
constexpr ReduceOp joining(ReduceOp op) {
  return op == ReduceOp::kSumSquares || op == ReduceOp::kSumAbs ? ReduceOp::kSum : op;
}

/** Each chain of lanes begins with an element of its own, so that no identity is needed but for sums. */
template <class T, ReduceOp kOp>
ORTOLAN_INLINE T reduce_span(const T* x, int64_t n) {
  constexpr int64_t kWidth = kVectorBytes / static_cast<int64_t>(sizeof(T));
  constexpr int kChains = 4;
  const bool is_sum = joining(kOp) == ReduceOp::kSum;
  T result = is_sum ? T{0} : x[0];
  int64_t i = is_sum ? 0 : 1;
  if (n >= kChains * kWidth) {
    auto at = [&](int64_t j) { return *reinterpret_cast<const Vector<T>*>(x + j); };
    typedef T V __attribute__((vector_size(kVectorBytes)));
    V chains[kChains];
    for (int c = 0; c < kChains; ++c) chains[c] = is_sum ? combine<kOp, V>(V{}, at(c * kWidth)) : V(at(c * kWidth));
    for (i = kChains * kWidth; i + kChains * kWidth <= n; i += kChains * kWidth) {
#pragma GCC unroll 4
      for (int c = 0; c < kChains; ++c) chains[c] = combine<kOp, V>(chains[c], at(i + c * kWidth));
    }
    for (int c = 1; c < kChains; ++c) chains[0] = combine<joining(kOp), V>(chains[0], chains[c]);
    T lanes[kWidth];
    __builtin_memcpy(lanes, &chains[0], sizeof lanes);
    for (int64_t half = kWidth / 2; half > 0; half /= 2) {
      for (int64_t lane = 0; lane < half; ++lane) {
        lanes[lane] = combine<joining(kOp), T>(lanes[lane], lanes[lane + half]);
      }
    }
    result = lanes[0];
  }
  for (; i < n; ++i) result = combine<kOp, T>(result, x[i]);
  return result;
}

template <class T, ReduceOp kOp>
void reduce_loop(const void* x, int64_t n, void* y) {
  *static_cast<T*>(y) = reduce_span<T, kOp>(static_cast<const T*>(x), n);
}

template <class T>
int64_t find_loop(const void* value, const void* from, int64_t n) {
  constexpr int64_t kBlock = 128;
  const T wanted = *static_cast<const T*>(value);
  auto* x = static_cast<const T*>(from);
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    int found = 0;
    for (int64_t j = 0; j < kBlock; ++j) found |= x[i + j] == wanted;
    if (found) break;
  }
  while (i < n && !(x[i] == wanted)) ++i;
  return i;
}

using Loops = NumberLoops;
constexpr Loops kNone;

}  // namespace

extern const NumberKernels kNumberLoops;
// The columns are bool, u8, s8, u16, s16, u32, s32, u64, s64, f32, f64. Where signs do not matter, one loop serves
// both.
const NumberKernels kNumberLoops = {
    {
        {kNone, loops<uint8_t, uint8_t, add>(), loops<uint8_t, uint8_t, add>(), loops<uint16_t, uint16_t, add>(),
         loops<uint16_t, uint16_t, add>(), loops<uint32_t, uint32_t, add>(), loops<uint32_t, uint32_t, add>(),
         loops<uint64_t, uint64_t, add>(), loops<uint64_t, uint64_t, add>(), kNone, loops<double, double, add>()},
        {kNone, loops<uint8_t, uint8_t, subtract>(), loops<uint8_t, uint8_t, subtract>(),
         loops<uint16_t, uint16_t, subtract>(), loops<uint16_t, uint16_t, subtract>(),
         loops<uint32_t, uint32_t, subtract>(), loops<uint32_t, uint32_t, subtract>(),
         loops<uint64_t, uint64_t, subtract>(), loops<uint64_t, uint64_t, subtract>(), kNone,
         loops<double, double, subtract>()},
        {kNone, loops<uint8_t, uint8_t, multiply>(), loops<uint8_t, uint8_t, multiply>(),
         loops<uint16_t, uint16_t, multiply>(), loops<uint16_t, uint16_t, multiply>(),
         loops<uint32_t, uint32_t, multiply>(), loops<uint32_t, uint32_t, multiply>(),
         loops<uint64_t, uint64_t, multiply>(), loops<uint64_t, uint64_t, multiply>(), kNone,
         loops<double, double, multiply>()},
        {kNone, kNone, kNone, kNone, kNone, kNone, loops<int32_t, int32_t, divide>(), kNone, kNone, kNone,
         loops<double, double, divide>()},
        {kNone, loops<uint8_t, uint8_t, smaller>(), loops<int8_t, int8_t, smaller>(),
         loops<uint16_t, uint16_t, smaller>(), loops<int16_t, int16_t, smaller>(), loops<uint32_t, uint32_t, smaller>(),
         loops<int32_t, int32_t, smaller>(), loops<uint64_t, uint64_t, smaller>(), loops<int64_t, int64_t, smaller>(),
         kNone, loops<double, double, smaller>()},
        {kNone, loops<uint8_t, uint8_t, larger>(), loops<int8_t, int8_t, larger>(), loops<uint16_t, uint16_t, larger>(),
         loops<int16_t, int16_t, larger>(), loops<uint32_t, uint32_t, larger>(), loops<int32_t, int32_t, larger>(),
         loops<uint64_t, uint64_t, larger>(), loops<int64_t, int64_t, larger>(), kNone,
         loops<double, double, larger>()},
        {loops<uint8_t, uint8_t, equals>(), loops<uint8_t, uint8_t, equals>(), loops<uint8_t, uint8_t, equals>(),
         loops<uint16_t, uint8_t, equals>(), loops<uint16_t, uint8_t, equals>(), loops<uint32_t, uint8_t, equals>(),
         loops<uint32_t, uint8_t, equals>(), loops<uint64_t, uint8_t, equals>(), loops<uint64_t, uint8_t, equals>(),
         loops<float, uint8_t, equals>(), loops<double, uint8_t, equals>()},
        {kNone, loops<uint8_t, uint8_t, greater>(), loops<int8_t, uint8_t, greater>(),
         loops<uint16_t, uint8_t, greater>(), loops<int16_t, uint8_t, greater>(), loops<uint32_t, uint8_t, greater>(),
         loops<int32_t, uint8_t, greater>(), loops<uint64_t, uint8_t, greater>(), loops<int64_t, uint8_t, greater>(),
         loops<float, uint8_t, greater>(), loops<double, uint8_t, greater>()},
        {kNone, loops<uint8_t, uint8_t, not_less>(), loops<int8_t, uint8_t, not_less>(),
         loops<uint16_t, uint8_t, not_less>(), loops<int16_t, uint8_t, not_less>(),
         loops<uint32_t, uint8_t, not_less>(), loops<int32_t, uint8_t, not_less>(),
         loops<uint64_t, uint8_t, not_less>(), loops<int64_t, uint8_t, not_less>(), loops<float, uint8_t, not_less>(),
         loops<double, uint8_t, not_less>()},
    },
    {
        {nullptr, nullptr, unary_abs<int8_t>, nullptr, unary_abs<int16_t>, nullptr, unary_abs<int32_t>, nullptr,
         unary_abs<int64_t>, nullptr, unary_abs<double>},
        {nullptr, nullptr, unary_loop<int8_t, negative>, nullptr, unary_loop<int16_t, negative>, nullptr,
         unary_loop<int32_t, negative>, nullptr, unary_loop<int64_t, negative>, nullptr, unary_loop<double, negative>},
        {nullptr, nullptr, unary_loop<int8_t, sign>, nullptr, unary_loop<int16_t, sign>, nullptr,
         unary_loop<int32_t, sign>, nullptr, unary_loop<int64_t, sign>, nullptr, unary_loop<double, sign>},
        {nullptr, nullptr, unary_loop<int8_t, relu>, nullptr, unary_loop<int16_t, relu>, nullptr,
         unary_loop<int32_t, relu>, nullptr, unary_loop<int64_t, relu>, nullptr, unary_loop<double, relu>},
        {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
         unary_loop<double, leaky>},
        {nullptr, unary_loop<uint8_t, flip>, unary_loop<uint8_t, flip>, unary_loop<uint16_t, flip>,
         unary_loop<uint16_t, flip>, unary_loop<uint32_t, flip>, unary_loop<uint32_t, flip>, unary_loop<uint64_t, flip>,
         unary_loop<uint64_t, flip>},
        {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, unary_vectors<root>},
        {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
         unary_vectors<rounded<9>>},
        {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
         unary_vectors<rounded<10>>},
        {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
         unary_vectors<rounded<8>>},
    },
    {
#define ORTOLAN_REDUCTIONS(op)                                                                               \
  {                                                                                                          \
    nullptr, reduce_loop<uint8_t, op>, reduce_loop<int8_t, op>, nullptr, nullptr, reduce_loop<uint32_t, op>, \
        reduce_loop<int32_t, op>, reduce_loop<uint64_t, op>, reduce_loop<int64_t, op>, nullptr,              \
        reduce_loop<double, op>                                                                              \
  }
        ORTOLAN_REDUCTIONS(ReduceOp::kSum),
        ORTOLAN_REDUCTIONS(ReduceOp::kSumSquares),
        ORTOLAN_REDUCTIONS(ReduceOp::kSumAbs),
        ORTOLAN_REDUCTIONS(ReduceOp::kProduct),
        ORTOLAN_REDUCTIONS(ReduceOp::kMax),
        ORTOLAN_REDUCTIONS(ReduceOp::kMin),
#undef ORTOLAN_REDUCTIONS
    },
    {nullptr, find_loop<uint8_t>, find_loop<uint8_t>, find_loop<uint16_t>, find_loop<uint16_t>, find_loop<uint32_t>,
     find_loop<uint32_t>, find_loop<uint64_t>, find_loop<uint64_t>, find_loop<float>, find_loop<double>},
    word_product<uint32_t>,
    word_product<uint64_t>,
    subtract_product<float>,
    subtract_product<double>,
    add_rows,
};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
