// The order of the passes and the loop that runs them.
#include "passes/pass.h"

namespace ortolan::passes {
namespace {

constexpr int kMostRounds = 4;

bool run_round(Graph& graph, int level, const PassContext& context) {
  bool changed = false;
  for_each_graph(graph, [&](Graph& part) {
    for (const Pass& pass : all_passes()) {
      if (pass.level <= level) changed |= pass.run(part, context);
    }
  });
  return changed;
}

}  // namespace

std::span<const Pass> all_passes() { return {}; }

void rewrite(Graph& graph, int level, const PassContext& context) {
  for (int round = 0; round < kMostRounds; ++round) {
    if (!run_round(graph, level, context)) return;
    for_each_graph(graph, [](Graph& part) { part.sort(); });
    context.infer(graph);
  }
}

}  // namespace ortolan::passes
