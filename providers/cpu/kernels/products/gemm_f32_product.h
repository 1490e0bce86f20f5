// A product as it is handed to the ways of computing it: gemm_f32.cc with plain fp32 arithmetic, gemm_split_f32.cc with
// tiles. Internal to the kernels and their tests.
#pragma once

#include <cstdint>

#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/products/gemm_division.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/kernels/products/gemm_f32_kernels.h"

namespace ortolan::cpu::kernels {

struct PackedMatrix::Storage {
  AlignedBuffer buffer;
  PanelSplit split;
};

/** `count` elements of a packed matrix that has 16 bits of each. */
void widen(PackedElement element, const uint16_t* from, int64_t count, float* to);

struct GemmLeft {
  const float* data;
  int64_t stride;
};

// How B is given: packed panels one after the other; read in place, but for a narrow last panel, which `last` holds
// packed; or row-major (kRows), transposed (kColumns) or as `columns` write it (kWritten, on tiles only), to be packed
// block by block just before use.
enum class GemmRightForm : uint8_t { kPacked, kInPlace, kRows, kColumns, kWritten };

/** Writes parts of a right operand that exists in another form. */
class GemmColumns {
 public:
  virtual ~GemmColumns() = default;
  /** Rows [first, first + k) of columns [column, column + columns), rows `step` floats apart; up to a multiple of 16
      columns may be written. `first` and `column` are multiples of 32. */
  virtual void write(int64_t column, int64_t columns, int64_t first, int64_t k, float* rows, int64_t step) const = 0;
};

struct GemmRight {
  const float* data = nullptr;
  GemmRightForm form = GemmRightForm::kPacked;
  int64_t stride = 0;
  const float* last = nullptr;
  const GemmColumns* columns = nullptr;
  PackedElement element = PackedElement::kFloat;  // kPacked only: else `shorts` has them instead of `data`
  const uint16_t* shorts = nullptr;
};

struct GemmProduct {
  int64_t m, n, k;
  GemmLeft a;
  GemmRight b;
  float* c;
  int64_t ldc;
  const Epilogue& epilogue;
  const GemmF32Kernels& kernels;
  PanelOrder order = PanelOrder::kForward;
};

/** A product whose operands lie as the caller has them. */
struct PlainProduct {
  int64_t m, n, k;
  const float* a;
  int64_t lda;
  bool trans_a;
  const float* b;
  int64_t ldb;
  bool trans_b;
  float* c;
  int64_t ldc;
};

/** Computes it as a part of a product of `all_rows` rows; `chosen` kernels, or the best of the machine. */
void multiply_plain(base::ThreadPool* pool, const PlainProduct& product, const Epilogue& epilogue,
                    const GemmF32Kernels* chosen, int64_t all_rows);

ProductTiles tiles_of(const GemmF32Kernels& kernels);

GemmRight packed_right(const PackedMatrix& b);

/** What is added to the last block of the sums at (row, column) of the result, and the clamp, if it is one. */
void set_finish(const Epilogue& epilogue, int64_t row, int64_t column, GemmFinish& finish);

/** Slices of the operands of a product of that size on tiles; 0: plain arithmetic is asked for, faster or all there is.
 */
int gemm_slices(int64_t m, int64_t n, int64_t k) noexcept;

/** Computes the product, a part of one of `all_rows` rows, on tiles; false, with nothing done, where plain arithmetic
   is asked for, faster or all there is. */
bool multiply_split(base::ThreadPool* pool, const GemmProduct& product, int64_t all_rows);

/** Computes the product on tiles, of 1 to 3 slices of each operand, where the table in use has them; the right operand
    is not kInPlace, and no size is 0. */
void multiply_on_tiles(base::ThreadPool* pool, const GemmProduct& product, int slices);

}  // namespace ortolan::cpu::kernels
