// Which nodes of a graph a provider takes.
#pragma once

#include "graph.h"
#include "host.h"
#include "options.h"

namespace ortolan::example {

/** Connected groups of supported nodes, each to become one compiled node. No path leads out of a group and back into
 *  it, not even through other groups: the graph with a node for each group still has no cycle. */
void claim_groups(const Host& host, const Options& options, const OrtGraph* graph, OrtEpGraphSupportInfo* support);

/** Single nodes for which the provider's registry has a kernel. */
void claim_nodes_with_kernels(const Host& host, const OrtGraph* graph, OrtEpGraphSupportInfo* support);

}  // namespace ortolan::example
