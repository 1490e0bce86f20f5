// What the reader makes of names that a model defines twice: Constants, initializers and functions may, others not.
#include <gtest/gtest.h>

#include "graph/constant_value.h"
#include "model_builder.h"

namespace ortolan::onnx {
namespace {

std::string raw(std::initializer_list<float> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(float)};
}

WireWriter floats(std::string_view name, std::initializer_list<float> values) {
  return raw_tensor(name, {static_cast<int64_t>(values.size())}, raw(values));
}

NodeText constant(WireWriter tensor) {
  WireWriter value;
  value.text(1, "value");
  value.message(5, std::move(tensor));
  value.integer(20, 4);
  return std::move(NodeText("Constant", {}, {"c"}).attribute(std::move(value)));
}

GraphText with_reader_of_c() { return GraphText().input("x").node({"Add", {"x", "c"}, {"y"}}).output("y"); }

/** What 'c' holds in the model that `bytes` are, and how many Constants are left in it. */
std::pair<std::vector<float>, size_t> content(const std::string& bytes) {
  auto model = read(bytes);
  const ValueInfo* c = model->graph->find("c");
  size_t constants = 0;
  for (const auto& node : model->graph->nodes()) constants += node->op_type == "Constant";
  Tensor value = c->constant ? *c->constant : graph::constant_value(*c->producer);
  return {{value.span<float>().begin(), value.span<float>().end()}, constants};
}

using Content = std::pair<std::vector<float>, size_t>;

TEST(RepeatedNames, TheLastConstantCounts) {
  EXPECT_EQ(content(ModelText(with_reader_of_c()
                                  .node(constant(floats("", {1, 2})))
                                  .node(constant(floats("", {3, 4})))
                                  .node(constant(floats("", {5, 6}))))
                        .bytes()),
            (Content{{5, 6}, 1}));
  NodeText single("Constant", {}, {"c"});
  WireWriter value;
  value.text(1, "value_float");
  value.real(2, 7.0f);
  value.integer(20, 1);
  single.attribute(std::move(value));
  EXPECT_EQ(
      content(
          ModelText(with_reader_of_c().node(std::move(single)).node(constant(raw_tensor("", {}, raw({8}))))).bytes()),
      (Content{{8}, 1}));
}

TEST(RepeatedNames, AConstantCountsBeforeAnInitializer) {
  EXPECT_EQ(
      content(
          ModelText(with_reader_of_c().initializer(floats("c", {1, 2})).node(constant(floats("", {3, 4})))).bytes()),
      (Content{{3, 4}, 0}));
}

TEST(RepeatedNames, AConstantIsTheDefaultOfAnInput) {
  for (int64_t ir : {3, 8}) {
    std::string bytes =
        ModelText(with_reader_of_c().add(11, GraphText::vector("c", 2)).node(constant(floats("", {3, 4}))), ir).bytes();
    EXPECT_EQ(content(bytes), (Content{{3, 4}, 0}));
    auto model = read(bytes);
    EXPECT_EQ(model->graph->find("c")->is_input, ir == 8);
    EXPECT_EQ(model->graph->inputs.size(), ir == 8 ? 2u : 1u);
  }
  EXPECT_EQ(content(ModelText(with_reader_of_c()
                                  .add(11, GraphText::vector("c", 2))
                                  .initializer(floats("c", {1, 2}))
                                  .node(constant(floats("", {3, 4}))))
                        .bytes()),
            (Content{{3, 4}, 0}));
}

TEST(RepeatedNames, TheLastInitializerCountsAndSparseOnesCountMost) {
  EXPECT_EQ(content(ModelText(with_reader_of_c()
                                  .initializer(floats("c", {1, 2}))
                                  .initializer(floats("c", {3, 4}))
                                  .initializer(floats("c", {5, 6})))
                        .bytes()),
            (Content{{5, 6}, 0}));
  WireWriter sparse, indices = raw_tensor("", {1}, "", 7);
  indices.packed(7, std::vector<int64_t>{1});
  sparse.message(1, floats("c", {9}));
  sparse.message(2, std::move(indices));
  sparse.packed(3, std::vector<int64_t>{2});
  EXPECT_EQ(content(ModelText(with_reader_of_c().initializer(floats("c", {1, 2})).add(15, std::move(sparse))).bytes()),
            (Content{{0, 9}, 0}));
}

TEST(RepeatedNames, ShapesAndTypesMustAgree) {
  auto refused = [](GraphText graph, const char* part) {
    Refusal seen = refusal(ModelText(std::move(graph)).bytes());
    EXPECT_EQ(seen.code, ErrorCode::kInvalidGraph);
    EXPECT_NE(seen.text.find(part), std::string::npos) << seen.text;
  };
  auto ids = [](std::string_view name) { return raw_tensor(name, {1}, std::string(8, '\1'), 7); };
  refused(with_reader_of_c().node(constant(floats("", {1, 2}))).node(constant(floats("", {1}))),
          "'c' is defined twice, as float [2] and as float [1]");
  refused(with_reader_of_c().node(constant(floats("", {1}))).node(constant(ids(""))),
          "'c' is defined twice, as float [1] and as int64 [1]");
  refused(with_reader_of_c().initializer(floats("c", {1, 2})).node(constant(floats("", {1}))),
          "'c' is defined twice, as float [2] and as float [1]");
  refused(with_reader_of_c().initializer(floats("c", {1})).initializer(ids("c")),
          "'c' is defined twice, as float [1] and as int64 [1]");
  refused(with_reader_of_c().add(11, GraphText::vector("c", 3)).node(constant(floats("", {1}))),
          "'c' is defined twice, as float [3] and as float [1]");
}

TEST(RepeatedNames, ConstantsAndOtherNodesDoNotMix) {
  const char* part = "the name 'c' is defined twice in graph 'g'";
  auto refused = [&](GraphText graph) {
    Refusal seen = refusal(ModelText(std::move(graph)).bytes());
    EXPECT_EQ(seen.code, ErrorCode::kInvalidGraph);
    EXPECT_NE(seen.text.find(part), std::string::npos) << seen.text;
  };
  refused(with_reader_of_c().node(constant(floats("", {1}))).node({"Neg", {"x"}, {"c"}}));
  refused(with_reader_of_c().node({"Neg", {"x"}, {"c"}}).node(constant(floats("", {1}))));
  refused(with_reader_of_c().node({"Neg", {"x"}, {"c"}}).initializer(floats("c", {1})));
  refused(with_reader_of_c().node({"Neg", {"x"}, {"c"}}).node({"Abs", {"x"}, {"c"}}));
}

TEST(RepeatedNames, SubgraphsDefineNamesOnce) {
  auto in_branch = [](GraphText branch) {
    return refusal(ModelText(GraphText()
                                 .input("x")
                                 .node(NodeText("If", {"x"}, {"y"}).graph("then_branch", std::move(branch.out)))
                                 .output("y"))
                       .bytes())
        .text;
  };
  EXPECT_NE(in_branch(GraphText().node(constant(floats("", {1}))).node(constant(floats("", {2}))).output("c"))
                .find("the name 'c' is defined twice"),
            std::string::npos);
  EXPECT_NE(in_branch(GraphText().initializer(floats("c", {1})).initializer(floats("c", {2})).output("c"))
                .find("the initializer 'c' is defined twice"),
            std::string::npos);
}

TEST(RepeatedNames, TheLastFunctionCounts) {
  ModelText model(GraphText().input("x").node({"f", {"x"}, {"y"}, "", "own"}).output("y"));
  model.import("own", 1);
  for (const char* op : {"Neg", "Abs"}) {
    FunctionText function("f", {"a"}, {"b"});
    function.node({op, {"a"}, {"b"}});
    model.function(std::move(function));
  }
  EXPECT_EQ(read(model.bytes())->graph->nodes().at(0)->op_type, "Abs");
}

}  // namespace
}  // namespace ortolan::onnx
