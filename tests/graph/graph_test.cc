// Graphs: edits keep producers and consumers right, order, sweeps, captured values, and lifetimes of subgraphs.
#include "graph/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "../thrown_text.h"

namespace ortolan::graph {
namespace {

std::shared_ptr<ModelContext> context_with_opset(int version) {
  auto context = std::make_shared<ModelContext>();
  context->opsets[""] = version;
  return context;
}

struct GraphTest : ::testing::Test {
  Graph graph{context_with_opset(17)};

  ValueInfo* input(const char* name) {
    ValueInfo* value = graph.add_value(name, TypeInfo::of_tensor(ElementType::kFloat));
    value->is_input = true;
    graph.inputs.push_back(value);
    return value;
  }
  /** A node of one output called `name` + "_out". */
  Node* node(const char* name, std::vector<ValueInfo*> inputs, const char* op = "Add") {
    return graph.add_node(name, op, "", std::move(inputs), {graph.add_value(std::string(name) + "_out")});
  }
  std::vector<std::string> order() const {
    std::vector<std::string> names;
    for (const auto& node : graph.nodes()) names.push_back(node->name);
    return names;
  }
};

TEST_F(GraphTest, UsesAreRemovedWhereverTheyStand) {
  ValueInfo *x = input("x"), *y = input("y");
  Node *a = node("a", {x, x}), *b = node("b", {x}), *c = node("c", {y, x});
  a->set_input(0, nullptr);
  EXPECT_EQ(x->consumers, (std::vector<Node*>{a, b, c}));
  EXPECT_EQ(x->consumers.begin().input(), 1u);
  b->set_input(0, y);
  EXPECT_EQ(x->consumers, (std::vector<Node*>{a, c}));
  EXPECT_EQ(y->consumers, (std::vector<Node*>{c, b}));
  graph.replace_uses(x, y);
  EXPECT_EQ(y->consumers, (std::vector<Node*>{c, b, a, c}));
  EXPECT_EQ(c->inputs(), (std::vector<ValueInfo*>{y, y}));
  EXPECT_TRUE(x->consumers.empty());
  graph.remove_nodes(std::vector<Node*>{c, a});
  EXPECT_EQ(y->consumers, std::vector<Node*>{b});
  EXPECT_EQ(order(), std::vector<std::string>{"b"});
  graph.mark_output(b->output(0));
  EXPECT_TRUE(test::throws("is still used", [&] { graph.remove_nodes(std::vector<Node*>{b}); }));
}

TEST_F(GraphTest, UsesMayChangeWhileTheyAreWalked) {
  ValueInfo *x = input("x"), *y = input("y");
  std::vector<Node*> even, odd;
  for (int i = 0; i < 10; ++i) (i % 2 == 0 ? even : odd).push_back(node(("n" + std::to_string(i)).c_str(), {x}));
  for (auto use = x->consumers.begin(); use != x->consumers.end();) {
    auto at = use++;
    if (std::ranges::find(even, *at) != even.end()) (*at)->set_input(at.input(), y);
  }
  EXPECT_EQ(x->consumers, odd);
  EXPECT_EQ(y->consumers, even);
}

TEST_F(GraphTest, ManyAttributesAreFoundAndReplaced) {
  Node* n = node("n", {input("x")});
  for (int64_t i = 0; i < 100; ++i) n->set_attribute("a" + std::to_string(i), i);
  n->set_attribute("a50", int64_t{-1});
  n->remove_attribute("a7");
  EXPECT_EQ(n->attributes().size(), 99u);
  EXPECT_EQ(n->find_attribute("a7"), nullptr);
  EXPECT_EQ(n->int_of("a50"), -1);
  for (int64_t i : {0, 6, 8, 15, 16, 99}) EXPECT_EQ(n->int_of("a" + std::to_string(i)), i);
}

TEST_F(GraphTest, NewNamesStayShort) {
  std::string longer(1000, 'n');
  graph.add_value(longer);
  EXPECT_LE(graph.unique_name(longer).size(), 160u);
  std::string words;  // of characters of two bytes
  for (int i = 0; i < 200; ++i) words += i == 0 ? "x" : "\u00e9";
  EXPECT_EQ(graph.unique_name(words), words.substr(0, 127));
}

TEST_F(GraphTest, OutputsKnowTheirPlace) {
  ValueInfo *a = graph.add_value("a"), *b = graph.add_value("b"), *c = graph.add_value("c");
  Node* split = graph.add_node("s", "Split", "", {input("x")}, {a, b});
  EXPECT_EQ(b->producer_output, 1u);
  split->set_output(0, nullptr);
  split->set_output(0, c);
  EXPECT_EQ(c->producer_output, 0u);
}

TEST_F(GraphTest, EditsKeepConsumers) {
  ValueInfo* x = input("x");
  ValueInfo* y = input("y");
  Node* both = node("both", {x, x});
  EXPECT_EQ(both->opset, 17);
  EXPECT_EQ(x->consumers, (std::vector<Node*>{both, both}));
  both->set_input(1, y);
  EXPECT_EQ(x->consumers, std::vector<Node*>{both});
  EXPECT_EQ(y->consumers, std::vector<Node*>{both});
  both->set_input(2, y);
  EXPECT_EQ(both->inputs().size(), 3u);
  graph.replace_uses(y, x);
  EXPECT_EQ(both->inputs(), (std::vector<ValueInfo*>{x, x, x}));
  EXPECT_EQ(x->consumers.size(), 3u);
  EXPECT_TRUE(y->consumers.empty());
  graph.remove_node(both);
  EXPECT_TRUE(x->consumers.empty());
  ValueInfo* left = graph.find("both_out");
  ASSERT_NE(left, nullptr);
  EXPECT_EQ(left->producer, nullptr);
  graph.remove_value(left);
  EXPECT_EQ(graph.find("both_out"), nullptr);
}

TEST_F(GraphTest, RefusesWrongEdits) {
  ValueInfo* x = input("x");
  Node* first = node("first", {x}, "Relu");
  node("second", {first->output(0)}, "Relu");
  EXPECT_EQ(test::error_of([&] { graph.add_value("x"); }),
            "the name 'x' is used for two values of graph ''; give each its own");
  EXPECT_EQ(test::error_of([&] { graph.remove_node(first); }),
            "node 'first' (Relu) cannot be removed: its output 'first_out' is still used");
  EXPECT_TRUE(test::throws("value 'x' cannot be its output", [&] { graph.add_node("third", "Relu", "", {}, {x}); }));
  ValueInfo* fresh = graph.add_value("fresh");
  EXPECT_TRUE(test::throws("value 'fresh' cannot be its output", [&] {
    graph.add_node("fourth", "Split", "", {x}, {fresh, fresh});
  }));
  EXPECT_EQ(fresh->producer, nullptr);
  EXPECT_EQ(x->consumers.size(), 1u);
}

TEST_F(GraphTest, AttributesAreCheckedByKind) {
  Node* one = node("one", {}, "Gather");
  one->set_attribute("axis", int64_t{3});
  one->set_attribute("mode", std::string("fast"));
  one->set_attribute("axis", int64_t{4});
  EXPECT_EQ(one->attributes().size(), 2u);
  EXPECT_EQ(one->int_or("axis", 0), 4);
  EXPECT_EQ(one->int_or("none", 7), 7);
  EXPECT_EQ(one->string_or("mode", ""), "fast");
  EXPECT_TRUE(one->ints("none").empty());
  EXPECT_EQ(test::error_of([&] { one->int_of("mode"); }),
            "node 'one' (Gather): attribute 'mode' is a string, but must be an int");
  EXPECT_EQ(test::error_of([&] { one->ints("axis"); }),
            "node 'one' (Gather): attribute 'axis' is an int, but must be a list of ints");
  EXPECT_EQ(test::error_of([&] { one->tensor_of("value"); }),
            "node 'one' (Gather): attribute 'value' is missing; the operator needs it, a tensor");
}

TEST_F(GraphTest, SortIsStableAndFindsCycles) {
  ValueInfo* x = input("x");
  ValueInfo* late = graph.add_value("late");
  node("a", {x});
  node("needs_late", {late});
  node("b", {x});
  graph.add_node("makes_late", "Relu", "", {x}, {late});
  node("c", {x});
  graph.sort();
  std::vector<std::string> sorted{"a", "makes_late", "needs_late", "b", "c"};
  EXPECT_EQ(order(), sorted);
  graph.sort();
  EXPECT_EQ(order(), sorted);
  late->producer->set_input(0, graph.find("needs_late_out"));
  EXPECT_TRUE(test::throws("depends on its own output: the graph has a cycle", [&] { graph.sort(); }));
  EXPECT_EQ(graph.nodes().size(), 5u);
}

TEST_F(GraphTest, SweepsWhatNoOutputNeeds) {
  ValueInfo* x = input("x");
  graph.add_initializer("unused", scalar(1.0f));
  ValueInfo* used = graph.add_initializer("used", scalar(1.0f));
  Node* kept = node("kept", {x, used});
  Node* dead = node("dead", {kept->output(0)});
  node("deader", {dead->output(0), used});
  graph.mark_output(kept->output(0));
  EXPECT_TRUE(graph.remove_unreachable());
  EXPECT_EQ(order(), std::vector<std::string>{"kept"});
  EXPECT_EQ(graph.find("unused"), nullptr);
  EXPECT_EQ(used->consumers, std::vector<Node*>{kept});
  EXPECT_TRUE(kept->output(0)->consumers.empty());
  EXPECT_FALSE(graph.remove_unreachable());
}

/** An If whose branch adds `outside` to itself. */
Node* add_branch(Graph& graph, ValueInfo* condition, ValueInfo* outside, const char* name) {
  auto branch = std::make_shared<Graph>(graph.shared_context(), &graph);
  ValueInfo* sum = branch->add_value("sum");
  branch->add_node("inner", "Add", "", {outside, outside}, {sum});
  branch->mark_output(sum);
  Node* node = graph.add_node(name, "If", "", {condition}, {graph.add_value(std::string(name) + "_out")});
  node->set_attribute("then_branch", std::move(branch));
  return node;
}

TEST_F(GraphTest, SubgraphsCaptureAndSort) {
  ValueInfo* condition = input("condition");
  ValueInfo* made = graph.add_value("made");
  Node* branch = add_branch(graph, condition, made, "branch");
  graph.add_node("maker", "Relu", "", {condition}, {made});
  EXPECT_EQ(branch->captured(), std::vector<ValueInfo*>{made});
  graph.sort();
  EXPECT_EQ(order(), (std::vector<std::string>{"maker", "branch"}));
  EXPECT_EQ(branch->graph_of("then_branch").find_visible("made"), made);
  graph.mark_output(branch->output(0));
  EXPECT_FALSE(graph.remove_unreachable());
  EXPECT_EQ(made->consumers.size(), 2u);
  branch->remove_attribute("then_branch");
  EXPECT_TRUE(made->consumers.empty());
  EXPECT_TRUE(graph.remove_unreachable());
  EXPECT_EQ(order(), std::vector<std::string>{"branch"});
}

TEST(Lifetime, SubgraphMayOutliveTheGraphAroundIt) {
  std::shared_ptr<Graph> kept;
  {
    Graph graph(context_with_opset(17));
    ValueInfo* x = graph.add_value("x");
    Node* branch = add_branch(graph, x, x, "branch");
    kept = std::get<std::shared_ptr<Graph>>(branch->find_attribute("then_branch")->value);
  }
  EXPECT_EQ(kept->outer(), nullptr);
  EXPECT_EQ(kept->nodes()[0]->input(0), nullptr);
  kept.reset();
}

TEST(Lifetime, LargeGraphsAreFast) {
  auto start = std::chrono::steady_clock::now();
  {
    Graph graph(context_with_opset(17));
    ValueInfo* shared = graph.add_value("shared");
    ValueInfo* last = shared;
    for (int i = 0; i < 100000; ++i) {
      ValueInfo* next = graph.add_value(graph.unique_name("v"));
      graph.add_node("", "Add", "", {last, shared}, {next});
      last = next;
    }
    graph.mark_output(last);
    graph.sort();
    graph.remove_unreachable();
    EXPECT_EQ(graph.nodes().size(), 100000u);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(Types, DimsAndNames) {
  SymbolTable symbols;
  Dim n = symbols.named("N");
  EXPECT_TRUE(n.same_as(symbols.named("N")));
  EXPECT_FALSE(n.same_as(symbols.named("M")));
  EXPECT_EQ(symbols.name_of(n), "N");
  EXPECT_TRUE(subtract(n, n).is(0));
  EXPECT_TRUE(multiply(n, 0).is(0));
  EXPECT_EQ(multiply(INT64_MAX, 2), Dim{});
  EXPECT_EQ(add(n, 0), n);
  EXPECT_EQ(join(SymbolicShape(DimVector{2, n, Dim{}})), "[2,d0,?]");
  EXPECT_EQ(join(TypeInfo::of_map(ElementType::kString, TypeInfo::of_tensor(ElementType::kFloat))),
            "map(string,tensor(float))");
  EXPECT_EQ(join(TypeInfo::of_optional(TypeInfo::of_sequence(TypeInfo::of_tensor(ElementType::kInt64)))),
            "optional(seq(tensor(int64)))");
}

}  // namespace
}  // namespace ortolan::graph
