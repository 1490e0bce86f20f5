// Steps of recurrent cells for one instruction set: the product with the state, finished gate by gate. Included as
// vec.h is.
#pragma once

#include "cpu/kernels/recurrent/recurrent_kernels.h"
#include "cpu/kernels/vectors/vec_math.h"

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

// What finish() uses of a lone row comes near while its products are summed.
template <class Cell>
ORTOLAN_INLINE void prefetch_units(const CellStep& s, int64_t unit) {
  constexpr int kLine = 16;
  for (int at = 0; at < Cell::kGates * kLanes; at += kLine) __builtin_prefetch(s.gates + unit * Cell::kGates + at);
  if (s.c != nullptr) __builtin_prefetch(s.c + unit);
  __builtin_prefetch(s.next_h + unit, 1);
}

// Sums the products of MR rows of the state with a block's weights, which are read in the order of their addresses, or
// from the end strictly against it. One row has two sums for each gate, so that the additions do not wait for each
// other.
template <int kGates, int MR, bool kFromEnd>
ORTOLAN_INLINE void sum_products(const float* h, const float* weights, int64_t hidden, Vf (&sums)[MR][kGates]) {
  constexpr int kParts = MR == 1 ? 2 : 1;
  const auto gate = [](int i) __attribute__((always_inline)) { return kFromEnd ? kGates - 1 - i : i; };
  Vf parts[MR * kParts][kGates] = {};
  if (kFromEnd) weights += hidden * kGates * kLanes;
  for (int64_t from = 0; from < hidden; from += kParts) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p) {
      const int64_t k = kFromEnd ? hidden - 1 - from - p : from + p;
      if (kFromEnd) weights -= kGates * kLanes;
      Vf w[kGates];
#pragma GCC unroll 4
      for (int i = 0; i < kGates; ++i) w[gate(i)] = load(weights + gate(i) * kLanes);
#pragma GCC unroll 4
      for (int i = 0; i < MR; ++i) {
        const Vf x = set1(h[i * hidden + k]);
        Vf(&sum)[kGates] = parts[i * kParts + p];
#pragma GCC unroll 4
        for (int j = 0; j < kGates; ++j) sum[gate(j)] = fma(x, w[gate(j)], sum[gate(j)]);
      }
      if (!kFromEnd) weights += kGates * kLanes;
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 4
    for (int g = 0; g < kGates; ++g) {
      sums[i][g] = kParts == 2 ? parts[i * kParts][g] + parts[i * kParts + kParts - 1][g] : parts[i][g];
    }
  }
}

template <class Cell, int MR>
void rows_of_block(const CellStep& s, const float* weights, int64_t hidden, int64_t row, int64_t unit) {
  Vf sums[MR][Cell::kGates] = {};
  if (!s.h_is_zero) sum_products<Cell::kGates, MR, false>(s.h + row * hidden, weights, hidden, sums);
#pragma GCC unroll 4
  for (int i = 0; i < MR; ++i) Cell::finish(s, hidden, row + i, unit, sums[i]);
}

// The order of reading makes one sweep over all weights of all blocks.
template <class Cell>
void lone_row(const CellStep& s, const float* weights, int64_t hidden, int64_t begin, int64_t end, bool from_end) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t unit = (from_end ? begin + end - 1 - i : i) * kLanes;
    const float* own = weights + unit * hidden * Cell::kGates;
    prefetch_units<Cell>(s, unit);
    Vf sums[1][Cell::kGates] = {};
    if (!s.h_is_zero) {
      if (from_end) {
        sum_products<Cell::kGates, 1, true>(s.h, own, hidden, sums);
      } else {
        sum_products<Cell::kGates, 1, false>(s.h, own, hidden, sums);
      }
    }
    Cell::finish(s, hidden, 0, unit, sums[0]);
  }
}

template <class Cell>
void blocks(const CellStep& s, const float* weights, int64_t hidden, int64_t begin, int64_t end, bool from_end) {
  if (s.rows == 1) return lone_row<Cell>(s, weights, hidden, begin, end, from_end);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t unit = (from_end ? begin + end - 1 - i : i) * kLanes;
    const float* own = weights + unit * hidden * Cell::kGates;
    int64_t row = 0;
    for (; row + kRowsAtOnce <= s.rows; row += kRowsAtOnce) {
      rows_of_block<Cell, kRowsAtOnce>(s, own, hidden, row, unit);
    }
    for (; row < s.rows; ++row) rows_of_block<Cell, 1>(s, own, hidden, row, unit);
  }
}

}  // namespace

extern const RecurrentKernels kRecurrent;
const RecurrentKernels kRecurrent = {kLanes, blocks<Lstm>, blocks<Gru>};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
