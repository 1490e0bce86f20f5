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

/** A step of all units of rows that each have the bits of a lone one. */
using LoneRows = void (*)(const CellRow* rows, int count, const float* weights, int64_t hidden, bool from_end);

struct RecurrentKernels {
  int lanes;
  int rows_at_once;  // of lone rows, that read the weights once
  CellBlocks lstm, gru;
  LoneRows lstm_rows, gru_rows;
};

}  // namespace ortolan::cpu::kernels
