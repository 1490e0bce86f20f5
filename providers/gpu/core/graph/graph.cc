// Attributes by name, and uses of values.
#include "gpu/core/graph/graph.h"

#include <algorithm>

namespace ortolan::gpu {
namespace {

/** NULL where the node has none of the kind: the host has checked those that its schema knows. */
template <class T>
const T* find(const Node& node, std::string_view name) {
  auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

}  // namespace

int64_t Node::integer(std::string_view name, int64_t fallback) const {
  const auto* value = find<int64_t>(*this, name);
  return value == nullptr ? fallback : *value;
}

float Node::number(std::string_view name, float fallback) const {
  const auto* value = find<float>(*this, name);
  return value == nullptr ? fallback : *value;
}

std::string Node::text(std::string_view name, std::string_view fallback) const {
  const auto* value = find<std::string>(*this, name);
  return value == nullptr ? std::string(fallback) : *value;
}

std::vector<int64_t> Node::integers(std::string_view name) const {
  const auto* value = find<std::vector<int64_t>>(*this, name);
  return value == nullptr ? std::vector<int64_t>() : *value;
}

int count_uses(const Graph& graph, int value) {
  auto uses = std::count(graph.outputs.begin(), graph.outputs.end(), value);
  for (const Node& node : graph.nodes) uses += std::count(node.inputs.begin(), node.inputs.end(), value);
  return static_cast<int>(uses);
}

std::string describe(const Node& node) { return "node '" + node.name + "' (" + node.op + ")"; }

}  // namespace ortolan::gpu
