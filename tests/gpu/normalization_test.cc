// Normalisations against double.
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/single_node.h"
#include "thrown_text.h"

namespace ortolan::gpu::test {
namespace {

struct RowResult {
  std::vector<float> y, mean, inverse;
};

/** Scale and bias are for the elements of a row; empty for 1 and 0. */
RowResult normalize_rows(const std::vector<float>& x, size_t columns, bool rms, double epsilon,
                         const std::vector<float>& scale = {}, const std::vector<float>& bias = {}) {
  RowResult result;
  for (size_t base = 0; base < x.size(); base += columns) {
    double mean = 0, squares = 0;
    for (size_t i = 0; i < columns && !rms; i++) mean += x[base + i] / static_cast<double>(columns);
    for (size_t i = 0; i < columns; i++) squares += (x[base + i] - mean) * (x[base + i] - mean);
    double inverse = 1 / std::sqrt(squares / static_cast<double>(columns) + epsilon);
    for (size_t i = 0; i < columns; i++) {
      double y = (x[base + i] - mean) * inverse * (scale.empty() ? 1 : scale[i]) + (bias.empty() ? 0 : bias[i]);
      result.y.push_back(static_cast<float>(y));
    }
    result.mean.push_back(static_cast<float>(mean));
    result.inverse.push_back(static_cast<float>(inverse));
  }
  return result;
}

Tensor as_half(const Tensor& x) { return floats(x.shape, x.floats(), ElementType::kFloat16); }

class Normalization : public testing::TestWithParam<NamedDevice> {
 protected:
  Device& device() { return *GetParam().device; }
};

TEST_P(Normalization, LayerRowsOfManySizesWithMoments) {
  for (int64_t columns : {1, 2, 15, 16, 17, 63, 65, 300}) {
    Tensor x = random_floats({2, 3, columns}, 1, 3, 5), scale = random_floats({columns}, 2),
           bias = random_floats({columns}, 3);
    TestNode node{"LayerNormalization", {{"axis", int64_t{columns == 1 ? 2 : -1}}, {"epsilon", 1e-3f}}, 17};
    RowResult wanted = normalize_rows(x.floats(), columns, false, 1e-3f, scale.floats(), bias.floats());
    auto actual = run_node(device(), node, {{x}, {scale}, {bias}}, 3);
    expect_near(actual[0], floats(x.shape, wanted.y), 1e-4f, 1e-5f);
    expect_near(actual[1], floats({2, 3, 1}, wanted.mean));
    expect_near(actual[2], floats({2, 3, 1}, wanted.inverse), 1e-4f);
  }
}

TEST_P(Normalization, LayerOverSeveralAxesWithoutBias) {
  Tensor x = random_floats({2, 3, 4}, 4), scale = random_floats({3, 4}, 5);
  TestNode node{"LayerNormalization", {{"axis", int64_t{-2}}}, 17};
  RowResult wanted = normalize_rows(x.floats(), 12, false, 1e-5f, scale.floats());
  expect_near(run_node(device(), node, {{x}, {scale}})[0], floats(x.shape, wanted.y), 1e-5f, 1e-5f);
}

TEST_P(Normalization, LayerOfFloat16) {
  Tensor x = as_half(random_floats({3, 40}, 6)), scale = as_half(random_floats({40}, 7));
  RowResult wanted = normalize_rows(x.floats(), 40, false, 1e-5f, scale.floats(), scale.floats());
  Tensor actual = run_node(device(), {"LayerNormalization"}, {{x}, {scale}, {scale}})[0];
  expect_near(actual, floats(x.shape, wanted.y, ElementType::kFloat16), 2e-3f, 1e-3f);
}

TEST_P(Normalization, RootMeanSquare) {
  for (int64_t columns : {1, 31, 64, 130}) {
    Tensor x = random_floats({5, columns}, 8), scale = random_floats({columns}, 9);
    RowResult wanted = normalize_rows(x.floats(), columns, true, 1e-5f, scale.floats());
    TestNode node{"RMSNormalization", {{"axis", int64_t{1}}}};
    expect_near(run_node(device(), node, {{x}, {scale}})[0], floats(x.shape, wanted.y), 1e-5f, 1e-6f);
    auto actual = run_node(device(), {"SimplifiedLayerNormalization", {{"axis", int64_t{1}}}}, {{x}, {scale}}, 2);
    expect_near(actual[0], floats(x.shape, wanted.y), 1e-5f, 1e-6f);
    expect_near(actual[1], floats({5, 1}, wanted.inverse));
  }
}

TEST_P(Normalization, SkipConnectionsWithAllOutputs) {
  Shape shape = {2, 3, 35};
  Tensor x = random_floats(shape, 10), scale = random_floats({35}, 11), beta = random_floats({35}, 12);
  Tensor skip = random_floats({3, 35}, 13), bias = random_floats({35}, 14);
  std::vector<float> total = x.floats(), s = skip.floats(), b = bias.floats();
  for (size_t i = 0; i < total.size(); i++) total[i] += s[i % s.size()] + b[i % 35];
  for (bool rms : {false, true}) {
    RowResult wanted =
        normalize_rows(total, 35, rms, 1e-12f, scale.floats(), rms ? std::vector<float>{} : beta.floats());
    std::string op = rms ? "SkipSimplifiedLayerNormalization" : "SkipLayerNormalization";
    std::vector<NodeInput> inputs = {{x}, {skip}, {scale}, {beta}, {bias}};
    if (rms) inputs.erase(inputs.begin() + 3);
    auto actual = run_node(device(), {op, {}, 1, "com.microsoft"}, inputs, 4);
    expect_near(actual[0], floats(shape, wanted.y), 1e-4f, 1e-5f);
    expect_near(actual[1], floats({2, 3, 1}, wanted.mean), 1e-5f, 1e-6f);
    expect_near(actual[2], floats({2, 3, 1}, wanted.inverse));
    expect_near(actual[3], floats(shape, total));
  }
}

TEST_P(Normalization, LayerRefusals) {
  Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(refusal_of(device(), {"LayerNormalization"}, {{x}, {floats({1}, {1})}}),
            "input 1 is not known to have one element for each of a row");
  EXPECT_EQ(refusal_of(device(), {"LayerNormalization"}, {{x}, {as_half(floats({3}, {1, 1, 1}))}}),
            "input 1 is float16, input 0 is float; equal types are taken");
  try {
    run_node(device(), {"LayerNormalization", {{"axis", int64_t{4}}}}, {{x}, {floats({3}, {1, 1, 1})}});
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "node 'n' (LayerNormalization): axis 4 is outside of rank 2");
  }
}

/** x by rows of `inner` elements, each brought to its channel's mean and variance. */
Tensor by_channel(const Tensor& x, size_t inner, const std::vector<float>& scale, const std::vector<float>& bias,
                  const std::vector<float>& mean, const std::vector<float>& variance) {
  std::vector<float> y = x.floats();
  for (size_t i = 0; i < y.size(); i++) {
    size_t c = i / inner % scale.size();
    y[i] = static_cast<float>((y[i] - double{mean[c]}) / std::sqrt(variance[c] + 1e-5) * scale[c] + bias[c]);
  }
  return floats(x.shape, y, x.type);
}

TEST_P(Normalization, BatchOfManyShapes) {
  Tensor scale = random_floats({3}, 15), bias = random_floats({3}, 16), mean = random_floats({3}, 17);
  Tensor variance = random_floats({3}, 18, 0.5f, 2);
  for (const Shape& shape :
       {Shape{2, 3}, Shape{2, 3, 1}, Shape{1, 3, 4, 4}, Shape{2, 3, 5, 7}, Shape{1, 3, 65}, Shape{0, 3, 2}}) {
    Tensor x = random_floats(shape, 19);
    size_t inner = static_cast<size_t>(element_count(shape, 2, shape.size()));
    Tensor wanted = by_channel(x, inner, scale.floats(), bias.floats(), mean.floats(), variance.floats());
    TestNode node{"BatchNormalization", {}, 15};
    expect_near(run_node(device(), node, {{x}, {scale}, {bias}, {mean}, {variance}})[0], wanted, 1e-5f, 1e-5f);
    std::vector<NodeInput> half = {
        {as_half(x)}, {as_half(scale)}, {as_half(bias)}, {as_half(mean)}, {as_half(variance)}};
    Tensor narrow = by_channel(half[0].tensor, inner, half[1].tensor.floats(), half[2].tensor.floats(),
                               half[3].tensor.floats(), half[4].tensor.floats());
    expect_near(run_node(device(), node, half)[0], narrow, 2e-3f, 2e-3f);
  }
}

TEST_P(Normalization, BatchRefusalsAndErrors) {
  Tensor x = random_floats({1, 2, 2}, 20), two = floats({2}, {1, 2}), three = floats({3}, {1, 2, 3});
  EXPECT_EQ(
      refusal_of(device(), {"BatchNormalization", {{"training_mode", int64_t{1}}}}, {{x}, {two}, {two}, {two}, {two}}),
      "training_mode is set; inference is taken");
  try {
    run_node(device(), {"BatchNormalization"}, {{x}, {two}, {three}, {two}, {two}});
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "node 'n' (BatchNormalization): input 2 has 3 elements; it needs 2, one for each channel");
  }
}

Tensor grouped(const Tensor& x, int64_t groups, const std::vector<float>& scale, const std::vector<float>& bias) {
  int64_t columns = element_count(x.shape) / (x.shape[0] * groups), inner = element_count(x.shape, 2, x.shape.size());
  std::vector<float> y = normalize_rows(x.floats(), columns, false, 1e-5f).y;
  for (size_t i = 0; i < y.size(); i++) {
    size_t channel = i / inner % x.shape[1] / (x.shape[1] / scale.size());
    y[i] = y[i] * scale[channel] + bias[channel];
  }
  return floats(x.shape, y, x.type);
}

TEST_P(Normalization, InstancesAndGroups) {
  for (int64_t inner : {2, 16, 33, 100}) {
    Tensor x = random_floats({2, 4, inner}, 21, 1, 3), scale = random_floats({4}, 22), bias = random_floats({4}, 23);
    expect_near(run_node(device(), {"InstanceNormalization"}, {{x}, {scale}, {bias}})[0],
                grouped(x, 4, scale.floats(), bias.floats()), 1e-4f, 1e-4f);
    TestNode groups{"GroupNormalization", {{"num_groups", int64_t{2}}}, 21};
    expect_near(run_node(device(), groups, {{x}, {scale}, {bias}})[0], grouped(x, 2, scale.floats(), bias.floats()),
                1e-4f, 1e-4f);
    Tensor two = floats({2}, {2, 3});
    groups.since_version = 18;
    expect_near(run_node(device(), groups, {{x}, {two}, {two}})[0], grouped(x, 2, two.floats(), two.floats()), 1e-4f,
                1e-4f);
  }
  Tensor x = as_half(random_floats({1, 2, 40}, 24)), one = floats({2}, {1, 1}, ElementType::kFloat16);
  expect_near(run_node(device(), {"InstanceNormalization"}, {{x}, {one}, {one}})[0], grouped(x, 2, {1, 1}, {1, 1}),
              2e-3f, 2e-3f);
}

TEST_P(Normalization, GroupsThatDoNotDivide) {
  Tensor x = random_floats({1, 3, 2}, 25), three = floats({3}, {1, 2, 3});
  try {
    run_node(device(), {"GroupNormalization", {{"num_groups", int64_t{2}}}}, {{x}, {three}, {three}});
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "node 'n' (GroupNormalization): 3 channels are no multiple of num_groups 2");
  }
}

TEST_P(Normalization, MeanAndVarianceOverAxes) {
  Tensor x = random_floats({2, 3, 4, 5}, 26);
  std::vector<float> in = x.floats(), y(in.size());
  for (size_t c = 0; c < 3; c++) {
    double mean = 0, squares = 0;
    auto each = [&](auto body) {
      for (size_t i = 0; i < in.size(); i++) {
        if (i / 20 % 3 == c) body(i);
      }
    };
    each([&](size_t i) { mean += in[i] / 40.0; });
    each([&](size_t i) { squares += (in[i] - mean) * (in[i] - mean) / 40; });
    each([&](size_t i) { y[i] = static_cast<float>((in[i] - mean) / (std::sqrt(squares) + 1e-9)); });
  }
  expect_near(run_node(device(), {"MeanVarianceNormalization"}, {{x}})[0], floats(x.shape, y), 1e-4f, 1e-5f);
}

TEST_P(Normalization, Norms) {
  Device& d = device();
  Tensor x = floats({2, 3}, {3, 0, -4, 0, 0, 0});
  expect_near(run_node(d, {"LpNormalization"}, {{x}})[0], floats({2, 3}, {0.6f, 0, -0.8f, 0, 0, 0}));
  TestNode first{"LpNormalization", {{"p", int64_t{1}}, {"axis", int64_t{0}}}};
  expect_near(run_node(d, first, {{x}})[0], floats({2, 3}, {1, 0, -1, 0, 0, 0}));
  Tensor large = floats({1, 2}, {3e30f, 4e30f}), small = floats({1, 2}, {3e-30f, 4e-30f});
  expect_near(run_node(d, {"LpNormalization"}, {{large}})[0], floats({1, 2}, {0.6f, 0.8f}));
  expect_near(run_node(d, {"LpNormalization"}, {{small}})[0], floats({1, 2}, {0.6f, 0.8f}));
  EXPECT_TRUE(ortolan::test::throws<Error>("p is 3", [&] {
    run_node(d, {"LpNormalization", {{"p", int64_t{3}}}}, {{x}});
  }));
}

TEST_P(Normalization, LocalResponses) {
  for (int64_t size : {1, 2, 3, 9}) {
    Tensor x = random_floats({2, 5, 3, 2}, 27);
    std::vector<float> in = x.floats(), y(in.size());
    for (int64_t i = 0; i < static_cast<int64_t>(in.size()); i++) {
      double sum = 0;
      int64_t c = i / 6 % 5;
      for (int64_t n = std::max<int64_t>(0, c - (size - 1) / 2); n <= std::min<int64_t>(4, c + size / 2); n++)
        sum += double{in[i + (n - c) * 6]} * in[i + (n - c) * 6];
      y[i] = static_cast<float>(in[i] / std::pow(2 + 0.5 / static_cast<double>(size) * sum, 0.75));
    }
    TestNode node{"LRN", {{"size", size}, {"alpha", 0.5f}, {"bias", 2.0f}}};
    expect_near(run_node(device(), node, {{x}})[0], floats(x.shape, y));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Normalization, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
