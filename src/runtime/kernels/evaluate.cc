// Computing a node whose inputs are all constant, for constant folding.
#include "runtime/kernels/evaluate.h"

#include "base/memory/memory_budget.h"
#include "base/threads/run_scope.h"
#include "ops/schema.h"
#include "runtime/execution/compiled_graph.h"
#include "runtime/kernels/packed_weights.h"

namespace ortolan::runtime {
namespace {

/** A graph that holds a copy of `node` alone, with its constants as initializers. */
std::unique_ptr<Graph> graph_around(const Node& node) {
  auto graph = std::make_unique<Graph>(node.graph().shared_context());
  std::vector<ValueInfo*> inputs, outputs;
  for (const ValueInfo* input : node.inputs()) {
    ValueInfo* copy = input == nullptr ? nullptr : graph->find(input->name);
    if (input != nullptr && copy == nullptr) {
      // What many nodes read is brought to its alignment once.
      const Tensor* content = input->consumers.size() > 1 ? input->fixed_constant() : input->stored_constant();
      copy = graph->add_initializer(input->name, *content);
      copy->type = input->type;
      copy->content = input->content;
    }
    inputs.push_back(copy);
  }
  for (const ValueInfo* output : node.outputs()) {
    outputs.push_back(output == nullptr ? nullptr : graph->add_value(output->name, output->type));
    if (output != nullptr) graph->mark_output(outputs.back());
  }
  Node* copy = graph->add_node(node.name, node.op_type, node.domain, std::move(inputs), std::move(outputs));
  for (const Attribute& attribute : node.attributes()) copy->set_attribute(attribute.name, attribute.value);
  copy->opset = node.opset;
  copy->schema = node.schema;
  return graph;
}

bool can_compute(const Node& node, const ExecutionProvider& cpu) {
  for (const ValueInfo* input : node.inputs()) {
    if (input != nullptr && !input->is_fixed()) return false;
  }
  bool special = node.schema == nullptr || (node.schema->flags & (ops::kNonDeterministic | ops::kCustom)) != 0;
  return !special && node.subgraphs().empty() && cpu.kernel_registry()->find(node) != nullptr;
}

std::vector<Tensor> take_tensors(const Node& node, std::vector<Value>& results) {
  std::vector<Tensor> tensors;
  size_t next = 0;
  for (const ValueInfo* output : node.outputs()) {
    tensors.push_back(output == nullptr ? Tensor() : results[next++].tensor());
  }
  return tensors;
}

}  // namespace

std::optional<std::vector<Tensor>> Evaluator::run(const Node& node) const {
  if (!can_compute(node, cpu_)) return std::nullopt;
  try {
    auto graph = graph_around(node);
    graph->nodes().front()->provider = cpu_.type();
    static const auto* const kNoConfig = new std::map<std::string, std::string>;
    PackedWeightsCache weights(WeightsKey::kOwner);
    CompileServices services;
    services.threads = &threads_;
    services.weights = &weights;
    services.config = kNoConfig;
    services.provider = &cpu_;
    services.plan_memory = false;
    CompiledGraph compiled(*graph, services);
    RunServices run_services;
    run_services.threads = &threads_;
    run_services.allocator = cpu_allocator();
    run_services.max_tensor_bytes = max_tensor_bytes_;
    const auto budget = base::MemoryBudget::make(max_run_bytes_, "fold less");
    base::RunScope scope = base::run_scope();
    scope.memory = budget.get();
    const base::ScopedRunScope bounded(scope);
    std::vector<Value> results(graph->outputs.size());
    std::vector<int> wanted;
    for (size_t i = 0; i < results.size(); ++i) wanted.push_back(static_cast<int>(i));
    compiled.run(run_services, {}, wanted, results);
    return take_tensors(node, results);
  } catch (const Error&) {
    return std::nullopt;  // the node fails again in a run, where the error belongs
  }
}

}  // namespace ortolan::runtime
