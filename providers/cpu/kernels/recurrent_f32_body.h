// Steps of recurrent cells for one instruction set: the product with the state, finished gate by gate. Included as
// vec.h is.
#pragma once

#include "cpu/kernels/recurrent_kernels.h"
#include "cpu/kernels/vec_math.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

// Rows of the state that share a pass over the weights; their sums stay in registers.
constexpr int kRowsAtOnce = kLanes == 16 ? 4 : 2;

struct Lstm {
  static constexpr int kGates = 4;

  ORTOLAN_INLINE void finish(const CellStep& s, int64_t hidden, int64_t row, int64_t unit, const Vf* sums) {
    const float* gates = s.gates + row * s.gates_stride + unit * kGates;
    const Vf in = sigmoid(load(gates) + sums[0]), out = sigmoid(load(gates + kLanes) + sums[1]);
    const Vf forget = sigmoid(load(gates + 2 * kLanes) + sums[2]), cell = tanh(load(gates + 3 * kLanes) + sums[3]);
    const Vf c = fma(forget, load(s.c + row * hidden + unit), in * cell);
    store(s.next_c + row * hidden + unit, c);
    store(s.next_h + row * hidden + unit, out * tanh(c));
  }
};

struct Gru {
  static constexpr int kGates = 3;

  ORTOLAN_INLINE void finish(const CellStep& s, int64_t hidden, int64_t row, int64_t unit, const Vf* sums) {
    const float* gates = s.gates + row * s.gates_stride + unit * kGates;
    const Vf update = sigmoid(load(gates) + sums[0]), reset = sigmoid(load(gates + kLanes) + sums[1]);
    const Vf recurrent = s.hidden_bias == nullptr ? sums[2] : sums[2] + load(s.hidden_bias + unit);
    const Vf candidate = tanh(fma(reset, recurrent, load(gates + 2 * kLanes)));
    const Vf before = load(s.h + row * hidden + unit);
    store(s.next_h + row * hidden + unit, fma(update, before, (set1(1.0f) - update) * candidate));
  }
};

// One row has two sums for each gate, so that the additions do not wait for each other.
template <class Cell, int MR>
void rows_of_block(const CellStep& s, const float* weights, int64_t hidden, int64_t row, int64_t unit) {
  constexpr int kGates = Cell::kGates, kParts = MR == 1 ? 2 : 1;
  Vf sums[MR * kParts][kGates] = {};
  const float* h = s.h + row * hidden;
  for (int64_t k = 0; k < hidden; k += kParts) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p, weights += kGates * kLanes) {
      Vf w[kGates];
#pragma GCC unroll 4
      for (int g = 0; g < kGates; ++g) w[g] = load(weights + g * kLanes);
#pragma GCC unroll 4
      for (int i = 0; i < MR; ++i) {
        const Vf x = set1(h[i * hidden + k + p]);
#pragma GCC unroll 4
        for (int g = 0; g < kGates; ++g) sums[i * kParts + p][g] = fma(x, w[g], sums[i * kParts + p][g]);
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < MR; ++i) {
    if constexpr (kParts == 2) {
#pragma GCC unroll 4
      for (int g = 0; g < kGates; ++g) sums[0][g] += sums[1][g];
    }
    Cell::finish(s, hidden, row + i, unit, sums[i]);
  }
}

template <class Cell>
void blocks(const CellStep& s, const float* weights, int64_t hidden, int64_t begin, int64_t end, bool backward) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t unit = (backward ? begin + end - 1 - i : i) * kLanes;
    const float* own = weights + unit * hidden * Cell::kGates;
    int64_t row = 0;
    for (; row + kRowsAtOnce <= s.rows; row += kRowsAtOnce) rows_of_block<Cell, kRowsAtOnce>(s, own, hidden, row, unit);
    for (; row < s.rows; ++row) rows_of_block<Cell, 1>(s, own, hidden, row, unit);
  }
}

}  // namespace

extern const RecurrentKernels kRecurrent;
const RecurrentKernels kRecurrent = {kLanes, blocks<Lstm>, blocks<Gru>};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
