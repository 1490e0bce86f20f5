// Attention that models spell out in several nodes: the same numbers as node by node, in one launch where it fits.
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/sketch.h"

namespace ortolan::gpu::test {
namespace {

TestNode transpose(std::vector<int64_t> order) { return {"Transpose", {{"perm", std::move(order)}}}; }
const TestNode kSoftmax{"Softmax", {{"axis", int64_t{-1}}}};

constexpr int64_t kBatch = 2, kHeads = 3, kQueries = 2, kKeys = 5, kSize = 16;

/** Truths for queries and keys, with true and false in each row. */
Tensor truths(Shape shape) {
  std::vector<int64_t> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); i++) values[i] = i * 7 % 3 != 0;
  return integers(std::move(shape), values, ElementType::kBool);
}

/** Attention on tensors of [batch, heads, rows, size]. */
struct Spelling {
  Sketch& s;
  ElementType type = ElementType::kFloat;
  float near = 1e-5f;
  int q = tensor({kBatch, kHeads, kQueries, kSize}, 1), k = tensor({kBatch, kHeads, kKeys, kSize}, 2);
  int v = tensor({kBatch, kHeads, kKeys, 2 * kSize}, 3);
  int turned = s.node(transpose({0, 1, 3, 2}), {k});

  int tensor(Shape shape, unsigned seed) const { return s.input(numbers(std::move(shape), seed, type)); }
  int number(float value) const { return s.constant(floats({}, {value}, type)); }
  int scores() const { return s.node("MatMul", {q, turned}); }
  int scaled() const { return s.node("Mul", {scores(), number(0.25f)}); }
  int shares(int scores) const { return s.node("MatMul", {s.node(kSoftmax, {scores}), v}); }
  size_t run(int output) const { return s.run({output}, near, near); }
};

TEST(SpelledAttention, ScalesWhereExportersPutThem) {
  on_all_devices([](Sketch& s) {
    Spelling a{s};
    EXPECT_EQ(a.run(a.shares(a.scores())), 1u);
    EXPECT_EQ(a.run(a.shares(a.scaled())), 1u);
    EXPECT_EQ(a.run(a.shares(s.node("Div", {a.scores(), a.number(3)}))), 1u);
    EXPECT_EQ(a.run(a.shares(s.node("Mul", {a.number(-0.5f), s.node("Div", {a.scores(), a.number(3)})}))), 1u);
    int part = s.constant(floats({1}, {0.5f}));
    int q = s.node("Mul", {a.q, part}), k = s.node("Mul", {a.turned, part});
    EXPECT_EQ(a.run(a.shares(s.node("MatMul", {q, k}))), 1u);
    EXPECT_EQ(a.run(a.shares(s.node("MatMul", {s.node("Div", {a.q, part}), a.turned}))), 1u);
  });
}

TEST(SpelledAttention, AScaleFromTheShape) {
  on_all_devices([](Sketch& s) {
    Spelling a{s};
    int size =
        s.node("Slice", {s.node("Shape", {a.q}), s.constant(integers({1}, {-1})), s.constant(integers({1}, {4}))});
    int root = s.node("Sqrt", {s.node({"Cast", {{"to", int64_t{1}}}}, {size})});
    int scale = s.node("Sqrt", {s.node("Div", {s.constant(floats({1}, {1})), root})});
    int q = s.node("Mul", {a.q, scale}), k = s.node("Mul", {a.turned, scale});
    EXPECT_EQ(a.run(a.shares(s.node("MatMul", {q, k}))), 1u);
  });
}

TEST(SpelledAttention, MasksThatAreAdded) {
  on_all_devices([](Sketch& s) {
    Spelling a{s};
    for (const Shape& shape :
         {Shape{kKeys}, Shape{kQueries, kKeys}, Shape{kQueries, 1}, Shape{1, 1}, Shape{kBatch, 1, 1, kKeys},
          Shape{kHeads, 1, kKeys}, Shape{kBatch, kHeads, kQueries, kKeys}}) {
      EXPECT_EQ(a.run(a.shares(s.node("Add", {a.scaled(), a.tensor(shape, 4)}))), 1u);
      EXPECT_EQ(a.run(a.shares(s.node("Add", {a.tensor(shape, 5), a.scaled()}))), 1u);
    }
  });
}

TEST(SpelledAttention, MasksThatChoose) {
  on_all_devices([](Sketch& s) {
    Spelling a{s};
    int bias = a.tensor({kBatch, 1, 1, kKeys}, 4), far = a.number(-10000);
    for (const Shape& shape :
         {Shape{kQueries, kKeys}, Shape{kBatch, 1, 1, kKeys}, Shape{kKeys}, Shape{kBatch, kHeads, kQueries, kKeys}}) {
      int truth = s.input(truths(shape));
      EXPECT_EQ(a.run(a.shares(s.node("Where", {truth, a.scaled(), far}))), 1u);
      EXPECT_EQ(a.run(a.shares(s.node("Where", {truth, a.number(-INFINITY), a.scaled()}))), 1u);
      EXPECT_EQ(a.run(a.shares(s.node("Add", {s.node("Where", {truth, a.scaled(), a.number(1)}), bias}))), 1u);
      int sum = s.node("Add", {bias, a.scaled()});
      EXPECT_EQ(a.run(a.shares(s.node("Where", {truth, a.number(1), sum}))), 1u);
    }
  });
}

TEST(SpelledAttention, QueriesWithoutKeysGiveWhatSoftmaxGives) {
  on_all_devices([](Sketch& s) {
    Spelling a{s};
    float inf = INFINITY;
    int hides = s.input(floats({kQueries, kKeys}, {0, -inf, 0, -inf, 1, -inf, -inf, -inf, -inf, -inf}));
    int none = a.shares(s.node("Add", {a.scaled(), hides}));
    EXPECT_EQ(a.run(none), 1u);
    EXPECT_TRUE(std::isnan(s.run_unchecked(none).floats()[2 * kSize]));
    int no = s.input(integers({kQueries, kKeys}, {1, 0, 1, 0, 1, 0, 0, 0, 0, 0}, ElementType::kBool));
    EXPECT_EQ(a.run(a.shares(s.node("Where", {no, a.scaled(), a.number(-inf)}))), 1u);
    int mean = a.shares(s.node("Where", {no, a.scaled(), a.number(-3.402823466e38f)}));
    EXPECT_EQ(a.run(mean), 1u);
    EXPECT_FALSE(std::isnan(s.run_unchecked(mean).floats()[2 * kSize]));
    int far = s.input(floats({kQueries, 1}, {0, -3.402823466e38f}));
    EXPECT_EQ(a.run(a.shares(s.node("Add", {a.scaled(), far}))), 1u);
    int nan = s.input(floats({kKeys}, {0, 1, NAN, 0, 0})), most = s.input(floats({kKeys}, {0, 1, inf, 0, 0}));
    EXPECT_EQ(a.run(a.shares(s.node("Add", {a.scaled(), nan}))), 1u);
    EXPECT_EQ(a.run(a.shares(s.node("Add", {a.scaled(), most}))), 1u);
  });
}

TEST(SpelledAttention, KeysAsExportersTurnThem) {
  on_all_devices([](Sketch& s) {
    Spelling a{s};
    auto shape = [&](Shape dimensions) {
      return s.constant(integers({static_cast<int64_t>(dimensions.size())}, dimensions));
    };
    int split = s.node("Reshape", {a.tensor({kBatch, kKeys, kHeads * kSize}, 4), shape({0, 0, kHeads, kSize})});
    a.turned = s.node(transpose({0, 2, 3, 1}), {split});
    EXPECT_EQ(a.run(a.shares(a.scaled())), 1u);
    a.q = s.node(transpose({0, 2, 1, 3}), {a.tensor({kBatch, kQueries, kHeads, kSize}, 5)});
    a.v = s.node(transpose({0, 2, 1, 3}), {a.tensor({kBatch, kKeys, kHeads, kSize}, 6)});
    EXPECT_EQ(a.run(a.shares(a.scaled())), 1u);
    int stacked = s.node("Reshape", {a.k, shape({-1, kKeys, kSize})});
    int turned = s.node(transpose({0, 2, 1}), {stacked});
    a.turned = s.node("Reshape", {turned, shape({kBatch, kHeads, kSize, kKeys})});
    EXPECT_EQ(a.run(a.shares(a.scaled())), 1u);
    a.turned = turned;
    a.q = a.tensor({kBatch * kHeads, kQueries, kSize}, 7);
    a.v = a.tensor({1, kKeys, kSize}, 8);
    EXPECT_EQ(a.run(a.shares(a.scaled())), 1u);
  });
}

TEST(SpelledAttention, Float16) {
  on_all_devices([](Sketch& s) {
    Spelling a{s, ElementType::kFloat16, 1e-2f};
    int truth = s.input(truths({kQueries, kKeys}));
    int sum = s.node("Add", {a.scaled(), a.tensor({kBatch, 1, 1, kKeys}, 4)});
    a.run(a.shares(s.node("Where", {truth, sum, a.number(-65504)})));
  });
}

TEST(SpelledAttention, WhatIsNotItStaysAsItIs) {
  on_all_devices([](Sketch& s) {
    Spelling a{s};
    int scaled = a.scaled(), y = a.shares(scaled);
    EXPECT_GT(s.run({y, scaled}), 2u);
    int shares = s.node(kSoftmax, {a.scaled()});
    EXPECT_GT(s.run({s.node("MatMul", {shares, a.v}), shares}), 2u);
    EXPECT_GT(a.run(s.node("MatMul", {s.node({"Softmax", {{"axis", int64_t{2}}}}, {a.scaled()}), a.v})), 1u);
    EXPECT_GT(a.run(a.shares(s.node("Mul", {a.scores(), a.tensor({kQueries, 1}, 4)}))), 1u);
    EXPECT_GT(a.run(a.shares(s.node("Mul", {a.scores(), a.tensor({}, 4)}))), 1u);
    int biased = s.node("Add", {a.scores(), a.tensor({kKeys}, 5)});
    EXPECT_GT(a.run(a.shares(s.node("Mul", {biased, a.number(2)}))), 1u);
    EXPECT_GT(a.run(a.shares(s.node("Add", {biased, a.tensor({kKeys}, 6)}))), 1u);
    EXPECT_GT(a.run(a.shares(s.node("Add", {a.scaled(), a.tensor({2, 1, 1, 1, kKeys}, 7)}))), 1u);
    int truth = s.input(truths({kQueries, kKeys}));
    EXPECT_GT(a.run(a.shares(s.node("Where", {truth, a.scaled(), a.tensor({kKeys}, 8)}))), 1u);
    EXPECT_GT(a.run(a.shares(s.node("Div", {a.number(1), a.scores()}))), 1u);
    a.turned = a.tensor({kBatch, kHeads, kSize, kKeys}, 9);
    EXPECT_GT(a.run(a.shares(a.scaled())), 1u);
  });
}

TEST(SpelledAttention, ManyQueriesAreForProducts) {
  on_all_devices([](Sketch& s) {
    Spelling a{s};
    a.q = a.tensor({kBatch, kHeads, 9, kSize}, 4);
    int sum = s.node("Add", {a.scaled(), a.tensor({kBatch, 1, 1, kKeys}, 5)});
    EXPECT_GT(a.run(a.shares(s.node("Where", {s.input(truths({9, kKeys})), sum, a.number(-1e4f)}))), 3u);
    EXPECT_GT(a.run(a.shares(a.scaled())), 2u);
  });
}

TEST(SpelledAttention, ShapesThatItDoesNotTake) {
  on_all_devices([](Sketch& s) {
    Spelling a{s};
    a.q = a.tensor({1, 1, kQueries, kSize}, 4),
    a.turned = s.node(transpose({0, 1, 3, 2}), {a.tensor({1, 1, 0, kSize}, 5)});
    a.v = a.tensor({1, 1, 0, kSize}, 6);
    a.run(a.shares(a.scaled()));
    a.turned = s.node(transpose({0, 1, 3, 2}), {a.tensor({1, 1, kKeys, kSize}, 7)});
    a.v = a.tensor({1, 1, kKeys, kSize}, 8);
    EXPECT_GT(a.run(a.shares(s.node("Add", {a.scaled(), a.tensor({kBatch, kHeads, 1, kKeys}, 9)}))), 1u);
    a.v = a.tensor({kBatch, kHeads, kKeys, kSize}, 10);
    EXPECT_EQ(a.run(a.shares(s.node("Add", {a.scaled(), a.tensor({kBatch, kHeads, 1, kKeys}, 11)}))), 1u);
  });
}

}  // namespace
}  // namespace ortolan::gpu::test
