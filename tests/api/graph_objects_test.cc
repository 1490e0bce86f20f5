// Graphs, nodes and values as plugins see them: every question, asked through the table of a graph read from a file.
#include "api/graph/graph_objects.h"

#include <cstring>
#include <ctime>

#include "graph_objects_fixture.h"

namespace {

using namespace ortolan;
using api::GraphObject;

TEST_F(GraphObjectsTest, TellsOfTheModel) {
  const char* text = nullptr;
  int64_t version = 0;
  size_t count = 0;
  EXPECT_OK(table().Graph_GetName(graph_, &text));
  EXPECT_STREQ(text, "test graph");
  EXPECT_OK(table().Graph_GetModelPath(graph_, &text));
  EXPECT_EQ(text, (folder_ / "model.onnx").string());
  EXPECT_OK(table().Graph_GetOnnxIRVersion(graph_, &version));
  EXPECT_EQ(version, 8);
  EXPECT_OK(table().Graph_GetNumOperatorSets(graph_, &count));
  ASSERT_EQ(count, 2u);
  const char* domains[2] = {};
  int64_t versions[2] = {};
  EXPECT_OK(table().Graph_GetOperatorSets(graph_, domains, versions, 2));
  EXPECT_STREQ(domains[0], "");
  EXPECT_EQ(versions[0], 17);
  EXPECT_STREQ(domains[1], "com.microsoft");
  EXPECT_EQ(versions[1], 1);
  EXPECT_REFUSED(table().Graph_GetOperatorSets(graph_, domains, versions, 1), ORT_INVALID_ARGUMENT, "room for 1");
  OrtModelMetadata* metadata = nullptr;
  ASSERT_OK(table().Graph_GetModelMetadata(graph_, &metadata));
  char* author = nullptr;
  EXPECT_OK(table().ModelMetadataLookupCustomMetadataMap(metadata, default_allocator(), "author", &author));
  EXPECT_EQ(take(author), "somebody");
  table().ReleaseModelMetadata(metadata);
  const OrtNode* parent = nullptr;
  EXPECT_OK(table().Graph_GetParentNode(graph_, &parent));
  EXPECT_EQ(parent, nullptr);
}

TEST_F(GraphObjectsTest, ListsNodesAndValues) {
  EXPECT_EQ(names(nodes(graph_)), "Add_node Mul_node Clip_node If_node Softmax_node Pow_node Gelu_node");
  EXPECT_EQ(names(inputs(graph_)), "x cond w");
  EXPECT_EQ(names(outputs(graph_)), "y2 g");
  EXPECT_EQ(names(initializers(graph_)), "w c hi e");
  EXPECT_EQ(names(inputs(node("Clip_node"))), "b NULL hi");
  EXPECT_EQ(names(outputs(node("Clip_node"))), "d");
  EXPECT_EQ(names(implicit_inputs(node("Clip_node"))), "");
  EXPECT_EQ(names(implicit_inputs(node("If_node"))), "b c cond a");
}

TEST_F(GraphObjectsTest, AnswersForEachValue) {
  EXPECT_EQ(answers(inputs(graph_)[0]), "x required to Add_node:0");
  EXPECT_EQ(answers(inputs(graph_)[1]), "cond required to If_node:0 to If_node:-1");
  EXPECT_EQ(answers(inputs(graph_)[2]), "w optional to Add_node:1 value");
  EXPECT_EQ(answers(initializers(graph_)[1]), "c constant to Mul_node:1 to If_node:-1 value");
  EXPECT_EQ(answers(outputs(node("Mul_node"))[0]), "b by Mul_node:0 to Clip_node:0 to If_node:-1");
  EXPECT_EQ(answers(outputs(graph_)[1]), "g output by Gelu_node:0");
  EXPECT_EQ(inputs(node("Mul_node"))[0], outputs(node("Add_node"))[0]) << "one handle a value";
  const OrtTypeInfo* type = nullptr;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  int64_t dims[2] = {};
  EXPECT_OK(table().GetValueInfoTypeInfo(outputs(graph_)[1], &type));
  EXPECT_OK(table().CastTypeInfoToTensorInfo(type, &tensor));
  EXPECT_OK(table().GetDimensions(tensor, dims, 2));
  EXPECT_EQ(dims[0], 2);
  EXPECT_EQ(dims[1], 3);
}

TEST_F(GraphObjectsTest, AnswersForEachNode) {
  const OrtNode* softmax = node("Softmax_node");
  const char* text = nullptr;
  int since = 0;
  size_t count = 0;
  EXPECT_OK(table().Node_GetOperatorType(softmax, &text));
  EXPECT_STREQ(text, "Softmax");
  EXPECT_OK(table().Node_GetDomain(softmax, &text));
  EXPECT_STREQ(text, "");
  EXPECT_OK(table().Node_GetDomain(node("Gelu_node"), &text));
  EXPECT_STREQ(text, "com.microsoft");
  EXPECT_OK(table().Node_GetEpName(softmax, &text));
  EXPECT_STREQ(text, "");
  for (auto [name, version] : {std::pair("Softmax_node", 13), {"Add_node", 14}, {"If_node", 16}, {"Gelu_node", 1}}) {
    EXPECT_OK(table().Node_GetSinceVersion(node(name), &since));
    EXPECT_EQ(since, version) << name;
  }
  EXPECT_OK(table().Node_GetNumAttributes(softmax, &count));
  ASSERT_EQ(count, 1u);
  const OrtOpAttr* all[1] = {};
  const OrtOpAttr* axis = nullptr;
  int64_t value = 0;
  EXPECT_OK(table().Node_GetAttributes(softmax, all, 1));
  EXPECT_OK(table().Node_GetAttributeByName(softmax, "axis", &axis));
  EXPECT_EQ(all[0], axis);
  EXPECT_OK(table().ReadOpAttr(axis, ORT_OP_ATTR_INT, &value, sizeof value, &count));
  EXPECT_EQ(value, 1);
  EXPECT_REFUSED(table().Node_GetAttributeByName(softmax, "axes", &axis), ORT_NOT_FOUND, "no attribute 'axes'");
  EXPECT_EQ(axis, nullptr);
  const OrtGraph* graph = nullptr;
  EXPECT_OK(table().Node_GetGraph(softmax, &graph));
  EXPECT_EQ(graph, graph_);
  size_t first = 0, second = 0;
  EXPECT_OK(table().Node_GetId(softmax, &first));
  EXPECT_OK(table().Node_GetId(node("Add_node"), &second));
  EXPECT_NE(first, second);
}

TEST(GraphObjectsDefaultsTest, AttributesThatANodeLeavesOutHaveTheirDefaults) {
  auto context = std::make_shared<graph::ModelContext>();
  context->opsets[""] = 17;
  graph::Graph graph(context);
  graph::Node* norm = graph.add_node("norm", "LayerNormalization", "", {graph.add_value("x")}, {graph.add_value("y")});
  norm->set_attribute("axis", int64_t{1});
  GraphObject object(graph, nullptr);
  const auto* node = api::wrap<const OrtNode>(&object.nodes()[0]);
  size_t count = 0;
  EXPECT_OK(table().Node_GetNumAttributes(node, &count));
  EXPECT_EQ(count, 3u);
  const OrtOpAttr* attribute = nullptr;
  float epsilon = 0;
  int64_t axis = 0, stash_type = 0;
  EXPECT_OK(table().Node_GetAttributeByName(node, "axis", &attribute));
  EXPECT_OK(table().ReadOpAttr(attribute, ORT_OP_ATTR_INT, &axis, sizeof axis, &count));
  EXPECT_EQ(axis, 1);
  EXPECT_OK(table().Node_GetAttributeByName(node, "epsilon", &attribute));
  EXPECT_OK(table().ReadOpAttr(attribute, ORT_OP_ATTR_FLOAT, &epsilon, sizeof epsilon, &count));
  EXPECT_EQ(epsilon, 1e-5f);
  EXPECT_OK(table().Node_GetAttributeByName(node, "stash_type", &attribute));
  EXPECT_OK(table().ReadOpAttr(attribute, ORT_OP_ATTR_INT, &stash_type, sizeof stash_type, &count));
  EXPECT_EQ(stash_type, 1);
}

TEST_F(GraphObjectsTest, ShowsSubgraphs) {
  const OrtNode* branch = node("If_node");
  size_t count = 0;
  EXPECT_OK(table().Node_GetNumSubgraphs(node("Add_node"), &count));
  EXPECT_EQ(count, 0u);
  EXPECT_OK(table().Node_GetNumSubgraphs(branch, &count));
  ASSERT_EQ(count, 2u);
  const OrtGraph* graphs[2] = {};
  const char* attributes[2] = {};
  EXPECT_OK(table().Node_GetSubgraphs(branch, graphs, 2, attributes));
  EXPECT_STREQ(attributes[0], "then_branch");
  EXPECT_STREQ(attributes[1], "else_branch");
  EXPECT_REFUSED(table().Node_GetSubgraphs(branch, graphs, 1, attributes), ORT_INVALID_ARGUMENT, "room for 1");
  const OrtNode* parent = nullptr;
  EXPECT_OK(table().Graph_GetParentNode(graphs[0], &parent));
  EXPECT_EQ(parent, branch);
  EXPECT_EQ(names(inputs(graphs[0])), "");
  EXPECT_EQ(names(initializers(graphs[0])), "k");
  EXPECT_EQ(answers(inputs(node(graphs[0], "Sub_node"))[0]), "b outer to Sub_node:0");
  EXPECT_EQ(answers(inputs(node(graphs[0], "Sub_node"))[1]), "c constant outer to Sub_node:1 value");
  EXPECT_EQ(answers(outputs(graphs[0])[0]), "yt output by Div_node:0");
  const OrtNode* inner = node(graphs[1], "If_node");
  EXPECT_EQ(names(implicit_inputs(inner)), "a local");
  EXPECT_EQ(answers(implicit_inputs(inner)[0]), "a outer to If_node:-1");
  EXPECT_EQ(answers(implicit_inputs(inner)[1]), "local by Relu_node:0 to If_node:-1");
  EXPECT_EQ(answers(inputs(node(subgraph(inner, 1), "Max_node"))[1]), "local outer to Max_node:1");
}

TEST_F(GraphObjectsTest, FindsTheNodeAroundASubgraph) {
  const graph::Graph* inner = model_->graph->nodes()[3]->subgraphs()[1].second;
  GraphObject alone(*inner, api::origin_of(*model_));
  const auto* handle = api::wrap<const OrtGraph>(static_cast<const GraphObject*>(&alone));
  const OrtNode* parent = nullptr;
  const OrtGraph* around = graph_;
  EXPECT_OK(table().Graph_GetParentNode(handle, &parent));
  ASSERT_NE(parent, nullptr);
  EXPECT_EQ(name_of(parent), "If_node");
  EXPECT_EQ(names(implicit_inputs(parent)), "b c cond a");
  EXPECT_OK(table().Node_GetGraph(parent, &around));
  EXPECT_EQ(around, nullptr);
}

TEST_F(GraphObjectsTest, GivesInitializers) {
  const OrtValue* value = nullptr;
  ASSERT_OK(table().ValueInfo_GetInitializerValue(initializers(graph_)[3], &value));
  EXPECT_EQ(content<float>(value), (std::vector<float>{3, 2, 1}));
  const OrtValue* again = nullptr;
  ASSERT_OK(table().ValueInfo_GetInitializerValue(initializers(graph_)[3], &again));
  EXPECT_EQ(again, value);
  OrtExternalInitializerInfo* info = nullptr;
  ASSERT_OK(table().ValueInfo_GetExternalInitializerInfo(initializers(graph_)[3], &info));
  ASSERT_NE(info, nullptr);
  EXPECT_STREQ(table().ExternalInitializerInfo_GetFilePath(info), "weights.bin");
  EXPECT_EQ(table().ExternalInitializerInfo_GetFileOffset(info), 8);
  EXPECT_EQ(table().ExternalInitializerInfo_GetByteSize(info), 12u);
  table().ReleaseExternalInitializerInfo(info);
  for (const OrtValueInfo* other : {initializers(graph_)[1], inputs(graph_)[0]}) {
    ASSERT_OK(table().ValueInfo_GetExternalInitializerInfo(other, &info));
    EXPECT_EQ(info, nullptr);
  }
}

TEST(GraphObjectsConstantsTest, AskingForUnalignedWeightsLeavesTheGraphAsItIs) {
  const std::vector<float> weights{1, 2, 3, 4};
  std::vector<std::byte> bytes(1 + weights.size() * sizeof(float));
  std::memcpy(bytes.data() + 1, weights.data(), bytes.size() - 1);
  graph::Graph graph(std::make_shared<graph::ModelContext>());
  tensor::Tensor unaligned(tensor::ElementType::kFloat, tensor::Shape{4}, bytes.data() + 1);
  graph::ValueInfo* w = graph.add_initializer("w", unaligned);
  graph.mark_output(w);
  GraphObject object(graph, nullptr);
  const OrtValue* value = nullptr;
  const auto* handle = api::wrap<const OrtGraph>(static_cast<const GraphObject*>(&object));
  ASSERT_OK(table().ValueInfo_GetInitializerValue(initializers(handle)[0], &value));
  EXPECT_EQ(content<float>(value), weights);
  EXPECT_EQ(w->constant->raw(), bytes.data() + 1) << "other threads may be reading it";
}

TEST(GraphObjectsCostTest, WrapsTenThousandNodesQuickly) {
  auto context = std::make_shared<graph::ModelContext>();
  context->opsets[""] = 17;
  graph::Graph graph(context);
  graph::ValueInfo* last = graph.add_value("x");
  for (int i = 0; i < 10'000; ++i) {
    graph::ValueInfo* next = graph.add_value("v" + std::to_string(i));
    graph.add_node("n" + std::to_string(i), "Add", "", {last, last}, {next});
    last = next;
  }
  graph.mark_output(last);
  std::clock_t begin = std::clock();
  GraphObject object(graph, nullptr);
  double spent = 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(object.nodes().size(), 10'000u);
  RecordProperty("milliseconds", std::to_string(spent));
  EXPECT_LT(spent, 1000) << "linear, not quadratic; 20 ms on an idle machine";
}

}  // namespace
