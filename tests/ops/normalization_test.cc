// Normalisations against their definitions in double.
#include <cmath>
#include <functional>

#include "op_test.h"

namespace ortolan::test {
namespace {

struct Moments {
  double mean = 0, variance = 0;
};

/** Mean and population variance of the elements for which `in` holds. */
template <class In>
Moments moments(const std::vector<double>& x, In&& in) {
  Moments m;
  double count = 0;
  for (size_t i = 0; i < x.size(); ++i) count += in(i) ? 1 : 0, m.mean += in(i) ? x[i] : 0;
  m.mean /= count;
  for (size_t i = 0; i < x.size(); ++i) m.variance += in(i) ? (x[i] - m.mean) * (x[i] - m.mean) / count : 0;
  return m;
}

/** (x - mean) / sqrt(var + eps) * scale[i] + bias[i], moments taken over elements of the same `set`. */
template <class Set, class Of>
std::vector<double> normalized(const std::vector<double>& x, double eps, Set&& set, Of&& scale, Of&& bias) {
  std::vector<double> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    Moments m = moments(x, [&](size_t j) { return set(j) == set(i); });
    y[i] = (x[i] - m.mean) / std::sqrt(m.variance + eps) * scale(i) + bias(i);
  }
  return y;
}

template <class T>
void check_layer(double tolerance) {
  Tensor x = random_tensor<T>({2, 3, 4, 5}, test_seed(), -3, 5);
  Tensor scale = random_tensor<T>({4, 5}, 2), bias = random_tensor<T>({4, 5}, 3);
  auto results =
      OpTest("LayerNormalization", 17).input(x).input(scale).input(bias).set("axis", -2).set("epsilon", 1e-3f).run(3);
  auto s = doubles(scale), b = doubles(bias), values = doubles(x);
  std::function<double(size_t)> scale_of = [&](size_t i) { return s[i % 20]; },
                                bias_of = [&](size_t i) { return b[i % 20]; };
  auto expected = normalized(
      values, double(1e-3f), [](size_t i) { return i / 20; }, scale_of, bias_of);
  EXPECT_TRUE(near(results[0].tensor(), {2, 3, 4, 5}, expected, tolerance));
  std::vector<double> means, inverses;
  for (size_t row = 0; row < 6; ++row) {
    Moments m = moments(values, [&](size_t i) { return i / 20 == row; });
    means.push_back(m.mean);
    inverses.push_back(1 / std::sqrt(m.variance + double(1e-3f)));
  }
  EXPECT_TRUE(near(results[1].tensor(), {2, 3, 1, 1}, means, 1e-5));
  EXPECT_TRUE(near(results[2].tensor(), {2, 3, 1, 1}, inverses, 1e-5));
  EXPECT_EQ(results[1].tensor().type(), ElementType::kFloat);
}

TEST(LayerNormalization, EveryType) {
  check_layer<float>(2e-5);
  check_layer<double>(1e-11);
  check_layer<Half>(5e-3);
  check_layer<BFloat16>(5e-2);
}

/** X of type T with scale and bias of type S, as models before opset 17 may have it. */
template <class T, class S>
void check_mixed_layer(double tolerance) {
  Tensor x = random_tensor<T>({3, 8}, test_seed(), -3, 5);
  Tensor scale = random_tensor<S>({8}, 2), bias = random_tensor<S>({8}, 3);
  auto results = OpTest("LayerNormalization", 16).input(x).input(scale).input(bias).run(3);
  auto s = doubles(scale), b = doubles(bias);
  std::function<double(size_t)> scale_of = [&](size_t i) { return s[i % 8]; },
                                bias_of = [&](size_t i) { return b[i % 8]; };
  auto expected = normalized(
      doubles(x), 1e-5, [](size_t i) { return i / 8; }, scale_of, bias_of);
  EXPECT_EQ(results[0].tensor().type(), scale.type());
  EXPECT_EQ(results[1].tensor().type(), ElementType::kFloat);
  EXPECT_TRUE(near(results[0].tensor(), {3, 8}, expected, tolerance));
  std::string text = OpTest("LayerNormalization", 17).input(x).input(scale).error();
  EXPECT_NE(text.find("but an earlier input of the same kind is"), std::string::npos) << text;
}

TEST(LayerNormalization, BeforeOpset17TheResultHasTheTypeOfTheScale) {
  check_mixed_layer<Half, float>(2e-5);
  check_mixed_layer<float, Half>(5e-3);
  check_mixed_layer<BFloat16, float>(2e-5);
  check_mixed_layer<double, float>(2e-5);
  check_mixed_layer<float, double>(1e-9);
}

TEST(LayerNormalization, BroadcastParametersAndErrors) {
  Tensor x = random_tensor<float>({2, 3, 4}, 5);
  Tensor scale = random_tensor<float>({3, 1}, 6);
  Tensor y = OpTest("LayerNormalization").input(x).input(scale).run_tensor();
  auto s = doubles(scale);
  std::function<double(size_t)> scale_of = [&](size_t i) { return s[i / 4 % 3]; }, zero = [](size_t) { return 0.0; };
  EXPECT_TRUE(near(y, {2, 3, 4},
                   normalized(
                       doubles(x), 1e-5, [](size_t i) { return i / 4; }, scale_of, zero),
                   2e-5));
  std::string text = OpTest("LayerNormalization").input(x).input(scale).set("axis", 3).error();
  EXPECT_NE(text.find("axis 3 is outside [-3, 2]"), std::string::npos) << text;
  text = OpTest("LayerNormalization").input(x).input(random_tensor<float>({5}, 1)).error();
  EXPECT_NE(text.find("does not broadcast"), std::string::npos) << text;
  EXPECT_TRUE(near(OpTest("LayerNormalization")
                       .input(random_tensor<float>({0, 4}, 1))
                       .input(random_tensor<float>({4}, 1))
                       .run_tensor(),
                   {0, 4}, {}));
}

TEST(RMSNormalization, DividesByTheRootMeanSquare) {
  Tensor x = random_tensor<float>({3, 8}, 1), scale = random_tensor<float>({8}, 2);
  auto v = doubles(x), s = doubles(scale);
  std::vector<double> expected;
  for (size_t i = 0; i < v.size(); ++i) {
    double squares = 0;
    for (size_t j = i / 8 * 8; j < i / 8 * 8 + 8; ++j) squares += v[j] * v[j] / 8;
    expected.push_back(v[i] / std::sqrt(squares + 1e-5) * s[i % 8]);
  }
  EXPECT_TRUE(near(OpTest("RMSNormalization", 23).input(x).input(scale).run_tensor(), {3, 8}, expected));
}

struct BatchInputs {
  Tensor x, scale, bias, mean, variance;
};

template <class T>
BatchInputs batch_inputs(Shape shape, int64_t size) {
  return {random_tensor<T>(shape, 1, -2, 3), random_tensor<T>({size}, 2), random_tensor<T>({size}, 3),
          random_tensor<T>({size}, 4), random_tensor<T>({size}, 5, 0.1, 2)};
}

OpTest batch_node(const BatchInputs& in, int opset) {
  return OpTest("BatchNormalization", opset)
      .input(in.x)
      .input(in.scale)
      .input(in.bias)
      .input(in.mean)
      .input(in.variance);
}

template <class T>
void check_batch(double tolerance) {
  BatchInputs in = batch_inputs<T>({2, 3, 2, 2}, 3);
  auto x = doubles(in.x), s = doubles(in.scale), b = doubles(in.bias), m = doubles(in.mean), v = doubles(in.variance);
  std::vector<double> expected;
  for (size_t i = 0; i < x.size(); ++i) {
    size_t c = i / 4 % 3;
    expected.push_back((x[i] - m[c]) / std::sqrt(v[c] + 1e-5) * s[c] + b[c]);
  }
  for (int opset : {7, 9, 14, 15})
    EXPECT_TRUE(near(batch_node(in, opset).run_tensor(), {2, 3, 2, 2}, expected, tolerance)) << opset;
  EXPECT_TRUE(near(batch_node(in, 6).set("is_test", 1).run_tensor(), {2, 3, 2, 2}, expected, tolerance));
}

TEST(BatchNormalization, Inference) {
  check_batch<float>(1e-5);
  check_batch<double>(1e-12);
  check_batch<Half>(1e-2);
}

TEST(BatchNormalization, NotSpatial) {
  BatchInputs in = batch_inputs<float>({3, 2, 2}, 4);
  auto x = doubles(in.x), s = doubles(in.scale), b = doubles(in.bias), m = doubles(in.mean), v = doubles(in.variance);
  std::vector<double> expected;
  for (size_t i = 0; i < x.size(); ++i)
    expected.push_back((x[i] - m[i % 4]) / std::sqrt(v[i % 4] + 1e-5) * s[i % 4] + b[i % 4]);
  EXPECT_TRUE(near(batch_node(in, 7).set("spatial", 0).run_tensor(), {3, 2, 2}, expected));
}

TEST(BatchNormalization, Training) {
  BatchInputs in = batch_inputs<float>({2, 3, 4}, 3);
  auto results = batch_node(in, 14).set("training_mode", 1).set("momentum", 0.75f).run(3);
  auto x = doubles(in.x), s = doubles(in.scale), b = doubles(in.bias), m = doubles(in.mean), v = doubles(in.variance);
  auto channel = [](size_t i) { return i / 4 % 3; };
  std::function<double(size_t)> scale_of = [&](size_t i) { return s[channel(i)]; },
                                bias_of = [&](size_t i) { return b[channel(i)]; };
  EXPECT_TRUE(near(results[0].tensor(), {2, 3, 4}, normalized(x, 1e-5, channel, scale_of, bias_of)));
  std::vector<double> means, variances;
  for (size_t c = 0; c < 3; ++c) {
    Moments batch = moments(x, [&](size_t i) { return channel(i) == c; });
    means.push_back(m[c] * 0.75 + batch.mean * 0.25);
    variances.push_back(v[c] * 0.75 + batch.variance * 0.25);
  }
  EXPECT_TRUE(near(results[1].tensor(), {3}, means));
  EXPECT_TRUE(near(results[2].tensor(), {3}, variances));
  EXPECT_NE(batch_node(in, 14).error(3).find("training_mode"), std::string::npos);
}

TEST(InstanceAndGroupNormalization, Definitions) {
  Tensor x = random_tensor<float>({2, 4, 3}, 1, -1, 4), scale = random_tensor<float>({4}, 2),
         bias = random_tensor<float>({4}, 3);
  auto v = doubles(x), s = doubles(scale), b = doubles(bias);
  std::function<double(size_t)> scale_of = [&](size_t i) { return s[i / 3 % 4]; },
                                bias_of = [&](size_t i) { return b[i / 3 % 4]; };
  auto node = [&](const char* op, int opset) { return OpTest(op, opset).input(x).input(scale).input(bias); };
  auto by_channel = normalized(
      v, 1e-5, [](size_t i) { return i / 3; }, scale_of, bias_of);
  EXPECT_TRUE(near(node("InstanceNormalization", 6).run_tensor(), {2, 4, 3}, by_channel, 2e-5));
  auto by_group = normalized(
      v, 1e-5, [](size_t i) { return i / 6; }, scale_of, bias_of);
  EXPECT_TRUE(near(node("GroupNormalization", 21).set("num_groups", 2).run_tensor(), {2, 4, 3}, by_group, 2e-5));
  EXPECT_NE(node("GroupNormalization", 21).set("num_groups", 3).error().find("multiple of num_groups"),
            std::string::npos);
  EXPECT_NE(node("GroupNormalization", 21).set("num_groups", 0).error().find("positive"), std::string::npos);
}

TEST(MeanVarianceNormalization, DefaultAxes) {
  Tensor x = random_tensor<float>({2, 3, 2, 2}, 9);
  std::function<double(size_t)> one = [](size_t) { return 1.0; }, zero = [](size_t) { return 0.0; };
  auto expected = normalized(
      doubles(x), 0, [](size_t i) { return i / 4 % 3; }, one, zero);
  EXPECT_TRUE(near(OpTest("MeanVarianceNormalization", 13).input(x).run_tensor(), {2, 3, 2, 2}, expected));
}

TEST(LRN, NeighbouringChannels) {
  for (int64_t size : {1, 2, 3, 7}) {
    Tensor x = random_tensor<float>({2, 5, 3}, 4, -2, 2);
    auto v = doubles(x);
    std::vector<double> expected;
    for (int64_t i = 0; i < 30; ++i) {
      int64_t c = i / 3 % 5, begin = std::max<int64_t>(0, c - (size - 1) / 2), end = std::min<int64_t>(4, c + size / 2);
      double squares = 0;
      for (int64_t n = begin; n <= end; ++n) squares += v[i + (n - c) * 3] * v[i + (n - c) * 3];
      expected.push_back(v[i] / std::pow(2 + 0.3 / static_cast<double>(size) * squares, 0.6));
    }
    Tensor y = OpTest("LRN", 13)
                   .input(x)
                   .set("size", size)
                   .set("alpha", 0.3f)
                   .set("beta", 0.6f)
                   .set("bias", 2.0f)
                   .run_tensor();
    EXPECT_TRUE(near(y, {2, 5, 3}, expected)) << size;
  }
  EXPECT_NE(OpTest("LRN").input(random_tensor<float>({2, 3}, 1)).set("size", 3).error().find("must be 3 or more"),
            std::string::npos);
  EXPECT_NE(OpTest("LRN").input(random_tensor<float>({1, 1, 1}, 1)).set("size", 0).error().find("size is 0"),
            std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
