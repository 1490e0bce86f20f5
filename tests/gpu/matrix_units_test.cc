// Products on matrix units: that their kernel makes them, how exact they are, and which tiles are tried.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "gpu/noting_device.h"
#include "gpu/testdevice/matrix_units.h"
#include "gpu/unit_products.h"

namespace ortolan::gpu::test {
namespace {

using Constants = NotingDevice::Constants;

constexpr const char* kKernel = "product_matrix_units";
constexpr double kTf32Unit = 1.0 / 2048, kBfloatUnit = 1.0 / 256;  // of rounding factors

class MatrixUnitsTest : public testing::Test {
 protected:
  Tensor run(const TestNode& node, const std::vector<NodeInput>& inputs, Precision precision = Precision::kFloat,
             MatrixUnits units = {true, true, true}) {
    NotingDevice device(units);
    Engine engine(device, {}, Tuning::kNone, Products::kAuto, precision);
    std::vector<Tensor> given;
    for (const NodeInput& input : inputs) {
      if (!input.missing && !input.constant) given.push_back(input.tensor);
    }
    Tensor result = run_graph(engine, graph_of(node, inputs, 1), given).outputs[0];
    was_on_units_ = device.launches(kKernel);
    if (was_on_units_) constants_ = device.constants(kKernel);
    return result;
  }
  bool was_on_units() const { return was_on_units_; }

  bool was_on_units_ = false;
  Constants constants_;
};

TEST_F(MatrixUnitsTest, HalvesOfAllSizesAndOrientations) {
  for (auto [m, n, k] : kSizes) {
    SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k);
    Tensor a = random_halves({m, k}, static_cast<unsigned>(m)), b = random_halves({k, n}, static_cast<unsigned>(n));
    for (bool turns_a : {false, true}) {
      for (bool turns_b : {false, true}) {
        TestNode node{"Gemm", {{"transA", int64_t{turns_a}}, {"transB", int64_t{turns_b}}}, 13};
        Tensor c = run(node, {{turns_a ? turned(a) : a}, {turns_b ? turned(b) : b}});
        EXPECT_TRUE(was_on_units());
        expect_product(c, a, b, 0);
      }
    }
  }
}

TEST_F(MatrixUnitsTest, FloatsAreRoundedWhereThatIsAskedFor) {
  for (auto [m, n, k] : kSizes) {
    SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k);
    Tensor a = random_floats({m, k}, static_cast<unsigned>(m)), b = random_floats({k, n}, static_cast<unsigned>(n));
    for (bool turns : {false, true}) {
      TestNode node{"Gemm", {{"transA", int64_t{turns}}, {"transB", int64_t{turns}}}, 13};
      const std::vector<NodeInput> inputs = {{turns ? turned(a) : a}, {turns ? turned(b) : b}};
      Tensor c;
      for (auto [precision, unit] : {std::pair(Precision::kTf32, kTf32Unit), {Precision::kBfloat, kBfloatUnit}}) {
        c = run(node, inputs, precision);
        EXPECT_TRUE(was_on_units());
        expect_product(c, a, b, unit);
      }
      c = run(node, inputs);
      EXPECT_FALSE(was_on_units());
      expect_product(c, a, b, 0);
    }
  }
}

TEST_F(MatrixUnitsTest, WhatDevicesLackIsMadeByOtherKernels) {
  Tensor a = random_halves({5, 6}, 1), b = random_halves({6, 7}, 2);
  expect_product(run({"MatMul"}, {{a}, {b}}, Precision::kFloat, {false, true}), a, b, 0);
  EXPECT_FALSE(was_on_units());
  Tensor x = random_floats({5, 6}, 1), y = random_floats({6, 7}, 2);
  expect_product(run({"MatMul"}, {{x}, {y}}, Precision::kTf32, {true, false, true}), x, y, 0);
  EXPECT_FALSE(was_on_units());
  expect_product(run({"MatMul"}, {{x}, {y}}, Precision::kBfloat, {true, true, false}), x, y, 0);
  EXPECT_FALSE(was_on_units());
}

TEST_F(MatrixUnitsTest, SumsHave32BitsInAnyPrecision) {
  Tensor row = halves({1, 3}, {2048, 1, -2048}), ones = halves({3, 1}, {1, 1, 1});
  for (Precision precision : {Precision::kFloat, Precision::kTf32, Precision::kBfloat, Precision::kHalf}) {
    EXPECT_EQ(run({"MatMul"}, {{row}, {ones}}, precision).floats(), (std::vector<float>{1}));
    EXPECT_TRUE(was_on_units());
  }
}

TEST_F(MatrixUnitsTest, FourWordsAtOnceWhereTheyLieInOrder) {
  auto quads = [&](int64_t m, int64_t n, int64_t k, ElementType type) {
    Tensor a = floats({m, k}, random_floats({m, k}, 1).floats(), type);
    Tensor b = floats({k, n}, random_floats({k, n}, 2).floats(), type);
    const bool is_half = type == ElementType::kFloat16;
    expect_product(run({"MatMul"}, {{a}, {b}}, Precision::kBfloat), a, b, is_half ? 0 : kBfloatUnit);
    const std::pair quads(constants_.at("A_QUADS"), constants_.at("B_QUADS"));
    expect_product(run({"MatMul"}, {{a}, {b}}, Precision::kTf32), a, b, is_half ? 0 : kTf32Unit);
    if (k % 8 == 0 || is_half) {
      EXPECT_EQ(quads, std::pair(constants_.at("A_QUADS"), constants_.at("B_QUADS")));
    }
    return std::pair(constants_.at("A_QUADS"), constants_.at("B_QUADS"));
  };
  EXPECT_EQ(quads(5, 12, 24, ElementType::kFloat16), std::pair(1, 1));
  EXPECT_EQ(quads(5, 12, 20, ElementType::kFloat16), std::pair(0, 1));
  EXPECT_EQ(quads(5, 10, 24, ElementType::kFloat16), std::pair(1, 0));
  EXPECT_EQ(quads(5, 12, 20, ElementType::kFloat), std::pair(1, 1));
  EXPECT_EQ(quads(5, 12, 24, ElementType::kFloat), std::pair(1, 1));
  EXPECT_EQ(quads(5, 14, 22, ElementType::kFloat), std::pair(0, 0));
}

TEST_F(MatrixUnitsTest, StacksWithAddendsAndSteps) {
  Tensor a = random_halves({3, 1, 19, 23}, 1), b = random_halves({2, 23, 21}, 2);
  std::vector<float> left = a.floats(), right = b.floats(), c = run({"MatMul"}, {{a}, {b}}).floats();
  EXPECT_TRUE(was_on_units());
  ASSERT_EQ(c.size(), 3u * 2 * 19 * 21);
  for (int64_t i = 0; i < static_cast<int64_t>(c.size()); i++) {
    const int64_t column = i % 21, row = i / 21 % 19, inner = i / (21 * 19) % 2, outer = i / (21 * 19 * 2);
    double sum = 0;
    for (int64_t k = 0; k < 23; k++) {
      sum += static_cast<double>(left[(outer * 19 + row) * 23 + k]) * right[(inner * 23 + k) * 21 + column];
    }
    ASSERT_NEAR(c[i], sum, 0.01 + std::fabs(sum) * kHalfUnit) << i;
  }
  expect_addend_and_step(
      [this](const TestNode& node, const std::vector<NodeInput>& inputs) { return run(node, inputs); });
  EXPECT_TRUE(was_on_units());
}

TEST_F(MatrixUnitsTest, ConvolutionsByOffsets) {
  Tensor x = random_halves({2, 3, 9, 10}, 1), w = random_halves({5, 3, 3, 3}, 2);
  const std::vector<float> image = x.floats(), weights = w.floats();
  for (bool is_constant : {false, true}) {
    const std::vector<float> y = run({"Conv", {}, 11}, {{x}, {w, is_constant}}).floats();
    ASSERT_EQ(y.size(), 2u * 5 * 7 * 8);
    for (int64_t i = 0; i < static_cast<int64_t>(y.size()); i++) {
      const int64_t column = i % 8, row = i / 8 % 7, channel = i / 56 % 5, number = i / 280;
      double sum = 0;
      for (int64_t t = 0; t < 27; t++) {
        const int64_t from = ((number * 3 + t / 9) * 9 + row + t / 3 % 3) * 10 + column + t % 3;
        sum += static_cast<double>(image[from]) * weights[channel * 27 + t];
      }
      ASSERT_NEAR(y[i], sum, 0.01 + std::fabs(sum) * kHalfUnit) << i;
    }
  }
}

TEST_F(MatrixUnitsTest, NaNAndInfinityStay) {
  Tensor ones = halves({3, 1}, {1, 1, 1});
  for (ElementType type : {ElementType::kFloat16, ElementType::kFloat}) {
    Tensor rows = floats({4, 3}, {1, NAN, 0, 0, -INFINITY, 1, INFINITY, -INFINITY, 0, 1, 2, 4}, type);
    for (Precision precision : {Precision::kTf32, Precision::kBfloat}) {
      std::vector<float> c = run({"MatMul"}, {{rows}, {floats({3, 1}, {1, 1, 1}, type)}}, precision).floats();
      EXPECT_TRUE(was_on_units());
      EXPECT_TRUE(std::isnan(c[0]));
      EXPECT_EQ(c[1], -INFINITY);
      EXPECT_TRUE(std::isnan(c[2]));
      EXPECT_EQ(c[3], 7);
    }
  }
}

/** A product with the device tuned; `cost` is asked for the time of each launch that is tried. */
void run_tuned(NotingDevice& device, Tuning tuning, TestDevice::Cost cost) {
  Tensor a = random_halves({20, 18}, 1), b = random_halves({18, 17}, 2);
  device.set_cost(std::move(cost));
  Engine engine(device, {}, tuning);
  expect_product(run_graph(engine, graph_of({"MatMul", {}, 13}, {{a}, {b}}, 1), {a, b}).outputs[0], a, b, 0);
}

TEST_F(MatrixUnitsTest, TilesBySize) {
  std::set<std::vector<int>> tiles;
  for (auto [m, n, k] : {Size{250, 250, 3}, {250, 60, 3}, {60, 60, 40}, {30, 30, 40}, {10, 250, 40}, {250, 6, 40}}) {
    Tensor a = random_halves({m, k}, 1), b = random_halves({k, n}, 2);
    expect_product(run({"MatMul"}, {{a}, {b}}), a, b, 0);
    tiles.insert({constants_.at("WGY"), constants_.at("DOWN"), constants_.at("TM"), constants_.at("TN")});
  }
  EXPECT_EQ(tiles.size(), 6u);
}

TEST(MatrixUnitTiles, AnotherKernelThatIsFasterIsTaken) {
  for (bool is_faster : {false, true}) {
    NotingDevice device({true, true, true});
    run_tuned(device, Tuning::kFast, [&](const std::string& kernel, const Constants&, const auto&) -> int64_t {
      return kernel == kKernel ? 10 : is_faster ? 1 : 100;
    });
    EXPECT_EQ(device.launches(kKernel), !is_faster);
    EXPECT_EQ(device.launches("product_shared"), is_faster);
  }
}

TEST(Tf32, RoundsToElevenBits) {
  auto rounded = [](float value) { return std::bit_cast<float>(rounded_to_tf32(value)); };
  EXPECT_EQ(rounded(1 + 0x1p-10f), 1 + 0x1p-10f);
  EXPECT_EQ(rounded(1 + 0x1p-11f), 1 + 0x1p-10f);
  EXPECT_EQ(rounded(-1 - 0x1p-11f), -1 - 0x1p-10f);
  EXPECT_EQ(rounded(1 + 0x1p-11f - 0x1p-20f), 1);
  EXPECT_EQ(rounded(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(rounded(NAN)));
}

}  // namespace
}  // namespace ortolan::gpu::test
