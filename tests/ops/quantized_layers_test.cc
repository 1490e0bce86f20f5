// com.microsoft's quantised convolution, LSTM, quantisation and attention against arithmetic in double.
#include <cmath>
#include <limits>

#include "byte_reference.h"
#include "nd_index.h"

namespace ortolan::test {
namespace {

OpTest node(const char* op) { return OpTest(op, 1, "com.microsoft"); }

template <class T>
class ByteLayers : public OnBytes<T> {};
TYPED_TEST_SUITE(ByteLayers, ByteTypes);

/** x [N, C, H, W] and its transposed form give transposed results. */
template <class T>
void check_convolution(Shape in, Shape w_shape, int64_t group, int64_t pad) {
  int64_t channels = w_shape[0];
  RandomBytes<T> x({in[0], in[2], in[3], in[1]}, test_seed());
  Tensor second(kTypeOf<T>, in);
  for_each_index(in, [&](const Index& at) {
    int64_t from = ((at[0] * in[2] + at[2]) * in[3] + at[3]) * in[1] + at[1];
    second.mutable_data<T>()[flat(in, at)] = x.bytes.template data<T>()[from];
  });
  RandomBytes<int8_t> w(w_shape, test_seed() + 1);
  auto run = [&](const Tensor& input, bool last) {
    OpTest test = node("QLinearConv").set("channels_last", last).set("group", group);
    test.ints("pads", {pad, pad, pad, pad}).input(input).template input<float>({}, {0.02f});
    test.template input<T>({}, {3}).input(w.bytes).input(random_tensor<float>({channels}, 5, 0.01, 0.05));
    test.template input<int8_t>({channels}, std::vector<int8_t>(static_cast<size_t>(channels)));
    test.template input<float>({}, {0.6f}).template input<T>({}, {9});
    return test.input(random_tensor<int32_t>({channels}, 6, -900, 900)).run_tensor();
  };
  Tensor y = run(second, false), y_last = run(x.bytes, true);
  const Shape& out = y.shape();
  ASSERT_EQ(y_last.shape(), (Shape{out[0], out[2], out[3], out[1]}));
  for_each_index(out, [&](const Index& at) {
    int64_t other = ((at[0] * out[2] + at[2]) * out[3] + at[3]) * out[1] + at[1];
    ASSERT_EQ(y.data<T>()[flat(out, at)], y_last.data<T>()[other]);
  });
}

TYPED_TEST(ByteLayers, QLinearConvWithChannelsLast) {
  check_convolution<TypeParam>({2, 6, 5, 7}, {4, 6, 3, 3}, 1, 1);
  check_convolution<TypeParam>({2, 6, 5, 7}, {9, 6, 1, 1}, 1, 0);
  check_convolution<TypeParam>({2, 6, 9, 11}, {70, 6, 1, 1}, 1, 0);
  check_convolution<TypeParam>({1, 6, 5, 7}, {4, 3, 1, 1}, 2, 0);
  check_convolution<TypeParam>({1, 6, 5, 7}, {6, 1, 3, 3}, 6, 0);
  check_convolution<TypeParam>({0, 6, 5, 7}, {4, 6, 1, 1}, 1, 0);
}

TEST(QLinearConv, Errors) {
  OpTest test = node("QLinearConv").set("channels_last", 1);
  test.input(random_tensor<uint8_t>({1, 4, 4, 3}, 1, 0, 9)).input<float>({}, {1}).input<uint8_t>({}, {0});
  test.input(random_tensor<uint8_t>({2, 4, 1, 1}, 1, 0, 9)).input<float>({}, {1}).input<uint8_t>({}, {0});
  EXPECT_NE(test.input<float>({}, {1}).input<uint8_t>({}, {0}).error().find("has 3 channels"), std::string::npos);
}

TYPED_TEST(ByteLayers, QuantizeAndDequantize) {
  Tensor x = random_tensor<float>({2, 3, 4}, test_seed(), -4, 4);
  std::vector<float> scales = {0.1f, 0.02f, 0.3f};
  std::vector<TypeParam> zeros = {1, 2, 3};
  OpTest quantize = node("QuantizeLinear").input(x).template input<float>({3}, scales).set("axis", -2);
  Tensor y = quantize.template input<TypeParam>({3}, zeros).run_tensor();
  OpTest back = node("DequantizeLinear").input(y).template input<float>({3}, scales).set("axis", 1);
  Tensor z = back.template input<TypeParam>({3}, zeros).run_tensor();
  for (int64_t i = 0; i < 24; ++i) {
    int64_t c = i / 4 % 3;
    double low = scales[c] * (std::numeric_limits<TypeParam>::min() - zeros[c]);
    double high = scales[c] * (std::numeric_limits<TypeParam>::max() - zeros[c]);
    EXPECT_NEAR(z.data<float>()[i], std::clamp<double>(x.data<float>()[i], low, high), scales[c] * 0.501);
  }
  Tensor half = node("DequantizeLinear").input(y).template input<Half>({}, {Half(0.5f)}).run_tensor();
  EXPECT_EQ(half.type(), ElementType::kFloat16);
}

/** A product with a left operand that is quantised with one scale. */
std::vector<double> dynamic_product(const std::vector<float>& a, int64_t k, const std::vector<double>& w, int64_t n) {
  float low = 0, high = 0;
  for (float x : a) low = std::min(low, x), high = std::max(high, x);
  float step = low == high ? 1 : (high - low) / 255.0f, zero = std::nearbyint(-low / step);
  int64_t m = static_cast<int64_t>(a.size()) / k;
  std::vector<double> y(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m * k; ++i) {
    double code = std::clamp(std::nearbyint(a[i] / step) + zero, 0.0f, 255.0f) - zero;
    for (int64_t j = 0; j < n; ++j) y[i / k * n + j] += code * double{step} * w[i % k * n + j];
  }
  return y;
}

TYPED_TEST(ByteLayers, DynamicQuantizeLstm) {
  int64_t steps = 3, batch = 2, k = 5, h = 4, n = 4 * h;
  Tensor x = random_tensor<float>({steps, batch, k}, test_seed());
  RandomBytes<TypeParam> w({1, k, n}, test_seed() + 1, 0.01f, 0), r({1, h, n}, test_seed() + 2, 0.01f, 0);
  Tensor bias = random_tensor<float>({1, 2 * n}, test_seed());
  OpTest test = node("DynamicQuantizeLSTM").set("hidden_size", h);
  test.input(x).input(w.bytes).input(r.bytes).input(bias).no_input().no_input().no_input().no_input();
  test.template input<float>({1}, {0.01f}).template input<TypeParam>({1}, {0});
  std::vector<float> r_scales(static_cast<size_t>(n), 0.01f);
  r_scales[3] = 0.02f;
  test.template input<float>({1, n}, r_scales).template input<TypeParam>({1, n}, std::vector<TypeParam>(16));
  std::vector<Value> outputs = test.run(3);
  std::vector<double> w_real, r_real, y, c(static_cast<size_t>(batch * h));
  for (int64_t i = 0; i < k * n; ++i) w_real.push_back(w.value(i));
  for (int64_t i = 0; i < h * n; ++i) r_real.push_back(r.value(i) * (i % n == 3 ? 2 : 1));
  std::vector<double> in = dynamic_product({x.data<float>(), x.data<float>() + x.element_count()}, k, w_real, n);
  std::vector<float> state(static_cast<size_t>(batch * h));
  auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  for (int64_t t = 0; t < steps; ++t) {
    std::vector<double> gates = dynamic_product(state, h, r_real, n);
    for (int64_t i = 0; i < batch * n; ++i) {
      gates[i] += in[t * batch * n + i] + bias.data<float>()[i % n] + bias.data<float>()[n + i % n];
    }
    for (int64_t i = 0; i < batch * h; ++i) {
      const double* g = gates.data() + i / h * n + i % h;
      c[i] = sigmoid(g[2 * h]) * c[i] + sigmoid(g[0]) * std::tanh(g[3 * h]);
      state[i] = static_cast<float>(sigmoid(g[h]) * std::tanh(c[i]));
      y.push_back(state[i]);
    }
  }
  EXPECT_TRUE(near(outputs[0].tensor(), {steps, 1, batch, h}, y, 2e-3));
  EXPECT_TRUE(near(outputs[2].tensor(), {1, batch, h}, c, 4e-3));
}

TYPED_TEST(ByteLayers, DynamicQuantizeLstmRunsBothWays) {
  RandomBytes<TypeParam> w({2, 3, 8}, test_seed(), 0.01f, 0), r({2, 2, 8}, test_seed() + 1, 0.01f, 0);
  auto lstm = [&](std::vector<int32_t> lengths, Shape scale) {
    OpTest test = node("DynamicQuantizeLSTM").set("hidden_size", 2).set("direction", "bidirectional");
    test.input(random_tensor<float>({4, 2, 3}, test_seed())).input(w.bytes).input(r.bytes).no_input();
    test.template input<int32_t>({2}, lengths).no_input().no_input().no_input();
    Tensor zeros(kTypeOf<TypeParam>, Shape{2});
    std::fill_n(zeros.template mutable_data<TypeParam>(), 2, TypeParam{0});
    test.input(random_tensor<float>(scale, 3, 0.01, 0.02)).input(zeros);
    return test.input(random_tensor<float>({2}, 3, 0.01, 0.02)).input(zeros);
  };
  Tensor y = lstm({4, 1}, {2}).run_tensor();
  for (int64_t d = 0; d < 2; ++d) {
    for (int64_t t = 1; t < 4; ++t) EXPECT_EQ(y.data<float>()[((t * 2 + d) * 2 + 1) * 2], 0) << "ended sequence";
  }
  EXPECT_NE(lstm({4, 5}, {2}).error().find("sequence_lens[1] is 5"), std::string::npos);
  EXPECT_NE(lstm({4, -1}, {2}).error().find("sequence_lens[1] is -1"), std::string::npos);
  EXPECT_NE(lstm({4, 1}, {3}).error().find("the scale of W has shape [3]"), std::string::npos);
}

TYPED_TEST(ByteLayers, DynamicQuantizeLstmKeepsNan) {
  RandomBytes<TypeParam> w({1, 3, 8}, test_seed(), 0.01f, 0), r({1, 2, 8}, test_seed() + 1, 0.01f, 0);
  Tensor x = random_tensor<float>({3, 2, 3}, test_seed()), zero(kTypeOf<TypeParam>, Shape{1});
  x.mutable_data<float>()[(1 * 2 + 1) * 3 + 2] = NAN;  // of the second sequence at step 1
  *zero.template mutable_data<TypeParam>() = 0;
  OpTest test = node("DynamicQuantizeLSTM").set("hidden_size", 2);
  test.input(x).input(w.bytes).input(r.bytes).no_input().no_input().no_input().no_input().no_input();
  test.template input<float>({1}, {0.01f}).input(zero).template input<float>({1}, {0.01f}).input(zero);
  Tensor y = test.run_tensor();
  for (int64_t i = 0; i < y.element_count(); ++i) {
    const int64_t step = i / 4, sequence = i / 2 % 2;
    EXPECT_EQ(std::isnan(y.data<float>()[i]), step >= 1 && sequence == 1) << i;
  }
}

struct AttentionCase {
  Shape mask;  // rank 0: none
  int64_t past = 0;
  bool causal = false, rotary = false;
};

/** QAttention gives what Attention gives for the real values. */
template <class T>
void check_attention(const AttentionCase& c) {
  int64_t batch = 2, sequence = 3, hidden = 8, heads = 2, columns = 3 * hidden, total = c.past + sequence;
  RandomBytes<T> x({batch, sequence, 5}, test_seed(), 0.01f), w({5, columns}, test_seed() + 1, 1, 2);
  Tensor bias = random_tensor<float>({columns}, test_seed());
  Tensor scales = random_tensor<float>({columns}, test_seed(), 0.001, 0.01);
  Tensor real_x(ElementType::kFloat, x.shape()), real_w(ElementType::kFloat, w.shape());
  for (int64_t i = 0; i < x.count(); ++i) real_x.mutable_data<float>()[i] = static_cast<float>(x.value(i));
  for (int64_t i = 0; i < w.count(); ++i) {
    real_w.mutable_data<float>()[i] = static_cast<float>(w.value(i)) * scales.data<float>()[i % columns];
  }
  OpTest quantised = node("QAttention"), plain = node("Attention");
  quantised.input(x.bytes).input(w.bytes).input(bias).template input<float>({}, {x.scale}).input(scales);
  plain.input(real_x).input(real_w).input(bias);
  Tensor mask(ElementType::kInt32, c.mask);
  for (int64_t i = 0; i < mask.element_count(); ++i) mask.mutable_data<int32_t>()[i] = i < batch ? 2 : i % 3 != 0;
  for (OpTest* test : {&quantised, &plain}) {
    test->set("num_heads", heads).set("unidirectional", c.causal).set("do_rotary", c.rotary);
    c.mask.rank() > 0 ? test->input(mask) : test->no_input();
  }
  quantised.template input<T>({}, {x.zero}).template input<T>({columns}, std::vector<T>(24, w.zero));
  if (c.past > 0) {
    Tensor past = random_tensor<float>({2, batch, heads, c.past, hidden / heads}, test_seed() + 3);
    quantised.input(past), plain.input(past);
  }
  std::vector<Value> actual = quantised.run(2), expected = plain.run(2);
  EXPECT_TRUE(near(actual[0].tensor(), {batch, sequence, hidden}, doubles(expected[0].tensor()), 1e-4));
  Shape present{2, batch, heads, total, hidden / heads};
  EXPECT_TRUE(near(actual[1].tensor(), present, doubles(expected[1].tensor()), 1e-4));
}

TYPED_TEST(ByteLayers, QAttention) {
  check_attention<TypeParam>({});
  check_attention<TypeParam>({{}, 0, true});
  check_attention<TypeParam>({{2}});
  check_attention<TypeParam>({{4}});
  check_attention<TypeParam>({{2, 3}, 0, true});
  check_attention<TypeParam>({{2, 7}, 4});
  check_attention<TypeParam>({{2, 3, 7}, 4, true});
  check_attention<TypeParam>({{}, 0, true, true});
  check_attention<TypeParam>({{}, 5, true, true});
}

TEST(QAttention, Errors) {
  auto attention = [](int64_t columns, int64_t heads) {
    OpTest test = node("QAttention").set("num_heads", heads);
    test.input(random_tensor<uint8_t>({1, 2, 4}, 1, 0, 9)).input(random_tensor<uint8_t>({4, columns}, 1, 0, 9));
    return test.input(random_tensor<float>({columns}, 1)).input<float>({}, {1}).input<float>({}, {1});
  };
  EXPECT_NE(attention(8, 2).error().find("multiple of 3 * num_heads"), std::string::npos);
  EXPECT_NE(attention(6, 0).error().find("num_heads is 0"), std::string::npos);
  EXPECT_NE(attention(6, 1).input<int32_t>({9}, std::vector<int32_t>(9)).error().find("mask_index has shape [9]"),
            std::string::npos);
  EXPECT_NE(attention(6, 1).no_input().input<float>({}, {1}).error().find("input 6"), std::string::npos);
  EXPECT_EQ(attention(6, 1).input<int32_t>({1}, {-5}).error(), "");
  EXPECT_NE(attention(9, 1).set("do_rotary", 1).error().find("needs an even number"), std::string::npos);
  OpTest shared = attention(6, 1).set("past_present_share_buffer", 1);
  EXPECT_EQ(shared.error(), "");
  shared.no_input().no_input().no_input().input(random_tensor<float>({2, 1, 1, 3, 2}, 1));
  EXPECT_NE(shared.error().find("past_present_share_buffer is 1"), std::string::npos) << shared.error();
}

TYPED_TEST(ByteLayers, QEmbedLayerNormalization) {
  int64_t batch = 2, sequence = 3, hidden = 5;
  RandomBytes<TypeParam> words({7, hidden}, 1), places({4, hidden}, 2), segments({2, hidden}, 3), gamma({hidden}, 4),
      beta({hidden}, 5);
  auto embed = [&](std::vector<int32_t> ids) {
    OpTest test = node("QEmbedLayerNormalization").set("epsilon", 1e-5f);
    test.template input<int32_t>({batch, sequence}, ids).template input<int32_t>({batch, sequence}, {0, 1, 0, 1, 1, 0});
    for (auto* t : {&words, &places, &segments, &gamma, &beta}) test.input(t->bytes);
    test.template input<int32_t>({batch, sequence}, {1, 1, 0, 1, 0, 0});
    for (auto* t : {&words, &places, &segments, &gamma, &beta}) test.template input<float>({}, {t->scale});
    for (auto* t : {&words, &places, &segments, &gamma, &beta}) test.template input<TypeParam>({}, {t->zero});
    return test;
  };
  std::vector<int32_t> ids = {6, 0, 3, 1, 1, 2}, kinds = {0, 1, 0, 1, 1, 0};
  std::vector<double> expected;
  for (int64_t i = 0; i < batch * sequence; ++i) {
    std::vector<double> row;
    double mean = 0, variance = 0;
    for (int64_t j = 0; j < hidden; ++j) {
      row.push_back(words.value(ids[i] * hidden + j) + places.value(i % sequence * hidden + j) +
                    segments.value(kinds[i] * hidden + j));
      mean += row.back() / double(hidden);
    }
    for (double v : row) variance += (v - mean) * (v - mean) / double(hidden);
    for (int64_t j = 0; j < hidden; ++j) {
      expected.push_back((row[j] - mean) / std::sqrt(variance + 1e-5) * gamma.value(j) + beta.value(j));
    }
  }
  std::vector<Value> outputs = embed(ids).run(2);
  EXPECT_TRUE(near(outputs[0].tensor(), {batch, sequence, hidden}, expected, 1e-4));
  EXPECT_TRUE(equal<int32_t>(outputs[1].tensor(), {batch}, {2, 1}));
  EXPECT_NE(embed({7, 0, 0, 0, 0, 0}).error(2).find("index 7 is outside"), std::string::npos);
  EXPECT_NE(embed({-1, 0, 0, 0, 0, 0}).error(2).find("index -1 is outside"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
