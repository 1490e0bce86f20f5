// Removes what nothing needs: nodes and initializers that no output depends on, and optional outputs that nobody uses.
#include <algorithm>

#include "passes/edit.h"
#include "passes/pass.h"

namespace ortolan::passes {
namespace {

// Operators whose kernels save work when a later output is not wanted.
constexpr std::string_view kWithOptionalOutputs[] = {"MaxPool", "LSTM", "GRU", "RNN", "LayerNormalization", "Dropout"};

bool drop_optional_outputs(Node& node) {
  if (!node.domain.empty() || std::ranges::find(kWithOptionalOutputs, node.op_type) == std::end(kWithOptionalOutputs)) {
    return false;
  }
  size_t first = node.op_type == "LSTM" || node.op_type == "GRU" || node.op_type == "RNN" ? 0 : 1;
  bool changed = false;
  for (size_t i = first; i < node.outputs().size(); ++i) {
    const ValueInfo* value = node.output(i);
    if (!value || value->is_output || !value->consumers.empty()) continue;
    node.set_output(i, nullptr);
    changed = true;
  }
  return changed;
}

}  // namespace

bool remove_unused(Graph& graph, const PassContext&) {
  bool changed = graph.remove_unreachable();
  bool dropped = false;
  for (const auto& node : graph.nodes()) dropped |= drop_optional_outputs(*node);
  if (dropped) graph.remove_unreachable();
  return changed || dropped;
}

}  // namespace ortolan::passes
