// The order of the passes and the loop that runs them.
#include <algorithm>

#include "passes/basic.h"
#include "passes/extended.h"

namespace ortolan::passes {
namespace {

constexpr int kMostRounds = 8;

/** Runs the passes of the levels that are for the end, or those that are not; then tidies up what changed. */
bool run_round(Graph& graph, int first, int last, bool at_end, const PassContext& context) {
  bool changed = false;
  for_each_graph(graph, [&](Graph& part) {
    for (const Pass& pass : all_passes()) {
      bool fits = pass.level >= first && pass.level <= last && pass.at_end == at_end;
      if (fits) changed |= pass.run(part, context);
    }
  });
  if (!changed) return false;
  graph.remove_unreachable();
  for_each_graph(graph, [](Graph& part) { part.sort(); });
  context.infer(graph);
  return true;
}

/** What the model's constants take. */
int64_t constant_bytes(Graph& graph) {
  constexpr int64_t kMost = int64_t{1} << 40;
  int64_t bytes = 0;
  for_each_graph(graph, [&](Graph& part) {
    for (const auto& value : part.values()) {
      if (value->constant)
        bytes += static_cast<int64_t>(std::min<size_t>(value->constant->byte_count(), kMost - bytes));
    }
  });
  return bytes;
}

}  // namespace

std::span<const Pass> all_passes() {
  static constexpr Pass kPasses[] = {
      {"take_constant_branches", 1, take_constant_branches},
      {"fold_constants", 1, fold_constants},
      {"move_transposes", 1, move_transposes},
      {"remove_no_ops", 1, remove_no_ops},
      {"join_pairs", 1, join_pairs},
      {"merge_common_subexpressions", 1, merge_common_subexpressions},
      {"join_matmul_add", 1, join_matmul_add},
      {"fold_into_weights", 1, fold_into_weights},
      {"remove_unused", 1, remove_unused},
      {"widen_halves", 2, widen_halves},
      {"fuse_quantized", 2, fuse_quantized},
      {"fold_dequantized", 2, fold_dequantized},
      {"fuse_integer_products", 2, fuse_integer_products},
      {"fuse_attention", 2, fuse_attention},
      {"fuse_gelu", 2, fuse_gelu},
      {"fuse_gated_activations", 2, fuse_gated_activations},
      {"fuse_layer_normalization", 2, fuse_layer_normalization},
      {"fuse_bias", 2, fuse_bias},
      {"fuse_residual", 2, fuse_residual},
      {"fuse_activations", 2, fuse_activations},
      {"fuse_transposes", 2, fuse_transposes},
      {"fuse_ranges", 2, fuse_ranges, true},
      {"fuse_conv_pairs", 2, fuse_conv_pairs, true},
      {"fuse_elementwise_chains", 2, fuse_elementwise_chains, true},
  };
  return kPasses;
}

void rewrite(Graph& graph, int first, int last, const PassContext& context) {
  context.folding_budget += constant_bytes(graph);
  for (int round = 0; round < kMostRounds; ++round) {
    if (!run_round(graph, first, last, false, context)) break;
  }
  run_round(graph, first, last, true, context);
}

void tidy_transposes(Graph& graph, const PassContext& context) {
  constexpr decltype(Pass::run) kSteps[] = {merge_common_subexpressions, move_transposes, remove_no_ops, join_pairs,
                                            remove_unused};
  bool changed = true;
  for (int round = 0; changed && round < kMostRounds; ++round) {
    changed = false;
    for (auto* step : kSteps) changed |= step(graph, context);
    if (!changed) return;
    graph.remove_unreachable();
    graph.sort();
    context.infer(graph);
  }
}

}  // namespace ortolan::passes
