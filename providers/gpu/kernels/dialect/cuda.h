// The kernel dialect in CUDA C++ for NVRTC, without headers. Constants come as -DNAME=value; K_VW is 1 or 4.
#define K_CUDA 1
#define K_HAS_LONG 1
typedef unsigned int uint;

#define K_PARAMS(F) struct K_ParamBlock { F };
#define K_FN(T) static __device__ __forceinline__ T
#define K_KERNEL(name) extern "C" __global__ void __launch_bounds__(WGX* WGY) name(
#define K_IN(b, T, x) const T* __restrict__ x,
#define K_OUT(b, T, x) T* __restrict__ x,
#define K_IO(b, T, x) T* x,
#define K_ATOM(b, T, x) T* x,
#define K_CONST(id, name, def)
#define K_ARGS_END const K_ParamBlock P) {
#define K_VIEW(b, T, x4, x) const T* __restrict__ x4 = (const T*)(x);
#define K_SHARED(T, s, n) __shared__ T s[n];
#define K_MAIN
#define K_END }

#define K_PRIV(T, a, n) T a[n]
#define K_BARRIER() __syncthreads()
#define K_UNROLL _Pragma("unroll")
template <int D> __device__ __forceinline__ int k_lid() { return D == 0 ? threadIdx.x : D == 1 ? threadIdx.y : threadIdx.z; }
template <int D> __device__ __forceinline__ int k_grp() { return D == 0 ? blockIdx.x : D == 1 ? blockIdx.y : blockIdx.z; }
template <int D> __device__ __forceinline__ int k_ngrp() { return D == 0 ? gridDim.x : D == 1 ? gridDim.y : gridDim.z; }
template <int D> __device__ __forceinline__ int k_size() { return D == 0 ? WGX : D == 1 ? WGY : 1; }
#define K_LID(d) k_lid<d>()
#define K_GRP(d) k_grp<d>()
#define K_NGRP(d) k_ngrp<d>()
#define K_GID(d) (k_grp<d>() * k_size<d>() + k_lid<d>())

#define K_F(x) ((float)(x))
#define K_I(x) ((int)(x))
#define K_U(x) ((uint)(x))
#define K_L(x) ((long long)(x))
#define K_LONG long long
#define K_LONG_OF(lo, hi) ((long long)(((unsigned long long)(uint)(hi) << 32) | (uint)(lo)))
#define K_LONG_LO(v) ((uint)(v))
#define K_LONG_HI(v) ((uint)((unsigned long long)(v) >> 32))
#define F4(a, b, c, d) make_float4((a), (b), (c), (d))
#define I2(a, b) make_int2((a), (b))
#define K_BITS_F(u) __uint_as_float(u)
#define K_BITS_U(f) __float_as_uint(f)
#define K_RINT(x) rintf(x)
__device__ __forceinline__ float4 F4S(float s) { return make_float4(s, s, s, s); }
#define K_OP4(o)                                                                       \
  __device__ __forceinline__ float4 operator o(float4 a, float4 b) {                   \
    return make_float4(a.x o b.x, a.y o b.y, a.z o b.z, a.w o b.w);                    \
  }                                                                                    \
  __device__ __forceinline__ float4 operator o(float4 a, float b) {                    \
    return make_float4(a.x o b, a.y o b, a.z o b, a.w o b);                            \
  }
K_OP4(+) K_OP4(-) K_OP4(*)
__device__ __forceinline__ float K_FMA(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ float4 K_FMA(float4 a, float4 b, float4 c) {
  return make_float4(fmaf(a.x, b.x, c.x), fmaf(a.y, b.y, c.y), fmaf(a.z, b.z, c.z), fmaf(a.w, b.w, c.w));
}
__device__ __forceinline__ float4 fmax(float4 a, float4 b) {
  return make_float4(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z), fmaxf(a.w, b.w));
}
__device__ __forceinline__ float4 fmin(float4 a, float4 b) {
  return make_float4(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z), fminf(a.w, b.w));
}
__device__ __forceinline__ int clamp(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }
#define rsqrt(x) rsqrtf(x)

#define K_FMAS(v, s, acc) K_FMA((v), FVS(s), (acc))
#if K_VW == 4
typedef float4 fv;
#define FVS(s) F4S(s)
#define K_LOADV(x, i) make_float4((x)[i], (x)[(i) + 1], (x)[(i) + 2], (x)[(i) + 3])
#define K_STOREV(y, i, v)  \
  (y)[i] = (v).x;          \
  (y)[(i) + 1] = (v).y;    \
  (y)[(i) + 2] = (v).z;    \
  (y)[(i) + 3] = (v).w
#define K_LANE(v, i) (((const float*)&(v))[i])
#define K_SET_LANE(v, i, s) ((float*)&(v))[i] = (s)
#else
typedef float fv;
#define FVS(s) ((float)(s))
#define K_LOADV(x, i) (x)[i]
#define K_STOREV(y, i, v) (y)[i] = (v)
#define K_LANE(v, i) (v)
#define K_SET_LANE(v, i, s) (v) = (s)
#endif

#define K_ATOMIC_OR(x, i, v) atomicOr(&(x)[i], (v))
#define K_ATOMIC_ADD(x, i, v) atomicAdd(&(x)[i], (v))
__device__ __forceinline__ float k_half(uint h) {
  float r;
  asm("{.reg .b16 t; cvt.u16.u32 t, %1; cvt.f32.f16 %0, t;}" : "=f"(r) : "r"(h));
  return r;
}
__device__ __forceinline__ uint k_pack_half(float a, float b) {
  uint r;
  asm("{.reg .b16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h};}" : "=r"(r) : "f"(a), "f"(b));
  return r;
}
#define K_HALF_LO(u) k_half((u) & 0xffffu)
#define K_HALF_HI(u) k_half((u) >> 16)
#define K_PACK_HALF(a, b) k_pack_half((a), (b))
#define K_DOT4(a, b, c) __dp4a((int)(a), (int)(b), (c))

#define K_OP_ADD(a, b) ((a) + (b))
#define K_OP_MAX(a, b) k_max((a), (b))
#define K_OP_MIN(a, b) k_min((a), (b))
#define K_OP_MUL(a, b) ((a) * (b))
#define K_GROUP_REDUCE(OP, v, red)                                                      \
  red[K_LID(0)] = v;                                                                    \
  K_BARRIER();                                                                          \
  for (int k_s = WGX / 2; k_s > 0; k_s >>= 1) {                                         \
    if (K_LID(0) < k_s) red[K_LID(0)] = K_OP_##OP(red[K_LID(0)], red[K_LID(0) + k_s]);  \
    K_BARRIER();                                                                        \
  }                                                                                     \
  v = red[0];                                                                           \
  K_BARRIER();
