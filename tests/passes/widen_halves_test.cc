// Operators on 16-bit floats that are computed in float from one to the next, and those that are left as they are.
#include "pass_test.h"

namespace ortolan::test {
namespace {

using base::BFloat16;
using base::Half;

template <class T>
ValueInfo* weights(TestGraph& g, const std::string& name, Shape shape) {
  return g.constant(name, random_tensor<T>(std::move(shape), static_cast<uint32_t>(name.size())));
}

/** Two convolutions with pooling between them. */
template <class T>
void build_network(TestGraph& g) {
  ValueInfo* x = g.input("x", {1, 3, 12, 12}, kTypeOf<T>);
  ValueInfo* a = g.node("Conv", {x, weights<T>(g, "first", {8, 3, 3, 3}), weights<T>(g, "bias", {8})}, "a");
  ValueInfo* p = g.node("MaxPool", {g.node("Relu", {a}, "r")}, "p", {{"kernel_shape", std::vector<int64_t>{2, 2}}});
  ValueInfo* b = g.node("Conv", {p, weights<T>(g, "second", {4, 8, 1, 1})}, "b");
  g.output(g.node("Reshape", {g.node("Sigmoid", {b}, "s"), g.ints("shape", {1, 324})}, "y"));
}

/** The element types between nodes, inputs and outputs. */
std::map<ElementType, int> types_after(const PassTest& test, int level) {
  std::map<ElementType, int> counts;
  auto model = test.rewritten(level);
  for (const auto& value : model->graph->values()) {
    if (!value->constant) ++counts[value->type.element];
  }
  return counts;
}

TEST(WidenHalves, ConnectedOperatorsComputeInFloat) {
  auto build = [](TestGraph& g) { build_network<Half>(g); };
  PassTest test(build);
  EXPECT_EQ(test.after(2).at("Cast"), 2);  // of the input, and before the Reshape
  EXPECT_EQ(types_after(test, 2)[ElementType::kFloat16], 3);
  EXPECT_EQ(types_after(test, 1).count(ElementType::kFloat), 0u);
  test.expect_same_results(4e-3);
}

TEST(WidenHalves, BFloat16Too) {
  auto build = [](TestGraph& g) { build_network<BFloat16>(g); };
  PassTest test(build);
  EXPECT_EQ(test.after(2).at("Cast"), 2);
  test.expect_same_results(4e-2);
}

TEST(WidenHalves, ALoneOperatorStays) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = g.input("x", {2, 30}, ElementType::kFloat16);
    g.output(g.node("MatMul", {x, weights<Half>(g, "w", {30, 20})}, "y"));
  };
  PassTest test(build);
  EXPECT_EQ(test.after(2), (Counts{{"MatMul", 1}}));
}

TEST(WidenHalves, ValuesThatOthersUseKeepTheirType) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = g.input("x", {4, 30}, ElementType::kFloat16);
    ValueInfo* a = g.node("MatMul", {x, weights<Half>(g, "w", {30, 90})}, "a");
    ValueInfo* b = g.node("Tanh", {g.node("Exp", {g.node("Neg", {a}, "n")}, "e")}, "b");
    ValueInfo* c = g.node("MatMul", {b, weights<Half>(g, "ww", {90, 20})}, "c");
    g.output(c);
    g.output(g.node("ReduceProd", {c}, "product"));  // no operator that is widened
  };
  PassTest test(build);
  EXPECT_EQ(test.after(2).at("Cast"), 2);
  auto model = test.rewritten(2);
  EXPECT_EQ(model->graph->find("c")->type.element, ElementType::kFloat16);
  EXPECT_EQ(model->graph->find("product")->type.element, ElementType::kFloat16);
  test.expect_same_results(1e-2);
}

TEST(WidenHalves, CachesAreJoinedAsTheyAre) {
  auto build = [](TestGraph& g) {
    ValueInfo* past = g.input("past", {1, 2, 40, 8}, ElementType::kFloat16);
    ValueInfo* x = g.input("x", {1, 2, 3, 8}, ElementType::kFloat16);
    ValueInfo* scaled = g.node("Tanh", {g.node("Mul", {x, weights<Half>(g, "w", {8})}, "m")}, "t");
    ValueInfo* keys = g.node("Concat", {past, g.node("Neg", {scaled}, "n")}, "keys", {{"axis", int64_t{2}}});
    g.output(keys);
  };
  PassTest test(build, 13);
  auto model = test.rewritten(2);
  EXPECT_EQ(model->graph->find("keys")->type.element, ElementType::kFloat16);
  const auto& users = model->graph->find("past")->consumers;
  ASSERT_EQ(users.size(), 1u);
  EXPECT_EQ((*users.begin())->op_type, "Concat");
}

}  // namespace
}  // namespace ortolan::test
