// Transposes that go, or get smaller, when what lies between them is computed in another order of dimensions.
#include <algorithm>
#include <random>

#include "pass_test.h"

namespace ortolan::test {
namespace {

using Ints = std::vector<int64_t>;

void expect(FunctionRef<void(TestGraph&)> build, const Counts& counts, int opset = 17, double tolerance = 0) {
  PassTest test(build, opset);
  EXPECT_EQ(test.after(1), counts);
  test.expect_same_results(tolerance);
}

ValueInfo* transpose(TestGraph& g, ValueInfo* x, const std::string& name, Ints order) {
  return g.node("Transpose", {x}, name, {{"perm", std::move(order)}});
}
ValueInfo* channels_last(TestGraph& g, ValueInfo* x, const std::string& name) {
  return transpose(g, x, name, {0, 2, 3, 1});
}
ValueInfo* channels_first(TestGraph& g, ValueInfo* x, const std::string& name) {
  return transpose(g, x, name, {0, 3, 1, 2});
}

TEST(MoveTransposes, PairsAroundElementwiseNodesGo) {
  expect(
      [](TestGraph& g) {
        ValueInfo* x = channels_last(g, g.input("x", {2, 3, 4, 5}), "last");
        ValueInfo* sum = g.node("Add", {x, g.random("bias", {3})}, "sum");
        ValueInfo* clipped = g.node("Clip", {sum, g.scalar("low", -0.5f), g.scalar("high", 0.5f)}, "clipped");
        ValueInfo* scaled = g.node("Mul", {clipped, g.random("scale", {4, 5, 1})}, "scaled");
        g.output(channels_first(g, scaled, "y"));
      },
      {{"Add", 1}, {"Clip", 1}, {"Mul", 1}});
}

TEST(MoveTransposes, ResidualsOfTwoBranches) {
  expect(
      [](TestGraph& g) {
        ValueInfo* a = channels_last(g, g.input("a", {1, 6, 4, 4}), "a_last");
        ValueInfo* b = channels_last(g, g.input("b", {1, 6, 4, 4}), "b_last");
        ValueInfo* sum = g.node("Relu", {g.node("Add", {a, b}, "sum")}, "relu");
        g.output(channels_first(g, sum, "y"));
        g.output(channels_first(g, g.node("Sigmoid", {sum}, "s"), "z"));
      },
      {{"Add", 1}, {"Relu", 1}, {"Sigmoid", 1}});
}

TEST(MoveTransposes, AxesPadsAndSlicesFollow) {
  expect(
      [](TestGraph& g) {
        ValueInfo* x = channels_last(g, g.input("x", {2, 3, 4, 5}), "last");
        ValueInfo* joined = g.node("Concat", {x, g.node("Neg", {x}, "minus")}, "joined", {{"axis", int64_t{-1}}});
        ValueInfo* padded =
            g.node("Pad", {joined, g.ints("pads", {0, 1, 2, 0, 0, 3, 0, 1}), g.scalar("with", 7)}, "padded");
        ValueInfo* cut = g.node(
            "Slice",
            {padded, g.ints("from", {1, 0}), g.ints("to", {7, 6}), g.ints("axes", {-2, 3}), g.ints("steps", {2, 1})},
            "cut");
        ValueInfo* most = g.node("ReduceMax", {cut}, "most", {{"axes", Ints{3}}});
        g.output(channels_first(g, g.node("Sub", {cut, most}, "left"), "y"));
      },
      {{"Concat", 1}, {"Neg", 1}, {"Pad", 1}, {"Slice", 1}, {"ReduceMax", 1}, {"Sub", 1}});
}

TEST(MoveTransposes, SlicesWithoutAxesGetThem) {
  expect(
      [](TestGraph& g) {
        ValueInfo* x = channels_last(g, g.input("x", {2, 3, 4, 5}), "last");
        ValueInfo* cut = g.node("Slice", {x, g.ints("from", {0, 1}), g.ints("to", {1, 3})}, "cut");
        g.output(channels_first(g, cut, "y"));
      },
      {{"Slice", 1}});
}

TEST(MoveTransposes, SplitsAndReductionsThatDropDimensions) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = transpose(g, g.input("x", {1, 85, 20}), "t", {0, 2, 1});
    ValueInfo *boxes = g.graph().add_value("boxes"), *scores = g.graph().add_value("scores");
    Node* split = g.graph().add_node("split", "Split", "", {x, g.ints("sizes", {5, 80})}, {boxes, scores});
    split->set_attribute("axis", int64_t{2});
    ValueInfo* likely = g.node("Sigmoid", {scores}, "likely");
    g.output(g.node("ReduceMax", {likely}, "best", {{"axes", Ints{2}}, {"keepdims", int64_t{0}}}));
    g.output(g.node("ArgMax", {likely}, "which", {{"axis", int64_t{-1}}, {"keepdims", int64_t{0}}}));
    g.output(transpose(g, likely, "back", {0, 2, 1}));
    g.output(g.node("Exp", {boxes}, "sizes_of_boxes"));
  };
  expect(build, {{"Split", 1}, {"Sigmoid", 1}, {"ReduceMax", 1}, {"ArgMax", 1}, {"Exp", 1}, {"Transpose", 1}});
}

TEST(MoveTransposes, OrdersThatDoNotUndoEachOtherBecomeOne) {
  expect(
      [](TestGraph& g) {
        ValueInfo* x = transpose(g, g.input("x", {2, 7, 4, 8}), "heads", {0, 2, 1, 3});
        ValueInfo* turned = g.node("Mul", {x, g.random("cos", {1, 1, 7, 8})}, "turned");
        g.output(transpose(g, turned, "y", {0, 1, 3, 2}));
      },
      {{"Mul", 1}, {"Transpose", 1}});
}

TEST(MoveTransposes, UnknownSizesAndShapes) {
  expect(
      [](TestGraph& g) {
        ValueInfo* x = channels_last(g, g.input("x", {Dim(), 3, Dim(), Dim()}), "last");
        ValueInfo* y = g.node("Relu", {x}, "relu");
        g.output(g.node("Shape", {y}, "sizes"));
        g.output(channels_first(g, y, "y"));
      },
      {{"Relu", 1}, {"Shape", 1}, {"Gather", 1}});
}

TEST(MoveTransposes, SumsStayWithinRounding) {
  expect(
      [](TestGraph& g) {
        ValueInfo* x = channels_last(g, g.input("x", {2, 3, 14, 15}), "last");
        ValueInfo* mean = g.node("ReduceMean", {x}, "mean", {{"axes", Ints{1, 2}}});
        g.output(channels_first(g, g.node("Mul", {x, mean}, "scaled"), "y"));
      },
      {{"ReduceMean", 1}, {"Mul", 1}}, 17, 1e-5);
}

TEST(MoveTransposes, QuantisedOnesFollowTheirAxis) {
  expect(
      [](TestGraph& g) {
        ValueInfo* x = channels_last(g, g.input("x", {2, 3, 4, 5}), "last");
        ValueInfo* scale = g.floats("scale", {3}, {0.1f, 0.2f, 0.05f});
        ValueInfo* q = g.node("QuantizeLinear", {x, scale}, "q", {{"axis", int64_t{3}}});
        ValueInfo* d = g.node("DequantizeLinear", {q, scale}, "d", {{"axis", int64_t{-1}}});
        g.output(channels_first(g, d, "y"));
      },
      {{"QuantizeLinear", 1}, {"DequantizeLinear", 1}});
}

TEST(MoveTransposes, StayWhereNothingIsWon) {
  auto one_side = [](TestGraph& g) {
    ValueInfo* x = channels_last(g, g.input("x", {2, 3, 4, 5}), "last");
    g.output(g.node("Relu", {x}, "y"));
  };
  expect(one_side, {{"Transpose", 1}, {"Relu", 1}});
  auto other_operand = [](TestGraph& g) {
    ValueInfo* x = channels_last(g, g.input("x", {2, 3, 4, 5}), "last");
    ValueInfo* sum = g.node("Add", {x, g.input("b", {2, 4, 5, 3})}, "sum");
    g.output(channels_first(g, sum, "y"));
    g.output(g.node("Relu", {sum}, "z"));
  };
  expect(other_operand, {{"Transpose", 2}, {"Add", 1}, {"Relu", 1}});
}

TEST(MoveTransposes, RanksAndOperandsThatDoNotFitStay) {
  auto lower_rank = [](TestGraph& g) {
    ValueInfo* x = channels_last(g, g.input("x", {2, 3, 4, 5}), "last");
    g.output(channels_first(g, g.node("Add", {x, g.input("b", {3})}, "sum"), "y"));
  };
  expect(lower_rank, {{"Transpose", 2}, {"Add", 1}});
  auto dropped = [](TestGraph& g) {
    ValueInfo* x = channels_last(g, g.input("x", {2, 3, 4, 5}), "last");
    ValueInfo* most = g.node("ReduceMax", {x}, "most", {{"axes", Ints{1}}, {"keepdims", int64_t{0}}});
    g.output(transpose(g, most, "y", {0, 2, 1}));
  };
  expect(dropped, {{"Transpose", 2}, {"ReduceMax", 1}});
}

TEST(MoveTransposes, GraphOutputsInTheMiddleKeepTheirOrder) {
  expect(
      [](TestGraph& g) {
        ValueInfo* x = channels_last(g, g.input("x", {2, 30, 4, 5}), "last");
        ValueInfo* a = g.node("Relu", {x}, "a");
        ValueInfo* first = g.node("Slice", {a, g.ints("from", {0}), g.ints("to", {1}), g.ints("axis", {3})}, "first");
        g.output(first);
        g.output(channels_first(g, g.node("Exp", {a}, "e"), "y"));
      },
      {{"Relu", 1}, {"Slice", 1}, {"Exp", 1}, {"Transpose", 1}});
}

/** Layout-free operators and Transposes in any connection, the same for the same seed. */
class RandomLayouts {
 public:
  RandomLayouts(TestGraph& g, uint32_t seed) : g_(g), random_(seed) {
    values_ = {{g.input("x", {2, 3, 4, 5}), {2, 3, 4, 5}}, {g.input("z", {5, 4, 3, 2}), {5, 4, 3, 2}}};
    for (int step = draw(4, 14); step > 0; --step) add();
    for (size_t i = values_.size(); i-- > 0 && i + 3 >= values_.size();) {
      if (values_[i].value->producer) g.output(values_[i].value);
    }
  }

 private:
  struct Shaped {
    ValueInfo* value;
    Ints dims;
  };
  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  std::string name() { return join("v", values_.size(), "_", count_++); }

  void add() {
    const Shaped x = values_[static_cast<size_t>(draw(0, static_cast<int>(values_.size()) - 1))];
    switch (draw(0, 8)) {
      case 0:
      case 1:
      case 2:
        return add_transpose(x);
      case 3:
        return keep(g_.node(draw(0, 1) ? "Relu" : "Neg", {x.value}, name()), x.dims);
      case 4:
        return keep(g_.node("Add", {x.value, g_.random(name(), {x.dims[2], draw(0, 1) ? 1 : x.dims[3]})}, name()),
                    x.dims);
      case 5:
        return add_product(x);
      case 6:
        return add_concat(x);
      case 7:
        return add_slice(x);
      default:
        return add_maximum(x);
    }
  }
  void keep(ValueInfo* value, Ints dims) { values_.push_back({value, std::move(dims)}); }

  void add_transpose(const Shaped& x) {
    Ints order = {0, 1, 2, 3}, dims;
    std::shuffle(order.begin(), order.end(), random_);
    for (int64_t axis : order) dims.push_back(x.dims[static_cast<size_t>(axis)]);
    keep(transpose(g_, x.value, name(), order), dims);
  }
  void add_product(const Shaped& x) {
    for (const Shaped& y : values_) {
      if (y.value != x.value && y.dims == x.dims) return keep(g_.node("Mul", {x.value, y.value}, name()), x.dims);
    }
  }
  void add_concat(const Shaped& x) {
    const int64_t axis = draw(-4, 3);
    Ints dims = x.dims;
    dims[static_cast<size_t>((axis + 4) % 4)] *= 2;
    if (dims[static_cast<size_t>((axis + 4) % 4)] > 12) return;
    ValueInfo* other = g_.node("Abs", {x.value}, name());
    keep(g_.node("Concat", {x.value, other}, name(), {{"axis", axis}}), dims);
  }
  void add_slice(const Shaped& x) {
    const int64_t axis = draw(0, 3);
    Ints dims = x.dims;
    if (--dims[static_cast<size_t>(axis)] == 0) return;
    keep(g_.node("Slice", {x.value, g_.ints(name(), {1}), g_.ints(name(), {99}), g_.ints(name(), {axis})}, name()),
         dims);
  }
  void add_maximum(const Shaped& x) {
    const int64_t axis = draw(0, 3);
    ValueInfo* most = g_.node("ReduceMax", {x.value}, name(), {{"axes", Ints{axis}}});
    keep(g_.node("Sub", {x.value, most}, name()), x.dims);
  }

  TestGraph& g_;
  std::mt19937 random_;
  std::vector<Shaped> values_;
  int count_ = 0;
};

TEST(MoveTransposes, RandomGraphsKeepTheirResults) {
  const uint32_t seed = test_seed();
  for (uint32_t round = 0; round < 150; ++round) {
    SCOPED_TRACE(join("seed ", seed + round));
    auto build = [&](TestGraph& g) { RandomLayouts(g, seed + round); };
    PassTest test(build);
    test.after(1);
    test.expect_same_results(0);
  }
}

}  // namespace
}  // namespace ortolan::test
