// The version in which a node's operator was last changed.
#pragma once

#include "graph/graph.h"

namespace ortolan::ops {

/** The version of the operator set that last changed the node's operator, at most node.opset: what plugins look kernels
    up by. Schema rows may reach further back, as versions that differ in little share one. */
int since_version(const graph::Node& node);

}  // namespace ortolan::ops
