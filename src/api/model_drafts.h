// What a caller of the model editor has said so far of a node, a graph and a model.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/graph_objects.h"

namespace ortolan::api {

/** Values are names here: they may come before or after the nodes that make them. An empty name leaves one out. */
struct NodeDraft {
  std::string op_type;
  std::string domain;
  std::string name;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<graph::Attribute> attributes;
  std::string provider;
  size_t id = 0;
  bool taken = false;  // by a graph, which releases it
};

struct GraphDraft {
  std::vector<std::unique_ptr<ValueObject>> inputs;
  std::vector<std::unique_ptr<ValueObject>> outputs;
  std::vector<std::unique_ptr<NodeObject>> nodes;
  std::vector<std::pair<std::string, tensor::Tensor>> initializers;
  std::unordered_map<std::string, size_t> initializer_names;  // to the position
  bool taken = false;                                         // by a model, which releases it
};

/** OrtModel. */
struct ModelDraft {
  std::map<std::string, int> opsets;
  std::unique_ptr<GraphObject> graph;
};

}  // namespace ortolan::api
