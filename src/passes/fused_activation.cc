// Lets a product or convolution apply the activation that alone uses its result.
#include "passes/activations.h"
#include "passes/extended.h"

namespace ortolan::passes {
namespace {

bool takes_activation(const Node& node) {
  bool known = node.op_type == "Conv" || node.op_type == "Gemm" || node.op_type == "MatMul";
  bool own_or_onnx = known && (node.domain.empty() || node.domain == "ortolan");
  bool integer = node.op_type == "MatMulIntegerToFloat" && !node.domain.empty();
  return (own_or_onnx || integer) && !node.has_attribute("ortolan.activation") && is_fusable_type(node.output(0));
}

bool fuse_activation_at(Node& node, const PassContext& context) {
  ValueInfo* x = node.input(0);
  if (!x || !x->producer || x->graph != &node.graph() || !used_once(*x)) return false;
  Node& maker = *x->producer;
  if (!may_fuse(maker, context) || !takes_activation(maker)) return false;
  auto activation = activation_of(node);
  if (!activation || !activation->epilogue || !bypass(node, x)) return false;
  make_own(maker, context);
  maker.set_attribute("ortolan.activation", std::move(activation->name));
  if (!activation->parameters.empty()) {
    maker.set_attribute("ortolan.activation_params", std::move(activation->parameters));
  }
  return true;
}

}  // namespace

bool fuse_activations(Graph& graph, const PassContext& context) {
  bool changed = false;
  for (const auto& node : graph.nodes()) {
    if (may_fuse(*node, context) && is_used(*node)) changed |= fuse_activation_at(*node, context);
  }
  return changed;
}

}  // namespace ortolan::passes
