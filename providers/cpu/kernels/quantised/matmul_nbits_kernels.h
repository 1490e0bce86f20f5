// What one instruction set provides for products with narrow weights. Internal to the kernels.
#pragma once

#include <cstdint>

#include "base/isa/isa_level.h"
#include "cpu/kernels/products/split_f32_kernels.h"

namespace ortolan::cpu::kernels {

/**
 * Weights in panels of `lanes` columns. A panel is `groups` rows of one 32-bit word a column; the word of group g holds
 * elements g*G to g*G + G-1 of its column, G = 32 / bits: element i at bit 8*(i%4) + bits*(i/4). Scales and zeros are
 * [panel][block][lanes]; zeros are less 2^(bits-1), and one of the two kinds, or neither, is there.
 */
struct NBitsPanels {
  int bits;
  const int32_t* words;
  int64_t groups;
  const float* scales;
  const int8_t* zeros;
  const float* zero_values;
  int64_t blocks, block;
  const float* table;  // of 16 values, already repeated where bits is 2
  bool has_table;      // else the table is q - 2^(bits-1)
};

/** Rows of A in bytes: `stride` bytes apart, zero beyond K. The
 * others have `blocks` values a row. */
struct NBitsBytes {
  const int8_t* bytes;
  int64_t stride;
  const float* scales;
  const int32_t* start;     // -2^(bits-1) times the sum of the block's bytes
  const int32_t* less_sum;  // less that sum, in 16 bits
};

/** Where results go: `columns` of them in each row. */
struct NBitsResult {
  float* c;
  int64_t ldc;
  int64_t columns;
  const float* bias;  // nullptr, or one value a column
};

/** Whether bytes may stand for a block whose largest magnitude has these bits: infinities and NaN have none, and the
    scale of the smallest blocks would be denormal. */
inline constexpr bool fits_bytes(int32_t magnitude) {
  constexpr int32_t kInfinity = 0x7f800000, kLeast = (127 - 119) << 23;  // 2^-119 / 127 is normal
  return magnitude == 0 || (magnitude >= kLeast && magnitude < kInfinity);
}

struct NBitsKernels {
  base::IsaLevel isa;
  int lanes;
  int row_panels;   // panels that multiply_row takes at most, and multiply_bytes for one row
  int byte_panels;  // panels that multiply_bytes takes at most for more rows
  int byte_rows;    // rows that it takes best

  /** One row of A, readable up to 16 elements of K; sums: of each block of it. */
  void (*multiply_row)(const NBitsPanels& b, int64_t panel, int panels, const float* a, const float* sums,
                       const NBitsResult& result);
  /** Rows k to k + count - 1 (k a multiple of 16) of one panel as floats, `step` apart. */
  void (*dequantize)(const NBitsPanels& b, int64_t panel, int64_t k, int64_t count, float* rows, int64_t step);
  /** `rows` rows of A; blocks of at most 256 elements, no zero_values. nullptr where there is no instruction for it. */
  void (*multiply_bytes)(const NBitsPanels& b, int64_t panel, int panels, const NBitsBytes& a, int64_t rows,
                         const NBitsResult& result);
  /** One row of A to bytes: `padded` of them, of which k are not zero, and a scale and sum for each block. False where
      a block does not fit; it becomes zeros. */
  bool (*quantize_row)(const float* a, int64_t k, int64_t padded, int64_t block, int8_t* bytes, float* scales,
                       int32_t* sums);
};

constexpr int kNBitsTilePanels = 2;      // at once, at most
constexpr int64_t kNBitsTileRows = 16;   // of A in a tile
constexpr int64_t kNBitsTileStep = 64;   // elements of a row of it, at most
constexpr int64_t kNBitsTilePart = 512;  // elements of K that are bytes at a time
/** Of the bytes of that part, with as much as a tile reads beyond it. */
constexpr int64_t kNBitsTileBytes = (kNBitsTilePanels * kNBitsTilePart + kNBitsTileStep) * 16;

/** Scratch for so many rows of A. */
inline constexpr int64_t nbits_tile_scratch(int64_t rows) {
  return kNBitsTileBytes + (rows + kNBitsTileRows - 1) / kNBitsTileRows * kNBitsTileRows * kNBitsTilePanels * 64;
}

/** Rows of A in bytes as tiles take them: up to a multiple of kNBitsTileRows; the values of 16 rows' blocks are
    [block][row]. */
struct NBitsTileRows {
  const int8_t* bytes;
  int64_t stride;
  const float* scales;
  const float* less_sums;  // less the sum of the block's bytes
};

/** Rows of A in three slices, as SplitF32Kernels::split_rows writes blocks of them, for elements [first, first + k) of
   K: a part of at most kSplitLongest that begins at a multiple of it. */
struct NBitsSlicedRows {
  const char* tiles;
  int64_t block_bytes;
  const SplitRange* ranges;
  int64_t rows;
  int64_t first, k;
};

/** Of two panels' elements as bfloat16, and of sums. */
constexpr int64_t kNBitsSliceScratch = split_bytes(1, kSplitLongest) + 4 * kSplitRows * kSplitColumns * 4;

struct NBitsSliceKernels {
  /** Adds a part of the product to the result, or, where it is the first one, begins it. At most two panels of 2 or 4
      bits, no table and no zero_values; blocks of multiples of kSplitStep that kSplitLongest is a multiple of. Rows
     with Inf or NaN come out as anything. `scratch`: kNBitsSliceScratch bytes, aligned to 64. */
  void (*multiply)(const NBitsPanels& b, int64_t panel, int panels, const NBitsSlicedRows& a, const NBitsResult& result,
                   void* scratch);
};

struct NBitsTileKernels {
  /** The same as NBitsKernels::multiply_bytes, bit for bit. `scratch`: nbits_tile_scratch(rows) bytes, aligned to 64.
   */
  void (*multiply)(const NBitsPanels& b, int64_t panel, int panels, const NBitsTileRows& a, int64_t rows,
                   const NBitsResult& result, void* scratch);
};

}  // namespace ortolan::cpu::kernels
