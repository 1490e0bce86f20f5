// MatMul, Gemm and their fused forms against double.
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/single_node.h"

namespace ortolan::gpu::test {
namespace {

/** Matrices of a stack by numpy's rule: [batch..., rows, columns] with broadcast batches. */
class Stack {
 public:
  Stack(const Tensor& x, bool transposed) : values_(x.floats()), transposed_(transposed) {
    batch_.assign(x.shape.begin(), x.shape.end() - 2);
    rows_ = x.shape[x.shape.size() - 2];
    columns_ = x.shape.back();
  }
  int64_t rows() const { return transposed_ ? columns_ : rows_; }
  int64_t columns() const { return transposed_ ? rows_ : columns_; }
  const Shape& batch() const { return batch_; }
  double at(const Shape& place, int64_t row, int64_t column) const {
    int64_t matrix = 0;
    for (size_t i = 0; i < batch_.size(); i++) {
      int64_t index = place[place.size() - batch_.size() + i];
      matrix = matrix * batch_[i] + (batch_[i] == 1 ? 0 : index);
    }
    int64_t r = transposed_ ? column : row, c = transposed_ ? row : column;
    return values_[(matrix * rows_ + r) * columns_ + c];
  }

 private:
  std::vector<float> values_;
  Shape batch_;
  int64_t rows_, columns_;
  bool transposed_;
};

Shape broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (const Shape* shape : {&a, &b}) {
    for (size_t i = 0; i < shape->size(); i++) {
      int64_t& d = result[result.size() - shape->size() + i];
      d = std::max(d, (*shape)[i]);
    }
  }
  return result;
}

Tensor product(const Tensor& x, const Tensor& w, bool transposes_x = false, bool transposes_w = false,
               double alpha = 1) {
  Stack a(x, transposes_x), b(w, transposes_w);
  Shape batch = broadcast(a.batch(), b.batch()), place(batch.size(), 0);
  std::vector<float> values;
  for (int64_t z = 0; z < element_count(batch); z++) {
    int64_t rest = z;
    for (size_t i = batch.size(); i-- > 0; rest /= batch[i]) place[i] = rest % batch[i];
    for (int64_t r = 0; r < a.rows(); r++) {
      for (int64_t c = 0; c < b.columns(); c++) {
        double sum = 0;
        for (int64_t k = 0; k < a.columns(); k++) sum += a.at(place, r, k) * b.at(place, k, c);
        values.push_back(static_cast<float>(alpha * sum));
      }
    }
  }
  batch.push_back(a.rows());
  batch.push_back(b.columns());
  return floats(batch, values);
}

Tensor with_shape(Tensor x, Shape shape) {
  x.shape = std::move(shape);
  return x;
}

/** The same values rounded to float16. */
Tensor halves(const Tensor& x) { return floats(x.shape, x.floats(), ElementType::kFloat16); }
Tensor as_floats(const Tensor& x) { return floats(x.shape, x.floats()); }

class MatMul : public testing::TestWithParam<NamedDevice> {
 protected:
  Tensor run(const TestNode& node, const std::vector<NodeInput>& inputs) {
    return run_node(*GetParam().device, node, inputs)[0];
  }
  /** With B as an input and as a constant. */
  void expect_product(const TestNode& node, const Tensor& a, const Tensor& b, const Tensor& wanted) {
    expect_near(run(node, {{a}, {b}}), wanted, 1e-5f, 1e-4f);
    expect_near(run(node, {{a}, constant(b)}), wanted, 1e-5f, 1e-4f);
    expect_near(run(node, {constant(a), {b}}), wanted, 1e-5f, 1e-4f);
  }
};

TEST_P(MatMul, SizesAroundTiles) {
  struct {
    int64_t m, n, k;
  } const sizes[] = {{1, 1, 1},   {1, 16, 5},   {1, 100, 3}, {7, 47, 4}, {8, 48, 4},
                     {9, 49, 17}, {17, 15, 16}, {65, 63, 5}, {3, 65, 1}, {64, 64, 16}};
  for (auto [m, n, k] : sizes) {
    Tensor a = random_floats({m, k}, static_cast<unsigned>(m)), b = random_floats({k, n}, static_cast<unsigned>(n));
    expect_product({"MatMul"}, a, b, product(a, b));
  }
}

TEST_P(MatMul, LongSums) {
  Tensor a = random_floats({3, 2000}, 1, -1, 1), b = random_floats({2000, 18}, 2, -1, 1);
  expect_product({"MatMul"}, a, b, product(a, b));
}

TEST_P(MatMul, StacksThatBroadcast) {
  const std::pair<Shape, Shape> shapes[] = {{{5, 3, 4}, {4, 20}},
                                            {{5, 3, 4}, {5, 4, 20}},
                                            {{3, 4}, {2, 4, 20}},
                                            {{2, 1, 9, 4}, {1, 3, 4, 20}},
                                            {{2, 3, 9, 4}, {3, 4, 20}},
                                            {{2, 1, 2, 3, 4}, {1, 3, 2, 4, 5}},
                                            {{2, 1, 2, 1, 3, 4}, {3, 1, 2, 4, 17}}};
  for (const auto& [left, right] : shapes) {
    Tensor a = random_floats(left, 3), b = random_floats(right, 4);
    expect_product({"MatMul"}, a, b, product(a, b));
  }
}

TEST_P(MatMul, Vectors) {
  Tensor a = random_floats({2, 6, 7}, 5), v = random_floats({7}, 6), w = random_floats({6}, 7);
  Tensor column = product(a, with_shape(v, {7, 1})), row = product(with_shape(w, {1, 6}), a);
  expect_product({"MatMul"}, a, v, with_shape(column, {2, 6}));
  expect_product({"MatMul"}, w, a, with_shape(row, {2, 7}));
  expect_product({"MatMul"}, v, v, with_shape(product(with_shape(v, {1, 7}), with_shape(v, {7, 1})), {}));
}

TEST_P(MatMul, NothingToSum) {
  expect_near(run({"MatMul"}, {{floats({2, 0}, {})}, {floats({0, 3}, {})}}), floats({2, 3}, std::vector<float>(6)));
  EXPECT_EQ(run({"MatMul"}, {{floats({0, 4}, {})}, {random_floats({4, 3}, 1)}}).shape, (Shape{0, 3}));
  EXPECT_EQ(run({"MatMul"}, {{floats({0, 5, 4}, {})}, {random_floats({4, 3}, 1)}}).shape, (Shape{0, 5, 3}));
}

TEST_P(MatMul, Halves) {
  for (int64_t n : {1, 15, 70}) {
    Tensor a = halves(random_floats({2, 11, 9}, 1)), b = halves(random_floats({9, n}, 2));
    Tensor wanted = halves(product(as_floats(a), as_floats(b)));
    for (const NodeInput& right : {NodeInput{b}, constant(b)}) {
      expect_near(run({"MatMul", {}, 13}, {{a}, right}), wanted, 2e-3f, 1e-3f);
    }
  }
}

TEST_P(MatMul, KeepsNaNAndInfinity) {
  Tensor a = floats({1, 2}, {INFINITY, 1}), b = floats({2, 2}, {0, 1, 5, 2});
  std::vector<float> y =
      run({"FusedMatMulActivation", {{"activation", std::string("Relu")}}, 1, "com.microsoft"}, {{a}, {b}}).floats();
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], INFINITY);
}

TEST_P(MatMul, TransposedForms) {
  Tensor a = random_floats({2, 9, 5}, 1), b = random_floats({2, 21, 9}, 2);
  TestNode node{"FusedMatMul", {{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 0.5f}}, 1, "com.microsoft"};
  expect_product(node, a, b, product(a, b, true, true, 0.5));
}

TEST_P(MatMul, ShapesThatDoNotFit) {
  try {
    run({"MatMul"}, {{random_floats({2, 3}, 1)}, {random_floats({4, 2}, 1)}});
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "node 'n' (MatMul): rows of 3 elements meet columns of 4");
  }
}

TEST_P(MatMul, Refusals) {
  Tensor a = integers({2, 2}, {1, 2, 3, 4}, ElementType::kInt32);
  EXPECT_EQ(refusal_of(*GetParam().device, {"MatMul"}, {{a}, {a}}), "input 0 is int32; supported: float, float16");
  Tensor x = random_floats({2, 2}, 1);
  TestNode node{"FusedGemm", {{"activation", std::string("Tanh")}}, 1, "com.microsoft"};
  EXPECT_EQ(refusal_of(*GetParam().device, node, {{x}, {x}}), "its activation is Tanh; supported: Relu");
}

TEST_P(MatMul, GemmInAllForms) {
  for (int64_t form = 0; form < 4; form++) {
    bool ta = form % 2 == 1, tb = form / 2 == 1;
    Tensor a = random_floats(ta ? Shape{6, 11} : Shape{11, 6}, 1),
           b = random_floats(tb ? Shape{19, 6} : Shape{6, 19}, 2);
    Tensor wanted = product(a, b, ta, tb, 0.5);
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{19}, Shape{1, 19}, Shape{11, 1}, Shape{11, 19}}) {
      Tensor c = random_floats(shape, 3);
      std::vector<float> sum = wanted.floats(), addend = c.floats();
      for (int64_t i = 0; i < 11 * 19; i++) {
        int64_t row = i / 19, column = i % 19;
        int64_t place = element_count(shape) == 1            ? 0
                        : shape.size() == 1 || shape[0] == 1 ? column
                        : shape[1] == 1                      ? row
                                                             : i;
        sum[i] += 2 * addend[place];
      }
      TestNode node{"Gemm", {{"transA", int64_t{ta}}, {"transB", int64_t{tb}}, {"alpha", 0.5f}, {"beta", 2.0f}}};
      expect_near(run(node, {{a}, {b}, {c}}), floats({11, 19}, sum), 1e-5f, 1e-4f);
      expect_near(run(node, {{a}, constant(b), constant(c)}), floats({11, 19}, sum), 1e-5f, 1e-4f);
    }
  }
}

TEST_P(MatMul, GemmOfHalvesWithActivation) {
  Tensor a = halves(random_floats({5, 6}, 1)), b = halves(random_floats({6, 40}, 2)),
         c = halves(random_floats({40}, 3));
  std::vector<float> values = product(as_floats(a), as_floats(b)).floats(), addend = c.floats();
  for (size_t i = 0; i < values.size(); i++) values[i] = std::max(0.0f, values[i] + addend[i % 40]);
  TestNode node{"FusedGemm", {{"activation", std::string("Relu")}}, 1, "com.microsoft"};
  expect_near(run(node, {{a}, {b}, {c}}), floats({5, 40}, values, ElementType::kFloat16), 2e-3f, 1e-3f);
}

TEST_P(MatMul, GemmWithoutAddend) {
  Tensor a = random_floats({5, 6}, 1), b = random_floats({6, 7}, 2);
  expect_near(run({"Gemm", {}, 11}, {{a}, {b}}), product(a, b), 1e-5f, 1e-4f);
}

INSTANTIATE_TEST_SUITE_P(Devices, MatMul, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
