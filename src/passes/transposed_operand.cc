// Lets a product read its right operand as the columns that a Transpose would make rows, and multiply by a constant:
// what attention does to its keys. com.microsoft.FusedMatMul does all in one step.
#include <cmath>

#include "passes/edit.h"
#include "passes/extended.h"

namespace ortolan::passes {
namespace {

/** What a Transpose exchanges the last two dimensions of, and nothing else; NULL for other values. */
ValueInfo* transposed(const ValueInfo* value, const Graph& graph, const PassContext& context) {
  const Node* node = producer_of(value, "Transpose", graph);
  if (!node || !may_fuse(*node, context) || !node->input(0)) return nullptr;
  const SymbolicShape& shape = value->type.shape;
  if (!shape.has_rank() || shape.rank() < 2) return nullptr;
  auto rank = static_cast<int64_t>(shape.rank());
  std::vector<int64_t> order = node->ints("perm");
  if (order.empty()) return rank == 2 ? node->input(0) : nullptr;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t wanted = i < rank - 2 ? i : 2 * rank - 3 - i;
    if (static_cast<int64_t>(order.size()) != rank || order[static_cast<size_t>(i)] != wanted) return nullptr;
  }
  return node->input(0);
}

struct Factor {
  Node* node;  // that multiplies or divides by it
  float value;
};

/** The constant that the only user of `product` scales it by. */
std::optional<Factor> factor_of(const ValueInfo& product, const PassContext& context) {
  for (std::string_view op : {"Mul", "Div"}) {
    Node* node = only_user(&product, op);
    if (!node || !may_fuse(*node, context) || node->opset < 7) continue;
    size_t at = node->input(0) == &product ? 1 : 0;
    const Tensor* constant = stored_input(*node, at);
    std::optional<double> number = only_element(constant);
    if (!number || (op == "Div" && at == 0) || constant->rank() > product.type.shape.rank()) return std::nullopt;
    auto value = static_cast<float>(op == "Mul" ? *number : 1 / *number);
    if (std::isnormal(value)) return Factor{node, value};
  }
  return std::nullopt;
}

bool fuse_transpose_at(Node& product, const Graph& graph, const PassContext& context) {
  if (product.inputs().size() != 2 || !is_fusable_type(product.output(0))) return false;
  ValueInfo* right = transposed(product.input(1), graph, context);
  if (!right) return false;
  std::optional<Factor> factor = factor_of(*product.output(0), context);
  Node& last = factor ? *factor->node : product;
  Node* fused = replace_node(last, "FusedMatMul", "com.microsoft", {product.input(0), right}, context);
  fused->set_attribute("transB", int64_t{1});
  if (factor) fused->set_attribute("alpha", factor->value);
  return true;
}

}  // namespace

bool fuse_transposes(Graph& graph, const PassContext& context) {
  bool changed = false;
  std::vector<Node*> nodes;
  for (const auto& node : graph.nodes()) nodes.push_back(node.get());
  for (Node* node : nodes) {
    if (is_op(*node, "MatMul") && may_fuse(*node, context) && is_used(*node))
      changed |= fuse_transpose_at(*node, graph, context);
  }
  return changed;
}

}  // namespace ortolan::passes
