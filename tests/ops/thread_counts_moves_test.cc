// What is computed element by element, moved, sorted, drawn or looked up does not depend on the number of threads.
#include <numeric>

#include "thread_counts.h"

namespace ortolan::test {
namespace {

Tensor floats(Shape shape, uint32_t seed = 1) { return random_tensor<float>(std::move(shape), seed); }
Tensor indices(Shape shape, int64_t below, uint32_t seed = 2) {
  return random_tensor<int64_t>(std::move(shape), seed, 0, static_cast<double>(below));
}
OpTest microsoft(const char* op) { return OpTest(op, 1, "com.microsoft"); }

TEST(ThreadCounts, Elements) {
  const Tensor x = floats({150001});
  for (const char* op : {"Abs", "Acosh", "Atan", "Cos", "Elu", "Erf", "Exp", "HardSwish", "Log", "Mish", "Round",
                         "Selu", "Sigmoid", "Sin", "Softplus", "Tan", "Tanh", "IsNaN"}) {
    expect_same_on_any_threads(op, OpTest(op, 20).input(x));
  }
  for (const char* form : {"none", "tanh"}) {
    expect_same_on_any_threads("Gelu", OpTest("Gelu", 20).set("approximate", form).input(x));
  }
  const Tensor halves = random_tensor<Half>({150001}, 1), twice = random_tensor<double>({150001}, 1);
  expect_same_on_any_threads("Tanh of halves", OpTest("Tanh").input(halves));
  expect_same_on_any_threads("Sin of doubles", OpTest("Sin").input(twice));
  expect_same_on_any_threads("Clip", OpTest("Clip", 13).input(x).input<float>({}, {-0.25f}));
  expect_same_on_any_threads("BiasGelu", microsoft("BiasGelu").input(floats({1400, 77})).input(floats({77})));
  expect_same_on_any_threads("Cast to halves", OpTest("Cast", 19).set("to", 10).input(x));
  expect_same_on_any_threads("Cast to bytes",
                             OpTest("Cast", 19).set("to", 2).input(random_tensor<float>({150001}, 1, 0, 255)));
}

TEST(ThreadCounts, Pairs) {
  const Tensor a = floats({40, 1, 301}), b = floats({17, 1}, 2);
  for (const char* op : {"Add", "Div", "Pow", "Less"}) {
    expect_same_on_any_threads(op, OpTest(op, 15).input(a).input(b));
    expect_same_on_any_threads(op, OpTest(op, 15).input(floats({150001})).input(floats({150001}, 2)));
  }
  expect_same_on_any_threads("Mod", OpTest("Mod", 13).set("fmod", 1).input(a).input(b));
  expect_same_on_any_threads("PRelu", OpTest("PRelu", 16).input(floats({40, 17, 301})).input(b));
  Tensor integers = random_tensor<int64_t>({40, 1, 301}, 1, 1, 99);
  expect_same_on_any_threads("Div of int64",
                             OpTest("Div").input(integers).input(random_tensor<int64_t>({17, 1}, 2, 1, 9)));
  Tensor chosen = OpTest("Greater").input(a).input(b).run_tensor();
  expect_same_on_any_threads("Where", OpTest("Where", 16).input(chosen).input(a).input(b));
  expect_same_on_any_threads("Sum", OpTest("Sum", 13).input(a).input(b).input(floats({301})));
}

TEST(ThreadCounts, BytesAndScales) {
  const Tensor x = random_tensor<float>({300, 501}, 1, -5, 5), codes = random_tensor<uint8_t>({300, 501}, 1, 0, 256);
  expect_same_on_any_threads("QuantizeLinear",
                             OpTest("QuantizeLinear", 13).input(x).input<float>({}, {0.04f}).input<uint8_t>({}, {128}));
  expect_same_on_any_threads("QuantizeLinear of columns",
                             OpTest("QuantizeLinear", 13).input(x).input(random_tensor<float>({501}, 3, 0.01, 0.1)));
  expect_same_on_any_threads("DequantizeLinear", OpTest("DequantizeLinear", 13).input(codes).input<float>({}, {0.04f}));
  expect_same_on_any_threads("DynamicQuantizeLinear", OpTest("DynamicQuantizeLinear", 11).input(x), 3);
  OpTest add = microsoft("QLinearAdd");
  for (int i = 0; i < 2; ++i) add.input(codes).input<float>({}, {0.04f}).input<uint8_t>({}, {128});
  expect_same_on_any_threads("QLinearAdd", add.input<float>({}, {0.1f}).input<uint8_t>({}, {100}));
  OpTest pool = microsoft("QLinearGlobalAveragePool").input(random_tensor<uint8_t>({2, 200, 30, 30}, 1, 0, 256));
  pool.input<float>({}, {0.04f}).input<uint8_t>({}, {128});
  expect_same_on_any_threads("QLinearGlobalAveragePool", pool.input<float>({}, {0.02f}).input<uint8_t>({}, {100}));
}

TEST(ThreadCounts, Moves) {
  const Tensor x = floats({30, 40, 5, 26});
  for (std::vector<int64_t> order :
       std::vector<std::vector<int64_t>>{{1, 0, 2, 3}, {0, 2, 3, 1}, {3, 2, 1, 0}, {0, 3, 1, 2}}) {
    expect_same_on_any_threads("Transpose", OpTest("Transpose").ints("perm", order).input(x));
    expect_same_on_any_threads(
        "Transpose of bytes",
        OpTest("Transpose").ints("perm", order).input(random_tensor<uint8_t>({30, 40, 25, 26}, 1, 0, 256)));
  }
  expect_same_on_any_threads(
      "Pad", OpTest("Pad", 18).set("mode", "reflect").input(x).input<int64_t>({8}, {0, 3, 1, 5, 2, 0, 1, 9}));
  expect_same_on_any_threads("Slice", OpTest("Slice", 13)
                                          .input(x)
                                          .input<int64_t>({1}, {25})
                                          .input<int64_t>({1}, {-99})
                                          .input<int64_t>({1}, {3})
                                          .input<int64_t>({1}, {-2}));
  expect_same_on_any_threads("DepthToSpace", OpTest("DepthToSpace", 13).set("blocksize", 2).input(x));
  expect_same_on_any_threads("Trilu", OpTest("Trilu", 14).input(floats({20, 90, 90})));
  expect_same_on_any_threads("Concat",
                             OpTest("Concat", 13).set("axis", 2).input(x).input(x).input(floats({30, 40, 1, 26})));
}

TEST(ThreadCounts, Indices) {
  const Tensor x = floats({300, 500});
  expect_same_on_any_threads("Gather", OpTest("Gather", 13).set("axis", 1).input(x).input(indices({400}, 500)));
  expect_same_on_any_threads("Gather of rows", OpTest("Gather", 13).input(x).input(indices({400}, 300)));
  expect_same_on_any_threads("GatherElements",
                             OpTest("GatherElements", 13).set("axis", 1).input(x).input(indices({300, 400}, 500)));
  expect_same_on_any_threads("GatherND", OpTest("GatherND", 13).input(x).input(indices({60000, 2}, 300)));
}

TEST(ThreadCounts, OrderAndSums) {
  const Tensor x = floats({60, 700, 3}), ties = random_tensor<int32_t>({300, 900}, 1, 0, 20);
  for (int axis : {0, 1}) {
    expect_same_on_any_threads("TopK", OpTest("TopK", 11).set("axis", axis).input(x).input<int64_t>({1}, {17}), 2);
    expect_same_on_any_threads("TopK with ties",
                               OpTest("TopK", 11).set("axis", axis).input(ties).input<int64_t>({1}, {250}), 2);
  }
  expect_same_on_any_threads("ArgMax", OpTest("ArgMax", 13).set("axis", 1).input(x));
  expect_same_on_any_threads("ArgMin with ties",
                             OpTest("ArgMin", 13).set("axis", 1).set("select_last_index", 1).input(ties));
  expect_same_on_any_threads("CumSum", OpTest("CumSum", 14).input(x).input<int64_t>({}, {1}));
  Tensor boxes = random_tensor<float>({2, 200, 4}, 1, 0, 10);
  OpTest suppression("NonMaxSuppression", 11);
  suppression.input(boxes)
      .input(random_tensor<float>({2, 30, 200}, 2, 0, 1))
      .input<int64_t>({}, {50})
      .input<float>({}, {0.4f});
  expect_same_on_any_threads("NonMaxSuppression", suppression);
  Tensor scores = floats({400, 90});
  OpTest loss("SoftmaxCrossEntropyLoss", 13);
  expect_same_on_any_threads("SoftmaxCrossEntropyLoss", loss.input(scores).input(indices({400}, 90)), 2);
}

TEST(ThreadCounts, Pictures) {
  const Tensor x = floats({2, 9, 60, 70});
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    OpTest resize("Resize", 19);
    resize.set("mode", mode).input(x).no_input().no_input().input<int64_t>({4}, {2, 9, 91, 130});
    expect_same_on_any_threads(join("Resize, ", mode), resize);
    OpTest sample("GridSample", 20);
    expect_same_on_any_threads(join("GridSample, ", mode),
                               sample.set("mode", mode).input(x).input(floats({2, 80, 90, 2})));
  }
  expect_same_on_any_threads("AffineGrid",
                             OpTest("AffineGrid", 20).input(floats({2, 2, 3})).input<int64_t>({4}, {2, 3, 200, 90}));
  expect_same_on_any_threads("DFT", OpTest("DFT", 17).set("axis", 1).input(floats({300, 130, 2})));
  expect_same_on_any_threads(
      "STFT",
      OpTest("STFT", 17).input(floats({2, 30000})).input<int64_t>({}, {100}).no_input().input<int64_t>({}, {256}));
  expect_same_on_any_threads("Det", OpTest("Det", 11).input(floats({900, 20, 20})));
  expect_same_on_any_threads(
      "MaxRoiPool",
      OpTest("MaxRoiPool", 1).ints("pooled_shape", {5, 5}).input(x).input(random_tensor<float>({30, 5}, 3, 0, 1.9)));
}

TEST(ThreadCounts, Draws) {
  for (const char* op : {"RandomNormal", "RandomUniform"}) {
    expect_same_on_any_threads(op, OpTest(op, 1).set("seed", 7.0f).ints("shape", {300, 700}));
  }
  expect_same_on_any_threads("Bernoulli",
                             OpTest("Bernoulli", 15).set("seed", 7.0f).input(random_tensor<float>({150001}, 1, 0, 1)));
  OpTest dropout("Dropout", 13);
  dropout.set("seed", 7).input(floats({150001})).input<float>({}, {0.5f}).input<bool>({}, {true});
  expect_same_on_any_threads("Dropout", dropout, 2);
}

TEST(ThreadCounts, Predictors) {
  std::vector<float> vectors(500), weights(50);
  std::iota(vectors.begin(), vectors.end(), -200.f), std::iota(weights.begin(), weights.end(), -30.f);
  for (const char* kernel : {"RBF", "POLY"}) {
    OpTest machine("SVMRegressor", 3, "ai.onnx.ml");
    machine.set("kernel_type", kernel).attribute("kernel_params", std::vector<float>{0.001f, 1, 2});
    machine.attribute("support_vectors", vectors).attribute("coefficients", weights);
    machine.attribute("rho", std::vector<float>{1}).set("n_supports", 50).input(floats({3000, 10}));
    expect_same_on_any_threads(join("SVMRegressor, ", kernel), machine);
  }
  OpTest linear("LinearRegressor", 1, "ai.onnx.ml");
  linear.attribute("coefficients", std::vector<float>(vectors.begin(), vectors.begin() + 60)).set("targets", 3);
  expect_same_on_any_threads("LinearRegressor", linear.input(floats({9000, 20})));
}

}  // namespace
}  // namespace ortolan::test
