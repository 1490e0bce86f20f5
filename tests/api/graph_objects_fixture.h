// A model with branches, read from a file, and its graph, nodes and values as plugins see them.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/graph/graph_objects.h"
#include "api/handles.h"
#include "api_test_support.h"
#include "onnx/reader.h"
#include "runtime/resolve.h"

// The table's function has the name of the namespace.
inline const OrtApi& table() { return ::api(); }

inline constexpr int kFloat = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
inline constexpr int kBool = ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL;

/** then: Div(Sub(b, c), k); else: an If of its own that uses a, cond and Relu(b). */
inline std::pair<ModelWriter, ModelWriter> branches() {
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

inline ModelWriter branching_model() {
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

inline std::string name_of(const OrtNode* node) {
  const char* name = nullptr;
  EXPECT_OK(table().Node_GetName(node, &name));
  return name;
}

inline std::string name_of(const OrtValueInfo* value) {
  if (value == nullptr) return "NULL";
  const char* name = nullptr;
  EXPECT_OK(table().GetValueInfoName(value, &name));
  return name;
}

inline std::string joined(const std::vector<std::string>& words) {
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

inline std::vector<const OrtNode*> nodes(const OrtGraph* graph) {
  return list<OrtGraph, OrtNode>(graph, table().Graph_GetNumNodes, table().Graph_GetNodes);
}
inline std::vector<const OrtValueInfo*> inputs(const OrtGraph* graph) {
  return list<OrtGraph, OrtValueInfo>(graph, table().Graph_GetNumInputs, table().Graph_GetInputs);
}
inline std::vector<const OrtValueInfo*> outputs(const OrtGraph* graph) {
  return list<OrtGraph, OrtValueInfo>(graph, table().Graph_GetNumOutputs, table().Graph_GetOutputs);
}
inline std::vector<const OrtValueInfo*> initializers(const OrtGraph* graph) {
  return list<OrtGraph, OrtValueInfo>(graph, table().Graph_GetNumInitializers, table().Graph_GetInitializers);
}
inline std::vector<const OrtValueInfo*> inputs(const OrtNode* node) {
  return list<OrtNode, OrtValueInfo>(node, table().Node_GetNumInputs, table().Node_GetInputs);
}
inline std::vector<const OrtValueInfo*> outputs(const OrtNode* node) {
  return list<OrtNode, OrtValueInfo>(node, table().Node_GetNumOutputs, table().Node_GetOutputs);
}
inline std::vector<const OrtValueInfo*> implicit_inputs(const OrtNode* node) {
  return list<OrtNode, OrtValueInfo>(node, table().Node_GetNumImplicitInputs, table().Node_GetImplicitInputs);
}

/** All answers of a value in one line. */
inline std::string answers(const OrtValueInfo* value) {
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
    model_ = ortolan::onnx::read_model_file((folder_ / "model.onnx").string());
    ortolan::runtime::resolve_model(*model_, {});
    object_ = std::make_unique<ortolan::api::GraphObject>(*model_->graph, ortolan::api::origin_of(*model_));
    graph_ = ortolan::api::wrap<const OrtGraph>(static_cast<const ortolan::api::GraphObject*>(object_.get()));
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
  std::unique_ptr<ortolan::graph::Model> model_;
  std::unique_ptr<ortolan::api::GraphObject> object_;
  const OrtGraph* graph_ = nullptr;
};
