// A graph with one node; its inputs are the graph's, or constants.
#include "node_model.h"

#include "runtime/resolve.h"

namespace ortolan::test {
namespace {

void add_inputs(Graph& graph, const NodeCase& node, Way way, std::vector<ValueInfo*>& inputs) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    inputs.push_back(nullptr);
    if (!node.inputs[i]) continue;
    std::string name = join("x", i);
    TypeInfo type = type_of(*node.inputs[i]);
    if (way == Way::kConstants && node.inputs[i]->is_tensor()) {
      inputs.back() = graph.add_initializer(name, node.inputs[i]->tensor());
      continue;
    }
    if (way == Way::kUnknownShapes) type.shape = {};
    inputs.back() = graph.add_value(name, type);
    inputs.back()->is_input = true;
    graph.inputs.push_back(inputs.back());
  }
}

}  // namespace

std::unique_ptr<Model> model_of(const NodeCase& from, Way way, size_t output_count) {
  auto model = std::make_unique<Model>();
  model->ir_version = 8;
  model->context->opsets[from.domain] = from.opset;
  model->graph = std::make_unique<Graph>(model->context);
  Graph& graph = *model->graph;
  std::vector<ValueInfo*> inputs, outputs;
  add_inputs(graph, from, way, inputs);
  for (size_t i = 0; i < output_count; ++i) outputs.push_back(graph.add_value(join("y", i)));
  Node* node = graph.add_node("n", from.op, from.domain, inputs, outputs);
  node->opset = from.opset;
  for (const Attribute& attribute : from.attributes) node->set_attribute(attribute.name, attribute.value);
  for (const auto& [name, fill] : from.subgraphs) {
    auto inner = std::make_shared<Graph>(graph.shared_context(), &graph);
    fill(*inner);
    node->set_attribute(name, std::move(inner));
  }
  for (ValueInfo* output : outputs) graph.mark_output(output);
  return model;
}

}  // namespace ortolan::test
