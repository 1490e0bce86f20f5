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

/** A block of units of one cell, and which end of its weights is read first. */
template <class C, bool kFromEnd>
struct Block : C {
  static constexpr int kGates = C::kGates, kRowOfWeights = kGates * kLanes;
  static constexpr int64_t kStep = kFromEnd ? -1 : 1;

  /** The i-th gate in the order of reading. */
  static constexpr int gate(int i) { return kFromEnd ? kGates - 1 - i : i; }
};

// What finish() uses of `rows` rows comes near while their products are summed.
ORTOLAN_INLINE void prefetch_units(const CellStep& s, int gates, int64_t hidden, int64_t row, int rows, int64_t unit) {
  constexpr int kLine = 16;
  for (int64_t i = row; i < row + rows; ++i) {
    const float* from = s.gates + i * s.gates_stride + unit * gates;
    for (int at = 0; at < gates * kLanes; at += kLine) __builtin_prefetch(from + at);
    const int64_t at = i * hidden + unit;
    if (s.c != nullptr) __builtin_prefetch(s.c + at);
    __builtin_prefetch(s.next_h + at, 1);
  }
}

// Weights are read in the order of their addresses, or strictly against it. One row has two sums for each gate, so that
// the additions do not wait for each other.
template <class B, int MR>
void rows_of_block(const CellStep& s, const float* weights, int64_t hidden, int64_t row, int64_t unit) {
  constexpr int kGates = B::kGates, kParts = MR == 1 ? 2 : 1;
  prefetch_units(s, kGates, hidden, row, MR, unit);
  Vf sums[MR * kParts][kGates] = {};
  const int64_t first = B::kStep > 0 ? 0 : hidden - 1;
  const float* h = s.h + row * hidden + first;
  weights += first * B::kRowOfWeights;
  for (int64_t k = 0; k < hidden; k += kParts) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p, weights += B::kStep * B::kRowOfWeights, h += B::kStep) {
      Vf w[kGates];
#pragma GCC unroll 4
      for (int i = 0; i < kGates; ++i) w[B::gate(i)] = load(weights + B::gate(i) * kLanes);
#pragma GCC unroll 4
      for (int i = 0; i < MR; ++i) {
        const Vf x = set1(h[i * hidden]);
#pragma GCC unroll 4
        for (int j = 0; j < kGates; ++j) {
          Vf& sum = sums[i * kParts + p][B::gate(j)];
          sum = fma(x, w[B::gate(j)], sum);
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < MR; ++i) {
    if constexpr (kParts == 2) {
#pragma GCC unroll 4
      for (int g = 0; g < kGates; ++g) sums[0][g] += sums[1][g];
    }
    B::finish(s, hidden, row + i, unit, sums[i]);
  }
}

template <class B>
void whole_block(const CellStep& s, const float* weights, int64_t hidden, int64_t unit) {
  weights += unit * hidden * B::kGates;
  int64_t row = 0;
  for (; row + kRowsAtOnce <= s.rows; row += kRowsAtOnce) rows_of_block<B, kRowsAtOnce>(s, weights, hidden, row, unit);
  for (; row < s.rows; ++row) rows_of_block<B, 1>(s, weights, hidden, row, unit);
}

template <class C>
void blocks(const CellStep& s, const float* weights, int64_t hidden, int64_t begin, int64_t end, bool from_end) {
  if (from_end) {
    for (int64_t i = end; i-- > begin;) whole_block<Block<C, true>>(s, weights, hidden, i * kLanes);
  } else {
    for (int64_t i = begin; i < end; ++i) whole_block<Block<C, false>>(s, weights, hidden, i * kLanes);
  }
}

}  // namespace

extern const RecurrentKernels kRecurrent;
const RecurrentKernels kRecurrent = {kLanes, blocks<Lstm>, blocks<Gru>};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
