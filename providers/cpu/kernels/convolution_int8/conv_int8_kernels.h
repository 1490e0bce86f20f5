// What an instruction set with tiles provides for convolution of bytes. Internal to the kernels.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

/**
 * Sums of up to 32 channels at neighbouring positions. In each step a tile of weights (16 channels of 16 words, 1024
 * bytes) meets 16 lines of words: line r of step s at position p is x[steps[s] + r*pitch + p]. All lines are read up to
 * a multiple of 16 positions, and so are the sums written.
 */
struct TileConvBlock {
  const uint8_t* weights;  // step after step, in it tiles_high tiles
  int tiles_high;          // 1 or 2
  const int32_t* x;
  int64_t pitch;  // words
  const int64_t* steps;
  int64_t step_count;
  int64_t positions;
  int32_t* sums;
  int64_t ld;
  const uint8_t* next;  // weights to fetch meanwhile, as many as these; or nullptr
};

struct TileConvKernels {
  using Block = void (*)(const TileConvBlock& block);
  void (*begin)();  // before blocks, on their thread
  void (*end)();    // after them
  /** to[i] holds byte i of each of four rows; sums[i] grows by what may be ignored. */
  void (*join_rows)(const uint8_t* const* rows, int64_t count, int32_t* to, int32_t* sums);
  Block block[2][2];  // by whether the weights are signed, and whether x is
};

}  // namespace ortolan::cpu::kernels
