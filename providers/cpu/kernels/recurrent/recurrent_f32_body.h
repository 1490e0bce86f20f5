// Steps of recurrent cells for one instruction set: the product with the state, finished gate by gate. Included as
// vec.h is.
#pragma once

#include "cpu/kernels/recurrent/recurrent_kernels.h"
#include "cpu/kernels/vectors/vec_math.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

// Rows of a batch that share a pass over the weights; their sums stay in registers.
constexpr int kRowsAtOnce = kLanes == 16 ? 4 : 2;
// Lone rows that do, each with two sums for each of the gates that a pass has.
#if defined(__AVX512F__)
constexpr int kLoneRowsAtOnce = 6, kMostSums = 24;
#elif defined(__aarch64__)
constexpr int kLoneRowsAtOnce = 4, kMostSums = 16;
#else
constexpr int kLoneRowsAtOnce = 3, kMostSums = 12;
#endif
constexpr int kGatesAtOnce = 2;

struct Lstm {
  static constexpr int kGates = 4;

  ORTOLAN_INLINE void finish(const CellRow& row, int64_t unit, const Vf* sums) {
    const float* gates = row.gates + unit * kGates;
    const Vf in = sigmoid(load(gates) + sums[0]), out = sigmoid(load(gates + kLanes) + sums[1]);
    const Vf forget = sigmoid(load(gates + 2 * kLanes) + sums[2]), cell = tanh(load(gates + 3 * kLanes) + sums[3]);
    const Vf c = fma(forget, load(row.c + unit), in * cell);
    store(row.next_c + unit, c);
    store(row.next_h + unit, out * tanh(c));
  }
};

struct Gru {
  static constexpr int kGates = 3;

  ORTOLAN_INLINE void finish(const CellRow& row, int64_t unit, const Vf* sums) {
    const float* gates = row.gates + unit * kGates;
    const Vf update = sigmoid(load(gates) + sums[0]), reset = sigmoid(load(gates + kLanes) + sums[1]);
    const Vf recurrent = row.hidden_bias == nullptr ? sums[2] : sums[2] + load(row.hidden_bias + unit);
    const Vf candidate = tanh(fma(reset, recurrent, load(gates + 2 * kLanes)));
    const Vf before = load(row.h + unit);
    store(row.next_h + unit, fma(update, before, (set1(1.0f) - update) * candidate));
  }
};

// What finish() uses of a row comes near while its products are summed.
template <class Cell>
ORTOLAN_INLINE void prefetch_units(const CellRow& row, int64_t unit) {
  constexpr int kLine = 16;
  for (int at = 0; at < Cell::kGates * kLanes; at += kLine) __builtin_prefetch(row.gates + unit * Cell::kGates + at);
  if (row.c != nullptr) __builtin_prefetch(row.c + unit);
  __builtin_prefetch(row.next_h + unit, 1);
}

// Else compilers load a vector once more for each of its uses.
ORTOLAN_INLINE void stay_in_register([[maybe_unused]] Vf& vector) {
#if defined(__AVX2__)
  asm("" : "+v"(vector));
#elif defined(__aarch64__)
  asm("" : "+w"(vector));
#endif
}

// Sums the products of MR rows' states with kUsed gates of a block's weights, whose units' gates are kGates; they are
// read in the order of their addresses, or from the end strictly against it. With kParts == 2 even and odd elements of
// the state have sums of their own, so that the additions do not wait for each other.
template <int kGates, int kUsed, int MR, int kParts, bool kFromEnd>
ORTOLAN_INLINE void sum_products(const CellRow* rows, const float* weights, int64_t hidden, Vf* sums, int stride) {
  const auto gate = [](int i) __attribute__((always_inline)) { return kFromEnd ? kUsed - 1 - i : i; };
  Vf parts[MR * kParts][kUsed] = {};
  const float* h[MR];
#pragma GCC unroll 8
  for (int i = 0; i < MR; ++i) h[i] = rows[i].h;
  if (kFromEnd) weights += hidden * kGates * kLanes;
  for (int64_t from = 0; from < hidden; from += kParts) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p) {
      const int64_t k = kFromEnd ? hidden - 1 - from - p : from + p;
      if (kFromEnd) weights -= kGates * kLanes;
      Vf w[kUsed];
#pragma GCC unroll 4
      for (int i = 0; i < kUsed; ++i) {
        w[gate(i)] = load(weights + gate(i) * kLanes);
        if (MR > 1) stay_in_register(w[gate(i)]);
      }
#pragma GCC unroll 8
      for (int i = 0; i < MR; ++i) {
        const Vf x = set1(h[i][k]);
        Vf(&sum)[kUsed] = parts[i * kParts + p];
#pragma GCC unroll 4
        for (int j = 0; j < kUsed; ++j) sum[gate(j)] = fma(x, w[gate(j)], sum[gate(j)]);
      }
      if (!kFromEnd) weights += kGates * kLanes;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 4
    for (int g = 0; g < kUsed; ++g) {
      sums[i * stride + g] = kParts == 2 ? parts[i * kParts][g] + parts[i * kParts + kParts - 1][g] : parts[i][g];
    }
  }
}

template <class Cell, int MR>
void batch_rows_of_block(const CellStep& s, const float* weights, int64_t hidden, int64_t row, int64_t unit) {
  CellRow rows[MR];
#pragma GCC unroll 4
  for (int i = 0; i < MR; ++i) rows[i] = s.row(row + i, hidden);
  Vf sums[MR * Cell::kGates] = {};
  if (!s.h_is_zero) {
    sum_products<Cell::kGates, Cell::kGates, MR, 1, false>(rows, weights, hidden, sums, Cell::kGates);
  }
#pragma GCC unroll 4
  for (int i = 0; i < MR; ++i) Cell::finish(rows[i], unit, sums + i * Cell::kGates);
}

// One lone row. The order of reading makes one sweep over all weights of all blocks.
template <class Cell, bool kFromEnd>
ORTOLAN_INLINE void lone_row_of_block(const CellRow& row, const float* weights, int64_t hidden, int64_t unit,
                                      bool h_is_zero) {
  prefetch_units<Cell>(row, unit);
  Vf sums[Cell::kGates] = {};
  if (!h_is_zero) sum_products<Cell::kGates, Cell::kGates, 1, 2, kFromEnd>(&row, weights, hidden, sums, Cell::kGates);
  Cell::finish(row, unit, sums);
}

// MR lone rows, each with the bits that it has alone.
template <class Cell, int MR, bool kFromEnd>
void lone_rows_of_block(const CellRow* rows, const float* weights, int64_t hidden, int64_t unit) {
  if constexpr (MR == 1) {
    lone_row_of_block<Cell, kFromEnd>(*rows, weights, hidden, unit, false);
  } else {
    Vf sums[MR * Cell::kGates];
    if constexpr (2 * MR * Cell::kGates <= kMostSums) {
      sum_products<Cell::kGates, Cell::kGates, MR, 2, kFromEnd>(rows, weights, hidden, sums, Cell::kGates);
    } else {
      constexpr int kRest = Cell::kGates - kGatesAtOnce;
      sum_products<Cell::kGates, kGatesAtOnce, MR, 2, kFromEnd>(rows, weights, hidden, sums, Cell::kGates);
      sum_products<Cell::kGates, kRest, MR, 2, kFromEnd>(rows, weights + kGatesAtOnce * kLanes, hidden,
                                                         sums + kGatesAtOnce, Cell::kGates);
    }
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i) Cell::finish(rows[i], unit, sums + i * Cell::kGates);
  }
}

template <class Cell>
void blocks(const CellStep& s, const float* weights, int64_t hidden, int64_t begin, int64_t end, bool from_end) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t unit = (from_end ? begin + end - 1 - i : i) * kLanes;
    const float* own = weights + unit * hidden * Cell::kGates;
    if (s.rows == 1) {
      from_end ? lone_row_of_block<Cell, true>(s.row(0, hidden), own, hidden, unit, s.h_is_zero)
               : lone_row_of_block<Cell, false>(s.row(0, hidden), own, hidden, unit, s.h_is_zero);
      continue;
    }
    int64_t row = 0;
    for (; row + kRowsAtOnce <= s.rows; row += kRowsAtOnce) {
      batch_rows_of_block<Cell, kRowsAtOnce>(s, own, hidden, row, unit);
    }
    for (; row < s.rows; ++row) batch_rows_of_block<Cell, 1>(s, own, hidden, row, unit);
  }
}

template <class Cell, int MR>
void all_blocks(const CellRow* rows, const float* weights, int64_t hidden, bool from_end) {
  for (int64_t at = 0; at < hidden; at += kLanes) {
    const int64_t unit = from_end ? hidden - kLanes - at : at;
    const float* own = weights + unit * hidden * Cell::kGates;
    from_end ? lone_rows_of_block<Cell, MR, true>(rows, own, hidden, unit)
             : lone_rows_of_block<Cell, MR, false>(rows, own, hidden, unit);
  }
}

template <class Cell, int MR = kLoneRowsAtOnce>
void lone_rows(const CellRow* rows, int count, const float* weights, int64_t hidden, bool from_end) {
  for (; count >= MR; count -= MR, rows += MR) all_blocks<Cell, MR>(rows, weights, hidden, from_end);
  if constexpr (MR > 1) lone_rows<Cell, MR - 1>(rows, count, weights, hidden, from_end);
}

}  // namespace

extern const RecurrentKernels kRecurrent;
const RecurrentKernels kRecurrent = {kLanes,      kLoneRowsAtOnce, blocks<Lstm>,
                                     blocks<Gru>, lone_rows<Lstm>, lone_rows<Gru>};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
