// Giving providers that prefer their channels last the operators in that form.
#pragma once

#include <span>

#include "runtime/providers/execution_provider.h"

namespace ortolan::runtime {

/** Those of the nodes that the provider wants so. Throws what the provider throws when it is asked. */
std::vector<Node*> wanted_channels_last(std::span<Node* const> nodes, const ExecutionProvider& provider);

/** Puts nodes of a graph that have such a form into ops::kChannelsLastDomain, with a Transpose before and after each.
    The graph is sorted anew. */
void put_channels_last(Graph& graph, std::span<Node* const> nodes);

/** Undoes that for some of them, with Transposes of their own, which take back those that are there. */
void put_channels_first(Graph& graph, std::span<Node* const> nodes);

}  // namespace ortolan::runtime
