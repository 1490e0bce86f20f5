// LinearAttention and CausalConvWithState against their definitions in double.
#include <cmath>
#include <optional>

#include "op_test.h"

namespace ortolan::test {
namespace {

struct Case {
  const char* rule;
  int64_t batch, tokens, query_heads, heads, key, value;
  bool per_key, shared_beta, past;
  float scale = 0;
  bool decays() const { return std::string(rule).find("gated") == 0; }
  bool corrects() const { return std::string(rule).find("delta") != std::string::npos; }
};

struct Inputs {
  Tensor query, key, value, past, decay, beta;
};

template <class T, class S>
Inputs make_inputs(const Case& c, uint32_t seed) {
  Inputs in;
  in.query = random_tensor<T>({c.batch, c.tokens, c.query_heads * c.key}, seed + 1);
  in.key = random_tensor<T>({c.batch, c.tokens, c.heads * c.key}, seed + 2, -0.4, 0.4);
  in.value = random_tensor<T>({c.batch, c.tokens, c.heads * c.value}, seed + 3);
  in.past = random_tensor<S>({c.batch, c.heads, c.key, c.value}, seed + 4);
  in.decay = random_tensor<T>({c.batch, c.tokens, c.heads * (c.per_key ? c.key : 1)}, seed + 5, -1, 0);
  in.beta = random_tensor<T>({c.batch, c.tokens, c.shared_beta ? 1 : c.heads}, seed + 6, 0, 1);
  return in;
}

/** One head: the state [key][value] goes through the tokens, `y` gets the rows of the head's queries. */
void attend(const Case& c, const Inputs& in, int64_t b, int64_t h, double* state, std::vector<double>& y) {
  auto query = doubles(in.query), key = doubles(in.key), value = doubles(in.value), decay = doubles(in.decay),
       beta = doubles(in.beta);
  double scale = c.scale != 0 ? c.scale : 1 / std::sqrt(static_cast<double>(c.key));
  for (int64_t t = b * c.tokens; t < (b + 1) * c.tokens; ++t) {
    for (int64_t i = 0; c.decays() && i < c.key * c.value; ++i) {
      int64_t place = c.per_key ? (t * c.heads + h) * c.key + i / c.value : t * c.heads + h;
      state[i] *= std::exp(decay[place]);
    }
    for (int64_t v = 0; v < c.value; ++v) {
      double change = value[(t * c.heads + h) * c.value + v];
      for (int64_t i = 0; c.corrects() && i < c.key; ++i) {
        change -= state[i * c.value + v] * key[(t * c.heads + h) * c.key + i];
      }
      if (c.corrects()) change *= beta[c.shared_beta ? t : t * c.heads + h];
      for (int64_t i = 0; i < c.key; ++i) state[i * c.value + v] += key[(t * c.heads + h) * c.key + i] * change;
    }
    int64_t group = c.query_heads / c.heads;
    for (int64_t q = h * group; q < (h + 1) * group; ++q) {
      for (int64_t v = 0; v < c.value; ++v) {
        double sum = 0;
        for (int64_t i = 0; i < c.key; ++i) {
          sum += query[(t * c.query_heads + q) * c.key + i] * state[i * c.value + v];
        }
        y[(t * c.query_heads + q) * c.value + v] = scale * sum;
      }
    }
  }
}

OpTest node(const Case& c, const Inputs& in) {
  OpTest test("LinearAttention", 27);
  test.input(in.query).input(in.key).input(in.value);
  c.past ? test.input(in.past) : test.no_input();
  c.decays() ? test.input(in.decay) : test.no_input();
  c.corrects() ? test.input(in.beta) : test.no_input();
  test.set("update_rule", c.rule).set("q_num_heads", c.query_heads).set("kv_num_heads", c.heads);
  return c.scale != 0 ? test.set("scale", c.scale) : test;
}

template <class T, class S>
void expect_equal(const Case& c, uint32_t seed, double tolerance) {
  Inputs in = make_inputs<T, S>(c, seed);
  std::vector<double> state(static_cast<size_t>(c.batch * c.heads * c.key * c.value));
  if (c.past) state = doubles(in.past);
  std::vector<double> y(static_cast<size_t>(c.batch * c.tokens * c.query_heads * c.value));
  for (int64_t i = 0; i < c.batch * c.heads; ++i) {
    attend(c, in, i / c.heads, i % c.heads, state.data() + i * c.key * c.value, y);
  }
  auto outputs = node(c, in).run(2);
  EXPECT_TRUE(near(outputs[0].tensor(), {c.batch, c.tokens, c.query_heads * c.value}, y, tolerance)) << c.rule;
  EXPECT_TRUE(near(outputs[1].tensor(), {c.batch, c.heads, c.key, c.value}, state, tolerance)) << c.rule;
}

TEST(LinearAttention, EachRule) {
  uint32_t seed = test_seed();
  for (const char* rule : {"linear", "gated", "delta", "gated_delta"}) {
    expect_equal<float, float>({rule, 2, 5, 4, 2, 8, 16, true, false, true}, seed, 1e-5);
    expect_equal<float, float>({rule, 1, 1, 2, 2, 33, 70, false, true, true}, seed, 1e-5);
    expect_equal<float, float>({rule, 1, 9, 3, 1, 5, 3, false, false, false, 0.25f}, seed, 1e-5);
    expect_equal<float, float>({rule, 2, 0, 2, 2, 4, 4, true, false, true}, seed, 1e-6);
    expect_equal<float, float>({rule, 0, 3, 2, 2, 4, 4, true, false, true}, seed, 1e-6);
    expect_equal<float, float>({rule, 1, 3, 2, 1, 1, 4, true, true, true}, seed, 1e-5);
    expect_equal<Half, float>({rule, 2, 5, 4, 2, 8, 16, true, false, true}, seed, 3e-3);
    expect_equal<Half, Half>({rule, 2, 5, 4, 2, 8, 16, false, false, true}, seed, 3e-3);
    expect_equal<BFloat16, BFloat16>({rule, 2, 5, 4, 2, 8, 16, false, true, false}, seed, 3e-2);
  }
}

TEST(LinearAttention, RefusesWhatDoesNotFit) {
  Case c{"gated_delta", 1, 2, 2, 2, 4, 4, true, false, true};
  Inputs in = make_inputs<float, float>(c, 1);
  auto error = [&](auto change) {
    OpTest test = node(c, in);
    change(test);
    return test.error(2);
  };
  EXPECT_NE(error([](OpTest& t) { t.set("update_rule", "delta"); }).find("has no use for input decay"),
            std::string::npos);
  EXPECT_NE(error([](OpTest& t) { t.set("update_rule", "other"); }).find("update_rule is 'other'"), std::string::npos);
  EXPECT_NE(error([](OpTest& t) { t.set("kv_num_heads", 0); }).find("kv_num_heads 0"), std::string::npos);
  EXPECT_NE(error([](OpTest& t) { t.set("q_num_heads", INT64_MIN); }).find("q_num_heads is -9223"), std::string::npos);
  EXPECT_NE(error([](OpTest& t) { t.set("q_num_heads", 6); }).find("6 heads"), std::string::npos);
  in.decay = random_tensor<float>({1, 2, 3}, 1);
  EXPECT_NE(error([](OpTest&) {}).find("decay has shape [1,2,3]; it needs [1,2,8]"), std::string::npos);
}

struct Conv {
  int64_t batch, channels, length, taps;
  bool bias, past;
  const char* activation;
};

template <class T>
void expect_convolved(const Conv& c, uint32_t seed, double tolerance) {
  Tensor x = random_tensor<T>({c.batch, c.channels, c.length}, seed + 1);
  Tensor w = random_tensor<T>({c.channels, 1, c.taps}, seed + 2), bias = random_tensor<T>({c.channels}, seed + 3);
  Tensor past = random_tensor<T>({c.batch, c.channels, c.taps - 1}, seed + 4);
  auto dx = doubles(x), dw = doubles(w), db = doubles(bias), dp = doubles(past);
  std::vector<double> y, present;
  for (int64_t row = 0; row < c.batch * c.channels; ++row) {
    std::vector<double> whole(static_cast<size_t>(c.taps - 1));
    if (c.past) std::copy_n(dp.begin() + row * (c.taps - 1), c.taps - 1, whole.begin());
    whole.insert(whole.end(), dx.begin() + row * c.length, dx.begin() + (row + 1) * c.length);
    int64_t channel = row % c.channels;
    for (int64_t t = 0; t < c.length; ++t) {
      double sum = c.bias ? db[channel] : 0;
      for (int64_t k = 0; k < c.taps; ++k) sum += dw[channel * c.taps + k] * whole[t + k];
      y.push_back(c.activation == std::string("none") ? sum : sum / (1 + std::exp(-sum)));
    }
    present.insert(present.end(), whole.end() - (c.taps - 1), whole.end());
  }
  OpTest test("CausalConvWithState", 27);
  test.input(x).input(w).set("activation", c.activation);
  c.bias ? test.input(bias) : test.no_input();
  if (c.past) test.input(past);
  auto outputs = test.run(2);
  EXPECT_TRUE(near(outputs[0].tensor(), {c.batch, c.channels, c.length}, y, tolerance));
  EXPECT_TRUE(near(outputs[1].tensor(), {c.batch, c.channels, c.taps - 1}, present, tolerance));
}

TEST(CausalConvWithState, AgainstItsDefinition) {
  uint32_t seed = test_seed();
  const Conv cases[] = {{2, 3, 5, 4, true, true, "silu"},    {1, 2, 1, 4, true, true, "none"},
                        {1, 2, 2, 4, false, false, "swish"}, {2, 2, 5000, 3, true, true, "none"},
                        {1, 1, 40, 1, false, true, "silu"},  {2, 3, 0, 4, true, true, "silu"},
                        {0, 3, 4, 2, true, true, "none"}};
  for (const Conv& c : cases) {
    expect_convolved<float>(c, seed, 1e-5);
    expect_convolved<Half>(c, seed, 4e-3);
    expect_convolved<BFloat16>(c, seed, 3e-2);
  }
}

TEST(CausalConvWithState, RefusesWhatDoesNotFit) {
  auto error = [](const Shape& x, const Shape& w, const Shape& past) {
    OpTest test("CausalConvWithState", 27);
    test.input(random_tensor<float>(x, 1)).input(random_tensor<float>(w, 1)).no_input();
    return test.input(random_tensor<float>(past, 1)).error(2);
  };
  EXPECT_NE(error({1, 2, 3}, {2, 1, 0}, {1, 2, 0}).find("have no taps"), std::string::npos);
  EXPECT_NE(error({1, 2, 3}, {3, 1, 2}, {1, 2, 1}).find("weights [3,1,2] do not fit input [1,2,3]"), std::string::npos);
  EXPECT_NE(error({1, 2, 3}, {2, 1, 3}, {1, 2, 3}).find("past_state has shape [1,2,3]; it needs [1,2,2]"),
            std::string::npos);
  OpTest test("CausalConvWithState", 27);
  test.input(random_tensor<float>({1, 1, 1}, 1)).input(random_tensor<float>({1, 1, 1}, 1)).set("activation", "relu");
  EXPECT_NE(test.error(2).find("activation is 'relu'"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
