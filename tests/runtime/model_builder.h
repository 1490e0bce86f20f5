// Builds float models by hand, for tests of sessions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "runtime/environment.h"
#include "runtime/kernels/kernel.h"

namespace ortolan::runtime {

inline std::shared_ptr<Environment> environment(std::shared_ptr<LogSink> sink = stderr_sink()) {
  return std::make_shared<Environment>(Logger(std::move(sink), "test", Severity::kWarning));
}

struct Builder {
  std::unique_ptr<Model> model = std::make_unique<Model>();
  Builder() {
    model->ir_version = 8;
    model->context->opsets[""] = 17;
    model->graph = std::make_unique<Graph>(model->context);
  }
  Graph& graph() { return *model->graph; }
  ValueInfo* input(const std::string& name, SymbolicShape shape, ElementType type = ElementType::kFloat) {
    ValueInfo* value = graph().add_value(name, TypeInfo::of_tensor(type, std::move(shape)));
    value->is_input = true;
    graph().inputs.push_back(value);
    return value;
  }
  ValueInfo* node(const std::string& op, std::vector<ValueInfo*> inputs, const std::string& output) {
    return node_in(graph(), op, std::move(inputs), output);
  }
  static ValueInfo* node_in(Graph& graph, const std::string& op, std::vector<ValueInfo*> inputs,
                            const std::string& output) {
    ValueInfo* value = graph.add_value(output);
    graph.add_node(output, op, "", std::move(inputs), {value})->opset = 17;
    return value;
  }
};

}  // namespace ortolan::runtime
