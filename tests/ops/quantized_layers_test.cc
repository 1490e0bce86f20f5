// com.microsoft's quantised convolution, LSTM, quantisation and attention against arithmetic in double.
#include <cmath>

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

}  // namespace
}  // namespace ortolan::test
