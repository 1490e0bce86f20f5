// Edits that several passes make.
#include "passes/edit.h"

#include <algorithm>

namespace ortolan::passes {

Node* producer_of(const ValueInfo* value, std::string_view op, const Graph& graph) {
  if (!value || !value->producer || value->graph != &graph || !is_op(*value->producer, op)) return nullptr;
  return value->producer;
}

bool used_once(const ValueInfo& value) {
  return value.consumers.size() == 1 && !value.is_output && &value.consumers[0]->graph() == value.graph;
}

bool is_used(const Node& node) {
  const ValueInfo* value = node.output(0);
  return value && (value->is_output || !value->consumers.empty());
}

bool same_shape(const SymbolicShape& a, const SymbolicShape& b) {
  return a.has_rank() && b.has_rank() && a.rank() == b.rank() &&
         std::equal(a.dims().begin(), a.dims().end(), b.dims().begin(),
                    [](Dim left, Dim right) { return left.same_as(right); });
}

std::optional<double> only_element(const Tensor* tensor) {
  constexpr TypeSet kReadable = kNumericTypes;
  if (!tensor || tensor->element_count() != 1 || !kReadable.contains(tensor->type())) return std::nullopt;
  return dispatch<kReadable>(tensor->type(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<double>(tensor->data<T>()[0]);
    } else {
      return static_cast<double>(static_cast<float>(tensor->data<T>()[0]));
    }
  });
}

namespace {

/** Ends the uses of a node that nobody needs, so that what it used is seen to be used less. */
void disconnect(Node& node) {
  for (size_t i = 0; i < node.inputs().size(); ++i) node.set_input(i, nullptr);
}

}  // namespace

bool is_dead(const Node& node) {
  return std::ranges::none_of(
      node.outputs(), [](const ValueInfo* value) { return value && (value->is_output || !value->consumers.empty()); });
}

bool bypass(Node& node, ValueInfo* with) {
  ValueInfo* output = node.output(0);
  if (!output || !with || !is_used(node)) return false;
  Graph& graph = node.graph();
  if (!output->is_output) {
    graph.replace_uses(output, with);
    if (is_dead(node)) disconnect(node);
    return true;
  }
  Node* maker = with->producer;
  if (!maker || with->graph != &graph || with->is_output) return false;
  auto at = std::ranges::find(maker->outputs(), with) - maker->outputs().begin();
  node.set_output(0, nullptr);
  maker->set_output(static_cast<size_t>(at), nullptr);
  maker->set_output(static_cast<size_t>(at), output);
  output->type = with->type;
  output->content = with->content;
  graph.replace_uses(with, output);
  if (is_dead(node)) disconnect(node);
  return true;
}

void make_constant(Node& node, size_t output, Tensor content) {
  ValueInfo* value = node.output(output);
  node.set_output(output, nullptr);
  value->type = TypeInfo::of_tensor(content.type(), SymbolicShape(content.shape()));
  value->constant = std::move(content);
}

}  // namespace ortolan::passes
