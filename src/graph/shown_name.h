// What tables, pictures and profiles call a node.
#pragma once

#include <string>

#include "graph/graph.h"

namespace ortolan::graph {

/** The node's name or, where it has none, that of its first output; empty where it has neither. */
const std::string& shown_name(const Node& node);

}  // namespace ortolan::graph
