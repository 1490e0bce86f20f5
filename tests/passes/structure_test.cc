// Passes that change the structure only: results stay the same bit for bit.
#include "pass_test.h"

namespace ortolan::test {
namespace {

void expect(FunctionRef<void(TestGraph&)> build, const Counts& counts, int opset = 17) {
  PassTest test(build, opset);
  EXPECT_EQ(test.after(1), counts);
  test.expect_same_results(0);
}

TEST(Folding, ComputesWhatIsConstant) {
  expect(
      [](TestGraph& g) {
        ValueInfo* sum = g.node("Add", {g.random("a", {2, 3}), g.random("b", {3})}, "sum");
        g.output(g.node("Mul", {g.input("x", {2, 3}), g.node("Exp", {sum}, "e")}, "y"));
      },
      {{"Mul", 1}});
}

TEST(Folding, ComputesShapesThatAreKnown) {
  expect(
      [](TestGraph& g) {
        ValueInfo* x = g.input("x", {2, 3, 4});
        ValueInfo* shape = g.node("Shape", {x}, "shape");
        ValueInfo* first = g.node("Gather", {shape, g.ints("zero", {0})}, "first", {{"axis", int64_t{0}}});
        ValueInfo* wanted = g.node("Concat", {first, g.ints("rest", {-1})}, "wanted", {{"axis", int64_t{0}}});
        g.output(g.node("Reshape", {x, wanted}, "y"));
      },
      {{"Reshape", 1}});
}

TEST(Folding, LeavesWhatWouldGrowTheModel) {
  expect(
      [](TestGraph& g) {
        ValueInfo* large = g.node("Expand", {g.scalar("one", 1), g.ints("shape", {1024, 1024})}, "large");
        g.output(g.node("Add", {large, g.input("x", {1024, 1024})}, "y"));
      },
      {{"Expand", 1}, {"Add", 1}});
}

TEST(Folding, KeepsAWholeModelBelowItsBudget) {
  auto build = [](TestGraph& g) {
    ValueInfo* sum = g.input("x", {250, 1000});
    ValueInfo* shape = g.ints("shape", {250, 1000});
    for (int i = 0; i < 400; ++i) {
      ValueInfo* large = g.node("Expand", {g.scalar(join("c", i), float(i)), shape}, join("large", i));
      sum = g.node("Add", {sum, large}, join("sum", i));
    }
    g.output(sum);
  };
  PassTest test(build);
  auto model = test.model();
  rewrite_as_session(*model, 1);
  size_t bytes = 0;
  for (const auto& value : model->graph->values()) bytes += value->constant ? value->constant->byte_count() : 0;
  EXPECT_LT(bytes, size_t{300} << 20);
  EXPECT_GT(count_nodes(*model->graph)["Expand"], 100);
}

TEST(Folding, LeavesInitializersThatCallersMayOverride) {
  expect(
      [](TestGraph& g) {
        ValueInfo* weight = g.random("w", {3});
        weight->is_input = true;
        g.graph().inputs.push_back(weight);
        g.output(g.node("Add", {g.input("x", {2, 3}), g.node("Neg", {weight}, "n")}, "y"));
      },
      {{"Neg", 1}, {"Add", 1}});
}

TEST(Folding, LeavesRandomNumbers) {
  PassTest test([](TestGraph& g) {
    ValueInfo* a = g.node("RandomNormal", {}, "a", {{"shape", std::vector<int64_t>{3}}});
    ValueInfo* b = g.node("RandomNormal", {}, "b", {{"shape", std::vector<int64_t>{3}}});
    g.output(g.node("Sub", {a, b}, "y"));
  });
  EXPECT_EQ(test.after(99), (Counts{{"RandomNormal", 2}, {"Sub", 1}}));
}

TEST(Folding, TakesTheBranchOfAConstantIf) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = g.input("x", {2});
    Tensor yes(ElementType::kBool, {});
    *yes.mutable_data<bool>() = true;
    ValueInfo* condition = g.constant("condition", yes);
    auto branch = [&](const std::string& op) {
      auto graph = std::make_shared<Graph>(g.graph().shared_context(), &g.graph());
      TestGraph inner(*graph);
      inner.output(inner.node(op, {x}, op + "_out"));
      return graph;
    };
    std::vector<Attribute> attributes = {{"then_branch", branch("Neg")}, {"else_branch", branch("Exp")}};
    g.output(g.node("Abs", {g.node("If", {condition}, "chosen", attributes)}, "y"));
  };
  expect(build, {{"Neg", 1}, {"Abs", 1}});
}

TEST(Folding, TakesManyBranches) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = g.input("x", {2});
    Tensor no(ElementType::kBool, {});
    *no.mutable_data<bool>() = false;
    ValueInfo* condition = g.constant("condition", no);
    for (int i = 0; i < 2000; ++i) {
      auto branch = [&](const char* op) {
        auto graph = std::make_shared<Graph>(g.graph().shared_context(), &g.graph());
        TestGraph inner(*graph);
        inner.output(inner.node(op, {x}, "out"));
        return graph;
      };
      std::vector<Attribute> attributes = {{"then_branch", branch("Neg")}, {"else_branch", branch("Sin")}};
      x = g.node("If", {condition}, join("y", i), attributes);
    }
    g.output(x);
  };
  expect(build, {{"Sin", 2000}});
}

TEST(NoOps, GoAway) {
  expect(
      [](TestGraph& g) {
        ValueInfo* x = g.input("x", {2, 3});
        x = g.node("Identity", {x}, "identity");
        x = g.node("Dropout", {x}, "dropout");
        x = g.node("Cast", {x}, "cast", {{"to", int64_t{1}}});
        x = g.node("Reshape", {x, g.ints("same", {2, 3})}, "reshape");
        x = g.node("Transpose", {x}, "transpose", {{"perm", std::vector<int64_t>{0, 1}}});
        x = g.node("Concat", {x}, "concat", {{"axis", int64_t{0}}});
        x = g.node("Pad", {x, g.ints("pads", {0, 0, 0, 0})}, "pad");
        x = g.node("Slice", {x, g.ints("starts", {0}), g.ints("ends", {100})}, "slice");
        x = g.node("Expand", {x, g.ints("to", {2, 3})}, "expand");
        x = g.node("Unsqueeze", {x, g.ints("axis", {1})}, "unsqueeze");
        x = g.node("Squeeze", {x, g.ints("axis2", {1})}, "squeeze");
        g.output(g.node("Neg", {x}, "y"));
      },
      {{"Neg", 1}});
}

TEST(NoOps, KeepTheNameOfAGraphOutput) {
  auto build = [](TestGraph& g) {
    ValueInfo* negative = g.node("Neg", {g.input("x", {2, 3})}, "n");
    g.output(g.node("Identity", {negative}, "y"));
    g.output(g.node("Identity", {negative}, "z"));
  };
  PassTest test(build);
  auto model = test.rewritten(99);
  ASSERT_EQ(model->graph->outputs.size(), 2u);
  EXPECT_EQ(model->graph->outputs[0]->name, "y");
  EXPECT_EQ(model->graph->outputs[1]->name, "z");
  EXPECT_EQ(count_nodes(*model->graph), (Counts{{"Neg", 1}, {"Identity", 1}}));
  test.expect_same_results(0);
}

TEST(NoOps, ThatDoSomethingStay) {
  expect(
      [](TestGraph& g) {
        ValueInfo* x = g.input("x", {3, 3});
        x = g.node("Transpose", {x}, "transpose");
        x = g.node("Slice",
                   {x, g.ints("starts", {-1}), g.ints("ends", {-100}), g.ints("axes", {0}), g.ints("steps", {-1})},
                   "reversed");
        x = g.node("Pad", {x, g.ints("pads", {0, 0, 0, 1})}, "pad");
        g.output(x);
      },
      {{"Transpose", 1}, {"Slice", 1}, {"Pad", 1}});
}

TEST(Pairs, CancelOrMerge) {
  expect(
      [](TestGraph& g) {
        ValueInfo* x = g.input("x", {2, 3, 4});
        ValueInfo* there = g.node("Transpose", {x}, "t1", {{"perm", std::vector<int64_t>{1, 2, 0}}});
        ValueInfo* back = g.node("Transpose", {there}, "t2", {{"perm", std::vector<int64_t>{2, 0, 1}}});
        g.output(g.node("Neg", {back}, "y"));
        ValueInfo* further = g.node("Transpose", {there}, "t3", {{"perm", std::vector<int64_t>{1, 2, 0}}});
        g.output(g.node("Abs", {further}, "z"));
        ValueInfo* wide = g.node("Cast", {x}, "wide", {{"to", int64_t{11}}});
        g.output(g.node("Exp", {g.node("Cast", {wide}, "narrow", {{"to", int64_t{1}}})}, "e"));
        ValueInfo* flat = g.node("Reshape", {x, g.ints("flat_shape", {-1})}, "flat");
        g.output(g.node("Reshape", {flat, g.ints("last_shape", {4, 6})}, "r"));
      },
      {{"Neg", 1}, {"Abs", 1}, {"Exp", 1}, {"Transpose", 1}, {"Reshape", 1}});
}

TEST(Pairs, CastsThatLoseSomethingStay) {
  expect(
      [](TestGraph& g) {
        ValueInfo* x = g.input("x", {4});
        ValueInfo* whole = g.node("Cast", {x}, "whole", {{"to", int64_t{6}}});
        g.output(g.node("Cast", {whole}, "y", {{"to", int64_t{1}}}));
      },
      {{"Cast", 2}});
}

TEST(CommonSubexpressions, AreComputedOnce) {
  expect(
      [](TestGraph& g) {
        ValueInfo* x = g.input("x", {2, 3});
        ValueInfo* a = g.node("Exp", {g.node("Neg", {x}, "n1")}, "e1");
        ValueInfo* b = g.node("Exp", {g.node("Neg", {x}, "n2")}, "e2");
        ValueInfo* c = g.node("Elu", {x}, "l1", {{"alpha", 1.0f}});
        ValueInfo* d = g.node("Elu", {x}, "l2", {{"alpha", 0.5f}});
        g.output(g.node("Sum", {a, b, c, d}, "y"));
      },
      {{"Neg", 1}, {"Exp", 1}, {"Elu", 2}, {"Sum", 1}});
}

TEST(Unused, NodesGoAway) {
  expect(
      [](TestGraph& g) {
        ValueInfo* x = g.input("x", {2, 3});
        g.node("Exp", {g.node("Neg", {x}, "n")}, "e");
        g.output(g.node("Abs", {x}, "y"));
      },
      {{"Abs", 1}});
}

}  // namespace
}  // namespace ortolan::test
