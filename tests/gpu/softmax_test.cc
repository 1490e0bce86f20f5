// Softmax and LogSoftmax against double.
#include <gtest/gtest.h>
#include <algorithm>

#include <cmath>

#include "gpu/single_node.h"

namespace ortolan::gpu::test {
namespace {

/** Over the axis of size cols with `inner` elements behind it. */
Tensor reference(const Tensor& x, int64_t cols, int64_t inner, bool logarithm) {
  std::vector<float> in = x.floats(), out(in.size());
  for (size_t row = 0; row < in.size() / static_cast<size_t>(cols); row++) {
    size_t base = row / inner * cols * inner + row % inner;
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < cols; i++) most = std::max<double>(most, in[base + i * inner]);
    for (int64_t i = 0; i < cols; i++) sum += std::exp(in[base + i * inner] - most);
    for (int64_t i = 0; i < cols; i++) {
      double d = in[base + i * inner] - most;
      out[base + i * inner] = static_cast<float>(logarithm ? d - std::log(sum) : std::exp(d) / sum);
    }
  }
  return floats(x.shape, out);
}

class Softmax : public testing::TestWithParam<NamedDevice> {};

TEST_P(Softmax, RowsOfManySizes) {
  for (int64_t cols : {1, 2, 63, 64, 65, 200}) {
    Tensor x = random_floats({3, cols}, static_cast<unsigned>(cols), -9, 9);
    expect_near(run_node(*GetParam().device, {"Softmax"}, {{x}})[0], reference(x, cols, 1, false));
    expect_near(run_node(*GetParam().device, {"LogSoftmax"}, {{x}})[0], reference(x, cols, 1, true));
  }
}

TEST_P(Softmax, Float16) {
  Tensor x = floats({3, 70}, random_floats({210}, 3, -9, 9).floats(), ElementType::kFloat16);
  for (bool logarithm : {false, true}) {
    Tensor wanted = floats(x.shape, reference(x, 70, 1, logarithm).floats(), ElementType::kFloat16);
    expect_near(run_node(*GetParam().device, {logarithm ? "LogSoftmax" : "Softmax"}, {{x}})[0], wanted, 1e-3f);
  }
}

TEST_P(Softmax, NanAndInfinity) {
  Tensor x = floats({3, 2}, {NAN, 1, -INFINITY, 1, -INFINITY, -INFINITY});
  expect_near(run_node(*GetParam().device, {"Softmax"}, {{x}})[0], floats({3, 2}, {NAN, NAN, 0, 1, NAN, NAN}));
}

TEST_P(Softmax, ExtremesInLongRows) {
  constexpr int64_t kCols = 53;
  std::vector<float> rows;
  for (float value : {NAN, -INFINITY, -3.402823466e38f, -200.0f, -95.0f, 3.402823466e38f}) {
    for (int64_t place : {3, 50}) {
      std::vector<float> row = random_floats({kCols}, 7, -9, 9).floats();
      row[place] = value;
      rows.insert(rows.end(), row.begin(), row.end());
    }
  }
  rows.insert(rows.end(), kCols, -INFINITY);
  Tensor x = floats({13, kCols}, rows), wanted = reference(x, kCols, 1, false);
  std::vector<float> values = wanted.floats();
  std::fill(values.begin(), values.begin() + 2 * kCols, NAN);
  expect_near(run_node(*GetParam().device, {"Softmax"}, {{x}})[0], floats(x.shape, values));
}

TEST_P(Softmax, BeforeOpset13AnAxisPastTheEnd) {
  Tensor x = floats({2, 1}, {5, 7});
  expect_near(run_node(*GetParam().device, {"Softmax", {{"axis", int64_t{2}}}, 1}, {{x}})[0], floats({2, 1}, {1, 1}));
}

TEST_P(Softmax, AnAxisInTheMiddle) {
  Tensor x = random_floats({2, 5, 7}, 1);
  expect_near(run_node(*GetParam().device, {"Softmax", {{"axis", int64_t{-2}}}}, {{x}})[0], reference(x, 5, 7, false));
}

TEST_P(Softmax, BeforeOpset13AllAxesFromOneOn) {
  Tensor x = random_floats({2, 3, 5}, 2);
  expect_near(run_node(*GetParam().device, {"Softmax", {}, 11}, {{x}})[0], reference(x, 15, 1, false));
}

TEST_P(Softmax, NothingAndScalars) {
  EXPECT_EQ(run_node(*GetParam().device, {"Softmax"}, {{floats({0, 4}, {})}})[0].shape, (Shape{0, 4}));
  expect_near(run_node(*GetParam().device, {"Softmax"}, {{floats({}, {3})}})[0], floats({}, {1}));
}

TEST_P(Softmax, AnAxisOutside) {
  try {
    run_node(*GetParam().device, {"Softmax", {{"axis", int64_t{2}}}}, {{floats({2, 2}, {1, 2, 3, 4})}});
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "node 'n' (Softmax): axis 2 is outside of rank 2");
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Softmax, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
