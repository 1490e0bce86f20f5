// MatMulInteger against sums in 64 bits, by both kernels.
#include <gtest/gtest.h>

#include <random>

#include "gpu/noting_device.h"
#include "gpu/numbered.h"

namespace ortolan::gpu::test {
namespace {

using enum ElementType;

Tensor random_codes(Shape shape, ElementType type, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int64_t> codes;
  for (int64_t i = 0; i < element_count(shape); i++) {
    codes.push_back(static_cast<int64_t>(random() % 256) - (type == kInt8 ? 128 : 0));
  }
  return integers(std::move(shape), codes, type);
}

struct Operands {
  Tensor a, b;
  std::optional<Tensor> a_zero = {}, b_zero = {};

  std::vector<NodeInput> inputs(bool b_is_constant = false) const {
    std::vector<NodeInput> inputs = {{a}, {b, b_is_constant}, missing(), missing()};
    if (a_zero) inputs[2] = {*a_zero};
    if (b_zero) inputs[3] = {*b_zero};
    return inputs;
  }
  static int64_t zero_of(const std::optional<Tensor>& zero, int64_t line) {
    if (!zero) return 0;
    const std::vector<int64_t> all = zero->integers();
    return all.size() == 1 ? all[0] : all[line];
  }
  Tensor wanted() const {
    const std::vector<int64_t> left = a.integers(), right = b.integers();
    const int64_t k = a.shape.back(), n = b.shape[1], m = k == 0 ? a.shape[0] : element_count(a.shape) / k;
    std::vector<int64_t> c;
    for (int64_t row = 0; row < m; row++) {
      for (int64_t column = 0; column < n; column++) {
        int64_t sum = 0;
        for (int64_t i = 0; i < k; i++) {
          sum += (left[row * k + i] - zero_of(a_zero, row)) * (right[i * n + column] - zero_of(b_zero, column));
        }
        c.push_back(sum);
      }
    }
    Shape shape = a.shape;
    shape.back() = n;
    return integers(shape, c, kInt32);
  }
};

/** On all GPUs, those with units among them; each runs by tiles of its own order. */
void expect_products(const Operands& operands) {
  for (const NamedDevice& device : all_devices()) {
    if (device.device->traits().kind != DeviceClass::kGpu) continue;
    SCOPED_TRACE(device.name);
    for (bool is_constant : {false, true}) {
      expect_same(run_node(*device.device, {"MatMulInteger"}, operands.inputs(is_constant))[0], operands.wanted());
    }
  }
}

TEST(IntegerProducts, AllSizesAndSigns) {
  constexpr int64_t kSizes[][3] = {{1, 1, 1}, {3, 5, 17}, {64, 64, 64}, {65, 70, 36}, {2, 130, 7}, {9, 4, 200}};
  for (auto [m, n, k] : kSizes) {
    for (ElementType a : {kUint8, kInt8}) {
      for (ElementType b : {kUint8, kInt8}) {
        SCOPED_TRACE(testing::Message() << m << 'x' << n << 'x' << k << ' ' << type_name(a) << ' ' << type_name(b));
        expect_products({random_codes({m, k}, a, 1), random_codes({k, n}, b, 2)});
      }
    }
  }
}

TEST(IntegerProducts, ZeroPointsOfTensorsRowsAndColumns) {
  for (ElementType type : {kUint8, kInt8}) {
    const Tensor a = random_codes({5, 19}, type, 1), b = random_codes({19, 7}, type, 2);
    expect_products({a, b, random_codes({}, type, 3), {}});
    expect_products({a, b, {}, random_codes({1}, type, 4)});
    expect_products({a, b, random_codes({5}, type, 5), random_codes({7}, type, 6)});
  }
}

TEST(IntegerProducts, StacksOfRowsAndNothing) {
  expect_products(
      {random_codes({2, 3, 5}, kUint8, 1), random_codes({5, 4}, kInt8, 2), random_codes({}, kUint8, 3), {}});
  expect_products({random_codes({2, 0}, kUint8, 1), random_codes({0, 4}, kInt8, 2)});
  expect_products({random_codes({0, 3}, kUint8, 1), random_codes({3, 4}, kInt8, 2)});
}

TEST(IntegerProducts, WhatIsNotTakenIsTold) {
  const Tensor a = random_codes({2, 3}, kUint8, 1), b = random_codes({3, 4}, kUint8, 2);
  TestDevice device(TestDeviceOptions{});
  EXPECT_EQ(refusal_of(device, {"MatMulInteger"}, {{a}, {random_codes({1, 3, 4}, kUint8, 2)}}),
            "B is not known to be a matrix; stacks of matrices on the right are not taken");
  const Tensor stack = random_codes({2, 3, 3}, kUint8, 1);
  EXPECT_EQ(refusal_of(device, {"MatMulInteger"}, {{stack}, {b}, {random_codes({3}, kUint8, 1)}}),
            "A is a stack of matrices, whose rows share zero points");
  EXPECT_EQ(refusal_of(device, {"MatMulInteger"}, {{a}, {b}, {random_codes({2, 1}, kUint8, 1)}}),
            "zero points are not known to be one number or one for each row or column");
  EXPECT_EQ(error_of([&] {
              run_node(device, {"MatMulInteger"}, {{a}, {a}});
            }),
            "node 'n' (MatMulInteger): rows of A have 3 elements, columns of B have 2");
  EXPECT_EQ(error_of([&] {
              run_node(device, {"MatMulInteger"}, {{a}, {b}, {random_codes({3}, kUint8, 1)}});
            }),
            "node 'n' (MatMulInteger): input 2 has 3 zero points for 2 rows or columns");
  TestDeviceOptions wide;
  wide.kind = DeviceClass::kWide;
  wide.vector_width = 16;
  TestDevice processor(wide);
  EXPECT_EQ(refusal_of(processor, {"MatMulInteger"}, {{a}, {b}}),
            "processors have faster products of integers than kernels");
}

TEST(IntegerProducts, TheFasterKernelIsTaken) {
  constexpr const char* kOnUnits = "product_integer_units";
  const Operands operands{random_codes({3, 8}, kUint8, 1), random_codes({8, 4}, kInt8, 2)};
  for (Tuning tuning : {Tuning::kNone, Tuning::kFast}) {
    for (bool is_faster : {false, true}) {
      NotingDevice device({true, true, true, true});
      device.set_cost([&](const std::string& kernel, const auto&, const auto&) -> int64_t {
        return (kernel == kOnUnits) == is_faster ? 1 : 10;
      });
      Engine engine(device, {}, tuning);
      Graph graph = graph_of({"MatMulInteger"}, operands.inputs(), 1);
      expect_same(run_graph(engine, std::move(graph), {operands.a, operands.b}).outputs[0], operands.wanted());
      EXPECT_EQ(device.launches(kOnUnits), is_faster || tuning == Tuning::kNone);
    }
  }
}

}  // namespace
}  // namespace ortolan::gpu::test
