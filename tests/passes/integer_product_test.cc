// Products of bytes found in their parts: MatMulInteger, Cast and the scales, with sums and activations after them.
#include <array>

#include "pass_test.h"

namespace ortolan::test {
namespace {

constexpr int64_t kInner = 20, kColumns = 12;

/** A float value as bytes, scale and zero point. */
using Codes = std::array<ValueInfo*, 3>;

Codes quantized(TestGraph& g, ValueInfo* x, const std::string& name) {
  std::vector<ValueInfo*> outputs;
  for (const char* part : {"_codes", "_scale", "_zero"}) outputs.push_back(g.graph().add_value(name + part));
  g.graph().add_node(name, "DynamicQuantizeLinear", "", {x}, outputs);
  return {outputs[0], outputs[1], outputs[2]};
}

ValueInfo* int8_constant(TestGraph& g, const std::string& name, Shape shape) {
  auto seed = static_cast<uint32_t>(g.graph().values().size());
  return g.constant(name, random_tensor<int8_t>(std::move(shape), seed, -127, 127));
}

/** The sums of codes times constant bytes, as floats. */
ValueInfo* sums(TestGraph& g, const Codes& codes, const std::string& name, Shape zero_shape = {}) {
  ValueInfo* product = g.node("MatMulInteger",
                              {codes[0], int8_constant(g, name + "_w", {kInner, kColumns}), codes[2],
                               int8_constant(g, name + "_wz", std::move(zero_shape))},
                              name + "_sums");
  return g.node("Cast", {product}, name + "_floats", {{"to", int64_t{1}}});
}

/** The product as tools write it: the factors are multiplied first. */
ValueInfo* product(TestGraph& g, const Codes& codes, const std::string& name, Shape scale_shape = {}) {
  ValueInfo* factor =
      g.node("Mul", {codes[1], g.random(name + "_ws", std::move(scale_shape), 0.001, 0.01)}, name + "_factor");
  return g.node("Mul", {sums(g, codes, name), factor}, name);
}

constexpr const char* kProduct = "com.microsoft.MatMulIntegerToFloat";
constexpr const char* kOwn = "ortolan.MatMulIntegerToFloat";

void expect_counts(FunctionRef<void(TestGraph&)> build, Counts counts) {
  counts["DynamicQuantizeLinear"] += 1;
  PassTest test(build);
  EXPECT_EQ(test.after(99), counts);
  test.expect_same_results(2e-5);
}

TEST(IntegerProducts, ShareWhatQuantizes) {
  expect_counts(
      [](TestGraph& g) {
        Codes codes = quantized(g, g.input("x", {2, Dim(), kInner}), "q");
        g.output(product(g, codes, "a"));
        g.output(product(g, codes, "b", {kColumns}));
        g.output(product(g, codes, "c", {1}));
      },
      {{kProduct, 3}});
}

TEST(IntegerProducts, TakeOneFactorAfterTheOther) {
  expect_counts(
      [](TestGraph& g) {
        Codes codes = quantized(g, g.input("x", {3, kInner}), "q");
        ValueInfo* y =
            g.node("Mul", {g.random("scales", {kColumns}, 0.001, 0.01), sums(g, codes, "p", {kColumns})}, "m");
        g.output(g.node("Mul", {y, codes[1]}, "y"));
      },
      {{kProduct, 1}});
}

TEST(IntegerProducts, TakeBiasAddendAndActivation) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = g.input("x", {2, 3, kInner});
    ValueInfo* y = product(g, quantized(g, x, "q"), "p", {kColumns});
    y = g.node("Add", {g.random("bias", {kColumns}), y}, "biased");
    y = g.node("Add", {y, g.input("r", {2, 3, kColumns})}, "residual");
    g.output(g.node("Relu", {y}, "y"));
  };
  expect_counts(build, {{kOwn, 1}});
}

TEST(IntegerProducts, WithABiasAreAnybodys) {
  auto build = [](TestGraph& g) {
    ValueInfo* y = product(g, quantized(g, g.input("x", {2, 3, kInner}), "q"), "p");
    g.output(g.node("Add", {y, g.random("bias", {kColumns})}, "y"));
  };
  expect_counts(build, {{kProduct, 1}});
  std::unique_ptr<Model> model = PassTest(build).rewritten(99);
  for (const auto& node : model->graph->nodes()) {
    EXPECT_TRUE(node->op_type != "MatMulIntegerToFloat" || node->input(6));
  }
}

TEST(IntegerProducts, StayWhenSumsAreUsedElsewhereToo) {
  expect_counts(
      [](TestGraph& g) {
        Codes codes = quantized(g, g.input("x", {3, kInner}), "q");
        ValueInfo* floats = sums(g, codes, "p");
        g.output(floats);
        ValueInfo* factor = g.node("Mul", {codes[1], g.scalar("s", 0.01f)}, "factor");
        g.output(g.node("Mul", {floats, factor}, "y"));
      },
      {{"MatMulInteger", 1}, {"Cast", 1}, {"Mul", 2}});
}

TEST(IntegerProducts, StayWithFactorsOfOtherShapes) {
  expect_counts(
      [](TestGraph& g) {
        Codes codes = quantized(g, g.input("x", {3, kInner}), "q");
        ValueInfo* rows = g.node("Mul", {codes[1], g.random("s", {3, 1}, 0.001, 0.01)}, "rows");
        g.output(g.node("Mul", {sums(g, codes, "p"), rows}, "y"));
        ValueInfo* high = g.node("Mul", {codes[1], g.random("t", {1, 1, 1}, 0.001, 0.01)}, "high");
        g.output(g.node("Mul", {sums(g, codes, "r"), high}, "z"));
      },
      {{"MatMulInteger", 2}, {"Cast", 2}, {"Mul", 4}});
}

TEST(IntegerProducts, GiveTheRangeToTheNextQuantizer) {
  auto build = [](TestGraph& g) {
    ValueInfo* y = product(g, quantized(g, g.input("x", {3, kInner}), "q"), "p", {kColumns});
    y = g.node("Tanh", {y}, "t");
    Codes codes = quantized(g, y, "r");
    for (ValueInfo* code : codes) g.output(code);
  };
  PassTest test(build);
  EXPECT_EQ(test.after(99), (Counts{{"DynamicQuantizeLinear", 1}, {"ortolan.DynamicQuantizeLinear", 1}, {kOwn, 1}}));
  test.expect_same_results(2e-5);
}

void normalized(TestGraph& g, Shape scale_shape, bool scale_lasts = false) {
  ValueInfo* x = g.input("x", {3, kInner});
  ValueInfo* scale = g.node("Exp", {g.input("s", DimVector(scale_shape.begin(), scale_shape.end()))}, "scale");
  ValueInfo* y = g.node("LayerNormalization", {x, scale, g.random("bias", {kInner})}, "y");
  g.output(product(g, quantized(g, y, "q"), "p"));
  if (scale_lasts) g.output(scale);
}

TEST(Ranges, OfNormalisedRows) {
  for (const Shape& scale : {Shape{kInner}, Shape{3, kInner}, Shape{1, 1}}) {
    auto build = [&](TestGraph& g) { normalized(g, scale); };
    PassTest test(build);
    EXPECT_EQ(
        test.after(99),
        (Counts{{"Exp", 1}, {"ortolan.LayerNormalization", 1}, {"ortolan.DynamicQuantizeLinear", 1}, {kProduct, 1}}));
    test.expect_same_results(2e-5);
    auto build_lasting = [&](TestGraph& g) { normalized(g, scale, true); };
    Value over_scale = test.run(RewriteLevel::kAll)[0], apart = PassTest(build_lasting).run(RewriteLevel::kAll)[0];
    EXPECT_TRUE(same_value(over_scale, apart)) << scale.element_count();
  }
}

}  // namespace
}  // namespace ortolan::test
