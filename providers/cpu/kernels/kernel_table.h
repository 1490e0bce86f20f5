// The functions that exist once per instruction set, and the choice among them. Internal to the kernels and their
// tests.
#pragma once

#include <cstdint>
#include <span>

#include "base/isa/isa_level.h"
#include "cpu/kernels/elementwise/activation.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/rows/reduce_f32.h"

// The families of kernels, a row each: the type that holds its functions, its name in a table, and the object that
// every instruction set defines; and those that only tiles have.
// clang-format off
#define ORTOLAN_KERNEL_FAMILIES(row)                        \
  row(VectorF32Kernels, vector, kVectorF32)                 \
  row(RowF32Kernels, rows, kRowF32)                         \
  row(ConvertKernels, convert, kConvert)                    \
  row(GemmF32Kernels, gemm_f32, kGemmF32)                   \
  row(GemmF64Kernels, gemm_f64, kGemmF64)                   \
  row(GemmInt8Kernels, gemm_int8, kGemmInt8)                \
  row(NBitsKernels, nbits, kNBits)                          \
  row(ConvF32Kernels, conv_f32, kConvF32)                   \
  row(WinogradKernels, winograd, kWinograd)                 \
  row(WinogradInt16Kernels, winograd_int16, kWinogradInt16) \
  row(DepthwiseInt8Kernels, depthwise_int8, kDepthwiseInt8) \
  row(PoolKernels, pool, kPool)                             \
  row(MoveKernels, move, kMove)                             \
  row(RecurrentKernels, recurrent, kRecurrent)              \
  row(CastKernels, cast, kCast)                             \
  row(NumberKernels, numbers, kNumberLoops)                 \
  row(MathF64Kernels, math_f64, kMathF64)                   \
  row(BytesKernels, bytes, kBytes)                          \
  row(FourierKernels, fourier, kFourier)
#define ORTOLAN_TILE_FAMILIES(row)                   \
  row(SplitF32Kernels, split_f32, kSplitF32)         \
  row(SplitConvKernels, split_conv, kSplitConv)      \
  row(TileConvKernels, tile_conv, kTileConv)         \
  row(NBitsTileKernels, nbits_tiles, kNBitsTiles)    \
  row(NBitsSliceKernels, nbits_slices, kNBitsSlices)
// clang-format on

namespace ortolan::cpu::kernels {

#define ORTOLAN_DECLARE(type, name, object) struct type;
ORTOLAN_KERNEL_FAMILIES(ORTOLAN_DECLARE)
ORTOLAN_TILE_FAMILIES(ORTOLAN_DECLARE)
#undef ORTOLAN_DECLARE
struct ValueRange;  // convert.h

/** Contracts: vector_f32.h. */
struct VectorF32Kernels {
  using Unary = void (*)(const float* x, float* y, int64_t n, float p0, float p1);
  using Binary = void (*)(const float* a, const float* b, float* y, int64_t n);
  using BinaryVs = void (*)(const float* a, float b, float* y, int64_t n);
  using BinarySv = void (*)(float a, const float* b, float* y, int64_t n);
  Unary unary[static_cast<int>(UnaryOp::kCount)];
  Binary binary[static_cast<int>(BinaryOp::kCount)];
  BinaryVs binary_vs[static_cast<int>(BinaryOp::kCount)];
  BinarySv binary_sv[static_cast<int>(BinaryOp::kCount)];
  void (*scale_shift)(const float* x, float a, float b, float* y, int64_t n);
  void (*accumulate_scaled)(const float* x, float a, float* y, int64_t n);
  void (*multiply_add)(const float* a, const float* b, const float* c, float* y, int64_t n);
  void (*rotate_halves)(const float* x, const float* cosine, const float* sine, int64_t pairs, float* y);
  void (*rotate_pairs)(const float* x, const float* cosine, const float* sine, int64_t pairs, float* y);
  /** y = gelu(x) of rows of n values, ldx and ldy apart; y may be x. `range`, where not nullptr, comes to include y. */
  void (*gelu_rows)(const float* x, int64_t ldx, int64_t rows, int64_t n, float* y, int64_t ldy, ValueRange* range);
};

/** y = (x - mean) / sqrt(variance + epsilon) * scale + bias of rows of n > 0 values that lie side by side. Pointers but
    x and y may be nullptr; y may be x; `range` comes to include y. */
struct NormalizedRows {
  int64_t rows, n;
  const float* x;
  const float* scale;
  const float* bias;
  bool centred;  // else the mean counts as 0
  float epsilon;
  float* y;
  float* mean;
  float* inverse_std;
  ValueRange* range;
};

/** Rows of normalisation and reduction; contracts: reduce_f32.h and normalization_f32.h. */
struct RowF32Kernels {
  using Reduce = float (*)(const float* x, int64_t n);
  using ReduceColumns = void (*)(const float* x, int64_t axis, int64_t stride, int64_t columns, float* y);
  Reduce reduce[static_cast<int>(ReduceOp::kCount)];
  /** y[c] = reduction over a of x[a*stride + c]. */
  ReduceColumns reduce_columns[static_cast<int>(ReduceOp::kCount)];
  float (*dot)(const float* a, const float* b, int64_t n);
  void (*softmax_row)(const float* x, float scale, const float* mask, int64_t n, bool logarithm, float* y);
  float (*weigh_row)(float* x, int64_t n, float* maximum);
  void (*weigh_rows)(float* x, int64_t rows, int64_t n, const float* added, int64_t added_stride, float* maxima,
                     float* totals);
  void (*scale_rows)(const float* x, int64_t rows, int64_t n, const float* factors, float* y, int64_t stride,
                     ValueRange* range);
  /** Softmax over a of x[a*stride + c] for each of `columns`; y likewise; scratch holds 2*columns floats. */
  void (*softmax_columns)(const float* x, int64_t axis, int64_t stride, int64_t columns, bool logarithm, float* scratch,
                          float* y);
  /** y = x + a + b; a and b may be nullptr. */
  void (*add_rows)(const float* x, const float* a, const float* b, float* y, int64_t n);
  void (*moments)(const float* x, int64_t n, bool centred, float* mean, float* variance);
  void (*normalize_rows)(const NormalizedRows& rows);
  /** Contracts: recurrent_f32.h. */
  void (*weighted_rows)(const float* rows, int64_t count, int64_t columns, const float* weights, float* y);
  void (*update_state)(float* state, int64_t count, int64_t columns, const float* factors, const float* key,
                       const float* value, const float* query, float* y);
};

/**
 * y[j] = saturate(round_half_even((c[j] + bias) * scale) + zero_point); bias has one value a column, or is nullptr;
 * scale has one a column where per_column, else one. y is int8_t where is_signed, else uint8_t.
 */
using RequantizeRow = void (*)(const int32_t* c, int64_t n, const int32_t* bias, const float* scale, bool per_column,
                               int32_t zero_point, bool is_signed, void* y);

/**
 * Sums of a block of channels (rows) by positions (columns). The true sum is
 * c[i*ldc + j] + row_add[i] - row_factor[i]*column_sum[j]; the last term is missing where column_sum is nullptr.
 */
struct ChannelSums {
  int64_t rows, columns;
  const int32_t* c;
  int64_t ldc;
  const int32_t* row_add;
  const int32_t* row_factor;
  const int32_t* column_sum;
};

struct ConvertKernels {
  RequantizeRow requantize_row;
  void (*requantize_block)(const ChannelSums& sums, const float* scale, bool scale_per_row, int32_t zero_point,
                           bool is_signed, void* y, int64_t ldy);
  void (*half_to_float)(const uint16_t* x, float* y, int64_t n);
  void (*float_to_half)(const float* x, uint16_t* y, int64_t n);
  void (*quantize_u8)(const float* x, int64_t n, float scale, int32_t zero_point, uint8_t* y);
  void (*quantize_s8)(const float* x, int64_t n, float scale, int32_t zero_point, int8_t* y);
  void (*dequantize_u8)(const uint8_t* x, int64_t n, float scale, int32_t zero_point, float* y);
  void (*dequantize_s8)(const int8_t* x, int64_t n, float scale, int32_t zero_point, float* y);
  void (*quantize_u16)(const float* x, int64_t n, float scale, int32_t zero_point, uint16_t* y);
  void (*quantize_s16)(const float* x, int64_t n, float scale, int32_t zero_point, int16_t* y);
  void (*dequantize_u16)(const uint16_t* x, int64_t n, float scale, int32_t zero_point, float* y);
  void (*dequantize_s16)(const int16_t* x, int64_t n, float scale, int32_t zero_point, float* y);
  void (*dequantize_s32)(const int32_t* x, int64_t n, float scale, int32_t zero_point, float* y);
  void (*min_max)(const float* x, int64_t n, float* smallest, float* largest);
};

#define ORTOLAN_MEMBER(type, name, object) const type* name = nullptr;
/** The functions of one instruction set; those of tiles are nullptr where it has none. */
struct KernelTable {
  base::IsaLevel isa;
  ORTOLAN_KERNEL_FAMILIES(ORTOLAN_MEMBER)
  ORTOLAN_TILE_FAMILIES(ORTOLAN_MEMBER)
};
#undef ORTOLAN_MEMBER

/** A table for each level of this architecture, lowest first (isa/). */
std::span<const KernelTable> kernel_tables() noexcept;

/** The table in use: that of cpu_features().isa. */
const KernelTable& kernels() noexcept;

/** Makes `level`'s table the one in use; false, with nothing changed, where the processor lacks it. For tests. */
bool use_isa(base::IsaLevel level) noexcept;

}  // namespace ortolan::cpu::kernels
