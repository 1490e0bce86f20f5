// fp32 convolution on tiles: input planes are split into slices of 8 bits once, and the products of tiles read them
// where they lie, so that nothing is gathered. Internal to the kernels.
#pragma once

#include <cstdint>
#include <memory>

#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/convolution/conv_f32.h"

namespace ortolan::cpu::kernels {

/** Weights split into tiles: group after group, in it blocks of 32 rows, in them channel blocks, in them taps. */
struct SplitConvWeights {
  int slices;
  int64_t groups, group_rows, group_depth, taps;
  int64_t steps;          // of the sums
  int64_t steps_at_once;  // make one block of the sums
  AlignedBuffer tiles;

  int64_t row_blocks() const;
  int64_t row_block_bytes() const;
  const char* group(int64_t i) const { return tiles.as<char>() + i * row_blocks() * row_block_bytes(); }
};

/**
 * True where the instruction set in use has tiles and they are the fastest way to this many outputs of a channel, 0 if
 * that is not known. Reads channels, groups, kernel, stride and dilation. `slices`: 3 is at least as exact as fp32
 * arithmetic, 2 and 1 are less exact and faster, 0 means that tiles may not be used.
 */
bool suits_split_conv(const ConvGeometry& geometry, int64_t positions, int slices);

/** nullptr where weights are so large or small that slices of them or their products would not be exact. */
std::unique_ptr<SplitConvWeights> pack_split_conv(base::ThreadPool* pool, const ConvGeometry& geometry,
                                                  const float* weights, int slices);

/** A group's weights as they came. */
void unpack_split_conv(const SplitConvWeights& weights, int64_t group, float* to);

/** Inputs out of the tiles' range are convolved in fp32 arithmetic, a group of an image at a time. */
void conv_split(base::ThreadPool* pool, const ConvGeometry& geometry, const float* x, const SplitConvWeights& weights,
                const ConvEpilogue& epilogue, float* y);

}  // namespace ortolan::cpu::kernels
