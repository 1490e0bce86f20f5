// Nodes that are made of good ones by changing a few things.
#pragma once

#include "hostile_run.h"

namespace ortolan::test {

/** The node with one to three things changed, as the seed chooses: the opset, an input's type, shape or elements, an
 *  attribute. */
HostileNode mutated(const HostileNode& from, uint32_t seed);

}  // namespace ortolan::test
