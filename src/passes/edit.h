// What passes share: tests on nodes and the replacement of one value by another.
#pragma once

#include <algorithm>

#include "passes/pass.h"

namespace ortolan::passes {

/** True for a node of ai.onnx called `op`. */
inline bool is_op(const Node& node, std::string_view op) { return node.domain.empty() && node.op_type == op; }
/** True for a node of ai.onnx called one of `ops`. */
inline bool is_one_of(const Node& node, std::span<const std::string_view> ops) {
  return node.domain.empty() && std::ranges::find(ops, node.op_type) != ops.end();
}
/** The node that makes `value`, when it is an ai.onnx `op` of the same graph; else NULL. */
Node* producer_of(const ValueInfo* value, std::string_view op, const Graph& graph);
/** The elements of an input that no caller can change; NULL otherwise. */
inline const Tensor* constant_input(const Node& node, size_t i) {
  const ValueInfo* value = node.input(i);
  return value ? value->fixed_constant() : nullptr;
}
/** The same, perhaps unaligned if large: for its type and shape, or one element. */
inline const Tensor* stored_input(const Node& node, size_t i) {
  const ValueInfo* value = node.input(i);
  return value ? value->stored_constant() : nullptr;
}
/** True when `value` is used exactly once, and by a node of the same graph. */
bool used_once(const ValueInfo& value);
/** True when the first output is wanted by somebody. */
bool is_used(const Node& node);
/** True when no output is. */
bool is_dead(const Node& node);
/** True when all dimensions are surely the same. */
bool same_shape(const SymbolicShape& a, const SymbolicShape& b);
/** The elements of a value, unknown dimensions counted as one. */
double likely_size(const ValueInfo& value);
/** The only element of a tensor of one element of floats or integers, as double. */
std::optional<double> only_element(const Tensor* tensor);

/** The node that alone uses `value`, when it is an ai.onnx `op` of the same graph; else NULL. */
Node* only_user(const ValueInfo* value, std::string_view op);
/** The input of a node of two inputs that is not `value`; NULL when neither or both are `value`. */
ValueInfo* other_input(const Node& node, const ValueInfo* value);
/** True when input `i` is a constant of one element within `tolerance` (relative) of `number`, and no broadcasting by
    it can raise the rank of `beside`. */
bool is_number(const Node& node, size_t i, double number, const ValueInfo& beside, double tolerance = 1e-6);
/** x where the node is `op`(x, number), or (number, x) for the operators Add and Mul; else NULL. */
ValueInfo* operand_beside(const Node* node, std::string_view op, double number, double tolerance = 1e-6);
/** How far a constant of a fused pattern may be from its exact value, by the element type it is stored in. */
double constant_tolerance(ElementType type);

/** True for a node that a pass above the basic level may change. */
inline bool may_fuse(const Node& node, const PassContext& context) { return node.provider == context.provider; }
/** True for float and the 16-bit types: what kernels of domain "ortolan" compute. */
bool is_fusable_type(const ValueInfo* value);
/** Moves a node to domain "ortolan", whose operator of the same name takes more inputs and attributes. */
void make_own(Node& node, const PassContext& context);
/** Puts a node of another operator in place of the one that makes `last`'s only output; of another domain than that, it
    is of opset 1. `last` has no outputs then, and the sweep removes it. */
Node* replace_node(Node& last, std::string_view op, std::string_view domain, std::vector<ValueInfo*> inputs,
                   const PassContext& context);
/** Puts ortolan's Activation, y = `name`(x), in place of the node that makes `result`, which must be dead or die with
    that. */
Node* replace_by_activation(Node& last, ValueInfo* x, std::string name, std::vector<float> parameters,
                            const PassContext& context);

/** Lets everybody use `with` in place of the node's first output, after which the node is dead and the sweep removes
    it. A graph output keeps its name: then `with` takes it, which is possible only for a value made in this graph that
    is no output itself. Returns whether it was done. */
bool bypass(Node& node, ValueInfo* with);
/** Makes a value of known content of a node's output, which then has no producer. */
void make_constant(Node& node, size_t output, Tensor content);

}  // namespace ortolan::passes
