// Products of float16 tensors in 16-bit arithmetic: how exact they are, and that they are what was asked for.
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/core/precision.h"
#include "gpu/single_node.h"
#include "gpu/testdevice/test_device.h"

namespace ortolan::gpu::test {
namespace {

constexpr double kUnit = 1.0 / 2048;        // of rounding to 16 bits
constexpr double kLeast = 1.0 / (1 << 25);  // the same of numbers below the normal ones

Tensor halves(Shape shape, std::vector<float> values) {
  return floats(std::move(shape), std::move(values), ElementType::kFloat16);
}
Tensor random_halves(Shape shape, unsigned seed) { return halves(shape, random_floats(shape, seed).floats()); }

/** But for those whose matrix units add products in 32 bits. */
std::vector<NamedDevice> half_devices() {
  std::vector<NamedDevice> devices;
  for (const NamedDevice& device : all_devices()) {
    const DeviceTraits& traits = device.device->traits();
    if (refuse_precision(Precision::kHalf, traits, "").empty() && !traits.matrix_units.half) devices.push_back(device);
  }
  return devices;
}

/** Steps in 16 bits that a term may pass: its product and the sums of its run, each rounded. */
double most_relative_error() { return std::pow(1 + kUnit, kHalfRun + 1) - 1; }

/** A sum of products with the error that it may have. */
struct Sum {
  double value = 0, magnitude = 0;
  int64_t terms = 0;
  void add(double term) {
    value += term;
    magnitude += std::fabs(term);
    terms++;
  }
  double bound() const {
    double runs = magnitude * most_relative_error() + static_cast<double>(2 * terms) * kLeast;
    return runs + (std::fabs(value) + runs) * kUnit + kLeast;
  }
};

/** Sums of A B with both as they lie: [rows, terms] and [terms, columns]. */
std::vector<Sum> sums_of(const Tensor& a, const Tensor& b) {
  const std::vector<float> left = a.floats(), right = b.floats();
  const int64_t rows = a.shape[0], terms = a.shape[1], columns = b.shape[1];
  std::vector<Sum> sums(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows * columns; i++) {
    for (int64_t k = 0; k < terms; k++) {
      sums[i].add(static_cast<double>(left[i / columns * terms + k]) * right[k * columns + i % columns]);
    }
  }
  return sums;
}

void expect_within(const Tensor& actual, const std::vector<Sum>& sums) {
  const std::vector<float> values = actual.floats();
  ASSERT_EQ(values.size(), sums.size());
  for (size_t i = 0; i < values.size(); i++) {
    EXPECT_LE(std::fabs(values[i] - sums[i].value), sums[i].bound()) << "element " << i << ", not " << sums[i].value;
  }
}

class HalfProducts : public testing::TestWithParam<NamedDevice> {
 protected:
  Tensor run(const TestNode& node, const std::vector<NodeInput>& inputs, Precision precision = Precision::kHalf) {
    return run_node(*GetParam().device, node, inputs, 1, precision)[0];
  }
  /** The product of a row of these numbers, the others being 0, and ones. */
  float sum(int64_t terms, const std::map<int64_t, float>& numbers, Precision precision = Precision::kHalf) {
    std::vector<float> row(static_cast<size_t>(terms));
    for (auto [place, number] : numbers) row[static_cast<size_t>(place)] = number;
    Tensor ones = halves({terms, 1}, std::vector<float>(static_cast<size_t>(terms), 1.0f));
    return run({"MatMul"}, {{halves({1, terms}, row)}, {ones}}, precision).floats()[0];
  }
};

TEST_P(HalfProducts, ErrorsFollowFromTheRun) {
  struct {
    int64_t m, n, k;
  } const sizes[] = {{1, 1, 1}, {3, 5, 16}, {65, 63, 17}, {9, 66, 40}, {2, 7, 700}};
  for (auto [m, n, k] : sizes) {
    SCOPED_TRACE(k);
    Tensor a = random_halves({m, k}, static_cast<unsigned>(m)), b = random_halves({k, n}, static_cast<unsigned>(n));
    std::vector<Sum> sums = sums_of(a, b);
    expect_within(run({"MatMul"}, {{a}, {b}}), sums);
    expect_within(run({"MatMul"}, {{a}, constant(b)}), sums);
  }
}

TEST_P(HalfProducts, LongSumsOfOneSign) {
  Tensor a = halves({1, 3000}, random_floats({3000}, 1, 0.5f, 1.5f).floats());
  Tensor b = halves({3000, 2}, random_floats({6000}, 2, 0.5f, 1.5f).floats());
  expect_within(run({"MatMul"}, {{a}, {b}}), sums_of(a, b));
}

TEST_P(HalfProducts, TermsOfARunAreAddedIn16Bits) {
  const std::map<int64_t, float> terms = {{0, 2048.0f}, {1, 1.0f}, {2, -2048.0f}};
  EXPECT_EQ(sum(3, terms), 0);
  EXPECT_EQ(sum(3, terms, Precision::kFloat), 1);
}

TEST_P(HalfProducts, RunsAreAddedIn32Bits) {
  EXPECT_EQ(sum(3 * kHalfRun, {{0, 2048.0f}, {kHalfRun, 1.0f}, {2 * kHalfRun, -2048.0f}}), 1);
}

TEST_P(HalfProducts, ARunBeyondTheLargestNumberIsInfinite) {
  EXPECT_EQ(sum(3, {{0, 40000.0f}, {1, 40000.0f}, {2, -40000.0f}}), INFINITY);
  EXPECT_EQ(sum(3, {{0, 40000.0f}, {1, 40000.0f}, {2, -40000.0f}}, Precision::kFloat), 40000);
  EXPECT_EQ(sum(3 * kHalfRun, {{0, 40000.0f}, {kHalfRun, 40000.0f}, {2 * kHalfRun, -40000.0f}}), 40000);
  Tensor a = halves({1, 1}, {296}), b = halves({1, 1}, {304});
  TestNode node{"Gemm", {{"alpha", 0.5f}}, 13};
  EXPECT_EQ(run(node, {{a}, {b}}).floats()[0], INFINITY);
  EXPECT_EQ(run(node, {{a}, {b}}, Precision::kFloat).floats()[0], 44992);
}

TEST_P(HalfProducts, NaNAndInfinityStay) {
  EXPECT_TRUE(std::isnan(sum(2, {{1, NAN}})));
  EXPECT_EQ(sum(2, {{1, -INFINITY}}), -INFINITY);
  EXPECT_TRUE(std::isnan(sum(2 * kHalfRun, {{0, -INFINITY}, {kHalfRun, INFINITY}})));
}

TEST_P(HalfProducts, TransposedWithAnAddendAndAnActivation) {
  Tensor a = random_halves({11, 21}, 1), b = random_halves({21, 19}, 2), c = random_halves({19}, 3);
  auto turned = [](const Tensor& x) {
    std::vector<float> from = x.floats(), to;
    for (int64_t i = 0; i < element_count(x.shape); i++) {
      to.push_back(from[static_cast<size_t>(i % x.shape[0] * x.shape[1] + i / x.shape[0])]);
    }
    return halves({x.shape[1], x.shape[0]}, to);
  };
  std::vector<Sum> sums = sums_of(a, b);
  const std::vector<float> addend = c.floats();
  for (size_t i = 0; i < sums.size(); i++) sums[i].value = std::max(0.0, sums[i].value + addend[i % 19]);
  TestNode node{"FusedGemm", {{"activation", std::string("Relu")}}, 1, "com.microsoft"};
  node.attributes["transA"] = node.attributes["transB"] = int64_t{1};
  expect_within(run(node, {{turned(a)}, {turned(b)}, {c}}), sums);
}

// One number where sums are 2048 + 1 - 2048: 0 in 16 bits, 1 in 32.
TEST_P(HalfProducts, AllThatAreProductsOfHalves) {
  Tensor ones = halves({1, 3, 1, 1}, {1, 1, 1});
  Tensor place = halves({1, 3, 1, 1}, {2048, 1, -2048});
  Tensor image = halves({1, 3, 2, 2}, {2048, 0, 0, 0, 1, 0, 0, 0, -2048, 0, 0, 0});
  std::vector<int64_t> two = {2, 2};
  const std::pair<TestNode, std::vector<NodeInput>> products[] = {
      {{"Conv", {}, 11}, {{place}, {ones}}},
      {{"Conv", {{"strides", two}}, 11}, {{image}, {ones}}},  // by a copy of the image
      {{"ConvTranspose", {}, 11}, {{place}, {halves({3, 1, 1, 1}, {1, 1, 1})}}},
      {{"Einsum", {{"equation", std::string("ij,kj->ik")}}, 12},
       {{halves({1, 3}, {2048, 1, -2048})}, {halves({1, 3}, {1, 1, 1})}}},
  };
  for (const auto& [node, inputs] : products) {
    EXPECT_EQ(run(node, inputs).floats(), (std::vector<float>{0})) << node.op;
    EXPECT_EQ(run(node, inputs, Precision::kFloat).floats(), (std::vector<float>{1})) << node.op;
  }
}

TEST_P(HalfProducts, FloatModelsStayAsTheyAre) {
  Tensor a = random_floats({33, 70}, 1), b = random_floats({70, 18}, 2);
  Tensor x = random_floats({1, 5, 9, 9}, 3), w = random_floats({4, 5, 3, 3}, 4);
  const std::pair<TestNode, std::vector<NodeInput>> products[] = {
      {{"MatMul", {}, 13}, {{a}, {b}}},
      {{"Gemm", {}, 13}, {{a}, constant(b)}},
      {{"Conv", {{"strides", std::vector<int64_t>{2, 2}}}, 11}, {{x}, constant(w)}},
      {{"ConvTranspose", {}, 11}, {{x}, {random_floats({5, 4, 3, 3}, 5)}}},
  };
  for (const auto& [node, inputs] : products) {
    EXPECT_TRUE(run(node, inputs).bytes == run(node, inputs, Precision::kFloat).bytes) << node.op;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, HalfProducts, testing::ValuesIn(half_devices()),
                         [](const auto& info) { return info.param.name; });

using Constants = std::map<std::string, int, std::less<>>;

TEST(HalfProductTiles, EachGivesTheSameWithinTheBound) {
  struct {
    int side, rows, vectors, depth;
  } const tiles[] = {{8, 2, 1, 8}, {8, 8, 4, 32}, {16, 4, 2, 16}};
  Tensor a = random_halves({70, 50}, 1), b = random_halves({50, 37}, 2);
  for (auto tile : tiles) {
    TestDevice device({});
    device.set_cost([=](const std::string&, const Constants& constants, const auto&) -> int64_t {
      bool is_it = constants.at("WGX") == tile.side && constants.at("TM") == tile.rows &&
                   constants.at("TN") == tile.vectors && constants.at("BK") == tile.depth;
      return is_it ? 10 : 1000;
    });
    Engine engine(device, {}, Tuning::kFull, Products::kAuto, Precision::kHalf);
    expect_within(run_graph(engine, graph_of({"MatMul", {}, 13}, {{a}, {b}}, 1), {a, b}).outputs[0], sums_of(a, b));
    EXPECT_EQ(engine.tuner().measured(), 1u);
  }
}

TEST(HalfPrecision, DevicesWithoutItSayWhy) {
  TestDeviceOptions options;
  EXPECT_EQ(refuse_precision(Precision::kHalf, TestDevice(options).traits(), "fp16"), "");
  options.has_half_arithmetic = false;
  EXPECT_EQ(refuse_precision(Precision::kHalf, TestDevice(options).traits(), "fp16"),
            "it has no 16-bit arithmetic (fp16)");
  EXPECT_EQ(refuse_precision(Precision::kFloat, TestDevice(options).traits(), "fp16"), "");
  options = {.kind = DeviceClass::kWide};
  EXPECT_EQ(refuse_precision(Precision::kHalf, TestDevice(options).traits(), "fp16"),
            "kernels for processors compute in 32 bits");
}

}  // namespace
}  // namespace ortolan::gpu::test
