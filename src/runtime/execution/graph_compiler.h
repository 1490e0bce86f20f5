// Turning a partitioned graph into steps.
#pragma once

#include <unordered_map>

#include "runtime/execution/compiled_graph.h"

namespace ortolan::runtime {

/** Fills one CompiledGraph. Used once, by its constructor. */
class GraphCompiler {
 public:
  GraphCompiler(CompiledGraph& target, const CompileServices& services, GraphCompiler* outer)
      : target_(target), services_(services), outer_(outer) {}
  void compile();
  /** The slot of a value of this graph or one around it, made at its first mention. */
  int slot_of(const ValueInfo* value);
  /** The count that its frame pool shares with those of its subgraphs. */
  const std::shared_ptr<std::atomic<size_t>>& waiting_frames() const;

 private:
  void add_step(Node& node);
  void add_subgraphs(Step& step, Node& node);
  void make_kernel(Step& step);
  void find_dying();
  void fill_constants();
  /** Gives back the memory of weights that the step's kernel has packed. */
  void release_packed_pages(const Step& step);

  CompiledGraph& target_;
  const CompileServices& services_;
  GraphCompiler* outer_;
  std::unordered_map<const ValueInfo*, int> slots_;
};

}  // namespace ortolan::runtime
