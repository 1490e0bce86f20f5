// RNN, GRU and LSTM against their equations in double, element by element.
#include <cmath>

#include "base/threads/processor_count.h"
#include "op_test.h"

namespace ortolan::test {
namespace {

struct Case {
  std::string op;
  std::string direction = "forward";
  bool bias = true, initial = true, lengths = false, peepholes = false, batch_first = false;
  bool linear_before_reset = false, input_forget = false;
  float clip = 0;
  int64_t hidden = 6, batch = 3;
};

constexpr int64_t kSteps = 4, kInput = 5;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/** Inputs of a case as doubles, and the results. */
struct Model {
  const Case& c;
  int64_t gates, directions;
  std::vector<double> x, w, r, b, h0, c0, p;
  std::vector<int32_t> lengths;
  std::vector<double> y, y_h, y_c;

  int64_t state(int64_t d, int64_t n) const {
    return (c.batch_first ? n * directions + d : d * c.batch + n) * c.hidden;
  }
  int64_t row(int64_t t, int64_t n) const { return c.batch_first ? n * kSteps + t : t * c.batch + n; }
  double limited(double v) const { return c.clip > 0 ? std::clamp<double>(v, -c.clip, c.clip) : v; }

  /** Sum of gate g, hidden unit j: input part, and recurrent part from h. */
  double input_sum(int64_t d, int64_t t, int64_t n, int64_t g, int64_t j) const {
    double sum = b.empty() ? 0 : b[(2 * d * gates + g) * c.hidden + j];
    for (int64_t i = 0; i < kInput; ++i)
      sum += x[row(t, n) * kInput + i] * w[((d * gates + g) * c.hidden + j) * kInput + i];
    return sum;
  }
  double hidden_sum(int64_t d, const std::vector<double>& h, int64_t g, int64_t j) const {
    double sum = b.empty() ? 0 : b[((2 * d + 1) * gates + g) * c.hidden + j];
    for (int64_t i = 0; i < c.hidden; ++i) sum += h[i] * r[((d * gates + g) * c.hidden + j) * c.hidden + i];
    return sum;
  }

  void lstm(int64_t d, int64_t t, int64_t n, std::vector<double>& h, std::vector<double>& cell) const {
    std::vector<double> before = h;
    auto peephole = [&](int64_t g, int64_t j) { return p.empty() ? 0.0 : p[(3 * d + g) * c.hidden + j]; };
    for (int64_t j = 0; j < c.hidden; ++j) {
      auto sum = [&](int64_t g) { return input_sum(d, t, n, g, j) + hidden_sum(d, before, g, j); };
      double i = sigmoid(limited(sum(0) + peephole(0, j) * cell[j]));
      double f = c.input_forget ? 1 - i : sigmoid(limited(sum(2) + peephole(2, j) * cell[j]));
      cell[j] = f * cell[j] + i * std::tanh(limited(sum(3)));
      h[j] = sigmoid(limited(sum(1) + peephole(1, j) * cell[j])) * std::tanh(cell[j]);
    }
  }

  void gru(int64_t d, int64_t t, int64_t n, std::vector<double>& h) const {
    std::vector<double> before = h, z(c.hidden), reset(c.hidden), scaled(c.hidden);
    for (int64_t j = 0; j < c.hidden; ++j) {
      z[j] = sigmoid(limited(input_sum(d, t, n, 0, j) + hidden_sum(d, before, 0, j)));
      reset[j] = sigmoid(limited(input_sum(d, t, n, 1, j) + hidden_sum(d, before, 1, j)));
      scaled[j] = reset[j] * before[j];
    }
    for (int64_t j = 0; j < c.hidden; ++j) {
      double hidden = c.linear_before_reset ? reset[j] * hidden_sum(d, before, 2, j) : hidden_sum(d, scaled, 2, j);
      double candidate = std::tanh(limited(input_sum(d, t, n, 2, j) + hidden));
      h[j] = (1 - z[j]) * candidate + z[j] * before[j];
    }
  }

  void rnn(int64_t d, int64_t t, int64_t n, std::vector<double>& h) const {
    std::vector<double> before = h;
    for (int64_t j = 0; j < c.hidden; ++j)
      h[j] = std::tanh(limited(input_sum(d, t, n, 0, j) + hidden_sum(d, before, 0, j)));
  }

  void run() {
    y.assign(kSteps * directions * c.batch * c.hidden, 0);
    y_h.assign(directions * c.batch * c.hidden, 0);
    y_c = y_h;
    for (int64_t d = 0; d < directions; ++d) {
      for (int64_t n = 0; n < c.batch; ++n) {
        std::vector<double> h(c.hidden, 0), cell(c.hidden, 0);
        if (!h0.empty()) std::copy_n(&h0[state(d, n)], c.hidden, h.begin());
        if (!c0.empty()) std::copy_n(&c0[state(d, n)], c.hidden, cell.begin());
        int64_t length = lengths.empty() ? kSteps : lengths[n];
        for (int64_t s = 0; s < length; ++s) {
          int64_t t = d == 1 || c.direction == "reverse" ? length - 1 - s : s;
          c.op == "LSTM" ? lstm(d, t, n, h, cell) : c.op == "GRU" ? gru(d, t, n, h) : rnn(d, t, n, h);
          int64_t at = c.batch_first ? (n * kSteps + t) * directions + d : (t * directions + d) * c.batch + n;
          std::copy_n(h.begin(), c.hidden, &y[at * c.hidden]);
        }
        std::copy_n(h.begin(), c.hidden, &y_h[state(d, n)]);
        std::copy_n(cell.begin(), c.hidden, &y_c[state(d, n)]);
      }
    }
  }
};

template <class T>
void check(const Case& c, double tolerance) {
  Model m{c, c.op == "LSTM" ? 4 : c.op == "GRU" ? 3 : 1, c.direction == "bidirectional" ? 2 : 1};
  uint32_t seed = test_seed();
  OpTest test(c.op, 14);
  auto add = [&](bool given, Shape shape, uint32_t offset, std::vector<double>& values) {
    if (!given) return void(test.no_input());
    Tensor tensor = random_tensor<T>(shape, seed + offset);
    values = doubles(tensor);
    test.input(tensor);
  };
  Shape state = c.batch_first ? Shape{c.batch, m.directions, c.hidden} : Shape{m.directions, c.batch, c.hidden};
  add(true, c.batch_first ? Shape{c.batch, kSteps, kInput} : Shape{kSteps, c.batch, kInput}, 0, m.x);
  add(true, {m.directions, m.gates * c.hidden, kInput}, 1, m.w);
  add(true, {m.directions, m.gates * c.hidden, c.hidden}, 2, m.r);
  add(c.bias, {m.directions, 2 * m.gates * c.hidden}, 3, m.b);
  if (c.lengths) {
    m.lengths = {2, 4, 0};
    if (c.batch == 1) m.lengths = {3};
    test.input<int32_t>({c.batch}, m.lengths);
  } else {
    test.no_input();
  }
  add(c.initial, state, 4, m.h0);
  if (c.op == "LSTM") {
    add(c.initial, state, 5, m.c0);
    add(c.peepholes, {m.directions, 3 * c.hidden}, 6, m.p);
    test.set("input_forget", c.input_forget);
  }
  if (c.op == "GRU") test.set("linear_before_reset", c.linear_before_reset);
  if (c.clip > 0) test.set("clip", c.clip);
  test.set("hidden_size", c.hidden).set("layout", c.batch_first).set("direction", c.direction.c_str());
  auto results = test.run(c.op == "LSTM" ? 3 : 2);
  m.run();
  Shape all =
      c.batch_first ? Shape{c.batch, kSteps, m.directions, c.hidden} : Shape{kSteps, m.directions, c.batch, c.hidden};
  std::string what = join(c.op, " ", c.direction, c.batch_first ? " batch first" : "", c.lengths ? " lengths" : "");
  EXPECT_TRUE(near(results[0].tensor(), all, m.y, tolerance)) << what;
  EXPECT_TRUE(near(results[1].tensor(), state, m.y_h, tolerance)) << what;
  if (c.op == "LSTM") {
    EXPECT_TRUE(near(results[2].tensor(), state, m.y_c, tolerance)) << what;
  }
}

TEST(Recurrent, EveryForm) {
  for (std::string op : {"RNN", "GRU", "LSTM"}) {
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      for (bool batch_first : {false, true}) {
        for (bool lengths : {false, true}) {
          Case c{op, direction};
          c.batch_first = batch_first, c.lengths = lengths, c.peepholes = lengths, c.linear_before_reset = batch_first;
          check<float>(c, 1e-5);
        }
      }
    }
  }
}

// Where units fill whole vectors, constant weights are packed for steps that finish all gates at once.
TEST(Recurrent, UnitsThatFillVectors) {
  for (std::string op : {"GRU", "LSTM"}) {
    for (int form = 0; form < 32; ++form) {
      Case c{op, form & 1 ? "bidirectional" : "reverse"};
      c.hidden = form & 2 ? 32 : 16, c.bias = form & 4, c.initial = form & 8, c.lengths = form & 16;
      c.batch_first = form & 1, c.linear_before_reset = true;
      check<float>(c, 1e-5);
      if (form % 8 == 5) check<Half>(c, 5e-3);
    }
  }
}

// The steps of one thread that has a lone sequence.
TEST(Recurrent, LoneSequences) {
  const base::PretendedProcessors one(1);
  for (std::string op : {"GRU", "LSTM"}) {
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      for (int form = 0; form < 16; ++form) {
        Case c{op, direction};
        c.hidden = 32, c.batch = 1, c.bias = form & 1, c.initial = form & 2, c.lengths = form & 4;
        c.batch_first = form & 8, c.linear_before_reset = true;
        check<float>(c, 1e-5);
      }
    }
  }
}

// Large enough for threads to share each step.
TEST(Recurrent, StepsOfSeveralThreads) {
  for (std::string op : {"GRU", "LSTM"}) {
    for (int form = 0; form < 8; ++form) {
      Case c{op, form & 1 ? "bidirectional" : form & 2 ? "reverse" : "forward"};
      c.hidden = 160, c.bias = form & 2, c.initial = form & 4, c.batch_first = form & 4, c.linear_before_reset = true;
      check<float>(c, 3e-5);
    }
  }
}

TEST(Recurrent, OptionsAndTypes) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    check<double>({op}, 1e-12);
    check<Half>({op}, 5e-3);
    check<float>({op, "bidirectional", false, false}, 1e-5);
  }
  Case clipped{"LSTM"};
  clipped.clip = 0.5f, clipped.input_forget = true, clipped.peepholes = true;
  check<float>(clipped, 1e-5);
  Case gru{"GRU"};
  gru.clip = 0.25f, gru.linear_before_reset = true;
  check<float>(gru, 1e-5);
}

/** An RNN of one unit with weight 1 and no recurrence: its activation alone. */
double activation(const char* name, std::vector<float> alpha, std::vector<float> beta, float x) {
  OpTest test("RNN", 7);
  test.input<float>({1, 1, 1}, {x}).input<float>({1, 1, 1}, {1}).input<float>({1, 1, 1}, {0}).set("hidden_size", 1);
  test.attribute("activations", std::vector<std::string>{name});
  if (!alpha.empty()) test.attribute("activation_alpha", alpha);
  if (!beta.empty()) test.attribute("activation_beta", beta);
  return doubles(test.run(2)[1].tensor())[0];
}

TEST(Recurrent, Activations) {
  EXPECT_NEAR(activation("Relu", {}, {}, -2), 0, 1e-6);
  EXPECT_NEAR(activation("affine", {3}, {0.5f}, -2), -5.5, 1e-6);
  EXPECT_NEAR(activation("LeakyRelu", {0.1f}, {}, -2), -0.2, 1e-6);
  EXPECT_NEAR(activation("LeakyRelu", {}, {}, -2), -0.02, 1e-6);
  EXPECT_NEAR(activation("ThresholdedRelu", {1.5f}, {}, 1.4f), 0, 1e-6);
  EXPECT_NEAR(activation("ScaledTanh", {2}, {0.5f}, 1), 2 * std::tanh(0.5), 1e-6);
  EXPECT_NEAR(activation("HardSigmoid", {}, {}, 1), 0.7, 1e-6);
  EXPECT_NEAR(activation("Elu", {2}, {}, -1), 2 * std::expm1(-1.0), 1e-6);
  EXPECT_NEAR(activation("Softsign", {}, {}, 3), 0.75, 1e-6);
  EXPECT_NEAR(activation("Softplus", {}, {}, 3), std::log1p(std::exp(3.0)), 1e-6);
  EXPECT_NEAR(activation("SIGMOID", {}, {}, 1), sigmoid(1), 1e-6);
}

TEST(Recurrent, Errors) {
  auto lstm = [](std::vector<int32_t> lengths, Shape r) {
    return OpTest("LSTM")
        .input(random_tensor<float>({2, 2, 3}, 1))
        .input(random_tensor<float>({1, 16, 3}, 2))
        .input(random_tensor<float>(r, 3))
        .no_input()
        .input<int32_t>({2}, lengths)
        .error();
  };
  EXPECT_NE(lstm({1, 3}, {1, 16, 4}).find("sequence_lens[1] is 3"), std::string::npos);
  EXPECT_NE(lstm({-1, 1}, {1, 16, 4}).find("sequence_lens[0] is -1"), std::string::npos);
  EXPECT_NE(lstm({1, 1}, {1, 16, 5}).find("W has shape"), std::string::npos);
}

// A first state of zeros times infinity.
TEST(Recurrent, InfiniteWeightsWithoutState) {
  std::vector<float> r(64 * 16, 0.5f);
  r[3 * 16 + 2] = INFINITY;  // of the input gate of unit 3
  auto results = OpTest("LSTM")
                     .input(random_tensor<float>({1, 1, 3}, 1))
                     .input(random_tensor<float>({1, 64, 3}, 2))
                     .input<float>({1, 64, 16}, r)
                     .set("hidden_size", 16)
                     .run(2);
  std::vector<double> h = doubles(results[1].tensor());
  for (int64_t i = 0; i < 16; ++i) EXPECT_EQ(std::isnan(h[i]), i == 3) << i;
}

TEST(Recurrent, EmptySequence) {
  auto results = OpTest("GRU")
                     .input(random_tensor<float>({0, 2, 3}, 1))
                     .input(random_tensor<float>({1, 12, 3}, 2))
                     .input(random_tensor<float>({1, 12, 4}, 3))
                     .run(2);
  EXPECT_TRUE(near(results[0].tensor(), {0, 1, 2, 4}, {}));
  EXPECT_TRUE(near(results[1].tensor(), {1, 2, 4}, std::vector<double>(8, 0.0)));
}

}  // namespace
}  // namespace ortolan::test
