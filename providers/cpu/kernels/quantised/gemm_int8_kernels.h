// What one instruction set provides for products of bytes, and the operands as its kernels take them. Internal.
#pragma once

#include <cstdint>

#include "base/isa/isa_level.h"
#include "base/memory/packed_parts.h"
#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/division/panel_split.h"
#include "cpu/kernels/quantised/gemm_int8.h"

namespace ortolan::cpu::kernels {

/**
 * C[rows, columns] = A*B. Elements of k come in groups that fill 32 bits: four bytes (B signed, A unsigned unless
 * a_signed) or two 16-bit integers. A has `a_stride` bytes from row to row; B is one panel of `vectors` vectors of
 * groups. Kernels that fill up groups read A that far, too, where what they read does not matter.
 */
struct Int8Block {
  const uint8_t* a;
  int64_t a_stride;
  const int32_t* b;
  int32_t* c;
  int64_t ldc;
  int64_t rows, columns, groups;
  int64_t a_step = 4;              // bytes from one group to the next; kernels that fill up groups take 4 only
  const int32_t* start = nullptr;  // what the sums of each column begin with; nullptr: 0

  /** Where not nullptr, c holds floats: sums * scale + bias + residual. One scale and bias a column; bias and residual
      may be nullptr. */
  const float* scale = nullptr;
  const float* bias = nullptr;
  const float* residual = nullptr;
  int64_t residual_stride = 0;

  /** Memory that is read soon after this block; a kernel may fetch it meanwhile. */
  const void* next = nullptr;
  int64_t next_bytes = 0;

  bool a_signed = false;

  /** Where scale and this are not nullptr, c holds activation(floats); for kernels that say that they apply it. */
  void (*activation)(const float* x, float* y, int64_t n, float p0, float p1) = nullptr;
  float p0 = 0, p1 = 0;
};

/** Whole groups of rows of bytes, a panel's columns of them. */
struct PanelRows {
  const uint8_t* rows;
  int64_t stride;  // from one row to the next
  int64_t groups, columns;
  bool is_signed, flip;
};

struct GemmInt8Kernels {
  base::IsaLevel isa;
  int lanes, max_vectors, tile_rows;
  int group;  // elements of k in 32 bits: 4 or 2

  void (*block)(int vectors, const Int8Block& block);
  /** Makes the floats of a block, in place, from the sums that its c holds. */
  void (*to_floats)(const Int8Block& block);
  /**
   * One group of a panel from `group` rows of bytes: to[c] holds element c of each row, after `flip` is applied to the
   * bytes (xor 0x80) where group is 4, else widened as signed or unsigned. sums[c] grows by the elements' sum.
   */
  void (*pack_group)(const uint8_t* const* rows, int64_t columns, bool is_signed, bool flip, int32_t* to,
                     int32_t* sums);
  /** The same for groups of a panel of `vectors` vectors; columns that it has not are 0. */
  void (*pack_rows)(int vectors, const PanelRows& panel, int32_t* to, int32_t* sums);
  /** A row of A where group is 2: bytes become 16-bit integers; returns their sum. */
  int32_t (*widen_row)(const uint8_t* from, int64_t count, bool is_signed, int16_t* to);
  /** c[j] -= a_zero * adjusted[j] + row_sum * b_zero[j] */
  void (*correct_row)(int32_t* c, int64_t columns, int32_t a_zero, const int32_t* adjusted, int32_t row_sum,
                      const int32_t* b_zero);

  /**
   * Kernels of groups of four that add neighbours' products in 16 bits, which the products of some weights exceed.
   * Those weights are spread over two groups: the other halves lie in spare groups at the panel's end, behind which a
   * table says how many there are and to which groups they belong. Returns false where a panel has too few spare
   * groups.
   */
  bool (*spread_large)(int vectors, int64_t groups, int32_t* panel) = nullptr;
  const GemmInt8Kernels* of_weights = nullptr;  // such kernels, which may take a right operand that is packed for long

  /**
   * The same of kernels whose signed bytes are those of A and whose B has none. The other halves stand before their
   * row, downward from it: how many there are (at first 0), then for each its group and its word. Returns false where a
   * row has too many.
   */
  bool (*spread_row)(int64_t groups, int32_t* row) = nullptr;
  const GemmInt8Kernels* of_rows = nullptr;  // such kernels, which may take a left operand that is packed for long

  bool signed_left = false;  // bytes of A are signed, those of B too

  /**
   * Kernels that multiply two rows by two columns at once, eight elements of k. Rows of A are a copy, in which eight
   * bytes of one row alternate with eight of the next. A panel's groups come in twos; once they are there, this puts
   * both words of a column side by side.
   */
  void (*pair_columns)(int vectors, int64_t groups, int32_t* panel) = nullptr;

  /** Of both kinds: slower ones for weights that do not suit these; nullptr: those that take any weights. */
  const GemmInt8Kernels* simpler = nullptr;

  int64_t filled = 1;  // panels have a multiple of so many groups, the last of them zeros

  /** Kernels with tiles only. */
  bool a_signs = false;                      // A may be signed
  bool activates = false;                    // blocks apply activations
  void (*begin)() = nullptr;                 // called before blocks, on their thread
  void (*end)() = nullptr;                   // and after them
  const GemmInt8Kernels* vectors = nullptr;  // the kernels without tiles, which take the same panels

  /** Added to elements of A and taken from elements of B, so that they fit the kernel's types. */
  int32_t a_shift(bool is_signed) const {
    if (spread_row != nullptr || signed_left) return is_signed ? 0 : -128;
    return group == 4 && is_signed && !a_signs ? 128 : 0;
  }
  int32_t b_shift(bool is_signed) const {
    if (spread_row != nullptr) return is_signed ? -128 : 0;
    return group == 4 && !is_signed ? 128 : 0;
  }
  int64_t groups(int64_t k) const { return (k + group * filled - 1) / (group * filled) * filled; }
  /** The same with what lies behind them in a panel. */
  int64_t panel_groups(int64_t k) const {
    const int64_t count = groups(k);
    return spread_large == nullptr ? count : count + spare_groups(count) + table_groups(count, lanes);
  }
  /** Rows of A that are packed together. */
  int64_t rows_together() const { return pair_columns != nullptr ? 2 : 1; }
  /** Words before a row of A. */
  int64_t head_words(int64_t k) const { return spread_row == nullptr ? 0 : 1 + 2 * spare_words(groups(k)); }
  static constexpr int64_t spare_words(int64_t groups) { return groups / 8 + 1; }
  static constexpr int64_t spare_groups(int64_t groups) { return groups / 4 + 1; }
  static constexpr int64_t table_groups(int64_t groups, int64_t lanes) { return spare_groups(groups) / lanes + 1; }
  const GemmInt8Kernels& without_tiles() const { return vectors != nullptr ? *vectors : *this; }
};

/** While it lives, blocks may run on this thread. */
class Int8Blocks {
 public:
  explicit Int8Blocks(const GemmInt8Kernels& kernels) : kernels_(kernels) {
    if (kernels_.begin != nullptr) kernels_.begin();
  }
  ~Int8Blocks() {
    if (kernels_.end != nullptr) kernels_.end();
  }
  Int8Blocks(const Int8Blocks&) = delete;
  Int8Blocks& operator=(const Int8Blocks&) = delete;

 private:
  const GemmInt8Kernels& kernels_;
};

constexpr int64_t kMostColumns = 64;  // of a panel

struct PackedMatrixInt8::Storage {
  const GemmInt8Kernels* kernels;
  int64_t k, n;
  int32_t shift;   // taken from every element
  bool is_signed;  // of the bytes it was made from
  AlignedBuffer data, sums;

  PanelSplit split() const { return PanelSplit(n, *kernels); }
  const int32_t* column_sums() const { return sums.as<int32_t>(); }
};

inline int32_t byte_at(const void* data, int64_t i, bool is_signed) {
  return is_signed ? static_cast<const int8_t*>(data)[i] : static_cast<const uint8_t*>(data)[i];
}

/** Packs one panel of B and adds the sums of its columns to `sums`. */
void pack_panel(const GemmInt8Kernels& kernels, const PanelSplit& split, int64_t panel, int64_t k, const ByteMatrix& b,
                int32_t* packed, int32_t* sums);

/** Packs all panels of B, side by side, and sets the sums of all columns, those past the last one among them. False
    where the kernels' products are of weights that these do not suit. */
bool pack_panels(base::ThreadPool* pool, const GemmInt8Kernels& kernels, const PanelSplit& split, int64_t k,
                 const ByteMatrix& b, int32_t* packed, int32_t* sums);

/** The left operand as kernels take it, with its row sums (after the shift). */
struct LeftInt8 {
  const uint8_t* data;
  int64_t stride;  // bytes
  const int32_t* row_sums;
  int32_t shift;
};

/** Bytes of one row of a left operand with what lies before it, and of the copy that holds `rows` of them with their
    sums. */
int64_t left_row_bytes(const GemmInt8Kernels& kernels, int64_t k);
int64_t left_bytes(const GemmInt8Kernels& kernels, int64_t rows, int64_t k);
/** What such a copy at `copy` is. */
LeftInt8 left_at(const GemmInt8Kernels& kernels, int64_t rows, int64_t k, bool is_signed, const void* copy);
/** Ends the packing of at most rows_together() rows, of which the first is at `to`. */
void join_left_rows(const GemmInt8Kernels& kernels, int64_t k, int64_t rows, uint8_t* to);
/** A row with what lies before it; false where the kernels' products are of weights that these do not suit. */
bool pack_left_row(const GemmInt8Kernels& kernels, int64_t k, const ByteMatrix& a, int64_t row, uint8_t* to,
                   int32_t* sum);
/** Writes that copy into `to`. */
LeftInt8 pack_left(base::ThreadPool* pool, const GemmInt8Kernels& kernels, int64_t rows, int64_t k, const ByteMatrix& a,
                   void* to);

/** Packs weights for the first kernels, from `best` to simpler ones, that they suit, or for `any`: `pack` packs for
   some and says whether the weights suit them. */
template <class Pack>
void pack_suitable(const GemmInt8Kernels* best, const GemmInt8Kernels& any, Pack&& pack) {
  constexpr uint8_t kMostKinds = 8;
  if (best != nullptr && base::parts_are_kept()) {
    for (uint8_t worse = base::kept_choice(kMostKinds); best != nullptr && worse > 0; --worse) best = best->simpler;
    pack(best != nullptr ? *best : any);
    return;
  }
  uint8_t worse = 0;
  const bool offered = best != nullptr;
  for (; best != nullptr && !pack(*best); best = best->simpler) ++worse;
  if (offered) base::note_choice(worse);
  if (best == nullptr) pack(any);
}

/** The zero points of a product as they apply after the shifts, any of them per row or per column. */
struct ShiftedZeros {
  const int32_t* a;  // one a row, or one for all
  bool a_per_row;
  const int32_t* b;  // one a column
};

/** Turns sums of shifted elements into sums of elements less their zero points. */
void correct_block(const GemmInt8Kernels& kernels, int64_t k, const ShiftedZeros& zeros, const int32_t* row_sums,
                   const int32_t* column_sums, int64_t rows, int64_t columns, int32_t* c, int64_t ldc);

}  // namespace ortolan::cpu::kernels
