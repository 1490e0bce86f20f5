// What passes share: tests on nodes and the replacement of one value by another.
#pragma once

#include "graph/graph.h"

namespace ortolan::passes {
using namespace graph;

/** True for a node of ai.onnx called `op`. */
inline bool is_op(const Node& node, std::string_view op) { return node.domain.empty() && node.op_type == op; }
/** The node that makes `value`, when it is an ai.onnx `op` of the same graph; else NULL. */
Node* producer_of(const ValueInfo* value, std::string_view op, const Graph& graph);
/** The elements of an input that no caller can change; NULL otherwise. */
inline const Tensor* constant_input(const Node& node, size_t i) {
  const ValueInfo* value = node.input(i);
  return value ? value->fixed_constant() : nullptr;
}
/** True when `value` is used exactly once, and by a node of the same graph. */
bool used_once(const ValueInfo& value);
/** True when the first output is wanted by somebody. */
bool is_used(const Node& node);
/** True when no output is. */
bool is_dead(const Node& node);
/** True when all dimensions are surely the same. */
bool same_shape(const SymbolicShape& a, const SymbolicShape& b);
/** The only element of a tensor of one element of floats or integers, as double. */
std::optional<double> only_element(const Tensor* tensor);

/** Lets everybody use `with` in place of the node's first output, after which the node is dead and the sweep removes
    it. A graph output keeps its name: then `with` takes it, which is possible only for a value made in this graph that
    is no output itself. Returns whether it was done. */
bool bypass(Node& node, ValueInfo* with);
/** Makes a value of known content of a node's output, which then has no producer. */
void make_constant(Node& node, size_t output, Tensor content);

}  // namespace ortolan::passes
