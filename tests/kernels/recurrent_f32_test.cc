// Tests of the LSTM and GRU steps against the operators' equations in double.
#include "cpu/kernels/recurrent_f32.h"

#include "isa_test.h"

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

ORTOLAN_FOR_EACH_ISA(Recurrent);

}  // namespace
}  // namespace ortolan::cpu::kernels
