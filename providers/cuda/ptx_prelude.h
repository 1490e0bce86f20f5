// What NVRTC knows without headers, for clang, which compiles the kernel dialect to PTX when the library is built.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define K_BUILTIN static __device__ __forceinline__

struct __align__(8) int2 {
  int x, y;
};
struct __align__(8) float2 {
  float x, y;
};
struct __align__(16) float4 {
  float x, y, z, w;
};
struct __align__(16) uint4 {
  unsigned x, y, z, w;
};
K_BUILTIN int2 make_int2(int x, int y) { return {x, y}; }
K_BUILTIN float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
K_BUILTIN uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

// A special register of three numbers.
#define K_REGISTER(name, ptx)                                                                      \
  struct k_##ptx {                                                                                 \
    __declspec(property(get = get_x)) unsigned x;                                                  \
    __declspec(property(get = get_y)) unsigned y;                                                  \
    __declspec(property(get = get_z)) unsigned z;                                                  \
    __device__ __forceinline__ unsigned get_x() const { return __nvvm_read_ptx_sreg_##ptx##_x(); } \
    __device__ __forceinline__ unsigned get_y() const { return __nvvm_read_ptx_sreg_##ptx##_y(); } \
    __device__ __forceinline__ unsigned get_z() const { return __nvvm_read_ptx_sreg_##ptx##_z(); } \
  };                                                                                               \
  extern const __device__ __attribute__((weak)) k_##ptx name;
K_REGISTER(threadIdx, tid)
K_REGISTER(blockIdx, ctaid)
K_REGISTER(gridDim, nctaid)

K_BUILTIN unsigned __float_as_uint(float f) { return __builtin_bit_cast(unsigned, f); }
K_BUILTIN float __uint_as_float(unsigned u) { return __builtin_bit_cast(float, u); }
K_BUILTIN int __dp4a(int a, int b, int sum) {
  int r;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(sum));
  return r;
}
K_BUILTIN unsigned atomicOr(unsigned* p, unsigned v) { return __nvvm_atom_or_gen_i((int*)p, v); }
K_BUILTIN int atomicAdd(int* p, int v) { return __nvvm_atom_add_gen_i(p, v); }
K_BUILTIN unsigned atomicAdd(unsigned* p, unsigned v) { return __nvvm_atom_add_gen_i((int*)p, v); }
K_BUILTIN int atomicMax(int* p, int v) { return __nvvm_atom_max_gen_i(p, v); }
K_BUILTIN unsigned atomicMax(unsigned* p, unsigned v) { return __nvvm_atom_max_gen_ui(p, v); }

K_BUILTIN int abs(int v) { return v < 0 ? -v : v; }
#define K_ORDER(T)                                    \
  K_BUILTIN T min(T a, T b) { return b < a ? b : a; } \
  K_BUILTIN T max(T a, T b) { return a < b ? b : a; }
K_ORDER(int)
K_ORDER(unsigned) K_ORDER(long long) K_ORDER(unsigned long long) K_BUILTIN float fmaf(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
K_BUILTIN float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
K_BUILTIN float fminf(float a, float b) { return __builtin_fminf(a, b); }
K_BUILTIN float fmax(float a, float b) { return __builtin_fmaxf(a, b); }
K_BUILTIN float fmin(float a, float b) { return __builtin_fminf(a, b); }
K_BUILTIN float max(float a, float b) { return __builtin_fmaxf(a, b); }
K_BUILTIN float min(float a, float b) { return __builtin_fminf(a, b); }
K_BUILTIN float fabs(float a) { return __builtin_fabsf(a); }
K_BUILTIN float floor(float a) { return __builtin_floorf(a); }
K_BUILTIN float ceil(float a) { return __builtin_ceilf(a); }
K_BUILTIN float trunc(float a) { return __builtin_truncf(a); }
K_BUILTIN float rintf(float a) { return __builtin_rintf(a); }
K_BUILTIN float sqrt(float a) { return __nvvm_sqrt_rn_f(a); }
K_BUILTIN float rsqrtf(float a) { return 1.0f / __nvvm_sqrt_rn_f(a); }
