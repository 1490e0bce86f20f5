// fp32 products on bfloat16 tiles, those of AMX or vectors of arm64. An operand is split into slices of 8 bits of its
// elements, highest first; three of them together are the operand exactly. Six products of slices, summed smallest
// first in blocks of kSplitLongest, are at least as exact as fp32 arithmetic; three or one are less exact and faster.
// Internal to the kernels.
#pragma once

#include <cstdint>

#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/products/gemm_f32_kernels.h"

namespace ortolan::cpu::kernels {

constexpr int64_t kSplitRows = 32;      // of A in a block
constexpr int64_t kSplitColumns = 32;   // of B in a block
constexpr int64_t kSplitStep = 32;      // k in a tile
constexpr int64_t kSplitLongest = 768;  // k in a block of the sums; results depend on it, so it is fixed

/** k-steps of a block; the last is filled up with zeros. */
inline constexpr int64_t split_steps(int64_t k) { return (k + kSplitStep - 1) / kSplitStep; }

/**
 * Bytes of the tiles of a block of rows or of columns, aligned to 64. On AMX they lie k-step after k-step; in it slice
 * after slice, the highest first; in it the two halves of 16 rows or columns, 1 KB each.
 */
inline constexpr int64_t split_bytes(int slices, int64_t k) { return split_steps(k) * slices * 2048; }

/**
 * How the rows (columns) of a block were changed so that no slice and no product of slices is denormal or infinite. One
 * whose largest magnitude is outside [2^-30, 2^30] is multiplied by a power of two, exactly. One that holds Inf or NaN
 * is multiplied in another way.
 */
struct SplitRange {
  bool scaled;          // an exponent is not 0
  uint32_t odd;         // bit i: row (column) i holds Inf or NaN
  float exponents[32];  // row (column) i was multiplied by 2^exponents[i]
};

/** Of so many slices, those that are not zero for elements of that kind. */
inline constexpr int slices_kept(PackedElement element, int slices) {
  const int most = element == PackedElement::kBfloat16 ? 1 : element == PackedElement::kHalf ? 2 : slices;
  return most < slices ? most : slices;
}

/** Up to kSplitRows rows of A, row-major, at any address; k at most kSplitLongest. */
struct RowSource {
  const float* data;
  int64_t stride;
  int64_t rows, k;
};

/**
 * Up to kSplitColumns columns of B: k rows of each half, `step` elements apart, at any address. half[0] has the first
 * 16 columns, half[1], which is not read where there are fewer than 17, the others. k at most kSplitLongest.
 */
struct ColumnSource {
  const void* half[2];  // of such elements
  int64_t step[2];
  int64_t k, columns;
  PackedElement element = PackedElement::kFloat;
  // Instead of halves, for vectors of four: where each four columns lie, in panels that are no multiple of 16 wide.
  const void* four[kSplitColumns / 4] = {};
  int64_t four_step[kSplitColumns / 4] = {};
};

/** One block of a product: `finish.rows` x `finish.columns`, neither more than 32. */
struct SplitBlock {
  int slices;     // 3: six products of slices, 2: three, 1: one
  int64_t steps;  // k-steps
  const void* a;
  const SplitRange* a_range;
  const void* b;
  const SplitRange* b_range;
  GemmFinish finish;
  /** Applied to each row of the finished block, or nullptr. */
  void (*activate)(const float* x, float* y, int64_t n, float p0, float p1) = nullptr;
  float p0 = 0, p1 = 0;
  PackedElement b_element = PackedElement::kFloat;  // what B's tiles were split from
};

/** Memory that the next blocks read, to be fetched into the second-level cache: two streams of cache lines. */
struct SplitPrefetch {
  const char* at[2] = {};
  int64_t step[2] = {};  // bytes
  int64_t lines = 0;     // left in each stream
  int64_t at_once = 1;   // lines with each product of two tiles
};

/** A sequence of blocks. Each is finished while the tiles of the next are multiplied. */
struct SplitSequence {
  float* sums;  // scratch: kSplitRows x kSplitColumns, aligned to 64 bytes
  SplitPrefetch prefetch;
  // Memory that is read after it, to be fetched likewise: so many bytes with each k-step of a sweep.
  const char* ahead = nullptr;
  int64_t ahead_bytes = 0;
  // The block to be finished, for the functions below.
  SplitBlock pending{};
  int64_t finished_rows = 0;
  bool scaled = false;
  float row_exponents[kSplitRows], column_exponents[kSplitColumns];
};

/** Products of two slices for each k-step, each of them four products of tiles; of B, the slices that are kept. */
inline constexpr int64_t split_products(int slices, int kept) { return kept * slices - kept * (kept - 1) / 2; }

/** Slices of each operand for the calling thread's base::fp32_precision(); 0: plain arithmetic is asked for, or all
   that the table in use has. */
int split_slices() noexcept;

/** What the work costs one core, in nanoseconds, as in division/work_cost.h. */
struct SplitCosts {
  double tile_product;  // 16 rows times 16 columns over kSplitStep of k
  double sums;          // the end of a block
  double split;         // an element
  double multiply;      // a multiplication and addition of plain arithmetic
};

constexpr SplitCosts kAmxCosts = {kTileProductNs, kTileSumsNs, 0.19, multiply_ns(16)};
/** By instructions counted: 12.2 multiplications each, where plain arithmetic comes to 3.7. */
constexpr SplitCosts kBfmmlaCosts = {113, 400, 0.3, multiply_ns(4)};

struct SplitF32Kernels {
  /** The thread's tiles from `begin` to `end` are this family's; no other functions that use tiles come between. */
  void (*begin)();
  void (*end)();
  /** Tiles of missing rows stay unwritten. */
  void (*split_rows)(int slices, const RowSource& source, void* tiles, SplitRange* range);
  /** Tiles hold the slices that are kept. */
  void (*split_columns)(int slices, const ColumnSource& source, void* tiles, SplitRange* range);
  /** What block.finish points at must stay as it is until the block is finished: with the next call, or `finish`. */
  void (*multiply)(SplitSequence& sequence, const SplitBlock& block);
  void (*finish)(SplitSequence& sequence);
  /** What products of 1, 2 and 3 slices are called in reports; nullptr: they are not computed here. */
  const char* names[3];
  SplitCosts costs;
};

/** Of an operand. */
inline int most_slices(const SplitF32Kernels& kernels) {
  return kernels.names[2] != nullptr ? 3 : kernels.names[1] != nullptr ? 2 : 1;
}

/** Tiles for the length of a C++ block. */
class SplitScope {
 public:
  explicit SplitScope(const SplitF32Kernels& kernels) : kernels_(kernels) { kernels_.begin(); }
  ~SplitScope() { kernels_.end(); }
  SplitScope(const SplitScope&) = delete;
  SplitScope& operator=(const SplitScope&) = delete;

 private:
  const SplitF32Kernels& kernels_;
};

}  // namespace ortolan::cpu::kernels
