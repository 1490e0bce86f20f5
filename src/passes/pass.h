// Graph rewrites: what a pass is, what it may ask for, and how they run.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/threads/thread_pool.h"
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
  /** The provider whose kernels know the operators of domain "ortolan": passes above the basic level touch only nodes
      that are assigned to it. Empty: no node is assigned yet. */
  std::string_view provider;
  /** Operators between DequantizeLinear and QuantizeLinear become quantised ones at the extended level; until then,
      constants stay quantised. */
  bool find_quantized = false;
  /** The bytes that constant folding may still add beyond what it makes unused; rewrite() adds the model's own. */
  mutable int64_t folding_budget = int64_t{256} << 20;
  /** Mapped files that constants may lie in. */
  std::span<const std::shared_ptr<base::MappedFile>> files;
  /** Threads for work on large constants; NULL: the caller's alone. */
  base::ThreadPool* threads = nullptr;
};

/** One rewrite. `run` changes one graph (not its subgraphs) and tells whether it changed anything; running it again
    at once changes nothing. Levels are those of GraphOptimizationLevel: 1 basic, 2 extended, 3 layout. */
struct Pass {
  const char* name;
  int level;
  bool (*run)(Graph& graph, const PassContext& context);
  bool at_end = false;  // takes what the others leave: runs once, when nothing changes any more
};

/** All passes in the order in which they run. */
std::span<const Pass> all_passes();

/** Runs the passes of levels `first` to `last` on the graph and its subgraphs until nothing changes, a few rounds at
    most, and then those for the end. Values that are graph outputs keep their names; results stay the same. Basic
   passes leave a plain ONNX model; others make nodes of domain "ortolan" and run after the graph is partitioned. */
void rewrite(Graph& graph, int first, int last, const PassContext& context);

/** Runs what the basic level does with Transposes alone, on one graph: moves them, joins them, and removes what then
   has no use. The types of values outside of it must be known. */
void tidy_transposes(Graph& graph, const PassContext& context);

}  // namespace ortolan::passes
