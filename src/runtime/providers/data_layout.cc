// Giving providers that prefer their channels last the operators in that form.
#include "runtime/providers/data_layout.h"

#include "ops/channels_last.h"

namespace ortolan::runtime {
namespace {

using Order = std::vector<int64_t>;

void add_transpose(ValueInfo& from, ValueInfo& to, const Order& order, int opset) {
  Node* node = to.graph->add_node(to.name, "Transpose", "", {&from}, {&to});
  node->opset = opset;
  node->set_attribute("perm", order);
  ops::resolve_schema(*node);
}

/** Lets the node read input 0 and make output 0 in another order of dimensions; everybody else sees what they did. */
void reorder_data(Node& node, const Order& into, const Order& back) {
  Graph& graph = node.graph();
  ValueInfo &read = *node.input(0), &made = *node.output(0);
  ValueInfo* input = graph.add_value(graph.unique_name(read.name), ops::in_order(read.type, into));
  add_transpose(read, *input, into, node.opset);
  node.set_input(0, input);
  ValueInfo* output = graph.add_value(graph.unique_name(made.name), ops::in_order(made.type, into));
  node.set_output(0, output);
  add_transpose(*output, made, back, node.opset);
}

bool wants_channels_last(const Node& node, const ExecutionProvider& provider) {
  if (!ops::can_put_channels_last(node)) return false;
  return provider.converts_to_channels_last(node.domain, node.op_type).value_or(true);
}

}  // namespace

std::vector<Node*> wanted_channels_last(std::span<Node* const> nodes, const ExecutionProvider& provider) {
  std::vector<Node*> wanted(nodes.begin(), nodes.end());
  std::erase_if(wanted, [&](const Node* node) { return !wants_channels_last(*node, provider); });
  return wanted;
}

void put_channels_last(Graph& graph, std::span<Node* const> nodes) {
  for (Node* node : nodes) {
    const size_t rank = node->input(0)->type.shape.rank();
    reorder_data(*node, ops::order_to_channels_last(rank), ops::order_to_channels_first(rank));
    node->domain = ops::kChannelsLastDomain;
    node->schema = &ops::channels_last_schema(*node->schema);
    graph.context().opsets[node->domain] = node->opset;
  }
  if (!nodes.empty()) graph.sort();
}

void put_channels_first(Graph& graph, std::span<Node* const> nodes) {
  for (Node* node : nodes) {
    const size_t rank = node->input(0)->type.shape.rank();
    reorder_data(*node, ops::order_to_channels_first(rank), ops::order_to_channels_last(rank));
    node->domain.clear();
    node->schema = &ops::channels_first_schema(*node->schema);
  }
  if (!nodes.empty()) graph.sort();
}

}  // namespace ortolan::runtime
