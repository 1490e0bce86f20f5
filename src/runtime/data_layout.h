// Giving providers that prefer their channels last the operators in that form.
#pragma once

#include <span>

#include "runtime/execution_provider.h"

namespace ortolan::runtime {

/** Puts those of the nodes that the provider wants so into ops::kChannelsLastDomain, with a Transpose before and after
    each; says whether there are any. `nodes` are of `graph`, which is sorted anew. */
bool put_channels_last(Graph& graph, std::span<Node* const> nodes, const ExecutionProvider& provider);

/** Undoes that for some of them, with Transposes of their own, which take back those that are there. */
void put_channels_first(Graph& graph, std::span<Node* const> nodes);

}  // namespace ortolan::runtime
