// Which nodes of a graph run on the device, in which groups, and why the others do not.
#pragma once

#include "gpu/core/operators.h"

namespace ortolan::gpu {

struct Claims {
  std::vector<std::vector<int>> groups;  // nodes of the graph, in its order; each group is connected and convex
  std::vector<std::string> refusals;     // for each node; empty where it is in a group
};

/** `taken[i]`: node i belongs to another provider. Shape arithmetic joins groups that need it and makes none. */
Claims claim_nodes(const Graph& graph, const std::vector<bool>& taken, const DeviceTraits& traits);

}  // namespace ortolan::gpu
