// Tensors in another order, which some operators read where they lie.
#include <gtest/gtest.h>

#include "gpu/core/elements/layout.h"
#include "gpu/sketch.h"

namespace ortolan::gpu::test {
namespace {

TestNode transpose(std::vector<int64_t> order) { return {"Transpose", {{"perm", std::move(order)}}}; }

TEST(Layout, StridesOfOtherShapes) {
  using Strides = std::optional<std::vector<int64_t>>;
  EXPECT_EQ(strides_as({2, 3, 4}, {1, 2, 6}, {2, 3, 4}), Strides({1, 2, 6}));
  EXPECT_EQ(strides_as({6, 4}, {4, 1}, {2, 3, 1, 4}), Strides({12, 4, 0, 1}));
  EXPECT_EQ(strides_as({2, 3, 4}, {20, 4, 1}, {2, 12}), Strides({20, 1}));
  EXPECT_EQ(strides_as({2, 3, 4}, {20, 4, 1}, {2, 2, 6}), Strides({20, 6, 1}));
  EXPECT_EQ(strides_as({2, 3, 4}, {20, 4, 1}, {6, 4}), Strides());
  EXPECT_EQ(strides_as({6, 4}, {1, 6}, {2, 3, 4}), Strides({3, 1, 6}));
  EXPECT_EQ(strides_as({6, 4}, {1, 6}, {4, 6}), Strides());
  EXPECT_EQ(strides_as({1, 1}, {1, 1}, {}), Strides({std::vector<int64_t>()}));
  EXPECT_EQ(strides_as({0, 4}, {4, 1}, {4, 0}), Strides());
}

TEST(Layout, ProductsAndJoinsReadTransposesWhereTheyLie) {
  on_all_devices([](Sketch& s) {
    int x = s.input(numbers({2, 5, 3, 20}, 1)), w = s.constant(numbers({20, 33}, 2));
    int turned = s.node(transpose({0, 2, 1, 3}), {x});
    EXPECT_EQ(s.run({s.node("MatMul", {turned, w})}), 1u);
    EXPECT_EQ(s.run({s.node("MatMul", {s.node(transpose({1, 0, 2, 3}), {turned}), w})}), 1u);
    int y = s.input(numbers({2, 20, 3, 33}, 3)), right = s.node(transpose({0, 2, 1, 3}), {y});
    EXPECT_EQ(s.run({s.node("MatMul", {turned, right})}), 1u);
    EXPECT_EQ(s.run({s.node("MatMul", {turned, right}), right}), 2u);
    TestNode concat{"Concat", {{"axis", int64_t{2}}}};
    EXPECT_EQ(s.run({s.node(concat, {turned, s.input(numbers({2, 3, 7, 20}, 4))})}), 2u);
    int back = s.node(transpose({0, 1, 3, 2}), {s.input(numbers({2, 3, 33, 20}, 5))});
    EXPECT_LE(s.run({s.node("MatMul", {turned, back})}), 3u);
  });
}

TEST(Layout, OtherReadersGetACopy) {
  on_all_devices([](Sketch& s) {
    int x = s.input(numbers({4, 6, 5}, 1)), turned = s.node(transpose({2, 0, 1}), {x});
    EXPECT_EQ(s.run({turned}), 1u);
    EXPECT_EQ(s.run({s.node("Tanh", {turned})}), 2u);
    EXPECT_EQ(s.run({s.node("Reshape", {turned, s.constant(integers({2}, {10, 12}))})}), 1u);
    int a = s.input(numbers({5, 4, 3}, 2)), b = s.input(numbers({3, 6}, 3));
    int product = s.node("MatMul", {a, b});
    EXPECT_EQ(s.run({s.node("Add", {product, turned})}), s.run({product}) + 1);
    EXPECT_EQ(s.run({s.node("Add", {turned, product})}), s.run({product}) + 1);
    TestNode halves = transpose({1, 0});
    s.run({s.node(halves, {s.node(halves, {s.input(numbers({7, 3}, 4, ElementType::kFloat16))})})});
    s.run({s.node(transpose({1, 0}), {s.input(integers({2, 3}, {1, 2, 3, 4, 5, 6}))})});
  });
}

}  // namespace
}  // namespace ortolan::gpu::test
