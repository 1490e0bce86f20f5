#version 450
// The kernel dialect in GLSL 4.50 for Vulkan 1.1. Constants are specialisation constants; K_VW is 1 or 4.
#extension GL_EXT_control_flow_attributes : enable
#ifdef K_INT64
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#define K_HAS_LONG 1
#endif
#ifdef K_SUBGROUP
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif
#ifdef K_INT_DOT
#extension GL_EXT_spirv_intrinsics : require
#endif
#define K_GLSL 1
layout(local_size_x_id = 0, local_size_y_id = 1) in;
#define WGX int(gl_WorkGroupSize.x)
#define WGY int(gl_WorkGroupSize.y)
#define float4 vec4
#define int2 ivec2
#define uint4 uvec4

#define K_PARAMS(F) layout(push_constant) uniform K_ParamBlock { F } P;
#define K_FN(T) T
#define K_KERNEL(name)
#define K_IN(b, T, x) layout(std430, set = 0, binding = b) readonly buffer KB_##x { T x[]; };
#define K_OUT(b, T, x) layout(std430, set = 0, binding = b) writeonly buffer KB_##x { T x[]; };
#define K_IO(b, T, x) layout(std430, set = 0, binding = b) buffer KB_##x { T x[]; };
#define K_ATOM(b, T, x) layout(std430, set = 0, binding = b) coherent buffer KB_##x { T x[]; };
#define K_CONST(id, name, def) layout(constant_id = id) const int name = def;
#define K_ARGS_END
#define K_VIEW(b, T, x4, x) layout(std430, set = 0, binding = b) readonly buffer KB_##x4 { T x4[]; };
#define K_SHARED(T, s, n) shared T s[n];
#define K_MAIN void main() {
#define K_END }

#define K_PRIV(T, a, n) T a[n]
#define K_BARRIER() barrier()
#define K_UNROLL [[unroll]]
#define K_GID(d) int(gl_GlobalInvocationID[d])
#define K_LID(d) int(gl_LocalInvocationID[d])
#define K_GRP(d) int(gl_WorkGroupID[d])
#define K_NGRP(d) int(gl_NumWorkGroups[d])

#define K_F(x) float(x)
#define K_I(x) int(x)
#define K_U(x) uint(x)
#ifdef K_HAS_LONG
#define K_L(x) int64_t(x)
#define K_LONG int64_t
#define K_LONG_OF(lo, hi) packInt2x32(ivec2(int(lo), int(hi)))
#define K_LONG_LO(v) uint(unpackInt2x32(v).x)
#define K_LONG_HI(v) uint(unpackInt2x32(v).y)
#endif
#define F4(a, b, c, d) vec4(a, b, c, d)
#define F4S(s) vec4(s)
#define I2(a, b) ivec2(a, b)
#define K_BITS_F(u) uintBitsToFloat(u)
#define K_BITS_U(f) floatBitsToUint(f)
#define K_RINT(x) roundEven(x)
#define fmin min
#define fmax max
#define fabs abs
#define rsqrt inversesqrt

#define K_FMA(a, b, c) fma((a), (b), (c))
#define K_FMAS(v, s, acc) fma((v), fv(s), (acc))
#if K_VW == 4
#define fv vec4
#define K_LOADV(x, i) vec4((x)[i], (x)[(i) + 1], (x)[(i) + 2], (x)[(i) + 3])
#define K_STOREV(y, i, v)  \
  (y)[i] = (v).x;          \
  (y)[(i) + 1] = (v).y;    \
  (y)[(i) + 2] = (v).z;    \
  (y)[(i) + 3] = (v).w
#define K_LANE(v, i) ((v)[i])
#define K_SET_LANE(v, i, s) (v)[i] = (s)
#else
#define fv float
#define K_LOADV(x, i) (x)[i]
#define K_STOREV(y, i, v) (y)[i] = (v)
#define K_LANE(v, i) (v)
#define K_SET_LANE(v, i, s) (v) = (s)
#endif
#define FVS(s) fv(s)

#define K_ATOMIC_OR(x, i, v) atomicOr((x)[i], (v))
#define K_ATOMIC_ADD(x, i, v) atomicAdd((x)[i], (v))
#define K_HALF_LO(u) unpackHalf2x16(u).x
#define K_HALF_HI(u) unpackHalf2x16(u).y
#define K_PACK_HALF(a, b) packHalf2x16(vec2(a, b))

#ifdef K_INT_DOT  // OpSDotKHR: glslang 12 has no extension for it
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int k_sdot(uint a, uint b, spirv_literal int packed);
int k_dot4(uint a, uint b, int c) { return c + k_sdot(a, b, 0); }
#else
int k_dot4(uint a, uint b, int c) {
  for (int i = 0; i < 32; i += 8) c += bitfieldExtract(int(a), i, 8) * bitfieldExtract(int(b), i, 8);
  return c;
}
#endif
#define K_DOT4(a, b, c) k_dot4(a, b, c)

#define K_OP_ADD(a, b) ((a) + (b))
#define K_OP_MAX(a, b) k_max((a), (b))
#define K_OP_MIN(a, b) k_min((a), (b))
#define K_OP_MUL(a, b) ((a) * (b))
#ifdef K_SUBGROUP  // first within the subgroup, then over one value of each
#define K_SG_ADD subgroupAdd
#define K_SG_MAX subgroupMax
#define K_SG_MIN subgroupMin
#define K_SG_MUL subgroupMul
#define K_GROUP_REDUCE(OP, v, red)                                                      \
  v = K_SG_##OP(v);                                                                     \
  if (subgroupElect()) red[gl_SubgroupID] = v;                                          \
  barrier();                                                                            \
  v = red[0];                                                                           \
  for (int k_s = 1; k_s < int(gl_NumSubgroups); k_s++) v = K_OP_##OP(v, red[k_s]);      \
  barrier();
#else
#define K_GROUP_REDUCE(OP, v, red)                                                      \
  red[K_LID(0)] = v;                                                                    \
  K_BARRIER();                                                                          \
  for (int k_s = WGX / 2; k_s > 0; k_s >>= 1) {                                         \
    if (K_LID(0) < k_s) red[K_LID(0)] = K_OP_##OP(red[K_LID(0)], red[K_LID(0) + k_s]);  \
    K_BARRIER();                                                                        \
  }                                                                                     \
  v = red[0];                                                                           \
  K_BARRIER();
#endif
