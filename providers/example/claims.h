// Which nodes of a graph a provider takes.
#pragma once

#include <functional>
#include <vector>

#include "graph.h"
#include "host.h"
#include "options.h"

namespace ortolan::example {

/** Connected groups of the nodes that are wanted. No path leads out of a group and back into it, not even through other
 *  groups: the graph with a node for each group still has no cycle. */
std::vector<std::vector<const OrtNode*>> connected_groups(const Host& host, const OrtGraph* graph,
                                                          const std::function<bool(const OrtNode*)>& is_wanted);

/** Connected groups of Mul and Add, each to become one compiled node. */
void claim_groups(const Host& host, const Options& options, const OrtGraph* graph, OrtEpGraphSupportInfo* support);

/** Single nodes for which the provider's registry has a kernel. */
void claim_nodes_with_kernels(const Host& host, const OrtGraph* graph, OrtEpGraphSupportInfo* support);

}  // namespace ortolan::example
