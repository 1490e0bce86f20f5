// ArgMax, ArgMin and Hardmax against a plain search.
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/single_node.h"

namespace ortolan::gpu::test {
namespace {

/** The place of the largest value; `sign` -1 for the smallest. */
int64_t place(const std::vector<float>& x, size_t base, size_t cols, size_t inner, float sign, bool last) {
  size_t best = 0;
  for (size_t i = 1; i < cols; i++) {
    float value = sign * x[base + i * inner], held = sign * x[base + best * inner];
    if (value > held || (last && value == held) || (std::isnan(held) && !std::isnan(value))) best = i;
  }
  return static_cast<int64_t>(best);
}

std::vector<int64_t> reference(const std::vector<float>& x, size_t cols, size_t inner, float sign, bool last) {
  std::vector<int64_t> places;
  for (size_t row = 0; row < x.size() / cols; row++)
    places.push_back(place(x, row / inner * cols * inner + row % inner, cols, inner, sign, last));
  return places;
}

class Extreme : public testing::TestWithParam<NamedDevice> {
 protected:
  void check(const Tensor& x, int64_t axis, size_t inner) {
    auto cols = static_cast<size_t>(x.shape[axis < 0 ? x.shape.size() + axis : axis]);
    for (bool least : {false, true}) {
      for (bool last : {false, true}) {
        TestNode node{least ? "ArgMin" : "ArgMax", {{"axis", axis}, {"select_last_index", int64_t{last}}}};
        Tensor actual = run_node(*GetParam().device, node, {{x}})[0];
        EXPECT_EQ(actual.type, ElementType::kInt64);
        EXPECT_EQ(actual.integers(), reference(x.floats(), cols, inner, least ? -1 : 1, last))
            << node.op << " " << last;
      }
    }
  }
};

/** Few different values, of both signs, so that there are equals. */
std::vector<float> repeating(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; i++) values[i] = static_cast<float>(static_cast<int>(i * 7919 % 11) - 5);
  return values;
}

TEST_P(Extreme, RowsAndColumnsOfManySizes) {
  for (int64_t size : {1, 2, 63, 64, 65, 200}) {
    std::vector<float> values = repeating(3 * size);
    check(floats({3, size}, values), -1, 1);
    check(floats({size, 3}, values), 0, 3);
    check(floats({3, size}, values, ElementType::kFloat16), 1, 1);
    check(integers({3, size}, {values.begin(), values.end()}, ElementType::kInt32), 1, 1);
  }
}

TEST_P(Extreme, NanInfinityZerosAndLimits) {
  check(floats({2, 3}, {NAN, -INFINITY, NAN, 1, NAN, INFINITY}), 1, 1);
  check(floats({1, 3}, {-0.0f, 0.0f, -0.0f}), 1, 1);
  Tensor limits = integers({1, 3}, {0, INT32_MIN, INT32_MAX}, ElementType::kInt32);
  EXPECT_EQ(run_node(*GetParam().device, {"ArgMin", {{"axis", int64_t{1}}}}, {{limits}})[0].integers()[0], 1);
}

TEST_P(Extreme, ShapesAndErrors) {
  Device& device = *GetParam().device;
  TestNode drops{"ArgMax", {{"keepdims", int64_t{0}}}, 11};
  EXPECT_EQ(run_node(device, drops, {{floats({2, 3}, repeating(6))}})[0].shape, (Shape{3}));
  EXPECT_EQ(run_node(device, {"ArgMax"}, {{floats({2, 0}, {})}})[0].shape, (Shape{1, 0}));
  try {
    run_node(device, {"ArgMin"}, {{floats({0, 2}, {})}});
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "node 'n' (ArgMin): axis 0 is empty, so it has no smallest element");
  }
  EXPECT_EQ(refusal_of(device, {"ArgMax"}, {{integers({2, 2}, {1, 2, 3, 4})}}),
            "input 0 is int64; supported: float, float16, int32");
}

TEST_P(Extreme, Hardmax) {
  Device& device = *GetParam().device;
  Tensor x = floats({2, 3}, {1, 3, 3, 2, 0, 1});
  expect_near(run_node(device, {"Hardmax"}, {{x}})[0], floats({2, 3}, {0, 1, 0, 1, 0, 0}));
  expect_near(run_node(device, {"Hardmax", {{"axis", int64_t{0}}}, 11}, {{x}})[0], floats({2, 3}, {0, 1, 0, 0, 0, 0}));
  Tensor half = floats({1, 3}, {1, 2, 3}, ElementType::kFloat16);
  expect_near(run_node(device, {"Hardmax"}, {{half}})[0], floats({1, 3}, {0, 0, 1}, ElementType::kFloat16));
}

INSTANTIATE_TEST_SUITE_P(Devices, Extreme, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
