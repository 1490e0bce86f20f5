// What one instruction set provides for pooling. Internal to the kernels.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

/** The innermost lines that one line of output joins: offset of the first in elements, and how many. */
struct PoolBand {
  int64_t at, count;
};

/** Lines to join in each of `planes`: for each of `outer` and each of `middle` a band, these elements apart; lines of
    the band likewise. Lines of output follow each other at `pitch`. */
struct PoolLines {
  int64_t planes, plane_step, outer, outer_step, middle, middle_step, step;
  int64_t length, pitch;
};

/** Neighbours to join in each of `rows` lines, `pitch` apart: `count` outputs a line. */
struct PoolTaps {
  int64_t rows, pitch;
  int64_t taps, dilation, stride, count;
};

/** What each output of a line is divided by, and one through that; nullptr where nothing is divided. */
struct PoolDivisors {
  const float *sizes, *inverses;
};

/** Pooling in two steps: join lines of input, then neighbours in the joined lines. */
template <class T>
struct PoolSteps {
  /** to[(p*rows + r)*pitch + i] = join of x[p*plane_step + ... + i] over the lines of bands[r], for p < planes, r <
     rows, i < length; without lines, the neutral element. */
  void (*join_lines)(const T* x, const PoolLines& lines, const PoolBand* bands, int64_t rows, T* to);
  /** y[r*count + o] = join over t < taps of x[r*pitch + o*stride + t*dilation]; divided by divisors[r].sizes[o] where
      it is a mean. May read two vectors beyond what it needs. */
  void (*join_neighbours)(const T* x, const PoolTaps& taps, const PoolDivisors* divisors, T* y);
};

/** Integers in the order of 16-bit floats whose positive infinity has the bits `infinity`, and such floats again. What
    is no number, or less than any, becomes the integer of negative infinity. */
struct OrderedHalves {
  void (*order)(const uint16_t* x, int64_t n, uint16_t infinity, int16_t* y);
  void (*restore)(const int16_t* x, int64_t n, uint16_t infinity, uint16_t* y);
};

struct PoolKernels {
  PoolSteps<float> max_f32;
  PoolSteps<double> max_f64;
  PoolSteps<int16_t> max_s16;
  PoolSteps<int8_t> max_s8;
  PoolSteps<uint8_t> max_u8;
  PoolSteps<float> mean_f32;
  OrderedHalves halves;
};

}  // namespace ortolan::cpu::kernels
