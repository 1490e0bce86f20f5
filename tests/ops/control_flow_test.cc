// If, Loop, Scan, SequenceMap: models with subgraphs, built and run here.
#include "graph_builder.h"

namespace ortolan::test {
namespace {

const TypeInfo kFloatAny = TypeInfo::of_tensor(ElementType::kFloat);
const TypeInfo kIntScalar = TypeInfo::of_tensor(ElementType::kInt64, Shape{});
const TypeInfo kBoolScalar = TypeInfo::of_tensor(ElementType::kBool, Shape{});

TEST(If, TakesOneBranch) {
  for (bool condition : {true, false}) {
    auto fill = [](GraphBuilder& b) {
      Node* node = b.node("If", {"c"}, {"y"});
      node->set_attribute("then_branch", b.subgraph([](GraphBuilder& s) {
        s.node("Add", {"x", "x"}, {"t"});
        s.output("t");
      }));
      node->set_attribute("else_branch", b.subgraph([](GraphBuilder& s) {
        s.constant("k", tensor_of<float>({3}, {7, 8, 9}));
        s.node("Identity", {"k"}, {"e"});
        s.output("e");
      }));
    };
    auto results = run_model(13, {{"c", scalar(condition)}, {"x", tensor_of<float>({2}, {1, 2})}}, {"y"}, fill);
    const Tensor& result = results[0].tensor();
    EXPECT_TRUE(condition ? near(result, {2}, {2, 4}) : near(result, {3}, {7, 8, 9}));
  }
}

/** x doubles each time and is collected; runs while the sum of trips allows and, with a limit, x stays below it. */
void doubling_loop(GraphBuilder& b, const std::string& trips, const std::string& condition) {
  Node* node = b.node("Loop", {trips, condition, "x"}, {"last", "all"});
  node->set_attribute("body", b.subgraph([](GraphBuilder& s) {
    s.input("i", kIntScalar).input("c", kBoolScalar).input("v", kFloatAny);
    s.node("Add", {"v", "v"}, {"w"});
    s.node("ReduceMax", {"w"}, {"m"})->set_attribute("keepdims", int64_t{0});
    s.node("Less", {"m", "limit"}, {"go"});
    s.output("go").output("w").output("v");
  }));
}

TEST(Loop, StopsByCountOrCondition) {
  struct Case {
    int64_t trips;
    bool condition;
    float limit;
    int64_t ran;
  };
  for (Case c : {Case{3, true, 1e9f, 3}, Case{0, true, 1e9f, 0}, Case{-4, true, 1e9f, 0}, Case{5, false, 1e9f, 0},
                 Case{100, true, 30, 4}}) {
    auto results = run_model(13,
                             {{"n", scalar(c.trips)},
                              {"go", scalar(c.condition)},
                              {"x", tensor_of<float>({2}, {1, 2})},
                              {"limit", scalar(c.limit)}},
                             {"last", "all"}, [](GraphBuilder& b) { doubling_loop(b, "n", "go"); });
    double factor = static_cast<double>(int64_t{1} << c.ran);
    EXPECT_TRUE(near(results[0].tensor(), {2}, {factor, 2 * factor}));
    const Tensor& all = results[1].tensor();
    EXPECT_EQ(all.shape()[0], c.ran);
    if (c.ran > 0) {
      EXPECT_EQ(all.data<float>()[2 * c.ran - 1], factor);
    }
  }
}

TEST(Loop, RunsWithoutCountOrCondition) {
  auto results = run_model(13, {{"x", tensor_of<float>({1}, {1})}, {"limit", scalar(100.0f)}}, {"last"},
                           [](GraphBuilder& b) { doubling_loop(b, "", ""); });
  EXPECT_TRUE(near(results[0].tensor(), {1}, {128}));
}

/** A body without states that hands out what it gets: the iteration's number and the condition. */
void counting_loop(GraphBuilder& b, const std::string& condition, TypeInfo number, TypeInfo flag) {
  Node* node = b.node("Loop", {"n", condition}, {"numbers", "flags"});
  node->set_attribute("body", b.subgraph([&](GraphBuilder& s) {
    s.input("i", number).input("c", flag);
    s.node("Identity", {"c"}, {"go"});
    s.node("Identity", {"i"}, {"number"});
    s.node("Identity", {"c"}, {"flag"});
    s.output("go").output("number").output("flag");
  }));
}

TEST(Loop, NumberAndConditionHaveTheRankThatTheBodyStates) {
  for (size_t rank : {0, 1, 2}) {
    auto one = [&](ElementType type) { return TypeInfo::of_tensor(type, Shape(rank, 1)); };
    auto results = run_model(13, {{"n", scalar(int64_t{3})}}, {"numbers", "flags"}, [&](GraphBuilder& b) {
      counting_loop(b, "", one(ElementType::kInt64), one(ElementType::kBool));
    });
    Shape expected(rank + 1, 1);
    expected[0] = 3;
    EXPECT_EQ(results[0].tensor().shape(), expected);
    EXPECT_EQ(results[0].tensor().data<int64_t>()[2], 2);
    EXPECT_EQ(results[1].tensor().shape(), expected);
  }
}

TEST(Loop, ConditionHasTheShapeOfTheNodes) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1}}) {
    auto results = run_model(13, {{"n", scalar(int64_t{2})}, {"go", scalar(true).reshaped(shape)}}, {"flags"},
                             [](GraphBuilder& b) { counting_loop(b, "go", kIntScalar, kBoolScalar); });
    Shape expected = shape;
    expected.insert(expected.begin(), 2);
    EXPECT_EQ(results[0].tensor().shape(), expected);
  }
}

/** One state that is doubled in length, and one that stays as it is; both are handed out with the number as a vector.
 */
void loop_with_states(GraphBuilder& b) {
  Node* node = b.node("Loop", {"n", "", "grows", "stays"}, {"g", "s", "stays_all", "numbers"});
  node->set_attribute("body", b.subgraph([](GraphBuilder& s) {
    s.input("i", TypeInfo::of_tensor(ElementType::kInt64, Shape{1})).input("c", kBoolScalar);
    s.input("grow", kFloatAny).input("stay", kFloatAny);
    s.node("Concat", {"grow", "grow"}, {"grown"})->set_attribute("axis", int64_t{0});
    s.node("Neg", {"stay"}, {"stayed"});
    s.node("Identity", {"stayed"}, {"slice"});
    s.node("Identity", {"i"}, {"number"});
    s.node("Identity", {"c"}, {"go"});
    s.output("go").output("grown").output("stayed").output("slice").output("number");
  }));
}

TEST(Loop, WithoutIterationsSlicesKeepTheirShape) {
  for (int64_t trips : {0, 3}) {
    auto results = run_model(
        13, {{"n", scalar(trips)}, {"grows", tensor_of<float>({1}, {5})}, {"stays", tensor_of<float>({1, 2}, {1, 2})}},
        {"g", "s", "stays_all", "numbers"}, [](GraphBuilder& b) { loop_with_states(b); });
    EXPECT_EQ(results[0].tensor().shape(), Shape{int64_t{1} << trips});
    EXPECT_EQ(results[1].tensor().shape(), (Shape{1, 2}));
    EXPECT_EQ(results[2].tensor().shape(), (Shape{trips, 1, 2}));
    EXPECT_EQ(results[3].tensor().shape(), (Shape{trips, 1}));
  }
}

TEST(Loop, TheConditionsNameMayBeEmptyAtTheEnd) {
  auto results = run_model(13, {{"n", scalar(int64_t{4})}}, {"numbers"},
                           [](GraphBuilder& b) { counting_loop(b, "", kIntScalar, kBoolScalar); });
  EXPECT_EQ(results[0].tensor().shape(), Shape{4});
  std::string text = error_of([] {
    run_model(13, {{"n", scalar(int64_t{4})}}, {"numbers"}, [](GraphBuilder& b) {
      Node* node = b.node("Loop", {"n"}, {"numbers"});
      node->set_attribute("body", b.subgraph([](GraphBuilder& s) {
        s.input("i", kIntScalar).input("c", kBoolScalar);
        s.node("Identity", {"c"}, {"go"});
        s.node("Identity", {"i"}, {"number"});
        s.output("go").output("number");
      }));
    });
  });
  EXPECT_NE(text.find("has 1 inputs, but 'Loop' of opset 13 takes 2 or more"), std::string::npos) << text;
}

TEST(Loop, CarriesSequencesAndGrowingTensors) {
  auto results =
      run_model(13, {{"n", scalar(int64_t{3})}, {"x", tensor_of<float>({1}, {5})}}, {"s", "g"}, [](GraphBuilder& b) {
        b.node("SequenceEmpty", {}, {"empty"});
        Node* node = b.node("Loop", {"n", "", "empty", "x"}, {"s", "g"});
        node->set_attribute("body", b.subgraph([](GraphBuilder& s) {
          s.input("i", kIntScalar).input("c", kBoolScalar).input("seq").input("v", kFloatAny);
          s.node("SequenceInsert", {"seq", "v"}, {"more"});
          s.node("Concat", {"v", "x"}, {"longer"})->set_attribute("axis", int64_t{0});
          s.node("Identity", {"c"}, {"go"});
          s.output("go").output("more").output("longer");
        }));
      });
  ASSERT_EQ(results[0].sequence().items().size(), 3u);
  EXPECT_TRUE(near(results[0].sequence().items()[2].tensor(), {3}, {5, 5, 5}));
  EXPECT_EQ(results[1].tensor().shape(), Shape{4});
}

TEST(Loop, TellsWhatIsWrong) {
  auto growing = [](GraphBuilder& b) {
    Node* node = b.node("Loop", {"n", "", "x"}, {"last", "all"});
    node->set_attribute("body", b.subgraph([](GraphBuilder& s) {
      s.input("i", kIntScalar).input("c", kBoolScalar).input("v", kFloatAny);
      s.node("Concat", {"v", "v"}, {"w"})->set_attribute("axis", int64_t{0});
      s.node("Identity", {"c"}, {"go"});
      s.output("go").output("w").output("w");
    }));
  };
  std::string text = error_of([&] {
    run_model(13, {{"n", scalar(int64_t{3})}, {"x", tensor_of<float>({1}, {1})}}, {"all"}, growing);
  });
  EXPECT_NE(text.find("all iterations must agree"), std::string::npos) << text;
  text = error_of([] {
    run_model(13, {{"n", scalar(int64_t{3})}, {"x", tensor_of<float>({1}, {1})}}, {"y"}, [](GraphBuilder& b) {
      b.node("Loop", {"n", "", "x"}, {"y"})->set_attribute("body", b.subgraph([](GraphBuilder& s) {
        s.input("i", kIntScalar).input("c", kBoolScalar);
        s.node("Identity", {"c"}, {"go"});
        s.output("go");
      }));
    });
  });
  EXPECT_NE(text.find("the body has 1 outputs, but needs the condition and 1 states"), std::string::npos);
}

/** Running sums of the slices of x. */
void sums(GraphBuilder& b, Names inputs, std::vector<std::pair<std::string, std::vector<int64_t>>> lists) {
  Node* node = b.node("Scan", inputs, {"last", "all"});
  node->set_attribute("num_scan_inputs", int64_t{1});
  for (auto& [name, list] : lists) node->set_attribute(name, list);
  node->set_attribute("body", b.subgraph([](GraphBuilder& s) {
    s.input("sum", kFloatAny).input("slice", kFloatAny);
    s.node("Add", {"sum", "slice"}, {"next"});
    s.node("Identity", {"next"}, {"seen"});
    s.output("next").output("seen");
  }));
}

TEST(Scan, WalksAxesInBothDirections) {
  Tensor zero = tensor_of<float>({2}, {0, 0}), x = tensor_of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  auto scan = [&](const Tensor& input, std::vector<std::pair<std::string, std::vector<int64_t>>> lists) {
    return run_model(9, {{"z", zero}, {"x", input}}, {"last", "all"}, [&](GraphBuilder& b) {
      sums(b, {"z", "x"}, lists);
    });
  };
  auto results = scan(x, {});
  EXPECT_TRUE(near(results[0].tensor(), {2}, {9, 12}));
  EXPECT_TRUE(near(results[1].tensor(), {3, 2}, {1, 2, 4, 6, 9, 12}));
  EXPECT_TRUE(near(scan(x, {{"scan_input_directions", {1}}})[1].tensor(), {3, 2}, {5, 6, 8, 10, 9, 12}));
  EXPECT_TRUE(near(scan(x, {{"scan_output_directions", {1}}})[1].tensor(), {3, 2}, {9, 12, 4, 6, 1, 2}));
  Tensor across = tensor_of<float>({2, 3}, {1, 3, 5, 2, 4, 6});
  auto turned = scan(across, {{"scan_input_axes", {-1}}, {"scan_output_axes", {1}}});
  EXPECT_TRUE(near(turned[1].tensor(), {2, 3}, {1, 4, 9, 2, 6, 12}));
  EXPECT_TRUE(near(scan(tensor_of<float>({0, 2}, {}), {})[0].tensor(), {2}, {0, 0}));
  EXPECT_NE(error_of([&] {
              scan(x, {{"scan_input_axes", {2}}});
            }).find("scan axis 2 is outside [-2, 1] for rank 2"),
            std::string::npos);
}

TEST(Scan, BatchesWithLengths) {
  Tensor zero = tensor_of<float>({2, 1}, {0, 100}), x = tensor_of<float>({2, 3, 1}, {1, 2, 3, 4, 5, 6});
  auto fill = [](GraphBuilder& b) { sums(b, {"n", "z", "x"}, {}); };
  auto results = run_model(8, {{"n", tensor_of<int64_t>({2}, {3, 1})}, {"z", zero}, {"x", x}}, {"last", "all"}, fill);
  EXPECT_TRUE(near(results[0].tensor(), {2, 1}, {6, 104}));
  EXPECT_TRUE(near(results[1].tensor(), {2, 3, 1}, {1, 3, 6, 104, 0, 0}));
  EXPECT_NE(error_of([&] {
              run_model(8, {{"n", tensor_of<int64_t>({2}, {4, 1})}, {"z", zero}, {"x", x}}, {"all"}, fill);
            }).find("sequence length 4 is outside [0, 3]"),
            std::string::npos);
}

TEST(SequenceMap, RunsTheBodyOnEachElement) {
  Value sequence = std::make_shared<Sequence>(
      ElementType::kFloat, std::vector<Value>{tensor_of<float>({1}, {1}), tensor_of<float>({2}, {2, 3})});
  auto results = run_model(17, {{"s", sequence}, {"k", scalar(10.0f)}}, {"y"}, [](GraphBuilder& b) {
    b.node("SequenceMap", {"s", "k"}, {"y"})->set_attribute("body", b.subgraph([](GraphBuilder& s) {
      s.input("a", kFloatAny).input("b", kFloatAny);
      s.node("Mul", {"a", "b"}, {"p"});
      s.output("p");
    }));
  });
  ASSERT_EQ(results[0].sequence().items().size(), 2u);
  EXPECT_TRUE(near(results[0].sequence().items()[1].tensor(), {2}, {20, 30}));
}

}  // namespace
}  // namespace ortolan::test
