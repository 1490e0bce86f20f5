// Fixed places in one block for the values whose shapes are known before a run, for one set of input shapes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "graph/type_info.h"

namespace ortolan::runtime {
using namespace graph;

class CompiledGraph;

/** What is known of one slot before the run. */
struct PlannedSlot {
  ElementType type = ElementType::kUndefined;  // kUndefined: shape or type not known, made during the run
  Shape shape;
  int64_t offset = -1;  // place in the block; -1: of its own (outputs, shared values, strings)
};

/** How a run computes the batch: the first `steps` on parts of `items` items, of `all`, one part after the other (see
    batch_parts.h). With steps 0 all at once. */
struct BatchParts {
  size_t steps = 0;
  int64_t items = 0, all = 0;
};

struct MemoryPlan {
  /** The shapes that the plan is for: of inputs, then of captured values. */
  std::vector<Shape> key;
  std::vector<PlannedSlot> slots;
  size_t block_bytes = 0;
  BatchParts parts;
};

/** Infers all shapes from these concrete types of inputs and captured values, and lays the block out. */
std::shared_ptr<const MemoryPlan> make_plan(const CompiledGraph& graph, std::span<const TypeInfo> inputs,
                                            std::span<const TypeInfo> captured);

/** The plans of one graph. A key is planned when it comes the second time; the least recently used goes first. Not
    thread-safe. */
class PlanCache {
 public:
  /** The plan for the key, or NULL; `seen_before` tells whether the key came already, so that a plan is worth it. */
  std::shared_ptr<const MemoryPlan> find(std::span<const Shape> key, bool& seen_before);
  void add(std::shared_ptr<const MemoryPlan> plan);

 private:
  std::vector<std::shared_ptr<const MemoryPlan>> plans_;  // most recently used first
  std::vector<uint64_t> seen_;
};

}  // namespace ortolan::runtime
