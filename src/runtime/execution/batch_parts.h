// Which steps of a graph may run on parts of the batch, one part through all of them before the next, so that what they
// hand on stays in the caches.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/execution/memory_plan.h"

namespace ortolan::runtime {

/** The first `count` steps, which compute each item of the batch by itself: what they make and read has four
   dimensions, the batch first, but for constants. */
struct ItemSteps {
  size_t count = 0;
  std::vector<size_t> inputs;  // of the graph, that they read
};

ItemSteps item_steps(const CompiledGraph& graph);

struct BatchMachine {
  int64_t cache_bytes = 0;  // of the second level, of all processors that the threads run on
  int threads = 1;
};

/** Parts whose values fit in the caches, as far as items are that small, for as many steps as gain by it in all. */
BatchParts part_batch(const CompiledGraph& graph, const ItemSteps& steps, const MemoryPlan& plan,
                      const BatchMachine& machine);

/** A step, and one of its outputs. */
using StepOutput = std::pair<size_t, size_t>;

/** Of the first `steps` the values that later ones read or that are outputs of the graph. */
std::vector<StepOutput> values_beyond(const CompiledGraph& graph, size_t steps);

}  // namespace ortolan::runtime
