// Joins Gelu as models spell it: x/2 * (1 + erf(x/sqrt(2))) and x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))), the
// factors in any order.
#include <cmath>

#include "passes/edit.h"
#include "passes/extended.h"

namespace ortolan::passes {
namespace {

constexpr double kSqrt2 = 1.41421356237309504880;
constexpr double kSqrt2OverPi = 0.79788456080286535588;
constexpr double kCubic = 0.044715;

double tolerance_of(const ValueInfo* value) { return constant_tolerance(value->type.element); }

/** True when `value` is x / 2. */
bool is_half_of(const ValueInfo* value, const ValueInfo* x) {
  if (!value || !value->producer || value->graph != x->graph) return false;
  const Node* node = value->producer;
  return operand_beside(node, "Mul", 0.5) == x || operand_beside(node, "Div", 2) == x;
}

/** The node that ends `sum` * x/2, when all between is used for nothing else. */
Node* end_of_product(ValueInfo* sum, const ValueInfo* x) {
  Node* first = only_user(sum, "Mul");
  if (!first || first->opset < 7) return nullptr;
  if (is_half_of(other_input(*first, sum), x)) return first;
  Node* second = only_user(first->output(0), "Mul");
  if (other_input(*first, sum) == x) {
    if (operand_beside(second, "Mul", 0.5) == first->output(0)) return second;
    Node* halved = only_user(first->output(0), "Div");
    return operand_beside(halved, "Div", 2) == first->output(0) ? halved : nullptr;
  }
  if (operand_beside(first, "Mul", 0.5) != sum || !second) return nullptr;
  return other_input(*second, first->output(0)) == x ? second : nullptr;
}

/** x where `value` is x / sqrt(2); else NULL. */
ValueInfo* of_erf_argument(const ValueInfo* value) {
  const Node* node = value->producer;
  double tolerance = tolerance_of(value);
  ValueInfo* x = operand_beside(node, "Div", kSqrt2, tolerance);
  return x ? x : operand_beside(node, "Mul", 1 / kSqrt2, tolerance);
}

bool is_cube_of(const ValueInfo* value, const ValueInfo* x) {
  const Node* node = value && value->graph == x->graph ? value->producer : nullptr;
  if (!node) return false;
  if (operand_beside(node, "Pow", 3) == x) return true;
  if (!is_op(*node, "Mul")) return false;
  const ValueInfo* square = other_input(*node, x);
  const Node* product = square && square->graph == x->graph ? square->producer : nullptr;
  if (!product) return false;
  bool itself = is_op(*product, "Mul") && product->input(0) == x && product->input(1) == x;
  return itself || operand_beside(product, "Pow", 2) == x;
}

/** x where `value` is sqrt(2/pi) * (x + 0.044715 x^3); else NULL. */
ValueInfo* of_tanh_argument(const ValueInfo* value, const Graph& graph) {
  double tolerance = tolerance_of(value);
  const ValueInfo* sum = operand_beside(value->producer, "Mul", kSqrt2OverPi, tolerance);
  const Node* add = producer_of(sum, "Add", graph);
  if (!add || add->opset < 7) return nullptr;
  for (size_t i = 0; i < 2; ++i) {
    ValueInfo* x = add->input(i);
    const Node* cubic = producer_of(add->input(1 - i), "Mul", graph);
    if (x && cubic && is_cube_of(operand_beside(cubic, "Mul", kCubic, tolerance), x)) return x;
  }
  return nullptr;
}

bool fuse_gelu_at(Node& function, const PassContext& context) {
  const ValueInfo* argument = function.input(0);
  if (!argument || !argument->producer || argument->graph != &function.graph()) return false;
  bool erf = is_op(function, "Erf");
  ValueInfo* x = erf ? of_erf_argument(argument) : of_tanh_argument(argument, function.graph());
  if (!x || !is_fusable_type(x)) return false;
  Node* sum = only_user(function.output(0), "Add");
  if (operand_beside(sum, "Add", 1) != function.output(0)) return false;
  Node* last = end_of_product(sum->output(0), x);
  if (!last || !may_fuse(*last, context)) return false;
  replace_by_activation(*last, x, erf ? "Gelu" : "FastGelu", {}, context);
  return true;
}

}  // namespace

bool fuse_gelu(Graph& graph, const PassContext& context) {
  bool changed = false;
  for (size_t i = 0, count = graph.nodes().size(); i < count; ++i) {
    Node& node = *graph.nodes()[i];
    bool candidate = is_op(node, "Erf") || is_op(node, "Tanh");
    if (candidate && may_fuse(node, context) && is_used(node)) changed |= fuse_gelu_at(node, context);
  }
  return changed;
}

}  // namespace ortolan::passes
