// What one instruction set provides for recurrent cells. Internal to the kernels.
#pragma once

#include <cstdint>

#include "cpu/kernels/recurrent/recurrent_f32.h"

namespace ortolan::cpu::kernels {

/**
 * A step of the units in blocks [begin, end) of `lanes`, their weights read from either end. `weights` holds for each
 * block and each element of the state the weights of its units, gate by gate.
 */
using CellBlocks = void (*)(const CellStep& step, const float* weights, int64_t hidden, int64_t begin, int64_t end,
                            bool from_end);

struct RecurrentKernels {
  int lanes;
  CellBlocks lstm;
  CellBlocks gru;
};

}  // namespace ortolan::cpu::kernels
