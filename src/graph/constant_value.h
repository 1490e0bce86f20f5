// The tensor that a Constant node stands for.
#pragma once

#include "graph/graph.h"

namespace ortolan::graph {

/** The value of a Constant node's one attribute, sharing its memory; undefined where that is sparse or missing. */
Tensor constant_value(const Node& node);

}  // namespace ortolan::graph
