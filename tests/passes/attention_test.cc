// Attention found in its parts, with and without the transpositions that split its rows into heads.
#include <limits>

#include "pass_test.h"

namespace ortolan::test {
namespace {

constexpr int64_t kHeads = 2, kSize = 4;
constexpr const char* kOwn = "ortolan.Attention";

/** Nodes of one attention, named with a prefix. */
class Attention {
 public:
  Attention(TestGraph& graph, std::string name) : g(graph), name_(std::move(name)) {}

  ValueInfo* split(ValueInfo* rows, const std::string& part, std::vector<int64_t> perm = {0, 2, 1, 3}) {
    ValueInfo* apart =
        g.node("Reshape", {rows, g.ints(name_ + part + "_split", {0, 0, kHeads, kSize})}, name_ + part + "_apart");
    return g.node("Transpose", {apart}, name_ + part + "_heads", {{"perm", std::move(perm)}});
  }
  ValueInfo* join(ValueInfo* heads) {
    ValueInfo* rows = g.node("Transpose", {heads}, name_ + "_rows", {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
    return g.node("Reshape", {rows, g.ints(name_ + "_join", {0, 0, kHeads * kSize})}, name_ + "_joined");
  }
  ValueInfo* transposed(ValueInfo* keys) {
    return g.node("Transpose", {keys}, name_ + "_kt", {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  }
  /** softmax(q * kt / 2 + mask) * v */
  ValueInfo* mix(ValueInfo* q, ValueInfo* kt, ValueInfo* v, ValueInfo* mask = nullptr) {
    ValueInfo* scores = g.node("MatMul", {q, kt}, name_ + "_scores");
    scores = g.node("Div", {scores, g.scalar(name_ + "_two", 2)}, name_ + "_scaled");
    if (mask) scores = g.node("Add", {scores, mask}, name_ + "_masked");
    return g.node("MatMul", {g.node("Softmax", {scores}, name_ + "_weights", {{"axis", int64_t{-1}}}), v}, name_);
  }

 private:
  TestGraph& g;
  std::string name_;
};

void expect_after(FunctionRef<void(TestGraph&)> build, const Counts& counts, int opset = 17) {
  PassTest test(build, opset);
  EXPECT_EQ(test.after(99), counts);
  test.expect_same_results(2e-5);
}

TEST(FusedAttention, ReadsRowsWhereTheyLie) {
  for (bool masked : {false, true}) {
    auto build = [&](TestGraph& g) {
      Attention a(g, "a");
      DimVector rows = {3, 5, kHeads * kSize};
      ValueInfo *q = a.split(g.input("q", rows), "_q"), *v = a.split(g.input("v", rows), "_v");
      ValueInfo* kt = a.split(g.input("k", rows), "_k", {0, 2, 3, 1});
      g.output(a.join(a.mix(q, kt, v, masked ? g.input("mask", {3, 1, 1, 5}) : nullptr)));
    };
    expect_after(build, {{kOwn, 1}}, masked ? 14 : 11);
  }
}

TEST(FusedAttention, OfHeadsThatAreApart) {
  auto build = [](TestGraph& g) {
    Attention a(g, "a"), b(g, "b");
    ValueInfo *k = g.input("k", {2, 3, 5, 4}), *v = g.input("v", {2, 3, 5, 6});
    g.output(a.mix(g.input("q", {2, 3, 7, 4}), a.transposed(k), v, g.input("mask", {7, 5})));
    ValueInfo* rows = g.input("rows", {2, 5, kHeads * kSize});
    ValueInfo* q = g.node("Mul", {b.split(rows, "_q"), g.scalar("factor", 0.7f)}, "b_q_scaled");
    ValueInfo* k_heads = g.node("Relu", {b.split(rows, "_k")}, "b_k_positive");
    ValueInfo* kt = g.node("Mul", {b.transposed(k_heads), g.scalar("other", 0.9f)}, "b_kt_scaled");
    g.output(b.mix(q, kt, g.input("b_v", {2, kHeads, 5, 3})));
  };
  expect_after(build, {{kOwn, 2}, {"Relu", 1}, {"Transpose", 1}, {"Reshape", 1}});
}

TEST(FusedAttention, GivesItsRangeToAQuantizer) {
  for (int64_t columns : {1, 5}) {
    auto build = [&](TestGraph& g) {
      Attention a(g, "a");
      ValueInfo *k = g.input("k", {2, 3, 5, 4}), *v = g.input("v", {2, 3, 5, 100});
      ValueInfo* y = a.mix(g.input("q", {2, 3, 7, 4}), a.transposed(k), v, g.input("mask", {7, columns}));
      std::vector<ValueInfo*> codes;
      for (const char* part : {"codes", "size", "zero"}) codes.push_back(g.graph().add_value(part));
      g.graph().add_node("quantizer", "DynamicQuantizeLinear", "", {y}, codes);
      g.output(codes[1]);
      g.output(codes[2]);
    };
    expect_after(build, {{kOwn, 1}, {"ortolan.DynamicQuantizeLinear", 1}});
  }
}

TEST(FusedAttention, OfNothingButMaskedKeysIsNan) {
  auto build = [](TestGraph& g) {
    Attention a(g, "a");
    float low = -std::numeric_limits<float>::infinity();
    ValueInfo* mask = g.floats("mask", {3, 2}, {0, low, low, low, 1, 2});
    ValueInfo* k = g.input("k", {1, 1, 2, 4});
    g.output(a.mix(g.input("q", {1, 1, 3, 4}), a.transposed(k), g.input("v", {1, 1, 2, 4}), mask));
  };
  PassTest test(build);
  EXPECT_EQ(test.after(99), (Counts{{kOwn, 1}}));
  Tensor y = test.run(RewriteLevel::kAll)[0].tensor();
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(std::isnan(y.data<float>()[i]), i / 4 == 1) << i;
}

TEST(FusedAttention, StaysWhatItIsOtherwise) {
  auto build = [](TestGraph& g) {
    ValueInfo *k = g.input("k", {2, 3, 5, 4}), *v = g.input("v", {2, 3, 5, 6}), *q = g.input("q", {2, 3, 7, 4});
    Attention broadcast(g, "broadcast"), wide(g, "wide"), used(g, "used");
    g.output(broadcast.mix(q, broadcast.transposed(g.input("one", {1, 3, 5, 4})), v));
    g.output(wide.mix(q, wide.transposed(k), v, g.input("mask", {4, 2, 3, 7, 5})));
    ValueInfo* y = used.mix(q, used.transposed(g.input("k2", {2, 3, 5, 4})), v);
    g.output(y->producer->input(0));
    g.output(y);
  };
  PassTest test(build);
  EXPECT_EQ(test.after(99).count(kOwn), 0u);
  test.expect_same_results(2e-5);
}

}  // namespace
}  // namespace ortolan::test
