// Tests of the LSTM and GRU steps against the operators' equations in double.
#include "cpu/kernels/recurrent/recurrent_f32.h"

#include <utility>

#include "isa_test.h"
#include "pools.h"

namespace ortolan::cpu::kernels {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double clipped(double x, double clip) { return clip > 0 ? std::min(std::max(x, -clip), clip) : x; }

class Recurrent : public IsaTest {};

TEST_P(Recurrent, LstmStep) {
  for (int form = 0; form < 8; ++form) {
    const int64_t n = 37;
    CellOptions options;
    options.clip = form & 1 ? 0.8f : 0;
    options.input_forget = form & 2;
    std::vector<float> gates = normal(4 * n), peephole = normal(3 * n), c = normal(n), h(n);
    const std::vector<float> sums = gates, before = c;
    lstm_step(options, n, gates.data(), form & 4 ? peephole.data() : nullptr, c.data(), c.data(), h.data());
    for (int64_t i = 0; i < n; ++i) {
      const auto peep = [&](int64_t gate, double cell) { return form & 4 ? peephole[gate * n + i] * cell : 0; };
      const double in = sigmoid(clipped(sums[i] + peep(0, before[i]), options.clip));
      const double forget =
          options.input_forget ? 1 - in : sigmoid(clipped(sums[2 * n + i] + peep(2, before[i]), options.clip));
      const double cell = forget * before[i] + in * std::tanh(clipped(sums[3 * n + i], options.clip));
      const double out = sigmoid(clipped(sums[n + i] + peep(1, cell), options.clip));
      ASSERT_NEAR(c[i], cell, 2e-6);
      ASSERT_NEAR(h[i], out * std::tanh(clipped(cell, options.clip)), 2e-6);
    }
  }
}

TEST_P(Recurrent, GruStep) {
  const int64_t n = 19;
  std::vector<float> z = normal(n), candidate = normal(n), before = normal(n), after(n);
  const std::vector<float> sums = candidate;
  gru_step({}, n, z.data(), candidate.data(), before.data(), after.data());
  for (int64_t i = 0; i < n; ++i) {
    ASSERT_NEAR(after[i], (1.0 - z[i]) * std::tanh(double{sums[i]}) + double{z[i]} * before[i], 2e-6);
  }
}

/** The gates of unit `u` in row `b`: projected input plus product, in double. */
struct ExpectedSums {
  const PackedCell& cell;
  const CellStep& step;
  const std::vector<float>& r;

  double product(int64_t gate, int64_t b, int64_t u) const {
    const int64_t n = cell.hidden();
    double sum = 0;
    for (int64_t k = 0; k < n; ++k) sum += double{step.h[b * n + k]} * r[(gate * n + u) * n + k];
    return sum;
  }
  double input(int64_t gate, int64_t b, int64_t u) const {
    return step.gates[b * step.gates_stride + cell.column(gate, u)];
  }
  double operator()(int64_t gate, int64_t b, int64_t u) const { return product(gate, b, u) + input(gate, b, u); }
};

class PackedCells : public IsaTest {
 protected:
  /** Runs a step from either end, with and without threads, and expects the same; judge() sees the states of each. */
  template <class Judge>
  void run(const PackedCell& cell, CellStep& step, std::vector<float>& next_h, std::vector<float>& next_c,
           Judge&& judge) {
    step.next_h = next_h.data();
    step.next_c = next_c.data();
    for (const bool from_end : {false, true}) {
      cell_step(&two_threads(), cell, step, from_end);
      const std::vector<float> first_h = std::exchange(next_h, std::vector<float>(next_h.size()));
      const std::vector<float> first_c = std::exchange(next_c, std::vector<float>(next_c.size()));
      step.next_h = next_h.data();
      step.next_c = next_c.data();
      cell_step(nullptr, cell, step, from_end);
      EXPECT_EQ(first_h, next_h);
      EXPECT_EQ(first_c, next_c);
      judge();
    }
  }
};

TEST_P(PackedCells, LstmStepOfAnyNumberOfRows) {
  for (int64_t rows : {1, 2, 3, 4, 5, 9}) {
    const int64_t n = 16 * integer(1, 5), stride = 4 * n + 3;
    const std::vector<float> r = normal(4 * n * n), gates = normal(rows * stride), h = normal(rows * n),
                             c = normal(rows * n);
    std::vector<float> next_h(rows * n), next_c(rows * n);
    ASSERT_TRUE(PackedCell::takes(n));
    const PackedCell cell(Cell::kLstm, n, r.data());
    CellStep step{.rows = rows, .gates = gates.data(), .gates_stride = stride, .h = h.data(), .c = c.data()};
    const ExpectedSums sums{cell, step, r};
    run(cell, step, next_h, next_c, [&] {
      for (int64_t i = 0; i < rows * n; ++i) {
        const int64_t b = i / n, u = i % n;
        const double new_c = sigmoid(sums(2, b, u)) * c[i] + sigmoid(sums(0, b, u)) * std::tanh(sums(3, b, u));
        ASSERT_NEAR(next_c[i], new_c, 2e-5);
        ASSERT_NEAR(next_h[i], sigmoid(sums(1, b, u)) * std::tanh(new_c), 2e-5);
      }
    });
  }
}

TEST_P(PackedCells, GruStepOfAnyNumberOfRows) {
  for (int64_t rows : {1, 2, 3, 4, 5, 9}) {
    const int64_t n = 16 * integer(1, 5), stride = 3 * n + 1;
    const std::vector<float> r = normal(3 * n * n), gates = normal(rows * stride), h = normal(rows * n),
                             bias = normal(n);
    std::vector<float> next_h(rows * n), unused;
    const PackedCell cell(Cell::kGru, n, r.data());
    CellStep step{.rows = rows, .gates = gates.data(), .gates_stride = stride, .h = h.data()};
    step.hidden_bias = rows % 2 ? bias.data() : nullptr;
    const ExpectedSums sums{cell, step, r};
    run(cell, step, next_h, unused, [&] {
      for (int64_t i = 0; i < rows * n; ++i) {
        const int64_t b = i / n, u = i % n;
        const double z = sigmoid(sums(0, b, u)), reset = sigmoid(sums(1, b, u));
        const double recurrent = sums.product(2, b, u) + (rows % 2 ? bias[u] : 0);
        const double candidate = std::tanh(sums.input(2, b, u) + reset * recurrent);
        ASSERT_NEAR(next_h[i], (1 - z) * candidate + z * h[i], 2e-5);
      }
    });
  }
}

TEST_P(PackedCells, StepFromZerosIsThatOfZeros) {
  for (const Cell kind : {Cell::kLstm, Cell::kGru}) {
    for (int64_t rows : {1, 2, 5}) {
      const int64_t n = 16 * integer(1, 5), stride = 4 * n;
      const std::vector<float> r = normal(4 * n * n), gates = normal(rows * stride), h(rows * n), c = normal(rows * n);
      const PackedCell cell(kind, n, r.data());
      std::vector<float> next[2], next_c(rows * n);
      for (const bool known : {false, true}) {
        next[known].resize(rows * n);
        const CellStep step{rows,    gates.data(), stride,        h.data(), next[known].data(),
                            nullptr, c.data(),     next_c.data(), known};
        cell_step(nullptr, cell, step, known);
      }
      EXPECT_EQ(next[0], next[1]);
    }
  }
}

TEST_P(PackedCells, LoneRowsTogetherHaveTheBitsOfEachAlone) {
  for (const Cell kind : {Cell::kLstm, Cell::kGru}) {
    for (int count = 1; count <= 14; ++count) {
      const int64_t n = 16 * integer(1, 5);
      const std::vector<float> r = normal(4 * n * n), bias = normal(n);
      const PackedCell cell(kind, n, r.data());
      std::vector<std::vector<float>> gates, h, c;
      for (int i = 0; i < count; ++i) gates.push_back(normal(4 * n)), h.push_back(normal(n)), c.push_back(normal(n));
      for (const bool from_end : {false, true}) {
        std::vector<std::vector<float>> next_h(count, std::vector<float>(n)), next_c = c;
        std::vector<CellRow> rows;
        for (int i = 0; i < count; ++i) {
          const float* hidden_bias = i % 2 != 0 ? bias.data() : nullptr;
          rows.push_back(
              {gates[i].data(), h[i].data(), next_h[i].data(), hidden_bias, next_c[i].data(), next_c[i].data()});
        }
        cell_rows(cell, rows.data(), count, from_end);
        for (int i = 0; i < count; ++i) {
          std::vector<float> alone_h(n), alone_c = c[i];
          const CellStep alone{
              1, gates[i].data(), 0, h[i].data(), alone_h.data(), rows[i].hidden_bias, alone_c.data(), alone_c.data()};
          cell_step(nullptr, cell, alone, from_end);
          EXPECT_EQ(next_h[i], alone_h) << i << " of " << count;
          EXPECT_EQ(next_c[i], alone_c) << i << " of " << count;
        }
      }
    }
  }
}

TEST_P(PackedCells, KnowWhetherTheyAreFinite) {
  std::vector<float> r = normal(4 * 32 * 32);
  EXPECT_TRUE(PackedCell(Cell::kLstm, 32, r.data()).is_finite());
  for (const float odd : {INFINITY, -INFINITY, NAN}) {
    const size_t at = integer(0, 4 * 32 * 32 - 1);
    const float before = std::exchange(r[at], odd);
    EXPECT_FALSE(PackedCell(Cell::kLstm, 32, r.data()).is_finite());
    r[at] = before;
  }
}

TEST_P(PackedCells, TakeWholeVectorsOnly) {
  for (int64_t hidden : {0, 1, 17, 33}) EXPECT_FALSE(PackedCell::takes(hidden)) << hidden;
}

ORTOLAN_FOR_EACH_ISA(Recurrent);
ORTOLAN_FOR_EACH_ISA(PackedCells);

}  // namespace
}  // namespace ortolan::cpu::kernels
