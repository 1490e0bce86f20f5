// Lets a product or convolution add what an Add, or a Sum of two, alone does with its result: to a product a bias of
// one value a column, to products and Conv a tensor of the result's own shape.
#include <algorithm>

#include "passes/edit.h"
#include "passes/extended.h"

namespace ortolan::passes {
namespace {

/** Which inputs of an operator are added to its result. */
struct Sum {
  std::string_view domain, op;
  size_t bias;  // 0: it takes none
  size_t addend;
  bool bias_is_own;  // only the operator of domain "ortolan" takes one
};

constexpr Sum kSums[] = {
    {"", "MatMul", 2, 3, true},
    {"", "Conv", 0, 3, true},
    {"com.microsoft", "MatMulIntegerToFloat", 6, 7, false},
};

const Sum* sum_of(const Node& node) {
  for (const Sum& sum : kSums) {
    if (node.op_type == sum.op && (node.domain == sum.domain || node.domain == "ortolan")) return &sum;
  }
  return nullptr;
}

void set_distant_input(Node& node, size_t i, ValueInfo* value) {
  while (node.inputs().size() < i) node.set_input(node.inputs().size(), nullptr);
  node.set_input(i, value);
}

bool takes_sum(const Node& node, const PassContext& context) {
  return may_fuse(node, context) && !node.has_attribute("ortolan.activation") && is_fusable_type(node.output(0));
}

/** The node of the graph that makes input `i` of `add` for it alone; NULL if none. */
Node* own_producer(const Node& add, size_t i) {
  const ValueInfo* value = add.input(i);
  if (!value || !value->producer || value->graph != &add.graph() || !used_once(*value)) return nullptr;
  return value->producer;
}

/** True when `bias` surely has one value for each column of the product. */
bool is_bias_of(const ValueInfo* bias, const Node& product) {
  const ValueInfo *left = product.input(0), *right = product.input(1);
  if (!bias || !left || !right) return false;
  const SymbolicShape &shape = bias->type.shape, &a = left->type.shape, &b = right->type.shape;
  if (!shape.has_rank() || shape.rank() == 0 || !a.has_rank() || !b.has_rank() || a.rank() < 2 || b.rank() < 2) {
    return false;
  }
  bool leading_ones = std::all_of(shape.dims().begin(), shape.dims().end() - 1, [](Dim dim) { return dim.is(1); });
  return leading_ones && shape.rank() <= std::max(a.rank(), b.rank()) && shape.dims().back().same_as(b.dims().back()) &&
         bias->type.element == product.output(0)->type.element;
}

bool fuse_bias_into(Node& add, size_t i, const PassContext& context) {
  Node* product = own_producer(add, i);
  const Sum* sum = product ? sum_of(*product) : nullptr;
  if (!sum || !sum->bias || !takes_sum(*product, context)) return false;
  if (product->input(sum->bias) || product->input(sum->addend)) return false;
  ValueInfo* bias = add.input(1 - i);
  if (!is_bias_of(bias, *product) || !bypass(add, product->output(0))) return false;
  if (sum->bias_is_own) make_own(*product, context);
  set_distant_input(*product, sum->bias, bias);
  return true;
}

bool fuse_residual_into(Node& add, size_t i, const PassContext& context) {
  Node* product = own_producer(add, i);
  const Sum* sum = product ? sum_of(*product) : nullptr;
  if (!sum || product->input(sum->addend) || !takes_sum(*product, context)) return false;
  ValueInfo* addend = add.input(1 - i);
  const TypeInfo& type = product->output(0)->type;
  if (!addend || addend->type.element != type.element || !same_shape(addend->type.shape, type.shape)) return false;
  if (!bypass(add, product->output(0))) return false;
  make_own(*product, context);
  set_distant_input(*product, sum->addend, addend);
  return true;
}

template <class Fuse>
bool for_each_add(Graph& graph, const PassContext& context, Fuse&& fuse) {
  bool changed = false;
  for (const auto& node : graph.nodes()) {
    bool add = (is_op(*node, "Add") && node->opset >= 7) || (is_op(*node, "Sum") && node->opset >= 8);
    add = add && node->inputs().size() == 2;
    if (!add || !may_fuse(*node, context) || !is_used(*node)) continue;
    // The later operand first: nodes then need not be put in another order.
    changed |= fuse(*node, 1) || fuse(*node, 0);
  }
  return changed;
}

}  // namespace

bool fuse_bias(Graph& graph, const PassContext& context) {
  return for_each_add(graph, context, [&](Node& add, size_t i) { return fuse_bias_into(add, i, context); });
}

bool fuse_residual(Graph& graph, const PassContext& context) {
  return for_each_add(graph, context, [&](Node& add, size_t i) { return fuse_residual_into(add, i, context); });
}

}  // namespace ortolan::passes
