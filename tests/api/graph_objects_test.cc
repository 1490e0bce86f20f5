// Graphs, nodes and values as plugins see them: every question, asked through the table of a graph read from a file.
#include "api/graph_objects.h"

#include <unistd.h>

#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "api/handles.h"
#include "api_test_support.h"
#include "onnx/reader.h"
#include "runtime/resolve.h"

namespace {

using namespace ortolan;
using api::DetachedNode;
using api::GraphObject;

// The table's function has the name of the namespace.
const OrtApi& table() { return ::api(); }

constexpr int kFloat = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
constexpr int kBool = ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL;

/** then: Div(Sub(b, c), k); else: an If of its own that uses a, cond and Relu(b). */
std::pair<ModelWriter, ModelWriter> branches() {
  const float k[] = {1, 2, 4};
  ModelWriter then_branch, else_branch, inner_then, inner_else;
  then_branch.initializer("k", kFloat, {3}, k, sizeof k);
  then_branch.node("Sub", {"b", "c"}, {"y1"});
  then_branch.node("Div", {"y1", "k"}, {"yt"});
  then_branch.output("yt", kFloat, {"2", "3"});
  inner_then.node("Neg", {"a"}, {"q"});
  inner_then.output("q", kFloat, {"2", "3"});
  inner_else.node("Max", {"a", "local"}, {"q2"});
  inner_else.output("q2", kFloat, {"2", "3"});
  else_branch.node("Relu", {"b"}, {"local"});
  else_branch.node("If", {"cond"}, {"ye"},
                   ModelWriter::graph_attribute("then_branch", inner_then) +
                       ModelWriter::graph_attribute("else_branch", inner_else));
  else_branch.output("ye", kFloat, {"2", "3"});
  return {then_branch, else_branch};
}

ModelWriter branching_model() {
  const float ones[] = {1, 1, 1}, two = 2;
  ModelWriter model;
  model.opset_import("com.microsoft", 1);
  model.input("x", kFloat, {"2", "3"});
  model.input("cond", kBool, {});
  model.input("w", kFloat, {"3"});
  model.initializer("w", kFloat, {3}, ones, sizeof ones);
  model.initializer("c", kFloat, {3}, ones, sizeof ones);
  model.initializer("hi", kFloat, {}, &two, sizeof two);
  model.initializer("unused", kFloat, {}, &two, sizeof two);
  model.external_initializer("e", kFloat, {3}, "weights.bin", 8, 12);
  model.node("Add", {"x", "w"}, {"a"});
  model.node("Mul", {"a", "c"}, {"b"});
  model.node("Clip", {"b", "", "hi"}, {"d"});
  auto [then_branch, else_branch] = branches();
  model.node("If", {"cond"}, {"y0"},
             ModelWriter::graph_attribute("then_branch", then_branch) +
                 ModelWriter::graph_attribute("else_branch", else_branch));
  model.node("Softmax", {"d"}, {"s"}, ModelWriter::int_attribute("axis", 1));
  model.node("Pow", {"y0", "e"}, {"y2"});
  model.node("Gelu", {"s"}, {"g"}, "", "com.microsoft");
  model.output("y2", kFloat, {"2", "3"});
  model.output("g", kFloat, {"2", "3"});
  model.metadata("author", "somebody");
  return model;
}

std::string name_of(const OrtNode* node) {
  const char* name = nullptr;
  EXPECT_OK(table().Node_GetName(node, &name));
  return name;
}

std::string name_of(const OrtValueInfo* value) {
  if (value == nullptr) return "NULL";
  const char* name = nullptr;
  EXPECT_OK(table().GetValueInfoName(value, &name));
  return name;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

template <class Owner, class Item>
std::vector<const Item*> list(const Owner* owner, OrtStatus* (*count)(const Owner*, size_t*) noexcept,
                              OrtStatus* (*get)(const Owner*, const Item**, size_t) noexcept) {
  size_t size = 0;
  EXPECT_OK(count(owner, &size));
  std::vector<const Item*> items(size);
  if (size != 0) {
    EXPECT_REFUSED(get(owner, items.data(), size - 1), ORT_INVALID_ARGUMENT, "room for");
  }
  EXPECT_OK(get(owner, items.data(), size));
  return items;
}

template <class Items>
std::string names(const Items& items) {
  std::vector<std::string> words;
  for (const auto* item : items) words.push_back(name_of(item));
  return joined(words);
}

std::vector<const OrtNode*> nodes(const OrtGraph* graph) {
  return list<OrtGraph, OrtNode>(graph, table().Graph_GetNumNodes, table().Graph_GetNodes);
}
std::vector<const OrtValueInfo*> inputs(const OrtGraph* graph) {
  return list<OrtGraph, OrtValueInfo>(graph, table().Graph_GetNumInputs, table().Graph_GetInputs);
}
std::vector<const OrtValueInfo*> outputs(const OrtGraph* graph) {
  return list<OrtGraph, OrtValueInfo>(graph, table().Graph_GetNumOutputs, table().Graph_GetOutputs);
}
std::vector<const OrtValueInfo*> initializers(const OrtGraph* graph) {
  return list<OrtGraph, OrtValueInfo>(graph, table().Graph_GetNumInitializers, table().Graph_GetInitializers);
}
std::vector<const OrtValueInfo*> inputs(const OrtNode* node) {
  return list<OrtNode, OrtValueInfo>(node, table().Node_GetNumInputs, table().Node_GetInputs);
}
std::vector<const OrtValueInfo*> outputs(const OrtNode* node) {
  return list<OrtNode, OrtValueInfo>(node, table().Node_GetNumOutputs, table().Node_GetOutputs);
}
std::vector<const OrtValueInfo*> implicit_inputs(const OrtNode* node) {
  return list<OrtNode, OrtValueInfo>(node, table().Node_GetNumImplicitInputs, table().Node_GetImplicitInputs);
}

/** All answers of a value in one line. */
std::string answers(const OrtValueInfo* value) {
  std::vector<std::string> words{name_of(value)};
  auto flag = [&](OrtStatus* (*ask)(const OrtValueInfo*, bool*) noexcept, const char* word) {
    bool yes = false;
    EXPECT_OK(ask(value, &yes));
    if (yes) words.emplace_back(word);
  };
  flag(table().ValueInfo_IsRequiredGraphInput, "required");
  flag(table().ValueInfo_IsOptionalGraphInput, "optional");
  flag(table().ValueInfo_IsGraphOutput, "output");
  flag(table().ValueInfo_IsConstantInitializer, "constant");
  flag(table().ValueInfo_IsFromOuterScope, "outer");
  const OrtNode* producer = nullptr;
  size_t output = 99, count = 0;
  EXPECT_OK(table().ValueInfo_GetValueProducer(value, &producer, &output));
  EXPECT_OK(table().ValueInfo_GetValueProducer(value, &producer, nullptr));
  if (producer != nullptr) words.push_back("by " + name_of(producer) + ":" + std::to_string(output));
  EXPECT_OK(table().ValueInfo_GetValueNumConsumers(value, &count));
  std::vector<const OrtNode*> users(count);
  std::vector<int64_t> places(count);
  EXPECT_OK(table().ValueInfo_GetValueConsumers(value, users.data(), places.data(), count));
  for (size_t i = 0; i < count; ++i) words.push_back("to " + name_of(users[i]) + ":" + std::to_string(places[i]));
  const OrtValue* content = nullptr;
  EXPECT_OK(table().ValueInfo_GetInitializerValue(value, &content));
  if (content != nullptr) words.emplace_back("value");
  return joined(words);
}

class GraphObjectsTest : public ::testing::Test {
 protected:
  GraphObjectsTest() {
    folder_ = std::filesystem::temp_directory_path() / ("ortolan_graph_objects_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "model.onnx", std::ios::binary) << branching_model().bytes();
    const float weights[] = {0, 0, 3, 2, 1};
    std::ofstream(folder_ / "weights.bin", std::ios::binary).write(reinterpret_cast<const char*>(weights), 20);
    model_ = onnx::read_model_file((folder_ / "model.onnx").string());
    runtime::resolve_model(*model_, {});
    object_ = std::make_unique<GraphObject>(*model_->graph, api::origin_of(*model_));
    graph_ = api::wrap<const OrtGraph>(static_cast<const GraphObject*>(object_.get()));
  }
  ~GraphObjectsTest() override { std::filesystem::remove_all(folder_); }

  const OrtNode* node(const OrtGraph* graph, const std::string& name) const {
    for (const OrtNode* node : nodes(graph)) {
      if (name_of(node) == name) return node;
    }
    ADD_FAILURE() << "no node " << name;
    return nullptr;
  }
  const OrtNode* node(const std::string& name) const { return node(graph_, name); }
  const OrtGraph* subgraph(const OrtNode* node, size_t i) const {
    std::vector<const OrtGraph*> graphs(2);
    EXPECT_OK(table().Node_GetSubgraphs(node, graphs.data(), 2, nullptr));
    return graphs[i];
  }

  std::filesystem::path folder_;
  std::unique_ptr<graph::Model> model_;
  std::unique_ptr<GraphObject> object_;
  const OrtGraph* graph_ = nullptr;
};

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

TEST_F(GraphObjectsTest, ShowsAViewOfSomeNodes) {
  const OrtNode* chosen[] = {node("Softmax_node"), node("Mul_node"), node("Clip_node")};
  OrtGraph* view = nullptr;
  ASSERT_OK(table().Graph_GetGraphView(graph_, chosen, 3, &view));
  EXPECT_EQ(names(nodes(view)), "Mul_node Clip_node Softmax_node");
  EXPECT_EQ(names(inputs(view)), "a");
  EXPECT_EQ(names(outputs(view)), "b s");
  EXPECT_EQ(names(initializers(view)), "c hi");
  EXPECT_EQ(answers(inputs(view)[0]), "a required to Mul_node:0");
  EXPECT_EQ(answers(outputs(view)[0]), "b output by Mul_node:0 to Clip_node:0");
  const OrtGraph* graph = nullptr;
  EXPECT_OK(table().Node_GetGraph(nodes(view)[0], &graph));
  EXPECT_EQ(graph, view);
  table().ReleaseGraph(view);
  const OrtNode* foreign[] = {node(subgraph(node("If_node"), 0), "Sub_node")};
  EXPECT_REFUSED(table().Graph_GetGraphView(graph_, foreign, 1, &view), ORT_INVALID_ARGUMENT,
                 "node 'Sub_node' (Sub) is not of the graph");
  EXPECT_REFUSED(table().Graph_GetGraphView(graph_, chosen, 0, &view), ORT_INVALID_ARGUMENT, "at least one node");
}

TEST_F(GraphObjectsTest, AViewWithSubgraphsKeepsTheirUsesInside) {
  const OrtNode* chosen[] = {node("If_node"), node("Mul_node")};
  OrtGraph* view = nullptr;
  ASSERT_OK(table().Graph_GetGraphView(graph_, chosen, 2, &view));
  EXPECT_EQ(names(nodes(view)), "Mul_node If_node");
  EXPECT_EQ(names(inputs(view)), "a cond");
  EXPECT_EQ(names(outputs(view)), "b y0") << "b goes to Clip too";
  table().ReleaseGraph(view);
}

TEST_F(GraphObjectsTest, ShowsAFusedNodeOnItsOwn) {
  const graph::ValueInfo* ins[] = {model_->graph->find("a")};
  const graph::ValueInfo* outs[] = {model_->graph->find("s")};
  DetachedNode fused(api::FusedNode{*model_->graph, "fused_0", "Fused", "TestProvider", "TestProvider", ins, outs});
  const auto* handle = api::wrap<const OrtNode>(&fused.node());
  EXPECT_EQ(name_of(handle), "fused_0");
  EXPECT_EQ(names(inputs(handle)), "a");
  EXPECT_EQ(names(outputs(handle)), "s");
  EXPECT_EQ(names(implicit_inputs(handle)), "");
  EXPECT_EQ(answers(outputs(handle)[0]), "s");
  const OrtGraph* graph = graph_;
  const char* provider = nullptr;
  size_t count = 9;
  int since = 0;
  EXPECT_OK(table().Node_GetGraph(handle, &graph));
  EXPECT_EQ(graph, nullptr);
  EXPECT_OK(table().Node_GetEpName(handle, &provider));
  EXPECT_STREQ(provider, "TestProvider");
  EXPECT_OK(table().Node_GetNumSubgraphs(handle, &count));
  EXPECT_EQ(count, 0u);
  EXPECT_OK(table().Node_GetSinceVersion(handle, &since));
  EXPECT_EQ(since, 1);
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
