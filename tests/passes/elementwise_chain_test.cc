// The pass that makes chains of elementwise operators: what it joins, and where it stops.
#include "ops/elementwise_program.h"
#include "pass_test.h"

namespace ortolan::test {
namespace {

constexpr const char* kChain = "ortolan.ElementwiseChain";

Counts extended(FunctionRef<void(TestGraph&)> build, int opset = 17) { return PassTest(build, opset).after(99); }

/** The chain of a rewritten graph that has one. */
ops::ElementwiseProgram program_of(FunctionRef<void(TestGraph&)> build, int opset = 17) {
  auto model = PassTest(build, opset).rewritten(99);
  for (const auto& node : model->graph->nodes()) {
    if (node->op_type == "ElementwiseChain") return ops::read_program(*node);
  }
  return {};
}

std::string text_of(const ops::ElementwiseProgram& program) {
  std::string text;
  for (const ops::ElementwiseStep& step : program) {
    text += join(text.empty() ? "" : "; ", step.op, " ", step.node, " ", step.a, " ", step.b);
    for (float parameter : step.parameters) text += join(" ", parameter);
  }
  return text;
}

TEST(ElementwiseChain, JoinsALineOfNodes) {
  auto build = [](TestGraph& g) {
    ValueInfo* y = g.node("Sigmoid", {g.input("x", {2, 3, 4})}, "gate");
    y = g.node("Mul", {y, g.scalar("two", 2)}, "twice");
    y = g.node("Sub", {y, g.scalar("half", 0.5f)}, "less");
    g.output(g.node("Add", {y, g.input("grid", {3, 1})}, "y"));
  };
  EXPECT_EQ(extended(build), (Counts{{kChain, 1}}));
  EXPECT_EQ(text_of(program_of(build)), "Sigmoid gate 0 -1; Mul twice 4 2; Sub less 5 3; Add y 6 1");
  EXPECT_EQ(PassTest(build).after(1), (Counts{{"Sigmoid", 1}, {"Mul", 1}, {"Sub", 1}, {"Add", 1}}));
  PassTest(build).expect_same_results(0);
}

TEST(ElementwiseChain, KeepsNamesOfTheResultAndTheLastNode) {
  auto build = [](TestGraph& g) { g.output(g.node("Exp", {g.node("Neg", {g.input("x", {3})}, "minus")}, "y")); };
  auto model = PassTest(build).rewritten(99);
  ASSERT_EQ(model->graph->nodes().size(), 1u);
  EXPECT_EQ(model->graph->nodes()[0]->name, "y");
  EXPECT_EQ(model->graph->outputs[0]->name, "y");
}

TEST(ElementwiseChain, JoinsBranchesThatMeet) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = g.node("Add", {g.input("u", {4, 5}), g.input("v", {4, 5})}, "x");
    ValueInfo* left = g.node("Exp", {x}, "left");
    ValueInfo* right = g.node("Tanh", {x}, "right");
    g.output(g.node("Div", {right, g.node("Add", {left, x}, "sum")}, "y"));
  };
  EXPECT_EQ(extended(build), (Counts{{kChain, 1}}));
  PassTest(build).expect_same_results(0);
}

TEST(ElementwiseChain, StopsAtValuesThatOthersUse) {
  auto used_elsewhere = [](TestGraph& g) {
    ValueInfo* x = g.node("Exp", {g.input("u", {4, 5})}, "x");
    g.output(g.node("Softmax", {x}, "other", {{"axis", int64_t{1}}}));
    g.output(g.node("Sqrt", {g.node("Neg", {x}, "minus")}, "y"));
  };
  EXPECT_EQ(extended(used_elsewhere), (Counts{{"Exp", 1}, {"Softmax", 1}, {kChain, 1}}));
  EXPECT_EQ(text_of(program_of(used_elsewhere)), "Neg minus 0 -1; Sqrt y 1 -1");
  auto outputs = [](TestGraph& g) {
    ValueInfo* x = g.node("Exp", {g.input("u", {4, 5})}, "x");
    g.output(x);
    ValueInfo* y = g.node("Sqrt", {x}, "y");
    g.output(y);
    g.output(g.node("Erf", {g.node("Abs", {y}, "z0")}, "z"));
  };
  EXPECT_EQ(extended(outputs), (Counts{{"Exp", 1}, {"Sqrt", 1}, {kChain, 1}}));
  EXPECT_EQ(text_of(program_of(outputs)), "Abs z0 0 -1; Erf z 1 -1");
  PassTest(outputs).expect_same_results(0);
}

TEST(ElementwiseChain, TwoEndsOfOneValueStayApart) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = g.node("Exp", {g.input("u", {4, 5})}, "x");
    g.output(g.node("Sqrt", {x}, "a"));
    g.output(g.node("Neg", {x}, "b"));
  };
  EXPECT_EQ(extended(build), (Counts{{"Exp", 1}, {"Sqrt", 1}, {"Neg", 1}}));
}

TEST(ElementwiseChain, StopsWhereTheResultGrows) {
  auto build = [](TestGraph& g) {
    ValueInfo* gate = g.node("Sigmoid", {g.node("Neg", {g.input("s", {Dim(), 4, 1, 1})}, "minus")}, "gate");
    ValueInfo* y = g.node("Mul", {g.input("x", {Dim(), 4, 6, 6}), gate}, "scaled");
    g.output(g.node("Tanh", {y}, "y"));
  };
  EXPECT_EQ(extended(build), (Counts{{kChain, 2}}));
  PassTest(build).expect_same_results(0);
  auto rank = [](TestGraph& g) {
    ValueInfo* gate = g.node("Sigmoid", {g.input("s", {4})}, "gate");
    g.output(g.node("Mul", {g.input("x", {3, 4}), gate}, "y"));
  };
  EXPECT_EQ(extended(rank), (Counts{{"Sigmoid", 1}, {"Mul", 1}}));
}

TEST(ElementwiseChain, TakesUnknownShapes) {
  auto build = [](TestGraph& g) {
    ValueInfo* gate = g.node("Sigmoid", {g.input("s", {Dim(), Dim()})}, "gate");
    g.output(g.node("Mul", {g.input("x", {Dim(), Dim()}), gate}, "y"));
  };
  EXPECT_EQ(extended(build), (Counts{{kChain, 1}}));
  PassTest(build).expect_same_results(0);
}

TEST(ElementwiseChain, TakesFloatsOnly) {
  for (ElementType type : {ElementType::kDouble, ElementType::kFloat16, ElementType::kInt32}) {
    auto build = [&](TestGraph& g) {
      ValueInfo* x = g.input("x", {4}, type);
      g.output(g.node("Neg", {g.node("Add", {x, x}, "twice")}, "y"));
    };
    EXPECT_EQ(extended(build), (Counts{{"Neg", 1}, {"Add", 1}})) << name_of(type);
  }
  auto converted = [](TestGraph& g) {
    ValueInfo* x = g.node("Cast", {g.input("x", {4}, ElementType::kDouble)}, "x1", {{"to", int64_t{1}}});
    g.output(g.node("Cast", {g.node("Neg", {g.node("Exp", {x}, "e")}, "n")}, "y", {{"to", int64_t{11}}}));
  };
  EXPECT_EQ(extended(converted), (Counts{{"Cast", 2}, {kChain, 1}}));
}

TEST(ElementwiseChain, TakesPowersToConstantNumbers) {
  auto constant = [](TestGraph& g) {
    ValueInfo* y = g.node("Pow", {g.input("x", {4, 1}), g.floats("two", {1}, {2})}, "power");
    g.output(g.node("Neg", {y}, "y"));
  };
  EXPECT_EQ(extended(constant), (Counts{{kChain, 1}}));
  PassTest(constant).expect_same_results(0);
  auto dynamic = [](TestGraph& g) {
    g.output(g.node("Neg", {g.node("Pow", {g.input("x", {4}), g.input("e", {1})}, "power")}, "y"));
  };
  EXPECT_EQ(extended(dynamic), (Counts{{"Neg", 1}, {"Pow", 1}}));
  auto vector = [](TestGraph& g) {
    g.output(g.node("Neg", {g.node("Pow", {g.input("x", {2}), g.floats("e", {2}, {2, 3})}, "power")}, "y"));
  };
  EXPECT_EQ(extended(vector), (Counts{{"Neg", 1}, {"Pow", 1}}));
}

TEST(ElementwiseChain, ReadsParametersOfEachOpset) {
  auto attributes = [](TestGraph& g) {
    ValueInfo* y = g.node("Clip", {g.input("x", {4})}, "c", {{"min", 0.5f}, {"max", 2.0f}});
    g.output(g.node("LeakyRelu", {y}, "y", {{"alpha", 0.25f}}));
  };
  EXPECT_EQ(text_of(program_of(attributes, 10)), "Clip c 0 -1 0.5 2; LeakyRelu y 1 -1 0.25");
  auto inputs = [](TestGraph& g) {
    ValueInfo* y = g.node("Clip", {g.input("x", {4}), g.scalar("low", 0.5f), g.scalar("high", 2)}, "c");
    g.output(g.node("HardSigmoid", {y}, "y"));
  };
  EXPECT_EQ(text_of(program_of(inputs, 13)), "Clip c 0 -1 0.5 2; HardSigmoid y 1 -1 0.2 0.5");
  auto dynamic = [](TestGraph& g) {
    ValueInfo* y = g.node("Clip", {g.input("x", {4}), g.input("low", {})}, "c");
    g.output(g.node("Neg", {y}, "y"));
  };
  EXPECT_EQ(extended(dynamic, 13), (Counts{{"Clip", 1}, {"Neg", 1}}));
  auto swish = [](TestGraph& g) {
    g.output(g.node("Swish", {g.node("Neg", {g.input("x", {4})}, "n")}, "y", {{"alpha", 0.5f}}));
  };
  EXPECT_EQ(text_of(program_of(swish, 24)), "Neg n 0 -1; QuickGelu y 1 -1 0.5");
  PassTest(swish, 24).expect_same_results(0);
}

TEST(ElementwiseChain, LeavesOldBroadcasting) {
  auto build = [](TestGraph& g) {
    ValueInfo* y = g.node("Add", {g.input("x", {2, 3}), g.input("b", {2})}, "sum",
                          {{"axis", int64_t{0}}, {"broadcast", int64_t{1}}});
    g.output(g.node("Exp", {g.node("Neg", {y}, "minus")}, "y"));
  };
  EXPECT_EQ(extended(build, 6), (Counts{{"Add", 1}, {kChain, 1}}));
}

TEST(ElementwiseChain, TakesOperatorsOfManyInputs) {
  auto build = [](TestGraph& g) {
    ValueInfo *x = g.input("x", {3, 4}), *u = g.input("u", {4}), *v = g.input("v", {3, 1});
    ValueInfo* y = g.node("Max", {x, u, v}, "most");
    g.output(g.node("Sum", {y, u, y, v}, "y"));
  };
  EXPECT_EQ(text_of(program_of(build)), "Max most 0 2; Max most 3 1; Sum y 4 2; Sum y 5 4; Sum y 6 1");
  PassTest(build).expect_same_results(0);
}

TEST(ElementwiseChain, LeavesNodesOfOtherProviders) {
  auto build = [](TestGraph& g) {
    ValueInfo* y = g.node("Neg", {g.input("x", {4})}, "a");
    y->producer->provider = "Other";
    y = g.node("Exp", {g.node("Sqrt", {y}, "b")}, "c");
    g.output(y);
  };
  EXPECT_EQ(extended(build), (Counts{{"Neg", 1}, {kChain, 1}}));
}

TEST(ElementwiseChain, LeavesStrongerFusions) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = g.input("x", {4, 8});
    ValueInfo* y = g.node("MatMul", {x, g.random("w", {8, 8})}, "product");
    y = g.node("Relu", {g.node("Add", {y, g.random("b", {8})}, "sum")}, "relu");
    ValueInfo* gate = g.node("Sigmoid", {y}, "gate");
    g.output(g.node("Mul", {y, gate}, "y"));
  };
  EXPECT_EQ(extended(build), (Counts{{"ortolan.Gemm", 1}, {"ortolan.Activation", 1}}));
  auto silu_in_chain = [](TestGraph& g) {
    ValueInfo* x = g.input("x", {4, 8});
    ValueInfo* y = g.node("Mul", {x, g.node("Sigmoid", {x}, "gate")}, "silu");
    g.output(g.node("Mul", {y, g.input("u", {4, 8})}, "y"));
  };
  EXPECT_EQ(text_of(program_of(silu_in_chain)), "Silu silu 0 -1; Mul y 2 1");
}

TEST(ElementwiseChain, WorksInsideSubgraphsButNotAcross) {
  auto branch = [](ValueInfo* captured) {
    return [captured](Graph& body) {
      TestGraph g(body);
      ValueInfo* y = g.node("Exp", {g.node("Neg", {captured}, "minus")}, "inner");
      g.output(g.node("Sqrt", {y}, "root"));
    };
  };
  auto build = [&](TestGraph& g) {
    ValueInfo* x = g.node("Abs", {g.node("Sin", {g.input("u", {4})}, "sine")}, "x");
    ValueInfo* y = g.node("If", {g.input("c", {}, ElementType::kBool)}, "y");
    for (const char* name : {"then_branch", "else_branch"}) {
      auto body = std::make_shared<Graph>(g.graph().shared_context(), &g.graph());
      branch(x)(*body);
      y->producer->set_attribute(name, body);
    }
    g.output(y);
  };
  EXPECT_EQ(extended(build), (Counts{{"If", 1}, {kChain, 3}}));
}

TEST(ElementwiseChain, HasAMostLength) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = g.input("x", {4});
    for (int i = 0; i < 100; ++i) x = g.node("Sin", {x}, join("v", i));
    g.output(x);
  };
  EXPECT_EQ(extended(build), (Counts{{kChain, 4}}));
  PassTest(build).expect_same_results(0);
  auto wide = [](TestGraph& g) {
    ValueInfo* x = g.input("x", {4});
    for (int i = 0; i < 40; ++i) x = g.node("Add", {x, g.input(join("u", i), {4})}, join("v", i));
    g.output(x);
  };
  EXPECT_EQ(extended(wide), (Counts{{kChain, 3}}));
  PassTest(wide).expect_same_results(0);
}

}  // namespace
}  // namespace ortolan::test
