// Exact 3x3 convolution of bytes with stride 1 by Winograd's transforms (Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks", 2016) in whole numbers of 16 bits: F(2x2, 3x3) and F(4x4, 3x3).
//
// The transforms of weights are taken times their denominators, so all that is multiplied is whole and fits 16 bits,
// and what comes back from the sums of products is a known multiple of each output, 2^n or 9*2^n. Sums wrap at 32 bits:
// they are right modulo 2^32, and so is their product with the inverse of 9, of which a shift by n leaves the output
// itself, as long as that has at most 32 - n bits. Internal to the kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/convolution_int8/conv_int8.h"
#include "cpu/kernels/convolution_int8/depthwise_int8.h"
#include "cpu/kernels/quantised/gemm_int8_kernels.h"

namespace ortolan::cpu::kernels {

/** Where one tile lies: its first word in a plane of words, its first output in a plane of outputs, and how many rows
    and columns of outputs it has there. */
struct TilePlace {
  int64_t in, out;
  int32_t rows, columns;
};

/** The tiles of one panel; places of whole vectors, those past the last tile have no outputs. */
struct PanelTiles {
  const TilePlace* places;
  int64_t columns;
  int64_t width;     // of the panel
  int64_t step;      // from one position's part of what belongs to the panel to the next one's
  const bool* rows;  // of each vector: whether its tiles are whole and follow each other in one row
};

/** v[position*step + plane*width + column]: the tiles of planes of words, transformed; positions row by row. */
struct WordTiles {
  const int32_t* x;
  int64_t planes, plane, row;  // how many, words from one to the next, words from one of its rows to the next
  int32_t* v;
};

/** Products (laid out like v, a line for each output channel) become outputs. */
struct TileSums {
  const int32_t* m;
  int64_t channels;
  const int32_t* add;          // to each channel's sums
  const int32_t* times;        // times the sums of the windows, which are taken away; where window_sums is not nullptr
  const int32_t* window_sums;  // what to_windows() wrote of this panel
  const float* scale;          // one value, or one a channel; nullptr: y holds the sums themselves
  bool scale_per_channel;
  int32_t y_zero;
  bool y_signed;
  int64_t row, plane;  // elements of y from one to the next
  void* y;             // the first channel's plane
};

struct WinogradInt16Transforms {
  void (*input)(const WordTiles& words, const PanelTiles& tiles);
  void (*output)(const TileSums& sums, const PanelTiles& tiles);
  /** The outputs of one line of products, for each vector of tiles those of one place after the other. */
  void (*to_windows)(const int32_t* m, const PanelTiles& tiles, int32_t* to);
};
struct WinogradInt16Kernels {
  WinogradInt16Transforms of_outputs[2];  // two and four on a side
};

/** Outputs of a tile on a side, where a convolution is better done this way: 2 or 4, else 0. `positions` are the
   outputs of a channel in one image, 0 where they are not known. */
int winograd_int16_outputs(const ConvGeometry& geometry, const GemmInt8Kernels& kernels, int64_t positions);

/** Transformed weights: a matrix for each position, whose lines are output channels and, last, what sums windows. Bytes
    without a sign count less 128. */
class WinogradInt16Weights {
 public:
  WinogradInt16Weights() = default;
  /** Of tiles of at most so many outputs on a side; empty where sums would have too many bits. */
  WinogradInt16Weights(const ConvGeometry& geometry, const GemmInt8Kernels& kernels, const uint8_t* weights,
                       bool is_signed, int most_outputs);

  bool empty() const { return outputs_ == 0; }
  int64_t bytes() const { return static_cast<int64_t>(data_.bytes()); }
  const GemmInt8Kernels& kernels() const { return *kernels_; }
  int outputs() const { return outputs_; }
  int side() const { return outputs_ + 2; }
  int positions() const { return side() * side(); }
  int32_t shift() const { return shift_; }
  int64_t words() const { return words_; }
  const int32_t* matrix(int position) const { return data_.as<int32_t>() + position * (channels_ + 1) * words_; }
  const int32_t* row_sums() const { return matrix(positions()); }

 private:
  void fill(const ConvGeometry& geometry, const uint8_t* weights, bool is_signed);

  const GemmInt8Kernels* kernels_ = nullptr;
  int outputs_ = 0;
  int32_t shift_ = 0;  // added to each weight
  int64_t channels_ = 0, words_ = 0;
  AlignedBuffer data_;
};

/** The convolution's sums, or where `after` is not nullptr the bytes that they become. `w_zeros` of all channels. */
void conv_winograd_int16(base::ThreadPool* pool, const ConvGeometry& geometry, const ConvInt8& operands,
                         const std::vector<int32_t>& w_zeros, const WinogradInt16Weights& weights,
                         const Requantization* after, void* y);

}  // namespace ortolan::cpu::kernels
