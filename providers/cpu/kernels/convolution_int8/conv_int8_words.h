// The images of a convolution of bytes as planes of words: neighbouring channels side by side, padding written out.
// Internal to the kernels.
#pragma once

#include <cstdint>

#include "cpu/kernels/convolution_int8/conv_int8.h"
#include "cpu/kernels/quantised/gemm_int8_kernels.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {

/** A plane has size[] words, of which the padding counts as x's zero point. Channels that a group lacks are 0. */
struct WordPlanes {
  const ConvGeometry& g;
  const ConvInt8& operands;
  const GemmInt8Kernels& kernels;
  int64_t size[3];

  int64_t depth() const { return g.in_channels / g.groups; }
  int64_t planes() const { return divide_up(depth(), kernels.group); }  // of a group
  int64_t plane() const { return volume(size); }
  int64_t image() const { return g.groups * planes() * plane(); }
};

/** Writes the planes of some images, one after the other. */
void interleave_images(base::ThreadPool* pool, const WordPlanes& words, int64_t first, int64_t images, int32_t* to);

}  // namespace ortolan::cpu::kernels
