// Models in ORT format, and damaged ones.
#include <gtest/gtest.h>

#include "../thrown_text.h"
#include "graph/constant_value.h"
#include "model_builder.h"
#include "onnx/ort_format.h"
#include "ort_models.h"

namespace ortolan::onnx {
namespace {

TEST(OrtFormat, IsReadLikeAModel) {
  auto model = read(concat_model().out.bytes());
  EXPECT_EQ(model->ir_version, 8);
  EXPECT_EQ(model->producer_name, "ort_format_test");
  ASSERT_EQ(model->metadata.size(), 1u);
  EXPECT_EQ(model->metadata[0].second, "value");
  const Graph& graph = *model->graph;
  ASSERT_EQ(graph.nodes().size(), 1u);
  const Node& node = *graph.nodes()[0];
  EXPECT_EQ(node.name, "join");
  EXPECT_EQ(node.op_type, "Concat");
  EXPECT_EQ(node.opset, 13);
  ASSERT_EQ(graph.inputs.size(), 1u);
  const SymbolicShape& shape = graph.inputs[0]->type.shape;
  EXPECT_EQ(model->context->symbols.name_of(shape[0]), "N");
  EXPECT_TRUE(shape[1].is(2));
  const Tensor* weight = graph.find("w")->fixed_constant();
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->data<float>()[0], 5);
  EXPECT_EQ(weight->data<float>()[1], 6);
}

void expect_refused(const std::string& bytes, const std::string& words) {
  EXPECT_TRUE(test::throws(words, [&] { read(bytes); }));
}

TEST(OrtFormat, RefusesWhatItDoesNotRead) {
  OrtModel external = concat_model();
  external.out.number<int64_t>(external.weight, 6, 0);
  expect_refused(external.out.bytes(), "tensor 'w' of the ORT file has its data in a second file");
  OrtModel sparse = concat_model();
  sparse.out.tables(sparse.graph, 7, 1);
  expect_refused(sparse.out.bytes(), "sparse initializers");
  OrtModel nameless = concat_model();
  nameless.out.texts(nameless.graph, 6, {"z"});
  expect_refused(nameless.out.bytes(), "'z' is not among its values");
  expect_refused(std::string("\x08\0\0\0ORTM", 8), "damaged");
}

/** A node of the graph with attributes of graphs, `count` of them. */
std::vector<size_t> add_graph_attributes(FlatWriter& out, size_t graph, size_t count) {
  auto attributes = out.tables(out.tables(graph, 2, 1)[0], 10, count);
  for (size_t attribute : attributes) out.number<int32_t>(attribute, 2, 5);
  return attributes;
}

TEST(OrtFormat, RefusesDeepNests) {
  OrtModel deep = concat_model();
  size_t graph = deep.graph;
  for (int i = 0; i < 70; ++i) graph = deep.out.table(add_graph_attributes(deep.out, graph, 1)[0], 7);
  expect_refused(deep.out.bytes(), "nested more than 64 deep");
}

TEST(OrtFormat, RefusesSharedPartsThatGrow) {
  OrtModel wide = concat_model();
  size_t graph = wide.graph;
  for (int i = 0; i < 40; ++i) {
    auto attributes = add_graph_attributes(wide.out, graph, 2);
    graph = wide.out.table(attributes[0], 7);
    wide.out.share(attributes[1], 7, graph);
  }
  expect_refused(wide.out.bytes(), "its tables share parts");
}

TEST(OrtFormat, DamageIsAnErrorOrAnotherModel) {
  std::string whole = concat_model().out.bytes();
  auto try_reading = [](const std::string& bytes) {
    try {
      read(bytes);
    } catch (const Error&) {
    }
  };
  for (size_t size = 0; size < whole.size(); ++size) try_reading(whole.substr(0, size));
  for (size_t at = 0; at < whole.size(); ++at) {
    for (char value : {'\0', '\1', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = value;
      try_reading(damaged);
    }
  }
}

}  // namespace
}  // namespace ortolan::onnx
