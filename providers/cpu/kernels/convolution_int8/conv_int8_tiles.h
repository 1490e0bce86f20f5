// Convolution of bytes in tiles of 16 rows of 64 bytes: weights as left operands, the image itself as right ones.
// Internal to the kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "base/function_ref.h"
#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/convolution_int8/conv_int8.h"
#include "cpu/kernels/convolution_int8/conv_int8_kernels.h"
#include "cpu/kernels/kernel_table.h"

namespace ortolan::cpu::kernels {

/** Weights in tiles. The lines of a group are one word of channels at one tap each, the last ones nothing. */
class TileConvWeights {
 public:
  TileConvWeights() = default;
  TileConvWeights(const ConvGeometry& g, const uint8_t* weights, bool is_signed, const TileConvKernels& kernels);

  /** Whether convolutions with such weights are worth it. */
  static bool suit(const ConvGeometry& g);

  bool empty() const { return data_.bytes() == 0; }
  int64_t bytes() const { return static_cast<int64_t>(data_.bytes()); }
  bool is_signed() const { return is_signed_; }
  const TileConvKernels& kernels() const { return *kernels_; }
  /** Lines are gathered where the image's own, 16 words of channels at each tap, would be many more. */
  bool gathered() const { return gathered_; }
  int64_t rows() const { return rows_; }
  int64_t depth() const { return depth_; }
  int64_t taps() const { return taps_; }
  int64_t words() const { return (depth_ + 3) / 4; }
  int64_t lines() const { return lines_; }
  int64_t row_tiles() const { return (rows_ + 15) / 16; }
  int64_t line(int64_t word, int64_t tap) const {
    return gathered_ ? word * taps_ + tap : (word / 16 * taps_ + tap) * 16 + word % 16;
  }
  /** The tiles of rows from 16*row_tile on, an even number. */
  const uint8_t* block(int64_t group, int64_t row_tile) const {
    return data_.as<uint8_t>() + (group * row_tiles() + row_tile) * lines_ * 64;
  }
  const int32_t* row_sums(int64_t group) const { return row_sums_.as<int32_t>() + group * rows_; }

 private:
  uint8_t* place(int64_t group, int64_t row, int64_t line);
  void pack_row(int64_t group, int64_t row, const uint8_t* weights);

  const TileConvKernels* kernels_ = nullptr;
  bool is_signed_ = false, gathered_ = false;
  int64_t rows_ = 0, depth_ = 0, taps_ = 0, lines_ = 0;
  AlignedBuffer data_, row_sums_;
};

/** Calls finish(plane, first position, sums) for blocks that together cover every output plane. */
using FinishSums = base::FunctionRef<void(int64_t plane, int64_t first, const ChannelSums& sums)>;
void conv_in_tiles(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
                   const TileConvWeights& weights, FinishSums finish);

}  // namespace ortolan::cpu::kernels
