// Joins activations that models spell as x times a function of x: Silu (sigmoid), QuickGelu (sigmoid of a multiple),
// HardSwish (hard sigmoid, or a clipped sum) and Mish (tanh of softplus).
#include <cmath>
#include <limits>

#include "passes/edit.h"
#include "passes/extended.h"

namespace ortolan::passes {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Gate {
  std::string name;
  std::vector<float> parameters;
};

/** What x times the gate's output is, when `gate` is a function of `x`. */
std::optional<Gate> gate_of(const Node& gate, const ValueInfo* x, const Graph& graph) {
  if (is_op(gate, "Sigmoid")) {
    if (gate.input(0) == x) return Gate{"Silu", {}};
    const Node* times = producer_of(gate.input(0), "Mul", graph);
    if (!times || times->opset < 7) return std::nullopt;
    const ValueInfo* factor = other_input(*times, x);
    double number = factor ? only_element(factor->stored_constant()).value_or(kNan) : kNan;
    size_t at = factor == times->input(0) ? 0 : 1;
    if (!is_number(*times, at, number, *x)) return std::nullopt;
    return Gate{"QuickGelu", {static_cast<float>(number)}};
  }
  if (is_op(gate, "HardSigmoid") && gate.input(0) == x) {
    bool standard = std::abs(gate.float_or("alpha", 0.2f) - 1 / 6.0f) < 1e-7f && gate.float_or("beta", 0.5f) == 0.5f;
    return standard ? std::optional(Gate{"HardSwish", {}}) : std::nullopt;
  }
  if (is_op(gate, "Tanh")) {
    const Node* softplus = producer_of(gate.input(0), "Softplus", graph);
    if (softplus && softplus->input(0) == x) return Gate{"Mish", {}};
  }
  return std::nullopt;
}

bool fuse_product(Node& product, const PassContext& context) {
  Graph& graph = product.graph();
  for (size_t i = 0; i < 2; ++i) {
    ValueInfo *x = product.input(i), *gated = product.input(1 - i);
    if (!x || !gated || x == gated || !used_once(*gated) || !gated->producer || gated->graph != &graph) continue;
    if (!may_fuse(*gated->producer, context)) continue;
    auto gate = gate_of(*gated->producer, x, graph);
    if (!gate) continue;
    replace_by_activation(product, x, std::move(gate->name), std::move(gate->parameters), context);
    return true;
  }
  return false;
}

bool is_clip_0_6(const Node& clip) {
  if (clip.opset < 11) return clip.float_or("min", -1) == 0 && clip.float_or("max", -1) == 6;
  return only_element(stored_input(clip, 1)) == 0.0 && only_element(constant_input(clip, 2)) == 6.0;
}

/** x where `value` is clip(x + 3, 0, 6); else NULL. */
ValueInfo* of_clipped_sum(const ValueInfo* value, const Graph& graph) {
  const Node* clip = producer_of(value, "Clip", graph);
  if (!clip || !is_clip_0_6(*clip)) return nullptr;
  return operand_beside(producer_of(clip->input(0), "Add", graph), "Add", 3);
}

/** The value that the node divides by 6, or NULL. */
ValueInfo* divided_by_6(const Node& node) {
  ValueInfo* divided = operand_beside(&node, "Div", 6);
  return divided ? divided : operand_beside(&node, "Mul", 1 / 6.0);
}

/** x * clip(x + 3, 0, 6) / 6, the division last or before the product. */
bool fuse_hard_swish(Node& node, const PassContext& context) {
  Graph& graph = node.graph();
  if (const ValueInfo* product = divided_by_6(node)) {
    const Node* times = producer_of(product, "Mul", graph);
    if (!times || !used_once(*product) || times->opset < 7 || times->inputs().size() != 2) return false;
    for (size_t i = 0; i < 2; ++i) {
      ValueInfo* x = of_clipped_sum(times->input(i), graph);
      if (!x || x != times->input(1 - i)) continue;
      replace_by_activation(node, x, "HardSwish", {}, context);
      return true;
    }
    return false;
  }
  if (!is_op(node, "Mul") || node.opset < 7 || node.inputs().size() != 2) return false;
  for (size_t i = 0; i < 2; ++i) {
    const ValueInfo* gate = node.input(i);
    if (!gate || !gate->producer || gate->graph != &graph || !used_once(*gate)) continue;
    const ValueInfo* clipped = divided_by_6(*gate->producer);
    ValueInfo* x = clipped ? of_clipped_sum(clipped, graph) : nullptr;
    if (!x || x != node.input(1 - i)) continue;
    replace_by_activation(node, x, "HardSwish", {}, context);
    return true;
  }
  return false;
}

}  // namespace

bool fuse_gated_activations(Graph& graph, const PassContext& context) {
  bool changed = false;
  for (size_t i = 0, count = graph.nodes().size(); i < count; ++i) {
    Node& node = *graph.nodes()[i];
    bool last = is_op(node, "Mul") || is_op(node, "Div");
    if (!last || !may_fuse(node, context) || !is_used(node) || !is_fusable_type(node.output(0))) continue;
    changed |= fuse_hard_swish(node, context) || (is_op(node, "Mul") && fuse_product(node, context));
  }
  return changed;
}

}  // namespace ortolan::passes
