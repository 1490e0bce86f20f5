// What tables, pictures and profiles call a node.
#include "graph/shown_name.h"

#include <algorithm>

namespace ortolan::graph {

const std::string& shown_name(const Node& node) {
  if (!node.name.empty()) return node.name;
  auto first = std::ranges::find_if(node.outputs(), [](const ValueInfo* value) { return value != nullptr; });
  return first != node.outputs().end() ? (*first)->name : node.name;
}

}  // namespace ortolan::graph
