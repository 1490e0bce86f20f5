// Giving every node of a model to an execution provider.
#pragma once

#include <memory>
#include <vector>

#include "runtime/execution_provider.h"
#include "runtime/session.h"

namespace ortolan::runtime {

/** Asks the providers in order; each takes of what is left. Sets node.provider in the graph and its subgraphs, and
    returns what became of each node. Throws kNotImplemented with every provider's reason when nobody takes one. */
std::vector<NodeAssignment> partition(Graph& graph, std::span<const std::unique_ptr<ExecutionProvider>> providers);

}  // namespace ortolan::runtime
