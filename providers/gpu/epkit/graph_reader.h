// Graphs of the runtime as the core's graphs.
#pragma once

#include <vector>

#include "gpu/core/graph/graph.h"
#include "gpu/epkit/host.h"

namespace ortolan::gpu::epkit {

struct ReadGraph {
  Graph graph;
  std::vector<const OrtNode*> nodes;  // of the runtime, by the graph's numbers
  std::vector<bool> taken;            // by a provider already
};

/** A graph to claim nodes of. Constants view the runtime's memory. */
ReadGraph read_graph(const Host& host, const OrtGraph* graph);

/** The graph of a group to compile. Constants view the runtime's memory. Outputs are those of the node that stands for
 * it; so are inputs but for constants: `input_positions` says which of the node's each is. */
Graph read_group(const Host& host, const OrtGraph* graph, const OrtNode* fused_node, std::vector<int>& input_positions);

}  // namespace ortolan::gpu::epkit
