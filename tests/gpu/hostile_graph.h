// Graphs as a compiled model's author may have changed them, for tests of what must not end in a crash.
#pragma once

#include <random>

#include "gpu/core/group.h"

namespace ortolan::gpu::test {

/** Changes one thing that a file says: an input, an attribute, a type, a shape, a version. */
void make_hostile(Graph& graph, std::mt19937& random);

/** Loads such a graph from bytes and runs it on zeros; true: it ran, false: it ended in an error. */
bool runs_from_bytes(Device& device, const Graph& graph);

}  // namespace ortolan::gpu::test
