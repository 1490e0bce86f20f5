// Graph rewrites: what a pass is, what it may ask for, and how they run.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "graph/graph.h"

namespace ortolan::passes {
using namespace graph;

/** What the runtime does for a pass. The references must outlive the context. */
struct PassContext {
  /** The outputs of a node with constant inputs; nothing when it cannot be computed before a run. */
  FunctionRef<std::optional<std::vector<Tensor>>(const Node&)> evaluate;
  /** Finds the schema of a node that a pass made; Node.opset must be set. */
  FunctionRef<void(Node&)> resolve;
  /** Infers types and shapes of the graph and its subgraphs again. */
  FunctionRef<void(Graph&)> infer;
};

/** One rewrite. `run` changes one graph (not its subgraphs) and tells whether it changed anything; running it again
    at once changes nothing. Levels are those of GraphOptimizationLevel: 1 basic, 2 extended, 3 layout. */
struct Pass {
  const char* name;
  int level;
  bool (*run)(Graph& graph, const PassContext& context);
};

/** All passes in the order in which they run. */
std::span<const Pass> all_passes();

/** Runs the passes up to `level` on the graph and its subgraphs until nothing changes, a few rounds at most. Values
    that are graph outputs keep their names; results stay the same. */
void rewrite(Graph& graph, int level, const PassContext& context);

}  // namespace ortolan::passes
