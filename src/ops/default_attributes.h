// The values of standard operators' attributes that a node leaves out.
#pragma once

#include <span>

#include "graph/graph.h"

namespace ortolan::ops {

/** The attributes that the node's operator has a default for, with that value, whether the node sets them or not.
   Kernels know their defaults themselves; this is for those outside who expect every attribute to be there. Empty for
   operators that are not ONNX's own. */
std::span<const graph::Attribute> default_attributes(const graph::Node& node);

}  // namespace ortolan::ops
