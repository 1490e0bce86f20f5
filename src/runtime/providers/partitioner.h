// Giving every node of a model to an execution provider.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runtime/kernels/custom_operator.h"
#include "runtime/providers/execution_provider.h"
#include "runtime/session/session.h"

namespace ortolan::runtime {

struct PartitionOptions {
  const Logger* logger = nullptr;  // hears of dropped claims and of nodes that fall back; NULL for nobody
  bool forbid_cpu = false;         // a node that only the last provider takes is an error
  bool record_edges = false;       // assignments name the values that nodes read and make
  bool forbid_compiling = false;   // a group to compile that is no EPContext node is one too
  std::string_view name_prefix;    // of the names of fused nodes
  std::string_view model_path;     // makes those names differ from other models'; empty where there is none
  /** Connected nodes that a provider takes go back when they are fewer; a provider may want more. */
  size_t least_island = 1;
  /** Moves and removes Transposes; NULL: they stay where they were put. */
  std::function<void(Graph&)> tidy_transposes;
};

struct Partition {
  std::vector<NodeAssignment> assignments;
  /** Of the fused nodes. The graph refers to them, so they must outlive it. */
  std::vector<std::unique_ptr<CustomOperator>> operators;
};

/** Asks the providers in order, graph by graph, outer graphs first; each takes of what is left. Sets node.provider,
    and puts one node in place of each group that a provider compiles. A claim that cannot be (nodes not connected, or
    a path that leaves the group and comes back) is dropped alone. Throws kNotImplemented with every provider's reason
    when nobody takes a node. */
Partition partition(Graph& graph, std::span<const std::unique_ptr<ExecutionProvider>> providers,
                    const PartitionOptions& options = {});

}  // namespace ortolan::runtime
