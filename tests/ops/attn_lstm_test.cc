// AttnLSTM against its equations in double.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

struct Sizes {
  int64_t steps, batch, input, hidden, memory, depth, width, layer;  // layer 0: no AW
  int64_t state() const { return layer > 0 ? layer : depth; }
};

/** The inputs by their names in the operator's documentation, of both directions. */
struct Inputs {
  Tensor x, w, r, b, h, c, p, qw, mw, v, m, aw;
  std::vector<int32_t> lengths, memory_lengths;
};

template <class T>
Inputs make_inputs(const Sizes& s, int64_t dirs, uint32_t seed) {
  int64_t gates = 4 * s.hidden;
  auto make = [&](Shape shape) { return random_tensor<T>(std::move(shape), seed++); };
  Inputs in{make({s.steps, s.batch, s.input}),
            make({dirs, gates, s.input + s.state()}),
            make({dirs, gates, s.hidden}),
            make({dirs, 2 * gates}),
            make({dirs, s.batch, s.hidden}),
            make({dirs, s.batch, s.hidden}),
            make({dirs, 3 * s.hidden}),
            make({dirs, s.hidden, s.width}),
            make({dirs, s.depth, s.width}),
            make({dirs, s.width}),
            make({s.batch, s.memory, s.depth}),
            make({dirs, s.depth + s.hidden, s.layer}),
            std::vector<int32_t>(),
            std::vector<int32_t>()};
  for (int64_t i = 0; i < s.batch; ++i) {
    in.lengths.push_back(static_cast<int32_t>(s.steps - i % s.steps));
    in.memory_lengths.push_back(static_cast<int32_t>(1 + i % s.memory));
  }
  return in;
}

using Vector = std::vector<double>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/** One sequence of one direction, the equations one by one. */
struct Walk {
  const Sizes& s;
  Vector w, r, b, p, qw, mw, v, m, aw;
  Vector h, c, state;

  void step(const double* x) {
    int64_t n = s.hidden;
    Vector gates(4 * n);
    for (int64_t g = 0; g < 4 * n; ++g) {
      double sum = b[g] + b[4 * n + g];
      for (int64_t i = 0; i < s.input; ++i) sum += x[i] * w[g * (s.input + s.state()) + i];
      for (int64_t i = 0; i < s.state(); ++i) sum += state[i] * w[g * (s.input + s.state()) + s.input + i];
      for (int64_t i = 0; i < n; ++i) sum += h[i] * r[g * n + i];
      gates[g] = sum;
    }
    for (int64_t i = 0; i < n; ++i) {
      double in = sigmoid(gates[i] + p[i] * c[i]), forget = sigmoid(gates[2 * n + i] + p[2 * n + i] * c[i]);
      c[i] = forget * c[i] + in * std::tanh(gates[3 * n + i]);
      h[i] = sigmoid(gates[n + i] + p[n + i] * c[i]) * std::tanh(c[i]);
    }
  }

  void attend(int64_t length) {
    Vector weights, context(s.depth);
    double total = 0;
    for (int64_t j = 0; j < length; ++j) {
      double score = 0;
      for (int64_t a = 0; a < s.width; ++a) {
        double sum = 0;
        for (int64_t d = 0; d < s.depth; ++d) sum += m[j * s.depth + d] * mw[d * s.width + a];
        for (int64_t i = 0; i < s.hidden; ++i) sum += h[i] * qw[i * s.width + a];
        score += v[a] * std::tanh(sum);
      }
      weights.push_back(std::exp(score));
      total += weights.back();
    }
    for (int64_t j = 0; j < length; ++j) {
      for (int64_t d = 0; d < s.depth; ++d) context[d] += weights[j] / total * m[j * s.depth + d];
    }
    if (s.layer == 0) {
      state = context;
      return;
    }
    for (int64_t a = 0; a < s.layer; ++a) {
      state[a] = 0;
      for (int64_t i = 0; i < s.hidden; ++i) state[a] += h[i] * aw[i * s.layer + a];
      for (int64_t d = 0; d < s.depth; ++d) state[a] += context[d] * aw[(s.hidden + d) * s.layer + a];
    }
  }
};

Vector part(const Tensor& tensor, int64_t i, int64_t parts) {
  Vector all = doubles(tensor);
  auto size = static_cast<int64_t>(all.size()) / parts;
  return {all.begin() + i * size, all.begin() + (i + 1) * size};
}

struct Outputs {
  Vector y, h, c;
};

Outputs reference(const Sizes& s, const Inputs& in, int64_t dirs, bool reverse) {
  Outputs out{Vector(s.steps * dirs * s.batch * s.hidden), {}, {}};
  Vector x = doubles(in.x);
  for (int64_t d = 0; d < dirs; ++d) {
    for (int64_t k = 0; k < s.batch; ++k) {
      Walk walk{s,
                part(in.w, d, dirs),
                part(in.r, d, dirs),
                part(in.b, d, dirs),
                part(in.p, d, dirs),
                part(in.qw, d, dirs),
                part(in.mw, d, dirs),
                part(in.v, d, dirs),
                part(in.m, k, s.batch),
                part(in.aw, d, dirs),
                part(in.h, d * s.batch + k, dirs * s.batch),
                part(in.c, d * s.batch + k, dirs * s.batch),
                Vector(s.state())};
      for (int64_t t = 0; t < in.lengths[k]; ++t) {
        int64_t time = d == 1 || reverse ? in.lengths[k] - 1 - t : t;
        walk.step(x.data() + (time * s.batch + k) * s.input);
        walk.attend(in.memory_lengths[k]);
        std::copy(walk.h.begin(), walk.h.end(), out.y.begin() + ((time * dirs + d) * s.batch + k) * s.hidden);
      }
      out.h.insert(out.h.end(), walk.h.begin(), walk.h.end());
      out.c.insert(out.c.end(), walk.c.begin(), walk.c.end());
    }
  }
  return out;
}

OpTest node(const Sizes& s, const Inputs& in, const char* direction) {
  OpTest test("AttnLSTM", 1, "com.microsoft");
  test.set("direction", direction).set("hidden_size", s.hidden).input(in.x).input(in.w).input(in.r).input(in.b);
  test.input<int32_t>({s.batch}, in.lengths).input(in.h).input(in.c).input(in.p).input(in.qw).input(in.mw).input(in.v);
  test.input(in.m).input<int32_t>({s.batch}, in.memory_lengths);
  if (s.layer > 0) test.input(in.aw);
  return test;
}

template <class T>
void check(const Sizes& s, const char* direction, double tolerance) {
  int64_t dirs = direction == std::string("bidirectional") ? 2 : 1;
  Inputs in = make_inputs<T>(s, dirs, test_seed());
  Outputs expected = reference(s, in, dirs, direction == std::string("reverse"));
  auto results = node(s, in, direction).run(3);
  EXPECT_TRUE(near(results[0].tensor(), {s.steps, dirs, s.batch, s.hidden}, expected.y, tolerance)) << direction;
  EXPECT_TRUE(near(results[1].tensor(), {dirs, s.batch, s.hidden}, expected.h, tolerance)) << direction;
  EXPECT_TRUE(near(results[2].tensor(), {dirs, s.batch, s.hidden}, expected.c, tolerance)) << direction;
}

TEST(AttnLstm, DirectionsTypesAndLayer) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    check<float>({3, 2, 4, 5, 4, 3, 6, 0}, direction, 2e-5);
    check<float>({4, 3, 2, 9, 3, 5, 17, 7}, direction, 2e-5);
    check<double>({3, 3, 4, 5, 2, 3, 6, 4}, direction, 1e-12);
    check<Half>({2, 2, 3, 4, 2, 3, 5, 0}, direction, 2e-3);
  }
}

TEST(AttnLstm, NothingToDo) {
  Sizes s{2, 0, 3, 4, 2, 3, 5, 0};
  EXPECT_EQ(node(s, make_inputs<float>(s, 1, 1), "forward").run(3)[0].tensor().shape(), (Shape{2, 1, 0, 4}));
}

TEST(AttnLstm, Errors) {
  Sizes s{2, 2, 3, 4, 2, 3, 5, 0};
  Inputs in = make_inputs<float>(s, 1, 1);
  auto text = [&](auto&& change) {
    Inputs bad = in;
    change(bad);
    return node(s, bad, "forward").error();
  };
  EXPECT_NE(text([](Inputs& i) { i.memory_lengths[1] = 3; }).find("a memory's length is 3"), std::string::npos);
  EXPECT_NE(text([](Inputs& i) { i.memory_lengths[0] = 0; }).find("a memory's length is 0"), std::string::npos);
  EXPECT_NE(text([](Inputs& i) { i.lengths[0] = -1; }).find("sequence_lens[0] is -1"), std::string::npos);
  EXPECT_NE(text([](Inputs& i) {
              i.w = random_tensor<float>({1, 16, 5}, 1);
            }).find("W has shape [1,16,5]"),
            std::string::npos);
  EXPECT_NE(text([](Inputs& i) { i.qw = random_tensor<float>({1, 4, 4}, 1); }).find("QW has shape"), std::string::npos);
  EXPECT_NE(text([](Inputs& i) { i.v = random_tensor<float>({1}, 1); }).find("V has shape"), std::string::npos);
  EXPECT_NE(text([](Inputs& i) { i.m = random_tensor<float>({3, 2, 3}, 1); }).find("M has shape"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
