// What a caller of the model editor has said so far of a node, a graph and a model.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "api/graph/graph_objects.h"

namespace ortolan::api {

/** Values are names here: they may come before or after the nodes that make them. An empty name leaves one out. */
struct NodeDraft {
  std::string op_type;
  std::string domain;  // "" for ai.onnx
  std::string name;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<graph::Attribute> attributes;
  std::string provider;
  size_t id = 0;
  bool taken = false;  // by a graph, which releases it
};

/** Everything in it is owned by it. */
struct GraphDraft {
  std::string name;
  std::vector<std::unique_ptr<ValueObject>> inputs;
  std::vector<std::unique_ptr<ValueObject>> outputs;
  std::vector<std::unique_ptr<NodeObject>> nodes;
  std::vector<std::unique_ptr<ValueObject>> initializers;
  std::unordered_set<std::string> initializer_names;
  std::unordered_set<const tensor::Value*> taken_values;
  bool taken = false;  // by a model, which releases it
};

/** OrtModel. */
struct ModelDraft {
  std::map<std::string, int> opsets;
  std::unique_ptr<GraphObject> graph;  // NULL until it is added
};

}  // namespace ortolan::api
