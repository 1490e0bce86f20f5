// The kernel dialect in OpenCL C 1.2. Constants come as -DNAME=value, WGX, WGY and K_VW (1, 4, 8 or 16) among them.
#define K_OPENCL 1
#define K_HAS_LONG 1

#define K_PARAMS(F) typedef struct { F } K_ParamBlock;
#define K_FN(T) static T
#define K_KERNEL(name) __kernel __attribute__((reqd_work_group_size(WGX, WGY, 1))) void name(
#define K_IN(b, T, x) __global const T* restrict x,
#define K_OUT(b, T, x) __global T* restrict x,
#define K_IO(b, T, x) __global T* x,
#define K_ATOM(b, T, x) __global volatile T* x,
#define K_CONST(id, name, def)
#define K_ARGS_END const K_ParamBlock P) {
#define K_VIEW(b, T, x4, x) __global const T* x4 = (__global const T*)(x);
#define K_SHARED(T, s, n) __local T s[n];
#define K_MAIN
#define K_END }

#define K_PRIV(T, a, n) T a[n]
#define K_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define K_UNROLL _Pragma("unroll")
#define K_GID(d) ((int)get_global_id(d))
#define K_LID(d) ((int)get_local_id(d))
#define K_GRP(d) ((int)get_group_id(d))
#define K_NGRP(d) ((int)get_num_groups(d))

#define K_F(x) ((float)(x))
#define K_I(x) ((int)(x))
#define K_U(x) ((uint)(x))
#define K_L(x) ((long)(x))
#define K_LONG long
#define K_LONG_OF(lo, hi) ((long)(((ulong)(uint)(hi) << 32) | (uint)(lo)))
#define K_LONG_LO(v) ((uint)(v))
#define K_LONG_HI(v) ((uint)((ulong)(v) >> 32))
#define F4(a, b, c, d) ((float4)((a), (b), (c), (d)))
#define F4S(s) ((float4)(s))
#define I2(a, b) ((int2)((a), (b)))
#define K_BITS_F(u) as_float((uint)(u))
#define K_BITS_U(f) as_uint((float)(f))
#define K_RINT(x) rint(x)

// One expression: it is fused where that is fast, as FP_CONTRACT is on. PoCL's mad() is a multiply and an add.
#define K_FMA(a, b, c) ((a) * (b) + (c))
#define K_FMAS(v, s, acc) ((v) * (fv)(s) + (acc))
#if K_VW == 16
typedef float16 fv;
#define K_LOADV(x, i) vload16(0, (x) + (i))
#define K_STOREV(y, i, v) vstore16((v), 0, (y) + (i))
#elif K_VW == 8
typedef float8 fv;
#define K_LOADV(x, i) vload8(0, (x) + (i))
#define K_STOREV(y, i, v) vstore8((v), 0, (y) + (i))
#elif K_VW == 4
typedef float4 fv;
#define K_LOADV(x, i) vload4(0, (x) + (i))
#define K_STOREV(y, i, v) vstore4((v), 0, (y) + (i))
#else
typedef float fv;
#define K_LOADV(x, i) (x)[i]
#define K_STOREV(y, i, v) (y)[i] = (v)
#endif
#define FVS(s) ((fv)(s))
#if K_VW == 1
#define K_LANE(v, i) (v)
#define K_SET_LANE(v, i, s) (v) = (s)
#else
#define K_LANE(v, i) ((v)[i])
#define K_SET_LANE(v, i, s) (v)[i] = (s)
#endif

#define K_ATOMIC_OR(x, i, v) atomic_or(&(x)[i], (v))
#define K_ATOMIC_ADD(x, i, v) atomic_add(&(x)[i], (v))

// Halves lie two to a uint: no cl_khr_fp16 is needed.
static float k_half(uint h) {
  ushort t = (ushort)h;
  return vload_half(0, (const half*)&t);
}
static uint k_pack_half(float a, float b) {
  uint r = 0;
  vstore_half_rte(a, 0, (half*)&r);
  vstore_half_rte(b, 1, (half*)&r);
  return r;
}
#define K_HALF_LO(u) k_half((u) & 0xffffu)
#define K_HALF_HI(u) k_half((u) >> 16)
#define K_PACK_HALF(a, b) k_pack_half((a), (b))

static int k_dot4(uint a, uint b, int c) {
  char4 x = as_char4(a), y = as_char4(b);
  return c + x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
}
#define K_DOT4(a, b, c) k_dot4((a), (b), (c))

// Over a group of one dimension, WGX a power of two; every item gets the result. A statement.
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
