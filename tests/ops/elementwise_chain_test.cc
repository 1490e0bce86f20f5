// ortolan's ElementwiseChain as a node of its own: attributes that hold no program, and shapes.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

/** relu(x * u) - v, where `operands` has two numbers for each of these steps. */
OpTest chain(std::vector<int64_t> operands = {0, 1, 3, -1, 4, 2}) {
  OpTest test("ElementwiseChain", 1, "ortolan");
  test.attribute("ops", std::vector<std::string>{"Mul", "Relu", "Sub"});
  test.attribute("nodes", std::vector<std::string>{"a", "b", "c"});
  test.ints("operands", std::move(operands)).ints("parameter_counts", {0, 0, 0});
  return test;
}

std::string error_of(std::vector<int64_t> operands) {
  Tensor x = random_tensor<float>({3}, 1);
  return chain(std::move(operands)).input(x).input(x).input(x).error();
}

TEST(ElementwiseChain, FollowsItsSteps) {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{5}, Shape{2, 0, 3}, Shape{2, 3, 700}}) {
    Tensor x = random_tensor<float>(shape, 1), u = random_tensor<float>(shape, 2), v = random_tensor<float>(shape, 3);
    std::vector<double> expected = doubles(x);
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] = std::fmax(expected[i] * doubles(u)[i], 0) - doubles(v)[i];
    }
    EXPECT_TRUE(near(chain().input(x).input(u).input(v).run_tensor(), shape, expected, 1e-6));
  }
}

TEST(ElementwiseChain, BroadcastsEveryStep) {
  Tensor x = tensor_of<float>({2, 1}, {1, -2}), u = tensor_of<float>({1}, {3}), v = tensor_of<float>({3}, {1, 2, 3});
  EXPECT_TRUE(equal<float>(chain().input(x).input(u).input(v).run_tensor(), {2, 3}, {2, 1, 0, -1, -2, -3}));
  Tensor column = tensor_of<float>({2, 1}, {1, 2});
  EXPECT_TRUE(equal<float>(chain().input(column).input(v).input(u).run_tensor(), {2, 3}, {-2, -1, 0, -1, 1, 3}));
}

TEST(ElementwiseChain, RefusesOperandsThatAreNotThereYet) {
  EXPECT_EQ(error_of({0, 1, 3, -1, 5, 2}),
            "node 'n' (ElementwiseChain): step 2 has the operands 5 and 2; they must be below 5");
  EXPECT_EQ(error_of({0, 1, 3, -1, -1, 2}),
            "node 'n' (ElementwiseChain): step 2 has the operands -1 and 2; they must be below 5");
  EXPECT_EQ(error_of({0, 1, 3, -1, 3, 2}), "node 'n' (ElementwiseChain): nothing uses the result of step 1");
  EXPECT_EQ(error_of({0, 1, 3, 1, 4, 2}), "node 'n' (ElementwiseChain): node 'b' (Relu) has 2 operands; it needs 1");
  EXPECT_EQ(error_of({0, -1, 3, -1, 4, 2}), "node 'n' (ElementwiseChain): node 'a' (Mul) has 1 operands; it needs 2");
}

TEST(ElementwiseChain, RefusesListsThatDoNotMatch) {
  Tensor x = random_tensor<float>({3}, 1);
  auto error = [&](OpTest test) { return test.input(x).input(x).input(x).error(); };
  EXPECT_EQ(error_of({0, 1, 3, -1}),
            "node 'n' (ElementwiseChain): attribute 'operands' has 4 entries, but 6 are needed");
  EXPECT_EQ(error(OpTest("ElementwiseChain", 1, "ortolan")),
            "node 'n' (ElementwiseChain): attribute 'ops' is empty; it names the steps");
  OpTest counts("ElementwiseChain", 1, "ortolan");
  counts.attribute("ops", std::vector<std::string>{"Clip"}).attribute("nodes", std::vector<std::string>{"a"});
  counts.ints("operands", {0, -1}).ints("parameter_counts", {3});
  EXPECT_EQ(error(counts),
            "node 'n' (ElementwiseChain): attribute 'parameter_counts' holds 3, but 0 parameters are left");
}

TEST(ElementwiseChain, RefusesUnknownSteps) {
  OpTest test("ElementwiseChain", 1, "ortolan");
  test.attribute("ops", std::vector<std::string>{"Softmax"}).attribute("nodes", std::vector<std::string>{"a"});
  test.ints("operands", {0, -1}).ints("parameter_counts", {0});
  EXPECT_EQ(test.input(random_tensor<float>({3}, 1)).error(),
            "node 'n' (ElementwiseChain): activation 'Softmax' is unknown; use an ONNX activation's name, as Relu");
}

}  // namespace
}  // namespace ortolan::test
