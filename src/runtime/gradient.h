// Gradient nodes of ai.onnx.preview.training, replaced by the nodes that compute the derivatives.
#pragma once

#include "graph/graph.h"

namespace ortolan::runtime {

/** Replaces every Gradient node of the graph (not of its subgraphs). Operators without a derivative here: an Error. The
    graph needs sorting afterwards. */
void expand_gradients(graph::Graph& graph);

}  // namespace ortolan::runtime
