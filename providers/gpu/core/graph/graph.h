// Graphs as the core sees them: nodes with attributes, values with types and, where they are constant, their bytes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gpu/core/host/host_tensor.h"

namespace ortolan::gpu {

struct Value {
  std::string name;
  ElementType type = ElementType::kUndefined;
  std::optional<Shape> shape;         // -1 where a dimension is not known; nothing where the rank is not
  std::optional<HostBytes> constant;  // of a constant; its shape is known
};

using Attribute = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                               std::vector<std::string>, HostTensor>;

inline constexpr int kMissing = -1;  // an optional input or output that is left out

struct Node {
  std::string name;
  std::string domain;  // "" is ONNX's own
  std::string op;
  int since_version = 1;  // of the operator's schema
  std::map<std::string, Attribute, std::less<>> attributes;
  std::vector<int> inputs;  // values, or kMissing
  std::vector<int> outputs;
  std::string unsupported;  // why the node cannot be shown here (an attribute's kind, a subgraph); empty: it is shown
  std::vector<Node> parts = {};  // where it stands for several: those, in order; its inputs are all that they read

  bool has_input(size_t i) const { return i < inputs.size() && inputs[i] != kMissing; }
  bool has_output(size_t i) const { return i < outputs.size() && outputs[i] != kMissing; }
  int64_t integer(std::string_view name, int64_t fallback) const;
  float number(std::string_view name, float fallback) const;
  std::string text(std::string_view name, std::string_view fallback) const;
  std::vector<int64_t> integers(std::string_view name) const;  // empty where it is not given
  bool has_attribute(std::string_view name) const { return attributes.find(name) != attributes.end(); }
};

/** Nodes are in an order in which each comes after those it needs. */
struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<int> inputs;   // values
  std::vector<int> outputs;  // values
};

/** How often nodes read a value or the graph gives it back. */
int count_uses(const Graph& graph, int value);

/** "node 'name' (Operator)". */
std::string describe(const Node& node);

}  // namespace ortolan::gpu
