// Shape, Size, Reshape, Flatten, Squeeze, Unsqueeze, Identity, Constant, ConstantOfShape.
#include "op_test.h"

namespace ortolan::test {
namespace {

Tensor counted(Shape shape) {
  Tensor tensor(ElementType::kFloat, shape);
  for (int64_t i = 0; i < tensor.element_count(); ++i) tensor.mutable_data<float>()[i] = static_cast<float>(i);
  return tensor;
}

Tensor int64s(const std::vector<int64_t>& values) {
  return tensor_of<int64_t>(Shape{static_cast<int64_t>(values.size())}, values);
}

TEST(Shape, GivesARangeOfDimensions) {
  auto shape_of = [](Shape shape, OpTest test) { return doubles(test.input(counted(shape)).run_tensor()); };
  using List = std::vector<double>;
  EXPECT_EQ(shape_of({2, 0, 4}, OpTest("Shape", 1)), (List{2, 0, 4}));
  EXPECT_EQ(shape_of({}, OpTest("Shape", 13)), List{});
  EXPECT_EQ(shape_of({2, 3, 4}, OpTest("Shape", 15).set("start", -2).set("end", -1)), List{3});
  EXPECT_EQ(shape_of({2, 3, 4}, OpTest("Shape", 15).set("start", -20).set("end", 20)), (List{2, 3, 4}));
  EXPECT_EQ(shape_of({2, 3, 4}, OpTest("Shape", 15).set("start", 2).set("end", 1)), List{});
  EXPECT_TRUE(equal<int64_t>(OpTest("Size").input(counted({2, 3})).run_tensor(), {}, {6}));
  EXPECT_TRUE(equal<int64_t>(OpTest("Size").input(counted({2, 0})).run_tensor(), {}, {0}));
}

struct ReshapeCase {
  Shape from;
  std::vector<int64_t> target;
  Shape to;
  int allow_zero;
};

TEST(Reshape, CopiesZerosAndFillsTheRest) {
  const ReshapeCase cases[] = {
      {{2, 3, 4}, {4, 6}, {4, 6}, 0}, {{2, 3, 4}, {0, -1}, {2, 12}, 0},
      {{2, 3, 4}, {-1}, {24}, 0},     {{1}, {}, {}, 0},
      {{}, {1, 1}, {1, 1}, 0},        {{2, 0}, {0, 3, 0}, {0, 3, 0}, 1},
      {{0, 3}, {3, 0}, {3, 0}, 1},    {{2, 3, 4}, {0, 0, -1}, {2, 3, 4}, 0},
  };
  for (const ReshapeCase& c : cases) {
    Tensor result = OpTest("Reshape", 14)
                        .set("allowzero", c.allow_zero)
                        .input(counted(c.from))
                        .input(int64s(c.target))
                        .run_tensor();
    EXPECT_TRUE(near(result, c.to, doubles(counted(c.from)))) << join(c.from);
  }
  EXPECT_EQ(OpTest("Reshape", 1).ints("shape", {3, -1}).input(counted({2, 3})).run_tensor().shape(), (Shape{3, 2}));
}

TEST(Reshape, RefusesWhatDoesNotFit) {
  auto error = [](std::vector<int64_t> target) {
    return OpTest("Reshape", 13).input(counted({2, 3})).input(int64s(target)).error();
  };
  EXPECT_NE(error({4, 2}).find("has 6 elements, but the wanted shape [4,2] has 8"), std::string::npos) << error({4, 2});
  EXPECT_NE(error({-1, -1}).find("the wanted shape has more than one -1"), std::string::npos);
  EXPECT_NE(error({-1, 4}).find("the input of shape [2,3] has 6 elements, which do not fill the"), std::string::npos);
  EXPECT_NE(error({-2, 3}).find("dimension 0 of the wanted shape is -2"), std::string::npos);
  EXPECT_NE(error({1, 2, 0}).find("dimension 2 of the wanted shape is 0, which copies the input's,"),
            std::string::npos);
  EXPECT_NE(error({INT64_MAX, 4}).find("the product 9223372036854775807 * 4 overflows"), std::string::npos);
  EXPECT_NE(error({-1, 0, 0, 0}).find("dimension 2 of the wanted shape is 0, which copies the input's,"),
            std::string::npos);
}

TEST(Flatten, FoldsAroundAnAxis) {
  auto flat = [](Shape shape, int axis) {
    return OpTest("Flatten").set("axis", axis).input(counted(shape)).run_tensor().shape();
  };
  EXPECT_EQ(flat({2, 3, 4}, 0), (Shape{1, 24}));
  EXPECT_EQ(flat({2, 3, 4}, 3), (Shape{24, 1}));
  EXPECT_EQ(flat({2, 3, 4}, -1), (Shape{6, 4}));
  EXPECT_EQ(flat({0, 3}, 1), (Shape{0, 3}));
  EXPECT_EQ(OpTest("Flatten", 1).input(counted({})).error().empty(), false);
  EXPECT_NE(OpTest("Flatten").set("axis", 4).input(counted({2, 3, 4})).error().find("axis 4 is outside [-3, 3]"),
            std::string::npos);
}

TEST(Squeeze, RemovesOnes) {
  EXPECT_EQ(OpTest("Squeeze", 13).input(counted({1, 3, 1})).run_tensor().shape(), Shape{3});
  EXPECT_EQ(OpTest("Squeeze", 13).input(counted({1, 3, 1})).input(int64s({-1})).run_tensor().shape(), (Shape{1, 3}));
  EXPECT_EQ(OpTest("Squeeze", 11).ints("axes", {0}).input(counted({1, 3, 1})).run_tensor().shape(), (Shape{3, 1}));
  EXPECT_EQ(OpTest("Squeeze", 13).input(counted({1, 0})).run_tensor().shape(), Shape{0});
  std::string text = OpTest("Squeeze", 13).input(counted({1, 3})).input(int64s({1})).error();
  EXPECT_NE(text.find("dimension 1 of the input of shape [1,3]"), std::string::npos) << text;
}

TEST(Unsqueeze, PutsOnesIn) {
  EXPECT_EQ(OpTest("Unsqueeze", 13).input(counted({3})).input(int64s({-1, 0})).run_tensor().shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(OpTest("Unsqueeze", 1).ints("axes", {2, 0}).input(counted({3})).run_tensor().shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(OpTest("Unsqueeze", 13).input(counted({})).input(int64s({0})).run_tensor().shape(), Shape{1});
  EXPECT_NE(OpTest("Unsqueeze", 13).input(counted({3})).input(int64s({0, 0})).error().find("axis 0 is given twice"),
            std::string::npos);
  EXPECT_NE(OpTest("Unsqueeze", 13)
                .input(counted({3}))
                .input(int64s({5}))
                .error()
                .find("axis 5 is outside [-2, 1] for rank 2"),
            std::string::npos);
}

TEST(Identity, PassesValuesOn) {
  EXPECT_TRUE(same_value(OpTest("Identity", 1).input(counted({2, 2})).run_tensor(), counted({2, 2})));
  Value sequence = std::make_shared<Sequence>(ElementType::kFloat, std::vector<Value>{counted({2}), counted({})});
  EXPECT_TRUE(same_value(OpTest("Identity", 14).input(sequence).run()[0], sequence));
}

TEST(Constant, GivesEachKind) {
  EXPECT_TRUE(same_value(OpTest("Constant", 1).attribute("value", counted({2})).run_tensor(), counted({2})));
  EXPECT_TRUE(equal<float>(OpTest("Constant", 12).set("value_float", 2.5f).run_tensor(), {}, {2.5f}));
  EXPECT_TRUE(equal<int64_t>(OpTest("Constant", 12).ints("value_ints", {1, 2}).run_tensor(), {2}, {1, 2}));
  EXPECT_TRUE(equal<std::string>(OpTest("Constant", 12).set("value_string", "a").run_tensor(), {}, {"a"}));
  auto sparse = std::make_shared<SparseTensor>();
  *sparse = {ElementType::kFloat, Shape{2, 2}, SparseFormat::kCoo, tensor_of<float>({2}, {5, 6}), {int64s({3, 0})}, {}};
  EXPECT_TRUE(near(OpTest("Constant", 11).attribute("sparse_value", sparse).run_tensor(), {2, 2}, {6, 0, 0, 5}));
  sparse = std::make_shared<SparseTensor>(*sparse);
  sparse->indices[0] = tensor_of<int64_t>({2, 2}, {0, 1, 1, 2});
  EXPECT_NE(OpTest("Constant", 11).attribute("sparse_value", sparse).error().find("outside [0, 1]"), std::string::npos);
  EXPECT_NE(OpTest("Constant", 12).error().find("no value is given"), std::string::npos);
}

TEST(ConstantOfShape, FillsAnyShape) {
  auto fill = [](std::vector<int64_t> shape) { return OpTest("ConstantOfShape", 9).input(int64s(shape)); };
  EXPECT_TRUE(near(fill({2, 2}).run_tensor(), {2, 2}, {0, 0, 0, 0}));
  EXPECT_TRUE(near(fill({}).run_tensor(), {}, {0}));
  EXPECT_TRUE(near(fill({3, 0}).run_tensor(), {3, 0}, {}));
  EXPECT_TRUE(equal<int32_t>(fill({3}).attribute("value", tensor_of<int32_t>({1}, {7})).run_tensor(), {3}, {7, 7, 7}));
  EXPECT_NE(fill({-1}).error().find("negative"), std::string::npos);
  EXPECT_NE(fill({INT64_MAX, 4}).error().find("the product 9223372036854775807 * 4 overflows"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
