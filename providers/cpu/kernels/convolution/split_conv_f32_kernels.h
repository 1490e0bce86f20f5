// What an instruction set with tiles provides for fp32 convolution. Operands are split into slices of 8 bits as in
// split_f32_kernels.h. Internal to the kernels.
#pragma once

#include <cstdint>

#include "cpu/kernels/products/split_f32_kernels.h"

namespace ortolan::cpu::kernels {

constexpr int64_t kSplitPairs = kSplitStep / 2;  // of channels in a step of the sums

/** A part of the input planes: the elements [first_h + row*step_h][first_w + column*step_w] of each. */
struct SplitPhase {
  int64_t first_h, first_w;
  int64_t word;  // its result's place
};

/**
 * Input planes to be split. Word (block, slice, pair, row, column) of a phase's result lies at
 * to[word + block*block_step + slice*slice_step + pair*pair_step + row*row_step + column] and holds that slice of
 * channels 32*block + 2*pair and the next: 0 where the element is outside in_h x in_w, or where there is no such
 * channel.
 */
struct SplitPlanes {
  int slices;
  const float* x;  // the first channel's plane
  int64_t channels, channel_step;
  int64_t in_h, in_w, in_row;  // in_row elements from one row to the next
  const SplitPhase* phases;
  int64_t phase_count, step_h, step_w;
  int64_t rows, columns;
  int64_t rows_at_once;  // of a pair of channels, before the next pair's
  int64_t ahead;         // elements from one that is read to one that is worth asking for
  uint32_t* to;
  int64_t block_step, slice_step, pair_step, row_step;
};

/** Which of 16 positions are outputs: `lanes`, the first of them output `first` of the plane, the others follow it. */
struct SplitConvColumns {
  int64_t first;
  uint16_t lanes;
  uint16_t count;
};

/**
 * Sums of `rows` output channels at `positions` positions, which are finished as GemmFinish says. The weights' tiles
 * lie block of rows after block, as split_f32_kernels.h lays them out. Step s of position 32*block + i reads the words
 * from planes[block*block_bytes + offsets[s] + 4*i] on, slices and pairs as many bytes apart as is said.
 */
struct SplitConvProduct {
  int slices;
  const char* weights;
  const char* weights_end;       // nothing beyond it is fetched
  int64_t steps, steps_at_once;  // steps_at_once make a block of the sums
  const int64_t* offsets;
  const char* planes;
  int64_t block_bytes, slice_bytes, pair_bytes;
  int64_t positions;
  const SplitConvColumns* columns;  // for each 16 positions
  int64_t rows;
  float* y;  // the first row's plane
  int64_t y_step;
  const float* bias;      // one a row, or nullptr
  const float* residual;  // laid out like y, or nullptr
  bool add_to_y;          // y is the residual
  bool clamp;
  float low, high;
  float* sums;  // scratch: 2*kSplitRows*kSplitColumns, aligned to 64 bytes
};

struct SplitConvKernels {
  /** Returns the largest magnitude, as bits of a float; one of Inf or NaN is the largest. */
  uint32_t (*split)(const SplitPlanes& planes);
  void (*multiply)(const SplitConvProduct& product);
};

}  // namespace ortolan::cpu::kernels
