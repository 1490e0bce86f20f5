// Operators that exporters spell out in several nodes.
#pragma once

#include "gpu/core/graph/graph.h"

namespace ortolan::gpu {

/** The graph with nodes that are one operator spelled out replaced by a node of it, in place of the last, without those
 *  that nothing needs then: x times a function of x (Swish, Gelu by Erf and by Tanh), LayerNormalization,
 *  attention (attention_pattern.h). */
Graph joined_patterns(Graph graph);

}  // namespace ortolan::gpu
