// Models with subgraphs, built value by value and run.
#pragma once

#include "../thrown_text.h"
#include "op_test.h"

namespace ortolan::test {

using Names = std::vector<std::string>;

/** Builds a graph node by node, by the names of values; a name not known here is looked up further out. */
struct GraphBuilder {
  Graph& graph;
  int opset;

  ValueInfo* value(const std::string& name) {
    if (name.empty()) return nullptr;
    ValueInfo* found = graph.find_visible(name);
    return found != nullptr ? found : graph.add_value(name);
  }
  GraphBuilder& input(const std::string& name, TypeInfo type = {}) {
    ValueInfo* value = graph.add_value(name, std::move(type));
    value->is_input = true;
    graph.inputs.push_back(value);
    return *this;
  }
  GraphBuilder& constant(const std::string& name, Tensor tensor) {
    graph.add_initializer(name, std::move(tensor));
    return *this;
  }
  Node* node(const std::string& op, const Names& inputs, const Names& outputs, const std::string& domain = "") {
    std::vector<ValueInfo*> from, to;
    for (const std::string& name : inputs) from.push_back(value(name));
    for (const std::string& name : outputs) to.push_back(name.empty() ? nullptr : graph.add_value(name));
    Node* made = graph.add_node(op, op, domain, from, to);
    made->opset = domain.empty() ? opset : 1;
    return made;
  }
  GraphBuilder& output(const std::string& name) {
    graph.mark_output(value(name));
    return *this;
  }
  /** A subgraph of this one. */
  std::shared_ptr<Graph> subgraph(FunctionRef<void(GraphBuilder&)> fill) {
    auto inner = std::make_shared<Graph>(graph.shared_context(), &graph);
    GraphBuilder builder{*inner, opset};
    fill(builder);
    return inner;
  }
};

/** Builds a model and runs it on the values given by name. */
inline std::vector<Value> run_model(int opset, const std::vector<std::pair<std::string, Value>>& inputs,
                                    const Names& outputs, FunctionRef<void(GraphBuilder&)> fill,
                                    RunOptions* options = nullptr) {
  auto model = std::make_unique<Model>();
  model->ir_version = 8;
  model->context->opsets[""] = opset;
  model->graph = std::make_unique<Graph>(model->context);
  GraphBuilder builder{*model->graph, opset};
  for (const auto& [name, value] : inputs) {
    TypeInfo type = value.kind() == ValueKind::kSequence
                        ? TypeInfo::of_sequence(TypeInfo::of_tensor(value.sequence().element_type))
                        : TypeInfo::of_tensor(value.tensor().type(), value.tensor().shape());
    builder.input(name, type);
  }
  fill(builder);
  for (const std::string& name : outputs) builder.output(name);
  auto environment = std::make_shared<Environment>(Logger(stderr_sink(), "test", Severity::kWarning));
  auto session = Session::from_model(environment, std::move(model), SessionOptions());
  std::vector<const char*> names, wanted;
  std::vector<const Value*> values;
  for (const auto& [name, value] : inputs) names.push_back(name.c_str()), values.push_back(&value);
  for (const std::string& name : outputs) wanted.push_back(name.c_str());
  std::vector<Value> results(outputs.size());
  session->run(options, names, values, wanted, results);
  return results;
}

}  // namespace ortolan::test
