// RNN, GRU and LSTM against their equations in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gpu/single_node.h"
#include "thrown_text.h"

namespace ortolan::gpu::test {
namespace {

constexpr int64_t kSteps = 4, kBatch = 3, kInput = 5;

struct Case {
  std::string op;
  std::string direction = "forward";
  bool bias = true, initial = true, lengths = false, peepholes = false, batch_first = false;
  bool linear_before_reset = false, input_forget = false;
  float clip = 0;
  int64_t hidden = 6;
  ElementType type = ElementType::kFloat;

  int64_t gates() const { return op == "LSTM" ? 4 : op == "GRU" ? 3 : 1; }
  int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
  Shape state() const {
    return batch_first ? Shape{kBatch, directions(), hidden} : Shape{directions(), kBatch, hidden};
  }
  TestNode node() const {
    TestNode node{op, {{"direction", direction}, {"hidden_size", hidden}, {"layout", int64_t{batch_first}}}, 14};
    if (op == "GRU") node.attributes["linear_before_reset"] = int64_t{linear_before_reset};
    if (op == "LSTM") node.attributes["input_forget"] = int64_t{input_forget};
    if (clip > 0) node.attributes["clip"] = clip;
    return node;
  }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/** The inputs of a case, and what its equations make of them. */
class Reference {
 public:
  explicit Reference(const Case& c) : c_(c) {
    int64_t rows = c.gates() * c.hidden, d = c.directions();
    draw(true, c.batch_first ? Shape{kBatch, kSteps, kInput} : Shape{kSteps, kBatch, kInput}, x_);
    draw(true, {d, rows, kInput}, w_);
    draw(true, {d, rows, c.hidden}, r_);
    draw(c.bias, {d, 2 * rows}, b_);
    if (c.lengths) lengths_ = {2, 4, 0};
    inputs.push_back(c.lengths ? NodeInput{integers({kBatch}, lengths_, ElementType::kInt32)} : missing());
    draw(c.initial, c.state(), h0_);
    draw(c.op == "LSTM" && c.initial, c.state(), c0_);
    draw(c.peepholes, {d, 3 * c.hidden}, p_);
    inputs[1].constant = inputs[2].constant = true;
    run();
  }

  std::vector<NodeInput> inputs;
  std::vector<float> y, y_h, y_c;

 private:
  void draw(bool given, Shape shape, std::vector<float>& values) {
    if (!given) return inputs.push_back(missing());
    Tensor drawn = random_floats(std::move(shape), static_cast<unsigned>(inputs.size() + 1), -0.8f, 0.8f);
    inputs.push_back({floats(drawn.shape, drawn.floats(), c_.type)});
    values = inputs.back().tensor.floats();
  }
  int64_t state(int64_t d, int64_t n) const {
    return (c_.batch_first ? n * c_.directions() + d : d * kBatch + n) * c_.hidden;
  }
  double limited(double v) const { return c_.clip > 0 ? std::clamp<double>(v, -c_.clip, c_.clip) : v; }
  double input_sum(int64_t d, int64_t t, int64_t n, int64_t g, int64_t j) const {
    int64_t row = c_.batch_first ? n * kSteps + t : t * kBatch + n;
    double sum = b_.empty() ? 0 : b_[(2 * d * c_.gates() + g) * c_.hidden + j];
    for (int64_t i = 0; i < kInput; i++) {
      sum += double{x_[row * kInput + i]} * w_[((d * c_.gates() + g) * c_.hidden + j) * kInput + i];
    }
    return sum;
  }
  double hidden_sum(int64_t d, const std::vector<double>& h, int64_t g, int64_t j) const {
    double sum = b_.empty() ? 0 : b_[((2 * d + 1) * c_.gates() + g) * c_.hidden + j];
    for (int64_t i = 0; i < c_.hidden; i++) sum += h[i] * r_[((d * c_.gates() + g) * c_.hidden + j) * c_.hidden + i];
    return sum;
  }
  void lstm(int64_t d, int64_t t, int64_t n, std::vector<double>& h, std::vector<double>& cell) const {
    std::vector<double> before = h;
    auto peephole = [&](int64_t g, int64_t j) { return p_.empty() ? 0.0 : p_[(3 * d + g) * c_.hidden + j]; };
    for (int64_t j = 0; j < c_.hidden; j++) {
      auto sum = [&](int64_t g) { return input_sum(d, t, n, g, j) + hidden_sum(d, before, g, j); };
      double i = sigmoid(limited(sum(0) + peephole(0, j) * cell[j]));
      double f = c_.input_forget ? 1 - i : sigmoid(limited(sum(2) + peephole(2, j) * cell[j]));
      cell[j] = f * cell[j] + i * std::tanh(limited(sum(3)));
      h[j] = sigmoid(limited(sum(1) + peephole(1, j) * cell[j])) * std::tanh(cell[j]);
    }
  }
  void gru(int64_t d, int64_t t, int64_t n, std::vector<double>& h) const {
    std::vector<double> before = h, z(h), reset(h), scaled(h);
    for (int64_t j = 0; j < c_.hidden; j++) {
      z[j] = sigmoid(limited(input_sum(d, t, n, 0, j) + hidden_sum(d, before, 0, j)));
      reset[j] = sigmoid(limited(input_sum(d, t, n, 1, j) + hidden_sum(d, before, 1, j)));
      scaled[j] = reset[j] * before[j];
    }
    for (int64_t j = 0; j < c_.hidden; j++) {
      double hidden = c_.linear_before_reset ? reset[j] * hidden_sum(d, before, 2, j) : hidden_sum(d, scaled, 2, j);
      h[j] = (1 - z[j]) * std::tanh(limited(input_sum(d, t, n, 2, j) + hidden)) + z[j] * before[j];
    }
  }
  void rnn(int64_t d, int64_t t, int64_t n, std::vector<double>& h) const {
    std::vector<double> before = h;
    for (int64_t j = 0; j < c_.hidden; j++)
      h[j] = std::tanh(limited(input_sum(d, t, n, 0, j) + hidden_sum(d, before, 0, j)));
  }
  void run() {
    y.assign(kSteps * c_.directions() * kBatch * c_.hidden, 0);
    y_h.assign(c_.directions() * kBatch * c_.hidden, 0);
    y_c = y_h;
    for (int64_t d = 0; d < c_.directions(); d++)
      for (int64_t n = 0; n < kBatch; n++) run_sequence(d, n);
  }
  void run_sequence(int64_t d, int64_t n) {
    std::vector<double> h(c_.hidden, 0), cell(c_.hidden, 0);
    if (!h0_.empty()) std::copy_n(&h0_[state(d, n)], c_.hidden, h.begin());
    if (!c0_.empty()) std::copy_n(&c0_[state(d, n)], c_.hidden, cell.begin());
    int64_t length = lengths_.empty() ? kSteps : lengths_[n];
    for (int64_t s = 0; s < length; s++) {
      int64_t t = d == 1 || c_.direction == "reverse" ? length - 1 - s : s;
      c_.op == "LSTM" ? lstm(d, t, n, h, cell) : c_.op == "GRU" ? gru(d, t, n, h) : rnn(d, t, n, h);
      int64_t at = c_.batch_first ? (n * kSteps + t) * c_.directions() + d : (t * c_.directions() + d) * kBatch + n;
      std::copy(h.begin(), h.end(), &y[at * c_.hidden]);
    }
    std::copy(h.begin(), h.end(), &y_h[state(d, n)]);
    std::copy(cell.begin(), cell.end(), &y_c[state(d, n)]);
  }

  const Case& c_;
  std::vector<float> x_, w_, r_, b_, h0_, c0_, p_;
  std::vector<int64_t> lengths_;
};

class Recurrent : public testing::TestWithParam<NamedDevice> {
 protected:
  Device& device() { return *GetParam().device; }
  void check(const Case& c) {
    SCOPED_TRACE(testing::Message() << c.op << ' ' << c.direction << (c.batch_first ? " batch first" : "")
                                    << (c.lengths ? " lengths" : "") << (c.linear_before_reset ? " linear" : ""));
    Reference wanted(c);
    auto actual = run_node(device(), c.node(), wanted.inputs, c.op == "LSTM" ? 3 : 2);
    Shape all = c.batch_first ? Shape{kBatch, kSteps, c.directions(), c.hidden}
                              : Shape{kSteps, c.directions(), kBatch, c.hidden};
    float tolerance = c.type == ElementType::kFloat ? 2e-5f : 4e-3f;
    expect_near(actual[0], floats(all, wanted.y, c.type), tolerance, tolerance);
    expect_near(actual[1], floats(c.state(), wanted.y_h, c.type), tolerance, tolerance);
    if (c.op == "LSTM") expect_near(actual[2], floats(c.state(), wanted.y_c, c.type), tolerance, tolerance);
  }
};

TEST_P(Recurrent, AllDirectionsAndLayouts) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      Case c{op, direction};
      check(c);
      c.lengths = true, c.bias = false;
      check(c);
      c.batch_first = true, c.initial = false, c.bias = true;
      check(c);
    }
  }
}

TEST_P(Recurrent, FormsOfCells) {
  Case lstm{"LSTM", "bidirectional"};
  lstm.peepholes = true;
  check(lstm);
  lstm.input_forget = true, lstm.clip = 0.3f;
  check(lstm);
  Case gru{"GRU", "bidirectional"};
  gru.linear_before_reset = true;
  check(gru);
  gru.lengths = true, gru.clip = 0.3f;
  check(gru);
  gru.linear_before_reset = false;
  check(gru);
}

TEST_P(Recurrent, SizesAndFloat16) {
  for (const char* op : {"GRU", "LSTM"}) {
    for (int64_t hidden : {1, 17, 65}) {
      Case c{op};
      c.hidden = hidden;
      check(c);
    }
    Case half{op, "bidirectional"};
    half.type = ElementType::kFloat16;
    check(half);
  }
}

TEST_P(Recurrent, NamedActivations) {
  Case c{"LSTM"};
  c.bias = false;
  Reference usual(c);
  TestNode node = c.node();
  // tanh(x) = 2 sigmoid(2 x) - 1, of scaled functions of x; a sigmoid cut at 0 and 1 is none.
  node.attributes["activations"] = std::vector<std::string>{"Sigmoid", "ScaledTanh", "TANH"};
  node.attributes["activation_alpha"] = std::vector<float>{1};
  node.attributes["activation_beta"] = std::vector<float>{1};
  expect_near(run_node(device(), node, usual.inputs)[0], floats({kSteps, 1, kBatch, c.hidden}, usual.y), 2e-5f, 2e-5f);
  node.attributes["activations"] = std::vector<std::string>{"Sigmoid", "Tanh", "Affine"};
  node.attributes["activation_alpha"] = std::vector<float>{0};
  node.attributes["activation_beta"] = std::vector<float>{0};
  expect_near(run_node(device(), node, usual.inputs)[0],
              floats({kSteps, 1, kBatch, c.hidden}, std::vector<float>(usual.y.size(), 0)));
  node.attributes["activations"] = std::vector<std::string>{"Sigmoid", "Tanh", "Swish"};
  EXPECT_EQ(refusal_of(device(), node, usual.inputs), "its activation is Swish, which recurrent cells do not have");
}

TEST_P(Recurrent, NoSteps) {
  Tensor x = random_floats({0, 2, 3}, 1), w = random_floats({1, 4, 3}, 2), r = random_floats({1, 4, 1}, 3);
  auto actual = run_node(device(), {"LSTM", {{"hidden_size", int64_t{1}}}, 7}, {{x}, {w}, {r}}, 2);
  EXPECT_EQ(actual[0].shape, (Shape{0, 1, 2, 1}));
  expect_near(actual[1], floats({1, 2, 1}, {0, 0}));
}

TEST_P(Recurrent, ALengthOutsideEndsTheRun) {
  Case c{"GRU"};
  c.lengths = true;
  Reference wanted(c);
  wanted.inputs[4] = {integers({kBatch}, {2, 5, 0}, ElementType::kInt32)};
  EXPECT_TRUE(
      ortolan::test::throws<Error>("outside of [0, 4]", [&] { run_node(device(), c.node(), wanted.inputs, 2); }));
}

INSTANTIATE_TEST_SUITE_P(Devices, Recurrent, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
