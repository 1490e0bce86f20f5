// Operators of com.microsoft that ONNX has too, where they differ; and the forms of ONNX's own that it adds.
#include <cfloat>
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

OpTest node(const char* op) { return OpTest(op, 1, "com.microsoft"); }

TEST(MicrosoftCopies, RangeWithoutDelta) {
  EXPECT_TRUE(
      equal<int32_t>(node("Range").input<int32_t>({}, {2}).input<int32_t>({1}, {5}).run_tensor(), {3}, {2, 3, 4}));
  EXPECT_TRUE(
      equal<double>(node("Range").input<double>({}, {2}).input<double>({}, {1}).input<double>({}, {-0.5}).run_tensor(),
                    {2}, {2, 1.5}));
  EXPECT_NE(node("Range").input<float>({}, {2}).input<float>({}, {1}).input<float>({}, {0}).error().find("delta is 0"),
            std::string::npos);
}

TEST(MicrosoftCopies, UniqueInOrderOfSight) {
  auto results = node("Unique").input<float>({6}, {2, 1, 1, 3, 4, 3}).run(3);
  EXPECT_TRUE(equal<float>(results[0].tensor(), {4}, {2, 1, 3, 4}));
  EXPECT_TRUE(equal<int64_t>(results[1].tensor(), {6}, {0, 1, 1, 2, 3, 2}));
  EXPECT_TRUE(equal<int64_t>(results[2].tensor(), {4}, {1, 2, 2, 1}));
  EXPECT_EQ(node("Unique").input<float>({0}, {}).run(3)[0].tensor().shape(), (Shape{0}));
  EXPECT_NE(node("Unique").input<float>({1, 1}, {1}).error().find("input 0 has rank 2 (shape [1,1]), but it must be 1"),
            std::string::npos);
}

TEST(MicrosoftCopies, PadByInput) {
  auto pad = [](Shape shape) {
    return node("Pad").input<float>({2, 2}, {1, 2, 3, 4}).input<int64_t>(std::move(shape), {0, 1, 0, -1});
  };
  for (const Shape& shape : {Shape{4}, Shape{1, 4}}) {
    EXPECT_TRUE(equal<float>(pad(shape).input<float>({1}, {9}).run_tensor(), {2, 2}, {9, 1, 9, 3}));
    EXPECT_TRUE(equal<float>(pad(shape).set("mode", "edge").run_tensor(), {2, 2}, {1, 1, 3, 3}));
  }
  EXPECT_NE(pad({2, 2}).input<int64_t>({1}, {9}).error().find(
                "input 2 'x2' is int64, but an earlier input of the same kind is"),
            std::string::npos);
}

TEST(MicrosoftCopies, GatherNdTakesInt32) {
  Tensor data = tensor_of<int16_t>({2, 2}, {1, 2, 3, 4});
  EXPECT_TRUE(
      equal<int16_t>(node("GatherND").input(data).input<int32_t>({2, 2}, {0, 1, -1, 0}).run_tensor(), {2}, {2, 3}));
  EXPECT_TRUE(equal<int16_t>(node("GatherND").input(data).input<int64_t>({1, 1}, {1}).run_tensor(), {1, 2}, {3, 4}));
  for (int32_t hostile : {2, -3, INT32_MIN, INT32_MAX}) {
    EXPECT_NE(node("GatherND").input(data).input<int32_t>({1, 1}, {hostile}).error().find("outside"),
              std::string::npos);
  }
}

TEST(MicrosoftCopies, TriluAndGridSample) {
  EXPECT_TRUE(equal<int64_t>(node("Trilu").input<int64_t>({2, 2}, {1, 2, 3, 4}).set("upper", 0).run_tensor(), {2, 2},
                             {1, 0, 3, 4}));
  Tensor x = tensor_of<float>({1, 1, 1, 3}, {0, 1, 2}), grid = tensor_of<float>({1, 1, 2, 2}, {0, 0, 0.5f, 0});
  EXPECT_TRUE(
      near(node("GridSample").input(x).input(grid).set("align_corners", 1).run_tensor(), {1, 1, 1, 2}, {1, 1.5}));
}

TEST(GridSample, CubicTapsStopAtTheBorder) {
  // 0.3 beyond the last of the pixels 0, 1, 4: taps at 1, 4 and, twice, the border's 4.
  Tensor x = tensor_of<float>({1, 1, 1, 3}, {0, 1, 4}), grid = tensor_of<float>({1, 1, 1, 2}, {1.3f, 0});
  auto weight = [](double d) { return d <= 1 ? (1.25 * d - 2.25) * d * d + 1 : ((-0.75 * d + 3.75) * d - 6) * d + 3; };
  double expected = weight(1.3) * 1 + (weight(0.3) + weight(0.7) + weight(1.7)) * 4;
  OpTest test = OpTest("GridSample", 16).input(x).input(grid).set("mode", "bicubic").set("padding_mode", "border");
  EXPECT_TRUE(near(test.set("align_corners", 1).run_tensor(), {1, 1, 1, 1}, {expected}));
}

TEST(FusedGemm, ParametersByName) {
  auto gemm = [](const char* activation) {
    return node("FusedGemm")
        .input<float>({1, 2}, {1, -1})
        .input<float>({2, 2}, {1, 0, 0, 1})
        .set("activation", activation);
  };
  EXPECT_TRUE(near(gemm("Selu").set("activation_gamma", 2.0f).set("activation_alpha", 3.0f).run_tensor(), {1, 2},
                   {2, 6 * std::expm1(-1.0)}));
  EXPECT_TRUE(near(gemm("HardSigmoid").set("activation_beta", 0.25f).run_tensor(), {1, 2}, {0.45, 0.05}));
  EXPECT_TRUE(near(gemm("LeakyRelu").run_tensor(), {1, 2}, {1, -0.01}));
}

TEST(SkipLayerNormalization, Double) {
  Tensor x = random_tensor<double>({2, 3, 5}, 1), skip = random_tensor<double>({3, 5}, 2),
         scale = random_tensor<double>({5}, 3);
  Tensor bias = random_tensor<double>({5}, 4);
  auto v = doubles(x), s = doubles(skip), g = doubles(scale), b = doubles(bias);
  for (bool rms : {false, true}) {
    std::vector<double> sums, expected;
    for (size_t i = 0; i < v.size(); ++i) sums.push_back(v[i] + s[i % 15] + b[i % 5]);
    for (size_t i = 0; i < v.size(); ++i) {
      const double* row = sums.data() + i / 5 * 5;
      double mean = 0, variance = 0;
      for (int k = 0; k < 5 && !rms; ++k) mean += row[k] / 5;
      for (int k = 0; k < 5; ++k) variance += (row[k] - mean) * (row[k] - mean) / 5;
      expected.push_back((sums[i] - mean) / std::sqrt(variance + 1e-12) * g[i % 5]);
    }
    OpTest test =
        node(rms ? "SkipSimplifiedLayerNormalization" : "SkipLayerNormalization").input(x).input(skip).input(scale);
    if (!rms) test.no_input();
    auto results = test.input(bias).run(4);
    EXPECT_TRUE(near(results[0].tensor(), {2, 3, 5}, expected, 1e-6));
    EXPECT_TRUE(near(results[3].tensor(), {2, 3, 5}, sums, 1e-14));
  }
}

TEST(SimplifiedLayerNormalization, ResultHasTheTypeOfScale) {
  Tensor x = random_tensor<double>({2, 3, 4}, 1), scale = random_tensor<double>({3, 4}, 2);
  auto v = doubles(x), g = doubles(scale);
  std::vector<double> expected, inverses;
  for (size_t i = 0; i < v.size(); ++i) {
    double squares = 0;
    for (size_t k = i / 12 * 12; k < i / 12 * 12 + 12; ++k) squares += v[k] * v[k] / 12;
    if (i % 12 == 0) inverses.push_back(1 / std::sqrt(squares + 1e-5));
    expected.push_back(v[i] * inverses.back() * g[i % 12]);
  }
  auto normalize = [](const Tensor& input, const Tensor& factors) {
    return OpTest("SimplifiedLayerNormalization", 17).input(input).input(factors).set("axis", 1).run(2);
  };
  auto results = normalize(x, scale);
  EXPECT_TRUE(near(results[0].tensor(), {2, 3, 4}, expected, 1e-7));
  EXPECT_TRUE(near(results[1].tensor(), {2, 1, 1}, inverses, 1e-5));
  Tensor half = random_tensor<Half>({2, 3, 4}, 1), floats = random_tensor<float>({3, 4}, 2);
  Tensor mixed = normalize(half, floats)[0].tensor();
  EXPECT_EQ(mixed.type(), ElementType::kFloat);
  EXPECT_TRUE(near(mixed, {2, 3, 4}, expected, 2e-3));
}

TEST(MaxpoolWithMask, RowsEndAtTheMask) {
  auto pool = [](Shape shape, std::vector<float> x, std::vector<int32_t> mask, std::vector<int64_t> kernel) {
    return node("MaxpoolWithMask").input<float>(shape, x).input<int32_t>(shape, mask).ints("kernel_shape", kernel);
  };
  EXPECT_TRUE(near(pool({1, 1, 4}, {1, 5, 2, 7}, {1, 0, 1, 1}, {2}).run_tensor(), {1, 1, 3}, {1, -FLT_MAX, 7}));
  EXPECT_TRUE(near(pool({1, 1, 2, 2}, {1, 5, 2, 7}, {0, 0, 1, 1}, {2, 2}).run_tensor(), {1, 1, 1, 1}, {7}));
  EXPECT_TRUE(near(pool({1, 1, 2, 2}, {1, 5, 0, 7}, {0, 1, 0, 1}, {2, 2}).run_tensor(), {1, 1, 1, 1}, {5}));
  OpTest shared =
      node("MaxpoolWithMask").input(random_tensor<float>({2, 2, 3}, 1)).input<int32_t>({1, 1, 3}, {1, 1, 0});
  Tensor all = random_tensor<float>({2, 2, 3}, 1);
  auto v = doubles(all);
  std::vector<double> expected;
  for (int i = 0; i < 4; ++i) expected.push_back(std::max(v[3 * i], v[3 * i + 1]));
  EXPECT_TRUE(near(shared.ints("kernel_shape", {3}).run_tensor(), {2, 2, 1}, expected));
  EXPECT_NE(node("MaxpoolWithMask")
                .input(all)
                .input<int32_t>({1, 1, 2}, {1, 1})
                .ints("kernel_shape", {3})
                .error()
                .find("the mask has shape"),
            std::string::npos);
  EXPECT_EQ(pool({0, 1, 3}, {}, {}, {3}).run_tensor().shape(), (Shape{0, 1, 1}));
}

TEST(ConvTransposeWithDynamicPads, AsConvTranspose) {
  Tensor x = random_tensor<float>({2, 4, 5, 4}, 1), w = random_tensor<float>({4, 3, 3, 2}, 2),
         bias = random_tensor<float>({6}, 3);
  auto dynamic = [&](const std::vector<int64_t>& pads) {
    return node("ConvTransposeWithDynamicPads")
        .input(x)
        .input(w)
        .input<int64_t>({static_cast<int64_t>(pads.size())}, pads);
  };
  auto set = [](OpTest test) { return test.set("group", 2).ints("strides", {2, 1}).ints("output_padding", {1, 0}); };
  Tensor plain = set(OpTest("ConvTranspose", 11).input(x).input(w).input(bias)).ints("pads", {1, 0, 0, 1}).run_tensor();
  EXPECT_TRUE(same_value(set(dynamic({1, 0, 0, 1}).input(bias)).run_tensor(), plain));
  Tensor none = set(OpTest("ConvTranspose", 11).input(x).input(w)).run_tensor();
  EXPECT_TRUE(same_value(set(node("ConvTransposeWithDynamicPads").input(x).input(w)).run_tensor(), none));
  EXPECT_NE(set(dynamic({1, 0, 0})).error().find("Pads has 3 values"), std::string::npos);
  EXPECT_NE(set(dynamic({1, 0, -1, 0})).error().find("Pads holds -1"), std::string::npos);
  EXPECT_NE(set(dynamic({INT64_MAX, 0, 0, 0})).error().find("Pads holds"), std::string::npos);
  EXPECT_NE(set(dynamic({100, 0, 0, 0})).error().find("cut away more"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
