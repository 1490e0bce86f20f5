// Products of 16-bit floats for tests of matrix units, and how exact they must be.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "gpu/single_node.h"

namespace ortolan::gpu::test {

inline constexpr double kHalfUnit = 1.0 / 2048, kFloatUnit = 1.0 / (1 << 24);  // of rounding

inline Tensor halves(Shape shape, std::vector<float> values) {
  return floats(std::move(shape), std::move(values), ElementType::kFloat16);
}
inline Tensor random_halves(Shape shape, unsigned seed) { return halves(shape, random_floats(shape, seed).floats()); }

inline Tensor turned(const Tensor& x) {
  std::vector<float> from = x.floats(), to;
  for (int64_t i = 0; i < element_count(x.shape); i++) {
    to.push_back(from[static_cast<size_t>(i % x.shape[0] * x.shape[1] + i / x.shape[0])]);
  }
  return floats({x.shape[1], x.shape[0]}, to, x.type);
}

/** |sum - A B| <= units of the sums of magnitudes for 32-bit sums, rounded factors and the result's rounding. */
inline void expect_product(const Tensor& actual, const Tensor& a, const Tensor& b, double factor_unit = 0) {
  const std::vector<float> left = a.floats(), right = b.floats(), values = actual.floats();
  const int64_t terms = a.shape[1], columns = b.shape[1];
  ASSERT_EQ(actual.shape, (Shape{a.shape[0], columns}));
  for (int64_t i = 0; i < static_cast<int64_t>(values.size()); i++) {
    double sum = 0, magnitude = 0;
    for (int64_t k = 0; k < terms; k++) {
      double term = static_cast<double>(left[i / columns * terms + k]) * right[k * columns + i % columns];
      sum += term, magnitude += std::fabs(term);
    }
    double bound = magnitude * (2 * static_cast<double>(terms) * kFloatUnit + 2.01 * factor_unit);
    if (actual.type == ElementType::kFloat16) bound += std::fabs(sum) * kHalfUnit + 1.0 / (1 << 25);
    ASSERT_LE(std::fabs(values[i] - sum), bound) << "element " << i << ", not " << sum;
  }
}

/** `run` computes a node of given inputs; here a product with an addend, then a step. */
inline void expect_addend_and_step(const std::function<Tensor(const TestNode&, const std::vector<NodeInput>&)>& run) {
  TestNode node{"FusedGemm", {{"activation", std::string("Relu")}, {"alpha", 0.5f}}, 1, "com.microsoft"};
  Tensor x = halves({2, 2}, {1, 2, 3, 4}), y = halves({2, 2}, {2, 0, -4, 2}), z = halves({2}, {1, -5});
  EXPECT_EQ(run(node, {{x}, {y}, {z}}).floats(), (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(run(node, {{y}, {x}, {z}}).floats(), (std::vector<float>{2, 0, 2, 0}));
}

struct Size {
  int64_t m, n, k;
};
inline constexpr Size kSizes[] = {{1, 1, 1},    {3, 5, 17},    {16, 8, 16}, {65, 63, 33},
                                  {9, 130, 40}, {200, 72, 24}, {2, 7, 300}};

}  // namespace ortolan::gpu::test
