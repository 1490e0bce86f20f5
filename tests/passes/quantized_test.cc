// Quantised operators found between DequantizeLinear and QuantizeLinear. Scales are powers of two, so that the detour
// through floats is exact and results must be equal.
#include "pass_test.h"

namespace ortolan::test {
namespace {

/** A graph of quantised values; each is bytes with a scale of its own. */
class Quantized {
 public:
  explicit Quantized(TestGraph& graph) : g(graph) {}

  struct Parameters {
    float scale;
    int zero;
  };

  ValueInfo* quantize(ValueInfo* x, Parameters p, const std::string& name) {
    return g.node("QuantizeLinear", {x, g.scalar(name + "_scale", p.scale), zero(name, p.zero)}, name + "_bytes");
  }
  ValueInfo* dequantize(ValueInfo* bytes, Parameters p, const std::string& name) {
    return g.node("DequantizeLinear", {bytes, g.scalar(name + "_dscale", p.scale), zero(name + "_d", p.zero)}, name);
  }
  /** What `x` becomes with the rounding of these parameters. */
  ValueInfo* rounded(ValueInfo* x, Parameters p, const std::string& name) {
    return dequantize(quantize(x, p, name), p, name);
  }
  ValueInfo* input(const std::string& name, const DimVector& dims) {
    return rounded(g.input(name + "_float", dims), kInput, name);
  }
  /** Signed bytes with a scale for each element of the axis. */
  ValueInfo* weights(Shape shape, int64_t axis, const std::string& name) {
    int64_t count = shape[static_cast<size_t>(axis)];
    std::vector<float> scales(static_cast<size_t>(count));
    for (size_t i = 0; i < scales.size(); ++i) scales[i] = i % 2 ? 0.0625f : 0.125f;
    Tensor zeros(ElementType::kInt8, {count});
    std::fill_n(zeros.mutable_data<int8_t>(), count, int8_t{0});
    return g.node("DequantizeLinear",
                  {g.constant(name + "_bytes", random_tensor<int8_t>(shape, 3, -20, 20)),
                   g.floats(name + "_scale", {count}, scales), g.constant(name + "_zero", zeros)},
                  name, {{"axis", axis}});
  }
  /** Sums that belong to products with weights() of so many scales. */
  ValueInfo* bias(int64_t count, const std::string& name) {
    std::vector<float> scales(static_cast<size_t>(count));
    for (size_t i = 0; i < scales.size(); ++i) scales[i] = kInput.scale * (i % 2 ? 0.0625f : 0.125f);
    return g.node("DequantizeLinear",
                  {g.constant(name + "_sums", random_tensor<int32_t>({count}, 4, -50, 50)),
                   g.floats(name + "_scale", {count}, scales)},
                  name, {{"axis", int64_t{0}}});
  }

  static constexpr Parameters kInput{0.0625f, 100};
  TestGraph& g;

 private:
  ValueInfo* zero(const std::string& name, int value) {
    return g.constant(name + "_zero", tensor_of<uint8_t>({}, {static_cast<uint8_t>(value)}));
  }
};

void expect_fused(FunctionRef<void(TestGraph&)> build, Counts counts, int opset = 17) {
  PassTest test(build, opset);
  counts["QuantizeLinear"] += 1;  // of the input
  EXPECT_EQ(test.after(99), counts);
  test.expect_same_results(0);
}

TEST(Quantized, ConvWithBiasAndScalesAChannel) {
  auto build = [](TestGraph& g) {
    Quantized q(g);
    ValueInfo* y = g.node("Conv", {q.input("x", {2, 3, 9, 9}), q.weights({4, 3, 3, 3}, 0, "w"), q.bias(4, "b")}, "y",
                          {{"strides", std::vector<int64_t>{2, 2}}});
    g.output(q.quantize(y, {0.5f, 10}, "y"));
  };
  expect_fused(build, {{"QLinearConv", 1}});
}

TEST(Quantized, FloatBiasesAreRoundedToSums) {
  auto build = [](TestGraph& g) {
    Quantized q(g);
    ValueInfo* x = q.input("x", {3, 5});
    ValueInfo* z = g.node("Gemm", {x, q.weights({4, 5}, 0, "v"), g.random("b", {4})}, "z", {{"transB", int64_t{1}}});
    g.output(q.quantize(z, {0.25f, 7}, "z"));
    ValueInfo* image = q.input("image", {2, 3, 9, 9});
    ValueInfo* y = g.node("Conv", {image, q.weights({4, 3, 3, 3}, 0, "w"), g.random("c", {4}, -20, 20)}, "y");
    g.output(q.quantize(y, {0.5f, 10}, "y"));
  };
  expect_fused(build, {{"QLinearConv", 1}, {"com.microsoft.QGemm", 1}, {"QuantizeLinear", 1}});
}

TEST(Quantized, ReluIsTheLowestByteOrAMaximum) {
  for (int zero : {0, 128}) {
    auto build = [zero](TestGraph& g) {
      Quantized q(g);
      ValueInfo* y = g.node("Conv", {q.input("x", {1, 3, 9}), q.weights({4, 3, 3}, 0, "w")}, "y");
      g.output(q.quantize(g.node("Relu", {y}, "relu"), {0.5f, zero}, "z"));
    };
    expect_fused(build, zero == 0 ? Counts{{"QLinearConv", 1}} : Counts{{"QLinearConv", 1}, {"Max", 1}});
  }
}

TEST(Quantized, Products) {
  auto build = [](TestGraph& g) {
    Quantized q(g);
    ValueInfo* x = q.input("x", {3, 5});
    g.output(q.quantize(g.node("MatMul", {x, q.weights({5, 4}, 1, "w")}, "y"), {0.25f, 7}, "y"));
    ValueInfo* z = g.node("Gemm", {x, q.weights({4, 5}, 0, "v"), q.bias(4, "b")}, "z", {{"transB", int64_t{1}}});
    g.output(q.quantize(z, {0.25f, 7}, "z"));
  };
  expect_fused(build, {{"QLinearMatMul", 1}, {"com.microsoft.QGemm", 1}});
}

TEST(Quantized, Elementwise) {
  auto build = [](TestGraph& g) {
    Quantized q(g);
    ValueInfo* x = q.input("x", {2, 3, 4});
    ValueInfo* sum = q.rounded(g.node("Add", {x, q.rounded(x, {0.25f, 3}, "u")}, "sum"), {0.5f, 9}, "s");
    ValueInfo* relu = g.node("Relu", {g.node("Mul", {sum, x}, "product")}, "relu");
    g.output(q.quantize(relu, {0.5f, 5}, "y"));
  };
  expect_fused(build, {{"com.microsoft.QLinearAdd", 1},
                       {"com.microsoft.QLinearMul", 1},
                       {"Max", 1},
                       {"DequantizeLinear", 1},
                       {"QuantizeLinear", 1}});
}

TEST(Quantized, BytesMoveAsTheyAre) {
  auto build = [](TestGraph& g) {
    Quantized q(g);
    ValueInfo* x = q.input("x", {1, 2, 6, 6});
    ValueInfo* y = g.node("MaxPool", {x}, "pool", {{"kernel_shape", std::vector<int64_t>{2, 2}}});
    y = q.rounded(y, Quantized::kInput, "p");
    y = q.rounded(g.node("Transpose", {y}, "t"), Quantized::kInput, "r");
    g.output(q.quantize(g.node("Flatten", {y}, "flat"), Quantized::kInput, "y"));
  };
  expect_fused(build, {{"MaxPool", 1}, {"Transpose", 1}, {"Flatten", 1}});
}

TEST(Quantized, FloatsStayWhereTheyAreWanted) {
  auto build = [](TestGraph& g) {
    Quantized q(g);
    ValueInfo* x = q.input("x", {1, 3, 9});
    ValueInfo* seen = g.node("Conv", {x, q.weights({4, 3, 3}, 0, "w")}, "seen");
    g.output(seen);
    g.output(q.quantize(seen, {0.5f, 1}, "y"));
    ValueInfo* large_bias = g.floats("b", {4}, {1, 2, 3e20f, 4});
    ValueInfo* biased = g.node("Conv", {x, q.weights({4, 3, 3}, 0, "v"), large_bias}, "biased");
    g.output(q.quantize(biased, {0.5f, 1}, "z"));
  };
  PassTest test(build);
  Counts after = test.after(99);
  EXPECT_EQ(after["Conv"], 2);
  EXPECT_EQ(after["QuantizeLinear"], 3);
  EXPECT_EQ(after["DequantizeLinear"], 1) << "weights are dequantised once, before any run";
  test.expect_same_results();
}

TEST(Quantized, WeightsStayQuantizedAtTheBasicLevelOnlyForLaterOnes) {
  auto build = [](TestGraph& g) {
    Quantized q(g);
    g.output(g.node("Conv", {q.input("x", {1, 3, 9}), q.weights({4, 3, 3}, 0, "w")}, "y"));
  };
  EXPECT_EQ(PassTest(build).after(1)["DequantizeLinear"], 1);
  EXPECT_EQ(PassTest(build).after(99)["DequantizeLinear"], 1);
}

// Dequantised weights of an operator that works on bytes would be made for nothing.
TEST(Quantized, WhatIsFusedIsNotDequantized) {
  auto build = [](TestGraph& g) {
    Quantized q(g);
    ValueInfo* y = g.node("Conv", {q.input("x", {2, 3, 9, 9}), q.weights({4, 3, 3, 3}, 0, "w"), q.bias(4, "b")}, "y");
    g.output(q.quantize(g.node("Relu", {y}, "relu"), {0.5f, 0}, "y"));
  };
  EXPECT_EQ(rewrite_as_session(*PassTest(build).model(), 99).evaluations, 0);
}

}  // namespace
}  // namespace ortolan::test
