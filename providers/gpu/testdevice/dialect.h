// The kernel dialect in C++ for the test device. K_VW is 1, 4 or 16, or 0 for a kernel without vectors; a file that
// includes kernels sets it first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "gpu/device/half_float.h"
#include "gpu/testdevice/checked_memory.h"
#include "gpu/testdevice/half_arithmetic.h"
#include "gpu/testdevice/matrix_units.h"
#include "gpu/testdevice/registry.h"

namespace ortolan::gpu::test {

using uint = unsigned;
using K_LONG = int64_t;
using K_ULONG = uint64_t;
using K_U8 = uint8_t;
using K_U16 = uint16_t;

struct int2 {
  int x, y;
};
struct float2 {
  float x, y;
};
struct uint4 {
  uint x, y, z, w;
};
struct float4 {
  float x, y, z, w;
};
template <int N>
struct Vector {
  static_assert(N > 0, "the build takes the kernel for one without vectors");
  float lanes[N];
};

#define K_DEFINE_OPERATOR(o)                                                                            \
  inline float4 operator o(float4 a, float4 b) { return {a.x o b.x, a.y o b.y, a.z o b.z, a.w o b.w}; } \
  inline float4 operator o(float4 a, float b) { return {a.x o b, a.y o b, a.z o b, a.w o b}; }          \
  template <int N>                                                                                      \
  Vector<N> operator o(Vector<N> a, const Vector<N>& b) {                                               \
    for (int i = 0; i < N; i++) a.lanes[i] = a.lanes[i] o b.lanes[i];                                   \
    return a;                                                                                           \
  }                                                                                                     \
  template <int N>                                                                                      \
  Vector<N> operator o(Vector<N> a, float b) {                                                          \
    for (int i = 0; i < N; i++) a.lanes[i] = a.lanes[i] o b;                                            \
    return a;                                                                                           \
  }
K_DEFINE_OPERATOR(+)
K_DEFINE_OPERATOR(-)
K_DEFINE_OPERATOR(*)
#undef K_DEFINE_OPERATOR

template <class To, class From>
To bits_of(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

#define K_DEFINE_FUNCTION(name, call) \
  inline float name(float a) { return call; }
K_DEFINE_FUNCTION(exp, std::exp(a))
K_DEFINE_FUNCTION(log, std::log(a))
K_DEFINE_FUNCTION(sqrt, std::sqrt(a))
K_DEFINE_FUNCTION(rsqrt, 1.0f / std::sqrt(a))
K_DEFINE_FUNCTION(fabs, std::fabs(a))
K_DEFINE_FUNCTION(floor, std::floor(a))
K_DEFINE_FUNCTION(ceil, std::ceil(a))
K_DEFINE_FUNCTION(sin, std::sin(a))
K_DEFINE_FUNCTION(cos, std::cos(a))
K_DEFINE_FUNCTION(tan, std::tan(a))
K_DEFINE_FUNCTION(asin, std::asin(a))
K_DEFINE_FUNCTION(acos, std::acos(a))
K_DEFINE_FUNCTION(atan, std::atan(a))
K_DEFINE_FUNCTION(sinh, std::sinh(a))
K_DEFINE_FUNCTION(cosh, std::cosh(a))
K_DEFINE_FUNCTION(asinh, std::asinh(a))
K_DEFINE_FUNCTION(acosh, std::acosh(a))
K_DEFINE_FUNCTION(atanh, std::atanh(a))
#define K_PREFETCH(x, i)
K_DEFINE_FUNCTION(K_RINT, std::nearbyint(a))
#undef K_DEFINE_FUNCTION
inline float fmax(float a, float b) { return std::fmax(a, b); }
inline float fmin(float a, float b) { return std::fmin(a, b); }
inline float pow(float a, float b) { return std::pow(a, b); }
inline int clamp(int v, int low, int high) { return std::clamp(v, low, high); }
using std::max;
using std::min;

inline float K_FMA(float a, float b, float c) { return std::fma(a, b, c); }
inline float4 K_FMA(float4 a, float4 b, float4 c) {
  return {std::fma(a.x, b.x, c.x), std::fma(a.y, b.y, c.y), std::fma(a.z, b.z, c.z), std::fma(a.w, b.w, c.w)};
}
template <int N>
Vector<N> fused_scaled(const Vector<N>& v, float s, Vector<N> sum) {
  for (int i = 0; i < N; i++) sum.lanes[i] = std::fma(v.lanes[i], s, sum.lanes[i]);
  return sum;
}
template <int N>
Vector<N> fmax(Vector<N> a, const Vector<N>& b) {
  for (int i = 0; i < N; i++) a.lanes[i] = std::fmax(a.lanes[i], b.lanes[i]);
  return a;
}
template <int N>
Vector<N> fmin(Vector<N> a, const Vector<N>& b) {
  for (int i = 0; i < N; i++) a.lanes[i] = std::fmin(a.lanes[i], b.lanes[i]);
  return a;
}
template <int N>
Vector<N> K_MAXV(Vector<N> v, const Vector<N>& w) {
  for (int i = 0; i < N; i++) v.lanes[i] = v.lanes[i] < w.lanes[i] ? w.lanes[i] : v.lanes[i];
  return v;
}
template <int N>
Vector<N> K_MINV(Vector<N> v, const Vector<N>& w) {
  for (int i = 0; i < N; i++) v.lanes[i] = v.lanes[i] > w.lanes[i] ? w.lanes[i] : v.lanes[i];
  return v;
}
template <int N>
Vector<N> vector_of(float s) {
  Vector<N> v;
  std::fill(v.lanes, v.lanes + N, s);
  return v;
}
template <int N, class Array>
Vector<N> load_vector(Array& array, long index) {
  Vector<N> v;
  for (int i = 0; i < N; i++) v.lanes[i] = array[index + i];
  return v;
}
template <int N, class Array>
Vector<N> load_codes(Array& array, long index, int shift, uint mask) {
  Vector<N> v;
  for (int i = 0; i < N; i++) v.lanes[i] = static_cast<float>((array[index + i] >> shift) & mask);
  return v;
}
template <int N, class Array>
Vector<N> load_second(Array& array, long index) {
  Vector<N> v;
  for (int i = 0; i < N; i++) v.lanes[i] = array[index + 2 * i];
  return v;
}
template <int N, class Array>
void store_in_turns(Array& array, long index, const Vector<N>& a, const Vector<N>& b) {
  for (int i = 0; i < N; i++) {
    array[index + 2 * i] = a.lanes[i];
    array[index + 2 * i + 1] = b.lanes[i];
  }
}
/** Lanes of 16-bit arithmetic. */
template <int N>
struct HalfVector {
  hs lanes[N];
};
template <int N>
HalfVector<N> half_vector_of(hs s) {
  HalfVector<N> v;
  std::fill(v.lanes, v.lanes + N, s);
  return v;
}
template <int N, class Array>
HalfVector<N> load_half_vector(Array& array, long index) {
  HalfVector<N> v;
  for (int i = 0; i < N; i++) v.lanes[i] = array[index + i];
  return v;
}
template <int N, class Array>
void store_vector(Array& array, long index, const HalfVector<N>& v) {
  for (int i = 0; i < N; i++) array[index + i] = v.lanes[i];
}
template <int N>
HalfVector<N> fused_scaled(const HalfVector<N>& v, hs s, HalfVector<N> sum) {
  for (int i = 0; i < N; i++) sum.lanes[i] = fused(v.lanes[i], s, sum.lanes[i]);
  return sum;
}
template <int N>
Vector<N> floats_of(const HalfVector<N>& v) {
  Vector<N> floats;
  for (int i = 0; i < N; i++) floats.lanes[i] = v.lanes[i].value;
  return floats;
}
template <int N, class Array>
void store_vector(Array& array, long index, const Vector<N>& v) {
  for (int i = 0; i < N; i++) array[index + i] = v.lanes[i];
}

inline float4 F4(float a, float b, float c, float d) { return {a, b, c, d}; }
inline float4 F4S(float s) { return {s, s, s, s}; }
inline int2 I2(int a, int b) { return {a, b}; }
inline float K_BITS_F(uint u) { return bits_of<float>(u); }
inline uint K_BITS_U(float f) { return bits_of<uint>(f); }

inline int K_DOT4(uint a, uint b, int sum) {
  for (int i = 0; i < 32; i += 8) sum += int(int8_t(a >> i)) * int(int8_t(b >> i));
  return sum;
}

}  // namespace ortolan::gpu::test

#define K_TEST_DEVICE 1
#define K_HAS_LONG 1
#define K_HAS_HALF 1
#define K_HAS_MATRIX_UNITS 1

#define K_PARAMS(F)     \
  struct K_ParamBlock { \
    F                   \
  };
#define K_FN(T) [[maybe_unused]] static inline T
#define K_KERNEL(kernel_name)                                                                           \
  struct Kernel {                                                                                       \
    static constexpr const char* k_name = #kernel_name;                                                 \
    Group& k_group;                                                                                     \
    K_ParamBlock P;                                                                                     \
    explicit Kernel(Group& group) : k_group(group) { std::memcpy(&P, group.launch->params, sizeof P); } \
    int WGX = k_group.launch->group_size[0], WGY = k_group.launch->group_size[1];
#define K_BUFFER(b, T, x, access) static inline RegisterBuffer k_register_##x{K_VW, k_name, {#x, b, sizeof(T), access}};
#define K_IN(b, T, x)              \
  K_BUFFER(b, T, x, Access::kRead) \
  InputArray<T> x{k_group, b, #x};
#define K_OUT(b, T, x)              \
  K_BUFFER(b, T, x, Access::kWrite) \
  OutputArray<T> x{k_group, b, #x};
#define K_IO(b, T, x)                   \
  K_BUFFER(b, T, x, Access::kReadWrite) \
  OutputArray<T> x{k_group, b, #x};
#define K_ATOM(b, T, x)              \
  K_BUFFER(b, T, x, Access::kAtomic) \
  OutputArray<T> x{k_group, b, #x, true};
#define K_VIEW(b, T, x4, x) InputArray<T> x4{k_group, b, #x4};
#define K_VIEW_OUT(b, T, y4, y) OutputArray<T> y4{k_group, b, #y4};
#define K_VIEW_IO(b, T, y4, y) OutputArray<T> y4{k_group, b, #y4};
#define K_CONST(id, name, def)                                                      \
  static inline RegisterConstant k_register_##name{K_VW, k_name, {#name, id, def}}; \
  int name = k_group.launch->constant(#name, def);
#define K_ARGS_END
#define K_SHARED(T, s, n) SharedArray<T> s{k_group, (n), #s};
#define K_MAIN ItemTask run(const Item& k_item) {
#define K_END \
  co_return;  \
  }           \
  }           \
  ;           \
  static RegisterKernel<Kernel> k_register(K_VW, Kernel::k_name, sizeof(K_ParamBlock));

#define K_PRIV(T, a, n) PrivateArray<T> a(k_group, (n), #a)
#define K_BARRIER() \
  co_await Barrier { __LINE__ }
#define K_UNROLL
#define K_PRECISE
#define K_LID(d) (k_item.local[d])
#define K_GRP(d) (k_group.position[d])
#define K_NGRP(d) (k_group.launch->groups[d])
#define K_GID(d) (k_group.position[d] * k_group.launch->group_size[d] + k_item.local[d])

#define K_F(x) (static_cast<float>(x))
#define K_I(x) (static_cast<int>(x))
#define K_U(x) (static_cast<uint>(x))
#define K_L(x) (static_cast<K_LONG>(x))
#define K_UL(x) (static_cast<K_ULONG>(x))
#define K_LONG_OF(lo, hi) \
  (static_cast<K_LONG>(static_cast<uint64_t>(static_cast<uint>(hi)) << 32 | static_cast<uint>(lo)))
#define K_LONG_LO(v) (static_cast<uint>(v))
#define K_LONG_HI(v) (static_cast<uint>(static_cast<uint64_t>(v) >> 32))
#define fv Vector<K_VW>
#define FVS(s) vector_of<K_VW>(s)
#define K_FMAS(v, s, acc) fused_scaled((v), (s), (acc))
#define K_LOADV(x, i) load_vector<K_VW>(x, i)
#define K_LOADV2(x, i) load_second<K_VW>(x, i)
#define K_STOREV2(y, i, a, b) store_in_turns<K_VW>(y, i, a, b)
#define K_STOREV(y, i, v) store_vector<K_VW>(y, i, v)
#define K_CODESV(x, i, shift, mask) load_codes<K_VW>(x, i, shift, mask)
#define K_LANE(v, i) ((v).lanes[i])
#define K_SET_LANE(v, i, s) (v).lanes[i] = (s)
#define K_ATOMIC_OR(x, i, v) atomic_or(x, i, v)
#define K_ATOMIC_ADD(x, i, v) atomic_add(x, i, v)
#define K_ATOMIC_MAX(x, i, v) atomic_max(x, i, v)
#define K_HALF_LO(u) from_half((u)&0xffffu)
#define K_HALF_HI(u) from_half((u) >> 16)
#define K_PACK_HALF(a, b) (to_half(a) | to_half(b) << 16)
#define K_HALF(h) from_half(h)
#define K_TO_HALF(f) (static_cast<K_U16>(to_half(f)))
#define hv HalfVector<K_VW>
#define K_HS(h) (hs{from_half(h)})
#define K_TO_HS(f) (rounded_to_half(f))
#define HVS(s) half_vector_of<K_VW>(s)
#define K_LOADHV(x, i) load_half_vector<K_VW>(x, i)
#define K_STOREHV(y, i, v) store_vector<K_VW>(y, i, v)
#define K_FMAHS(v, s, acc) fused_scaled((v), (s), (acc))
#define K_FV(v) floats_of(v)
// Four words that lie together, at a multiple of four.
#define K_STOREQ(y, i, a, b, c, d) \
  (y)[(i)] = (a);                  \
  (y)[(i) + 1] = (b);              \
  (y)[(i) + 2] = (c);              \
  (y)[(i) + 3] = (d)
#define K_TF32(f) rounded_to_tf32(f)
#define K_UNIT_MULTIPLY(sums, s, a, i, b, j, kind)           \
  offer_factors(k_group, k_item.number, (a), (i), (b), (j)); \
  co_await Barrier{__LINE__, true};                          \
  multiply_factors(k_group, k_item.number, (sums), (s), (kind))
#define K_UNIT_MULTIPLY_BYTES(sums, s, a, i, b, j)           \
  offer_factors(k_group, k_item.number, (a), (i), (b), (j)); \
  co_await Barrier{__LINE__, true};                          \
  multiply_bytes(k_group, k_item.number, (sums), (s))
#define K_TO_U8(x) (static_cast<K_U8>(x))
#define K_TO_U16(x) (static_cast<K_U16>(x))
#define K_OP_ADD(a, b) ((a) + (b))
#define K_OP_MAX(a, b) k_max((a), (b))
#define K_OP_MIN(a, b) k_min((a), (b))
#define K_OP_MUL(a, b) ((a) * (b))
// Two floats that lie together, loaded at once.
#define K_PAIR float2
#define K_PAIR_LO(p) ((p).x)
#define K_PAIR_HI(p) ((p).y)
// A value of each item of a group of one row, for all, by way of `room`, which has WGX floats.
#define K_SHARE(room, v) \
  room[K_LID(0)] = (v);  \
  K_BARRIER()
#define K_SHARED_BY(room, v, item) room[item]
#define K_SHARE_END() K_BARRIER()
#define K_GROUP_REDUCE(OP, v, red)                                                     \
  red[K_LID(0)] = v;                                                                   \
  K_BARRIER();                                                                         \
  for (int k_s = WGX / 2; k_s > 0; k_s >>= 1) {                                        \
    if (K_LID(0) < k_s) red[K_LID(0)] = K_OP_##OP(red[K_LID(0)], red[K_LID(0) + k_s]); \
    K_BARRIER();                                                                       \
  }                                                                                    \
  v = red[0];                                                                          \
  K_BARRIER();
