// Passes that fold arithmetic into weights, and those that fuse nodes: results stay within rounding.
#include <cmath>

#include "pass_test.h"

namespace ortolan::test {
namespace {

struct Expected {
  Counts basic;
  Counts extended;
};

void expect(FunctionRef<void(TestGraph&)> build, const Expected& counts, int opset = 17) {
  PassTest test(build, opset);
  EXPECT_EQ(test.after(1), counts.basic);
  EXPECT_EQ(test.after(99), counts.extended);
  test.expect_same_results(2e-5);
}

ValueInfo* batch_normalization(TestGraph& g, ValueInfo* x, int64_t channels, const std::string& name) {
  return g.node("BatchNormalization",
                {x, g.random(name + "_scale", {channels}), g.random(name + "_b", {channels}),
                 g.random(name + "_mean", {channels}), g.random(name + "_var", {channels}, 0.5, 2)},
                name);
}

TEST(Weights, TakeWhatFollowsAConv) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = g.input("x", {Dim(), 4, 8, 8});
    ValueInfo* y =
        g.node("Conv", {x, g.random("w", {6, 2, 3, 3}), g.random("b", {6})}, "conv", {{"group", int64_t{2}}});
    y = batch_normalization(g, y, 6, "bn");
    y = g.node("Mul", {g.random("m", {6, 1, 1}), y}, "mul");
    y = g.node("Sub", {y, g.scalar("s", 0.25f)}, "sub");
    g.output(y);
  };
  expect(build, {{{"Conv", 1}}, {{"Conv", 1}}});
}

TEST(Weights, TakeABatchNormalizationBeforeAnUnpaddedConv) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = batch_normalization(g, g.input("x", {2, 4, 8}), 4, "bn");
    ValueInfo* y = g.node("Conv", {x, g.random("w", {6, 2, 3})}, "conv", {{"group", int64_t{2}}});
    ValueInfo* z = batch_normalization(g, g.input("u", {2, 6, 8}), 6, "bn2");
    z = g.node("Conv", {z, g.random("w2", {4, 6, 3})}, "padded", {{"pads", std::vector<int64_t>{1, 1}}});
    g.output(y);
    g.output(z);
  };
  Counts counts = {{"Conv", 2}, {"BatchNormalization", 1}};
  expect(build, {counts, counts});
}

TEST(Weights, TakeWhatFollowsAGemm) {
  auto build = [](TestGraph& g) {
    ValueInfo* y = g.node("MatMul", {g.input("x", {Dim(), 5}), g.random("w", {5, 3})}, "product");
    y = g.node("Add", {g.random("b", {3}), y}, "sum");
    g.output(batch_normalization(g, y, 3, "bn"));
    ValueInfo* z = g.node("Gemm", {g.input("u", {2, 5}), g.random("w2", {3, 5}), g.random("c", {3})}, "gemm",
                          {{"transB", int64_t{1}}, {"alpha", 0.5f}});
    g.output(g.node("Mul", {z, g.random("m", {3})}, "mul"));
  };
  expect(build, {{{"Gemm", 2}}, {{"Gemm", 2}}});
}

TEST(Weights, StayWhenTheResultIsUsedElsewhereToo) {
  auto build = [](TestGraph& g) {
    ValueInfo* y = g.node("Conv", {g.input("x", {1, 2, 6}), g.random("w", {3, 2, 3})}, "conv");
    g.output(g.node("Mul", {y, g.random("m", {3, 1})}, "mul"));
    g.output(g.node("Exp", {y}, "e"));
  };
  Counts counts = {{"Conv", 1}, {"Mul", 1}, {"Exp", 1}};
  expect(build, {counts, counts});
}

TEST(Weights, StayWhenTheProductsWouldOverflow) {
  auto build = [](TestGraph& g) {
    ValueInfo* y = g.node("Conv", {g.input("x", {1, 1, 3}), g.floats("w", {1, 1, 1}, {1e30f})}, "conv");
    y = g.node("Mul", {y, g.scalar("small", 1e-30f)}, "small_product");
    g.output(g.node("Mul", {y, g.floats("m", {1, 1}, {3e38f})}, "y"));
    ValueInfo* z = g.node("Conv", {g.input("u", {1, 1, 3}), g.floats("v", {1, 1, 1}, {1e30f})}, "conv2");
    g.output(g.node("Mul", {z, g.scalar("large", 1e30f)}, "z"));
  };
  PassTest test(build);
  EXPECT_EQ(test.after(1), (Counts{{"Conv", 2}, {"Mul", 1}}));
}

TEST(Sums, GoIntoMatMul) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = g.input("x", {2, 3, 8});
    ValueInfo* y = g.node("MatMul", {x, g.random("w", {8, 8})}, "product");
    y = g.node("Add", {g.random("b", {8}), y}, "biased");
    y = g.node("Add", {x, y}, "residual");
    g.output(g.node("Relu", {y}, "y"));
  };
  expect(build, {{{"MatMul", 1}, {"Add", 2}, {"Relu", 1}}, {{"ortolan.MatMul", 1}}});
}

TEST(Sums, OfStacksOfProducts) {
  auto build = [](TestGraph& g) {
    ValueInfo* scores = g.node("MatMul", {g.input("q", {2, 2, 5, 4}), g.input("k", {1, 2, 4, 5})}, "scores");
    g.output(g.node("Add", {scores, g.input("mask", {2, 2, 5, 5})}, "y"));
  };
  expect(build, {{{"MatMul", 1}, {"Add", 1}}, {{"ortolan.MatMul", 1}}});
}

TEST(Sums, ThatBroadcastStay) {
  auto build = [](TestGraph& g) {
    ValueInfo* scores = g.node("MatMul", {g.input("q", {2, 2, 5, 4}), g.input("k", {2, 2, 4, 5})}, "scores");
    g.output(g.node("Add", {scores, g.input("mask", {2, 1, 1, 5})}, "y"));
    ValueInfo* unknown = g.node("MatMul", {g.input("a", {Dim(), 3, 4}), g.random("w", {4, 6})}, "p");
    g.output(g.node("Add", {unknown, g.input("c", {Dim(), 3, 6})}, "z"));
  };
  Counts counts = {{"MatMul", 2}, {"Add", 2}};
  expect(build, {counts, counts});
}

TEST(Sums, GoIntoConv) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = g.input("x", {1, 4, 6, 6});
    ValueInfo* y =
        g.node("Conv", {x, g.random("w", {4, 4, 3, 3})}, "conv", {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
    g.output(g.node("Relu", {g.node("Add", {y, x}, "sum")}, "y"));
  };
  expect(build, {{{"Conv", 1}, {"Add", 1}, {"Relu", 1}}, {{"ortolan.Conv", 1}}});
}

TEST(Sums, OfTwoAreAdditions) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = g.input("x", {1, 4, 6});
    ValueInfo* y = g.node("Conv", {x, g.random("w", {4, 4, 1})}, "conv");
    y = g.node("Sum", {x, y}, "sum");
    g.output(g.node("Sum", {y, g.input("u", {1, 4, 6}), g.input("v", {1, 4, 6})}, "y"));
  };
  expect(build, {{{"Conv", 1}, {"Sum", 2}}, {{"ortolan.Conv", 1}, {"Sum", 1}}});
}

/** y = activation(Conv(x)), the activation made by `make` from the value given. */
void expect_activation(FunctionRef<ValueInfo*(TestGraph&, ValueInfo*)> make, int opset = 17) {
  auto build = [&](TestGraph& g) {
    ValueInfo* y = g.node("Conv", {g.input("x", {1, 3, 9}), g.random("w", {4, 3, 3})}, "conv");
    g.output(make(g, y));
  };
  PassTest test(build, opset);
  EXPECT_EQ(test.after(99), (Counts{{"ortolan.Conv", 1}}));
  test.expect_same_results(1e-5);
}

TEST(Activations, GoIntoConv) {
  for (const char* op : {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "HardSwish", "Elu", "Softplus"}) {
    SCOPED_TRACE(op);
    expect_activation([&](TestGraph& g, ValueInfo* x) { return g.node(op, {x}, "y"); });
  }
}

TEST(Activations, ClipInAllItsForms) {
  expect_activation([](TestGraph& g, ValueInfo* x) {
    return g.node("Clip", {x, g.scalar("low", -0.5f), g.scalar("high", 1)}, "y");
  });
  expect_activation([](TestGraph& g, ValueInfo* x) { return g.node("Clip", {x, nullptr, g.scalar("high", 1)}, "y"); });
  expect_activation(
      [](TestGraph& g, ValueInfo* x) {
        return g.node("Clip", {x}, "y", {{"min", 0.0f}, {"max", 6.0f}});
      },
      10);
}

TEST(Activations, UsedInASubgraphStay) {
  auto build = [](TestGraph& g) {
    ValueInfo* y = g.node("Conv", {g.input("x", {1, 3, 9}), g.random("w", {4, 3, 3})}, "conv");
    ValueInfo* condition = g.node("Greater", {g.input("c", {}), g.scalar("zero", 0)}, "condition");
    auto branch = [&](const std::string& op) {
      auto graph = std::make_shared<Graph>(g.graph().shared_context(), &g.graph());
      TestGraph inner(*graph);
      inner.output(inner.node(op, {y}, op + "_out"));
      return graph;
    };
    std::vector<Attribute> attributes = {{"then_branch", branch("Relu")}, {"else_branch", branch("Sigmoid")}};
    g.output(g.node("If", {condition}, "y", attributes));
    ValueInfo* z = g.node("Conv", {g.input("u", {1, 3, 9}), g.random("v", {4, 3, 3})}, "conv2");
    g.output(g.node("Relu", {z}, "z"));
  };
  PassTest test(build);
  EXPECT_EQ(test.after(99),
            (Counts{{"Conv", 1}, {"Greater", 1}, {"If", 1}, {"Relu", 1}, {"Sigmoid", 1}, {"ortolan.Conv", 1}}));
  test.expect_same_results();
}

TEST(Activations, SpelledAsProducts) {
  expect_activation([](TestGraph& g, ValueInfo* x) { return g.node("Mul", {x, g.node("Sigmoid", {x}, "s")}, "y"); });
  expect_activation([](TestGraph& g, ValueInfo* x) {
    ValueInfo* scaled = g.node("Mul", {g.scalar("c", 1.702f), x}, "scaled");
    return g.node("Mul", {g.node("Sigmoid", {scaled}, "s"), x}, "y");
  });
  expect_activation([](TestGraph& g, ValueInfo* x) {
    return g.node("Mul", {x, g.node("HardSigmoid", {x}, "s", {{"alpha", 1 / 6.0f}, {"beta", 0.5f}})}, "y");
  });
  expect_activation([](TestGraph& g, ValueInfo* x) {
    ValueInfo* sum = g.node("Add", {x, g.scalar("three", 3)}, "sum");
    ValueInfo* clip = g.node("Clip", {sum, g.scalar("low", 0), g.scalar("high", 6)}, "clip");
    return g.node("Div", {g.node("Mul", {x, clip}, "product"), g.scalar("six", 6)}, "y");
  });
  expect_activation([](TestGraph& g, ValueInfo* x) {
    ValueInfo* sum = g.node("Add", {x, g.scalar("three", 3)}, "sum");
    ValueInfo* clip = g.node("Clip", {sum, g.scalar("low", 0), g.scalar("high", 6)}, "clip");
    return g.node("Mul", {x, g.node("Div", {clip, g.scalar("six", 6)}, "gate")}, "y");
  });
  expect_activation([](TestGraph& g, ValueInfo* x) {
    return g.node("Mul", {x, g.node("Tanh", {g.node("Softplus", {x}, "p")}, "t")}, "y");
  });
}

ValueInfo* one_plus_erf(TestGraph& g, ValueInfo* x) {
  ValueInfo* scaled = g.node("Div", {x, g.scalar("root", std::sqrt(2.0f))}, "scaled");
  return g.node("Add", {g.node("Erf", {scaled}, "erf"), g.scalar("one", 1)}, "plus");
}

TEST(Activations, GeluInAllItsForms) {
  expect_activation([](TestGraph& g, ValueInfo* x) {
    return g.node("Mul", {g.node("Mul", {x, one_plus_erf(g, x)}, "m"), g.scalar("half", 0.5f)}, "y");
  });
  expect_activation([](TestGraph& g, ValueInfo* x) {
    return g.node("Mul", {g.node("Mul", {x, g.scalar("half", 0.5f)}, "m"), one_plus_erf(g, x)}, "y");
  });
  expect_activation([](TestGraph& g, ValueInfo* x) {
    return g.node("Mul", {x, g.node("Mul", {g.scalar("half", 0.5f), one_plus_erf(g, x)}, "m")}, "y");
  });
  expect_activation([](TestGraph& g, ValueInfo* x) {
    return g.node("Div", {g.node("Mul", {one_plus_erf(g, x), x}, "m"), g.scalar("two", 2)}, "y");
  });
  expect_activation([](TestGraph& g, ValueInfo* x) {
    ValueInfo* cube = g.node("Pow", {x, g.scalar("three", 3)}, "cube");
    ValueInfo* inner = g.node("Add", {x, g.node("Mul", {cube, g.scalar("c", 0.044715f)}, "term")}, "inner");
    ValueInfo* tanh = g.node("Tanh", {g.node("Mul", {inner, g.scalar("k", 0.7978845608f)}, "scaled")}, "tanh");
    ValueInfo* plus = g.node("Add", {tanh, g.scalar("one", 1)}, "plus");
    return g.node("Mul", {g.node("Mul", {x, g.scalar("half", 0.5f)}, "m"), plus}, "y");
  });
}

TEST(Activations, OtherConstantsAreNoGelu) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = g.input("x", {4});
    ValueInfo* erf = g.node("Erf", {g.node("Div", {x, g.scalar("root", 1.5f)}, "scaled")}, "erf");
    ValueInfo* plus = g.node("Add", {erf, g.scalar("one", 1)}, "plus");
    g.output(g.node("Mul", {g.node("Mul", {x, plus}, "m"), g.scalar("half", 0.5f)}, "y"));
  };
  expect(build, {{{"Erf", 1}, {"Div", 1}, {"Add", 1}, {"Mul", 2}}, {{"ortolan.ElementwiseChain", 1}}});
}

TEST(Activations, StayOnValuesUsedElsewhereAndOnDoubles) {
  auto build = [](TestGraph& g) {
    ValueInfo* y = g.node("MatMul", {g.input("x", {2, 3, 4}), g.random("w", {4, 4})}, "product");
    g.output(g.node("Relu", {y}, "y"));
    g.output(y);
    ValueInfo* z =
        g.node("MatMul", {g.input("a", {2, 3, 4}, ElementType::kDouble), g.input("b", {4, 4}, ElementType::kDouble)},
               "doubles");
    g.output(g.node("Relu", {z}, "z"));
  };
  Counts counts = {{"MatMul", 2}, {"Relu", 2}};
  expect(build, {counts, counts});
}

void layer_normalization(TestGraph& g, bool by_product, int opset) {
  ValueInfo* x = g.input("x", {2, Dim(), 16});
  std::vector<Attribute> axes = {{"axes", std::vector<int64_t>{-1}}};
  auto mean = [&](ValueInfo* of, const std::string& name) {
    if (opset >= 18) return g.node("ReduceMean", {of, g.ints(name + "_axes", {-1})}, name);
    return g.node("ReduceMean", {of}, name, axes);
  };
  ValueInfo* deviation = g.node("Sub", {x, mean(x, "mean")}, "d");
  ValueInfo* square = by_product ? g.node("Mul", {deviation, deviation}, "square")
                                 : g.node("Pow", {deviation, g.scalar("two", 2)}, "square");
  ValueInfo* sum = g.node("Add", {mean(square, "variance"), g.scalar("epsilon", 1e-5f)}, "sum");
  ValueInfo* y = g.node("Div", {deviation, g.node("Sqrt", {sum}, "root")}, "quotient");
  y = g.node("Mul", {y, g.random("scale", {16})}, "scaled");
  g.output(g.node("Add", {y, g.random("bias", {16})}, "y"));
}

TEST(LayerNormalization, IsFoundInItsParts) {
  for (int opset : {11, 17, 18}) {
    for (bool by_product : {false, true}) {
      auto build = [&](TestGraph& g) { layer_normalization(g, by_product, opset); };
      PassTest test(build, opset);
      EXPECT_EQ(test.after(99), (Counts{{"LayerNormalization", 1}})) << opset << by_product;
      test.expect_same_results(2e-5);
    }
  }
}

TEST(Transposes, OfTheLastTwoDimensionsGoIntoTheProduct) {
  for (std::string op : {"Div", "Mul"}) {
    auto build = [&](TestGraph& g) {
      ValueInfo *q = g.input("q", {1, 2, Dim(), 8}), *k = g.input("k", {1, 2, Dim(), 8});
      ValueInfo* columns = g.node("Transpose", {k}, "columns", {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
      ValueInfo* scores = g.node("MatMul", {q, columns}, "scores");
      g.output(g.node(op, {scores, g.scalar("size", 3)}, "scaled"));
      g.output(g.node("Sqrt", {k}, "other"));
    };
    Counts basic = {{"Transpose", 1}, {"MatMul", 1}, {op, 1}, {"Sqrt", 1}};
    expect(build, {basic, {{"com.microsoft.FusedMatMul", 1}, {"Sqrt", 1}}});
  }
  auto plain = [](TestGraph& g) {
    ValueInfo* columns = g.node("Transpose", {g.input("b", {3, 5})}, "columns");
    g.output(g.node("MatMul", {g.input("a", {4, 5}), columns}, "product"));
  };
  expect(plain, {{{"Transpose", 1}, {"MatMul", 1}}, {{"com.microsoft.FusedMatMul", 1}}});
}

TEST(Transposes, OfOtherDimensionsStay) {
  auto build = [](TestGraph& g) {
    ValueInfo* k =
        g.node("Transpose", {g.input("k", {3, 2, 2, 5})}, "moved", {{"perm", std::vector<int64_t>{1, 0, 3, 2}}});
    ValueInfo* scores = g.node("MatMul", {g.input("q", {2, 3, 4, 5}), k}, "scores");
    g.output(scores);
    g.output(g.node("Div", {g.scalar("one", 1), g.input("x", {2, 2})}, "inverse"));
  };
  Counts counts = {{"Transpose", 1}, {"MatMul", 1}, {"Div", 1}};
  expect(build, {counts, counts});
}

TEST(Transposes, ADivisorIsNoFactor) {
  auto build = [](TestGraph& g) {
    ValueInfo* columns = g.node("Transpose", {g.input("b", {3, 5})}, "columns");
    ValueInfo* product = g.node("MatMul", {g.input("a", {4, 5}), columns}, "product");
    g.output(g.node("Div", {g.scalar("size", 3), product}, "inverse"));
  };
  PassTest test(build);
  EXPECT_EQ(test.after(99), (Counts{{"com.microsoft.FusedMatMul", 1}, {"Div", 1}}));
}

}  // namespace
}  // namespace ortolan::test
