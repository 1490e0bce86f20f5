// Edits that several passes make.
#include "passes/edit.h"

#include <algorithm>
#include <cmath>

namespace ortolan::passes {
namespace {

constexpr const char* kOwnDomain = "ortolan";

/** Ends the uses of a node that nobody needs, so that what it used is seen to be used less. */
void disconnect(Node& node) {
  for (size_t i = node.inputs().size(); i-- > 0;) node.set_input(i, nullptr);
}

}  // namespace

Node* producer_of(const ValueInfo* value, std::string_view op, const Graph& graph) {
  if (!value || !value->producer || value->graph != &graph || !is_op(*value->producer, op)) return nullptr;
  return value->producer;
}

bool used_once(const ValueInfo& value) {
  return value.consumers.size() == 1 && !value.is_output && &value.consumers.front()->graph() == value.graph;
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

double likely_size(const ValueInfo& value) {
  double size = 1;
  for (Dim dim : value.type.shape.dims()) size *= dim.known() ? static_cast<double>(dim.value()) : 1;
  return size;
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

Node* only_user(const ValueInfo* value, std::string_view op) {
  if (!value || !used_once(*value)) return nullptr;
  Node* user = value->consumers.front();
  return is_op(*user, op) ? user : nullptr;
}

ValueInfo* other_input(const Node& node, const ValueInfo* value) {
  if (node.inputs().size() != 2 || node.input(0) == node.input(1)) return nullptr;
  return node.input(0) == value ? node.input(1) : node.input(1) == value ? node.input(0) : nullptr;
}

bool is_number(const Node& node, size_t i, double number, const ValueInfo& beside, double tolerance) {
  const Tensor* tensor = stored_input(node, i);
  auto element = only_element(tensor);
  if (!element || !(std::abs(*element - number) <= tolerance * std::abs(number))) return false;
  const SymbolicShape& shape = beside.type.shape;
  return tensor->rank() == 0 || (shape.has_rank() && tensor->rank() <= shape.rank());
}

ValueInfo* operand_beside(const Node* node, std::string_view op, double number, double tolerance) {
  if (!node || !is_op(*node, op) || node->opset < 7 || node->inputs().size() != 2) return nullptr;
  ValueInfo *left = node->input(0), *right = node->input(1);
  if (!left || !right) return nullptr;
  if (is_number(*node, 1, number, *left, tolerance)) return left;
  bool commutes = op == "Add" || op == "Mul";
  return commutes && is_number(*node, 0, number, *right, tolerance) ? right : nullptr;
}

double constant_tolerance(ElementType type) {
  return type == ElementType::kFloat16 ? 1e-3 : type == ElementType::kBFloat16 ? 1e-2 : 1e-6;
}

bool is_fusable_type(const ValueInfo* value) {
  constexpr TypeSet kTypes = kHalfTypes | ElementType::kFloat;
  return value && value->type.is_tensor() && kTypes.contains(value->type.element);
}

void make_own(Node& node, const PassContext& context) {
  if (node.domain == kOwnDomain) return;
  node.domain = kOwnDomain;
  node.opset = 1;
  node.graph().context().opsets[kOwnDomain] = 1;
  context.resolve(node);
}

Node* replace_node(Node& last, std::string_view op, std::string_view domain, std::vector<ValueInfo*> inputs,
                   const PassContext& context) {
  Graph& graph = last.graph();
  ValueInfo* y = last.output(0);
  last.set_output(0, nullptr);
  Node* node = graph.add_node(last.name, std::string(op), std::string(domain), std::move(inputs), {y});
  node->provider = last.provider;
  node->opset = domain == last.domain ? last.opset : 1;
  if (domain != last.domain) graph.context().opsets.emplace(domain, 1);
  context.resolve(*node);
  disconnect(last);
  return node;
}

Node* replace_by_activation(Node& last, ValueInfo* x, std::string name, std::vector<float> parameters,
                            const PassContext& context) {
  Node* node = replace_node(last, "Activation", kOwnDomain, {x}, context);
  node->set_attribute("ortolan.activation", std::move(name));
  if (!parameters.empty()) node->set_attribute("ortolan.activation_params", std::move(parameters));
  return node;
}

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
  const size_t at = with->producer_output;
  node.set_output(0, nullptr);
  maker->set_output(at, nullptr);
  maker->set_output(at, output);
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
