// Values by the nodes that make and read them.
#include "gpu/core/graph/makers.h"

namespace ortolan::gpu {

Makers::Makers(const Graph& graph) : graph_(graph), makers_(graph.values.size(), -1), readers_(graph.values.size()) {
  for (size_t i = 0; i < graph.nodes.size(); i++) {
    for (int output : graph.nodes[i].outputs) {
      if (output != kMissing) makers_[output] = static_cast<int>(i);
    }
    for (int input : graph.nodes[i].inputs) {
      if (input != kMissing) readers_[input]++;
    }
  }
  for (int output : graph.outputs) readers_[output]++;
}

bool Makers::is_of(const Node& node, std::string_view op) {
  bool is_binary = op == "Add" || op == "Sub" || op == "Mul" || op == "Div" || op == "Pow";
  bool is_whole = is_binary ? node.inputs.size() == 2 && node.since_version >= 7 : !node.inputs.empty();
  return node.domain.empty() && node.op == op && is_whole;
}

const Node* Makers::maker(int value, std::string_view op, int readers) const {
  int node = value == kMissing ? -1 : makers_[value];
  if (node < 0 || readers_[value] != readers || !is_of(graph_.nodes[node], op)) return nullptr;
  return &graph_.nodes[node];
}

std::optional<float> Makers::number(int value) const {
  if (value == kMissing) return {};
  const Value& v = graph_.values[value];
  if (!v.constant || v.shape->size() > 1 || element_count(*v.shape) != 1) return {};
  if (!is_float(v.type) && !is_integer(v.type)) return {};
  return HostTensor{v.type, *v.shape, *v.constant}.floats()[0];
}

}  // namespace ortolan::gpu
