// Pools against plain loops in double, and MaxUnpool as the way back.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

struct PoolCase {
  Shape in;  // [batch, channels, height, width]
  std::vector<int64_t> kernel, stride, dilation, pads;
  bool ceil = false;
};

const PoolCase kCases[] = {
    {{2, 3, 6, 7}, {2, 2}, {1, 1}, {1, 1}, {0, 0, 0, 0}},       {{1, 2, 7, 9}, {3, 2}, {2, 3}, {1, 1}, {1, 0, 1, 1}},
    {{1, 2, 8, 8}, {3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}, true}, {{1, 1, 9, 9}, {2, 3}, {1, 2}, {3, 2}, {1, 2, 1, 2}},
    {{1, 3, 5, 5}, {3, 3}, {3, 3}, {1, 1}, {1, 1, 1, 1}, true},
};

/** Output size of dimension d; a last window must begin inside the input or the padding before it. */
int64_t out_size(const PoolCase& c, int d) {
  int64_t reach = (c.kernel[d] - 1) * c.dilation[d] + 1, room = c.in[d + 2] + c.pads[d] + c.pads[d + 2] - reach;
  int64_t size = room / c.stride[d] + 1 + (c.ceil && room % c.stride[d] ? 1 : 0);
  if (c.ceil && (size - 1) * c.stride[d] >= c.in[d + 2] + c.pads[d]) --size;
  return size;
}

/** Calls finish(inside values, their places, number of elements in input or padding) for each window. */
template <class Finish>
Shape for_windows(const PoolCase& c, const std::vector<double>& x, Finish&& finish) {
  Shape out{c.in[0], c.in[1], out_size(c, 0), out_size(c, 1)};
  int64_t height = c.in[2], width = c.in[3];
  for (int64_t o = 0; o < out.element_count(); ++o) {
    int64_t plane = o / (out[2] * out[3]), r = o / out[3] % out[2], q = o % out[3], padded = 0;
    std::vector<double> values;
    std::vector<int64_t> places;
    for (int64_t k = 0; k < c.kernel[0] * c.kernel[1]; ++k) {
      int64_t y = r * c.stride[0] - c.pads[0] + k / c.kernel[1] * c.dilation[0];
      int64_t z = q * c.stride[1] - c.pads[1] + k % c.kernel[1] * c.dilation[1];
      if (y < height + c.pads[2] && z < width + c.pads[3]) ++padded;
      if (y < 0 || y >= height || z < 0 || z >= width) continue;
      places.push_back((plane * height + y) * width + z);
      values.push_back(x[places.back()]);
    }
    finish(values, places, padded);
  }
  return out;
}

OpTest pool_node(const char* op, int opset, const PoolCase& c, const Tensor& x) {
  OpTest test(op, opset);
  test.input(x).ints("kernel_shape", c.kernel).ints("strides", c.stride).ints("pads", c.pads);
  if (c.dilation != std::vector<int64_t>{1, 1}) test.ints("dilations", c.dilation);
  if (c.ceil) test.set("ceil_mode", 1);
  return test;
}

template <class T>
void check_max(double low = -1, double high = 1) {
  for (const PoolCase& c : kCases) {
    Tensor x = random_tensor<T>(c.in, test_seed(), low, high);
    std::vector<double> expected;
    std::vector<int64_t> places;
    Shape shape = for_windows(c, doubles(x), [&](const auto& values, const auto& where, int64_t) {
      size_t best = std::max_element(values.begin(), values.end()) - values.begin();
      expected.push_back(values[best]);
      places.push_back(where[best]);
    });
    auto results = pool_node("MaxPool", 12, c, x).run(2);
    EXPECT_TRUE(near(results[0].tensor(), shape, expected, 0)) << &c - kCases;
    EXPECT_TRUE(equal<int64_t>(results[1].tensor(), shape, places)) << &c - kCases;
    EXPECT_TRUE(near(pool_node("MaxPool", 10, c, x).run_tensor(), shape, expected, 0)) << &c - kCases;
  }
}

TEST(MaxPool, EveryType) {
  check_max<float>();
  check_max<double>();
  check_max<Half>();
  check_max<int8_t>(-128, 127);
  check_max<uint8_t>(0, 255);
}

TEST(MaxPool, ColumnMajorIndices) {
  auto results = OpTest("MaxPool", 12)
                     .input<float>({1, 2, 2, 3}, {1, 2, 9, 4, 5, 6, 9, 8, 7, 6, 5, 4})
                     .ints("kernel_shape", {2, 3})
                     .set("storage_order", 1)
                     .run(2);
  EXPECT_TRUE(equal<int64_t>(results[1].tensor(), {1, 2, 1, 1}, {4, 6}));
}

TEST(MaxPool, StridesMayBeAsLargeAsNumbersGo) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER"}) {
    auto node = OpTest("MaxPool", 8).input<float>({1, 1, 5}, {1, 5, 2, 4, 3}).ints("kernel_shape", {3});
    EXPECT_TRUE(equal<float>(node.ints("strides", {INT64_MAX}).set("auto_pad", mode).run_tensor(), {1, 1, 1}, {5}));
  }
}

TEST(MaxPool, OneAndThreeDimensions) {
  Tensor line = OpTest("MaxPool", 8).input<float>({1, 1, 5}, {1, 5, 2, 4, 3}).ints("kernel_shape", {2}).run_tensor();
  EXPECT_TRUE(near(line, {1, 1, 4}, {5, 5, 4, 4}));
  Tensor cube = OpTest("MaxPool", 8)
                    .input<float>({1, 1, 2, 2, 2}, {1, 2, 3, 4, 8, 7, 6, 5})
                    .ints("kernel_shape", {2, 2, 2})
                    .run_tensor();
  EXPECT_TRUE(near(cube, {1, 1, 1, 1, 1}, {8}));
}

TEST(AveragePool, WithAndWithoutPadding) {
  for (const PoolCase& c : kCases) {
    for (bool count_pad : {false, true}) {
      Tensor x = random_tensor<float>(c.in, test_seed());
      std::vector<double> expected;
      Shape shape = for_windows(c, doubles(x), [&](const auto& values, const auto&, int64_t padded) {
        double sum = 0;
        for (double v : values) sum += v;
        expected.push_back(sum / (count_pad ? padded : static_cast<int64_t>(values.size())));
      });
      Tensor y = pool_node("AveragePool", 19, c, x).set("count_include_pad", count_pad).run_tensor();
      EXPECT_TRUE(near(y, shape, expected)) << &c - kCases << " " << count_pad;
    }
  }
}

TEST(LpPool, EveryPower) {
  for (int64_t p : {1, 2, 3}) {
    for (const PoolCase& c : kCases) {
      Tensor x = random_tensor<double>(c.in, test_seed());
      std::vector<double> expected;
      Shape shape = for_windows(c, doubles(x), [&](const auto& values, const auto&, int64_t) {
        double sum = 0;
        for (double v : values) sum += std::pow(std::abs(v), p);
        expected.push_back(std::pow(sum, 1.0 / p));
      });
      EXPECT_TRUE(near(pool_node("LpPool", 18, c, x).set("p", p).run_tensor(), shape, expected)) << p;
    }
  }
}

TEST(GlobalPools, EveryKind) {
  std::vector<float> x = {1, -2, 3, -4, 5, 6, 7, 8};
  auto run = [&](const char* op) { return OpTest(op).input<float>({1, 2, 2, 2}, x).run_tensor(); };
  EXPECT_TRUE(near(run("GlobalAveragePool"), {1, 2, 1, 1}, {-0.5, 6.5}));
  EXPECT_TRUE(near(run("GlobalMaxPool"), {1, 2, 1, 1}, {3, 8}));
  EXPECT_TRUE(near(run("GlobalLpPool"), {1, 2, 1, 1}, {std::sqrt(30.0), std::sqrt(174.0)}));
  EXPECT_TRUE(
      near(OpTest("GlobalAveragePool", 1).input(random_tensor<Half>({0, 2, 3}, 1)).run_tensor(), {0, 2, 1}, {}));
}

// A window without elements has the least of all numbers, a mean of nothing, and no length.
TEST(Pools, OfNothing) {
  auto global = [](const char* op) { return OpTest(op).input<float>({1, 2, 0, 3}, {}).run_tensor(); };
  EXPECT_TRUE(near(global("GlobalMaxPool"), {1, 2, 1, 1}, {-INFINITY, -INFINITY}));
  EXPECT_TRUE(near(global("GlobalAveragePool"), {1, 2, 1, 1}, {NAN, NAN}));
  EXPECT_TRUE(near(global("GlobalLpPool"), {1, 2, 1, 1}, {0, 0}));
  auto padded = [](bool count_pad) {
    OpTest test("AveragePool", 19);
    test.input<float>({1, 1, 0, 4}, {}).ints("kernel_shape", {2, 2}).ints("pads", {1, 0, 1, 0});
    return test.set("count_include_pad", count_pad).run_tensor();
  };
  EXPECT_TRUE(near(padded(true), {1, 1, 1, 3}, {0, 0, 0}));
  EXPECT_TRUE(near(padded(false), {1, 1, 1, 3}, {NAN, NAN, NAN}));
}

TEST(Pools, Errors) {
  auto error = [](std::vector<int64_t> kernel, std::vector<int64_t> strides) {
    return OpTest("MaxPool")
        .input(random_tensor<float>({1, 1, 4, 4}, 1))
        .ints("kernel_shape", kernel)
        .ints("strides", strides)
        .error();
  };
  EXPECT_NE(error({0, 2}, {1, 1}).find("kernel_shape"), std::string::npos);
  EXPECT_NE(error({2, 2}, {1, -1}).find("strides"), std::string::npos);
  EXPECT_NE(error({2}, {1}).find("spatial"), std::string::npos);
  EXPECT_NE(error({5, 5}, {1, 1}).find("larger than"), std::string::npos);
  EXPECT_NE(OpTest("MaxPool").input(random_tensor<float>({1, 1, 4, 4}, 1)).error().find("kernel_shape"),
            std::string::npos);
}

TEST(MaxUnpool, PutsValuesBack) {
  auto node = [](std::vector<int64_t> indices) {
    return OpTest("MaxUnpool", 11)
        .input<float>({1, 1, 2, 2}, {1, 2, 3, 4})
        .input<int64_t>({1, 1, 2, 2}, indices)
        .ints("kernel_shape", {2, 2})
        .ints("strides", {2, 2});
  };
  EXPECT_TRUE(near(node({5, 7, 13, 15}).run_tensor(), {1, 1, 4, 4}, {0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4}));
  Tensor larger = node({5, 7, 13, 15}).input<int64_t>({4}, {1, 1, 5, 5}).run_tensor();
  EXPECT_TRUE(near(larger, {1, 1, 5, 5}, {0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0, 0, 0}));
  EXPECT_NE(node({5, 7, 13, 16}).error().find("index 16"), std::string::npos);
  EXPECT_NE(node({5, 7, 13, -1}).error().find("index -1"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
