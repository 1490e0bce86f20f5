// What nodes drawn at random found: each case once crashed, read memory that nobody wrote, or gave a wrong result.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

/** The result where the inputs are constants and the graph is rewritten. */
Tensor folded(const NodeCase& node) { return run_node(node, Way::kConstants, 1, SessionOptions())[0].tensor(); }

TEST(HostileFinds, ShapeArithmeticDoesNotTakeANumberForItsNegative) {
  NodeCase node{"Neg", "", 13, {Value(tensor_of<int64_t>({2}, {3, 6}))}};
  EXPECT_TRUE(equal<int64_t>(folded(node), {2}, {-3, -6}));
  node = {"BitwiseNot", "", 18, {Value(tensor_of<int32_t>({2}, {3, 6}))}};
  EXPECT_TRUE(equal<int32_t>(folded(node), {2}, {-4, -7}));
  node = {"Clip", "", 13, {Value(tensor_of<int64_t>({2}, {3, 6})), {}, Value(tensor_of<int64_t>({}, {4}))}};
  EXPECT_TRUE(equal<int64_t>(folded(node), {2}, {3, 4}));
  node = {"Identity", "", 13, {Value(tensor_of<int64_t>({2}, {3, 6}))}};
  EXPECT_TRUE(equal<int64_t>(folded(node), {2}, {3, 6}));
}

TEST(HostileFinds, CastOfAContentThatDoesNotFit) {
  NodeCase node{"Cast", "", 13, {Value(tensor_of<int64_t>({1}, {(int64_t{1} << 32) + 5}))}, {{"to", int64_t{6}}}};
  EXPECT_TRUE(equal<int32_t>(folded(node), {1}, {5}));
}

TEST(HostileFinds, ATransposedVectorOfWeightsStaysAVector) {
  for (int trans : {0, 1}) {
    Tensor y = OpTest("FusedMatMul", 1, "com.microsoft")
                   .input<float>({2, 3}, {1, 2, 3, 4, 5, 6})
                   .input<float>({3}, {1, 10, 100})
                   .set("transB", trans)
                   .run_tensor();
    EXPECT_TRUE(near(y, {2}, {321, 654}));
  }
}

TEST(HostileFinds, ABatchOfSideBySideRowsKeepsConstantWeights) {
  Tensor y = OpTest("FusedMatMul", 1, "com.microsoft")
                 .input<float>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})
                 .input<float>({2}, {1, 10})
                 .set("transBatchA", 1)
                 .run_tensor();
  EXPECT_TRUE(near(y, {2, 2}, {21, 65, 43, 87}));
}

TEST(HostileFinds, MomentsOfNoElementsAreNoNumbers) {
  auto expect_nan = [](const Value& moments, const Shape& shape) {
    EXPECT_EQ(moments.tensor().shape(), shape);
    for (double value : doubles(moments.tensor())) EXPECT_TRUE(std::isnan(value)) << value;
  };
  for (ElementType type : {ElementType::kFloat, ElementType::kDouble, ElementType::kFloat16}) {
    auto results = OpTest("LayerNormalization").input(Tensor(type, {17, 0})).input(Tensor(type, {0})).no_input().run(3);
    expect_nan(results[1], {17, 1});
    expect_nan(results[2], {17, 1});
  }
  auto results = OpTest("SkipSimplifiedLayerNormalization", 1, "com.microsoft")
                     .input(Tensor(ElementType::kFloat, {3, 0}))
                     .input(Tensor(ElementType::kFloat, {3, 0}))
                     .input(Tensor(ElementType::kFloat, {0}))
                     .run(3);
  expect_nan(results[2], {3, 1});
}

TEST(HostileFinds, AConvolutionOfNoChannelsIsItsBias) {
  for (int64_t group : {1, 2}) {
    OpTest conv("Conv");
    conv.input(Tensor(ElementType::kFloat, {1, 0, 3})).input(Tensor(ElementType::kFloat, {2, 0, 2}));
    EXPECT_TRUE(near(conv.set("group", group).run_tensor(), {1, 2, 2}, {0, 0, 0, 0}));
    EXPECT_TRUE(near(conv.input<float>({2}, {7, -8}).run_tensor(), {1, 2, 2}, {7, 7, -8, -8}));
  }
}

TEST(HostileFinds, ScalesAreAnInputFromOpset9) {
  for (int opset : {9, 10}) {
    OpTest resize(opset == 9 ? "Upsample" : "Resize", opset);
    resize.input<float>({1}, {5}).input<float>({1}, {2}).attribute("scales", std::vector<float>{3});
    EXPECT_TRUE(near(resize.ints("axes", {7}).run_tensor(), {2}, {5, 5})) << opset;
  }
}

TEST(HostileFinds, InputsOfOneKindHaveOneType) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    OpTest test(op, 14);
    test.input(Tensor(ElementType::kDouble, {1, 1, 1})).input(Tensor(ElementType::kFloat, {1, 4, 1}));
    std::string error = test.input(Tensor(ElementType::kDouble, {1, 4, 1})).set("hidden_size", 1).error();
    EXPECT_NE(error.find("input 1 'x1' is float"), std::string::npos) << error;
  }
  OpTest attention("Attention", 23);
  for (int i = 0; i < 3; ++i) attention.input(Tensor(ElementType::kFloat, {1, 1, 1, 1}));
  attention.no_input().input(Tensor(ElementType::kDouble, {1, 1, 1, 1}));
  std::string error = attention.input(Tensor(ElementType::kFloat, {1, 1, 1, 1})).error();
  EXPECT_NE(error.find("input 4 'x4' is double"), std::string::npos) << error;
}

TEST(HostileFinds, AxesThatARunBringsStandOnce) {
  for (const char* op : {"ReduceSum", "ReduceProd", "ReduceMax", "ReduceL2"}) {
    OpTest test(op, 18);
    test.input(Tensor(ElementType::kFloat, {4, 2, 3, 5})).input<int64_t>({4}, {2, 2, 0, 1}).set("keepdims", 0);
    EXPECT_NE(test.error().find("given twice"), std::string::npos) << test.error();
  }
}

TEST(HostileFinds, ANumberIsNoEmptyList) {
  OpTest dft("DFT", 17);
  dft.input(Tensor(ElementType::kFloat, {1, 3, 1})).input<int64_t>({0}, {});
  EXPECT_NE(dft.error().find("do not determine output 0"), std::string::npos) << dft.error();
  OpTest mel("MelWeightMatrix", 17);
  mel.input<int64_t>({}, {4}).input<int64_t>({}, {8}).input<int64_t>({0}, {});
  mel.input<float>({}, {0}).input<float>({}, {4000});
  EXPECT_NE(mel.error().find("sample_rate has shape [0]"), std::string::npos) << mel.error();
}

// Kernels may read dimensions that the rule has asked for, also where shapes are known in a run alone.
TEST(HostileFinds, RanksAreCheckedBeforeAKernelRuns) {
  OpTest attention("MultiHeadAttention", 1, "com.microsoft");
  attention.input<float>({}, {1}).set("num_heads", 1);
  EXPECT_NE(attention.error().find("input 0 has rank 0"), std::string::npos) << attention.error();
  OpTest pool("MaxpoolWithMask", 1, "com.microsoft");
  pool.input<float>({2}, {0.5f, 2}).input<int32_t>({3}, {2, -2, 1}).ints("kernel_shape", {3, 2});
  EXPECT_NE(pool.error().find("input 0 has rank 1"), std::string::npos) << pool.error();
}

}  // namespace
}  // namespace ortolan::test
