// Where the values of a partitioned graph are in a run, and the copies between devices.
#include "runtime/providers/device_placement.h"

#include <algorithm>
#include <map>

namespace ortolan::runtime {
namespace {

const MemoryInfo& cpu_memory() { return cpu_allocator()->info(); }

/** Operators that read no element of their input, which may lie anywhere. */
bool asks_shape(const Node& node) { return node.domain.empty() && (node.op_type == "Shape" || node.op_type == "Size"); }

/** The caller leaves the inputs of a run as they are until it is over. */
bool is_callers(const ValueInfo& value) { return value.is_input && value.graph->outer() == nullptr; }

class CopyKernel final : public OpKernel {
 public:
  CopyKernel(const MemoryInfo& target, const DeviceMemories& devices, bool from_caller)
      : target_(target), devices_(devices), from_caller_(from_caller) {}

  void compute(KernelContext& context) const override {
    const Value& from = context.input_value(0);
    const Tensor* tensor = from.tensor_if();
    if (tensor == nullptr || same_place(tensor->memory(), target_)) return context.set_output(0, from);
    Tensor& to = context.output(0, tensor->type(), tensor->shape());
    RunStreams* streams = context.services().streams;
    bool source_stays = tensor->memory().on_cpu() && (from_caller_ || tensor->owner() != nullptr);
    source_stays ? devices_.start_copy(*tensor, to, streams) : devices_.copy(*tensor, to, streams);
  }

 private:
  const MemoryInfo& target_;
  const DeviceMemories& devices_;
  const bool from_caller_;
};

/** Walks the graphs, outer first. */
class Placement {
 public:
  Placement(std::span<const std::unique_ptr<ExecutionProvider>> providers, const DeviceMemories& devices)
      : providers_(providers), devices_(devices) {}

  /** `owner`: the node that runs the graph; NULL at the top. */
  void place(Graph& graph, const Node* owner) {
    for (size_t i = 0; i < graph.inputs.size(); ++i) set_memory(*graph.inputs[i], formal_memory(owner, i));
    std::vector<Node*> nodes;  // without the copies that are added on the way
    for (const auto& node : graph.nodes()) nodes.push_back(node.get());
    for (Node* node : nodes) place_node(*node);
    if (owner != nullptr) place_results(graph, *owner);
    graph.sort();
  }

  std::vector<std::unique_ptr<CustomOperator>> take_operators() { return std::move(operators_); }

 private:
  void place_node(Node& node) {
    const ExecutionProvider& provider = provider_of(node);
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      ValueInfo* value = node.inputs()[i];
      if (value == nullptr || (provider.memory().on_cpu() && asks_shape(node))) continue;
      const MemoryInfo& needed = provider.input_on_cpu(node, i) ? cpu_memory() : provider.memory();
      node.set_input(i, in_place(*value, needed));
    }
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      if (node.outputs()[i] != nullptr) set_memory(*node.outputs()[i], output_memory(node, i));
    }
    for (auto& [name, subgraph] : node.subgraphs()) place(*subgraph, &node);
  }

  /** The values that a subgraph gives back must lie where its node's outputs do. */
  void place_results(Graph& graph, const Node& owner) {
    std::vector<ValueInfo*> replaced;
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      ValueInfo* result = graph.outputs[i];
      ValueInfo* placed = in_place(*result, result_memory(owner, i));
      if (placed == result) continue;
      graph.outputs[i] = placed;
      replaced.push_back(result);
    }
    for (ValueInfo* value : replaced) value->is_output = false;
    for (ValueInfo* value : graph.outputs) value->is_output = true;
  }

  const ExecutionProvider& provider_of(const Node& node) const {
    for (const auto& provider : providers_) {
      if (provider->type() == node.provider) return *provider;
    }
    return *providers_.back();
  }

  const MemoryInfo& output_memory(const Node& node, size_t i) const {
    const ExecutionProvider& provider = provider_of(node);
    return provider.output_on_cpu(node, i) ? cpu_memory() : provider.memory();
  }

  /** Loop counts and conditions are the CPU's; what is carried along lies where the node's provider works. */
  const MemoryInfo& formal_memory(const Node* owner, size_t i) const {
    if (owner == nullptr || (owner->op_type == "Loop" && i < 2)) return cpu_memory();
    return provider_of(*owner).memory();
  }

  const MemoryInfo& result_memory(const Node& owner, size_t i) const {
    if (owner.op_type == "If") return output_memory(owner, i);
    return owner.op_type == "Loop" && i == 0 ? cpu_memory() : provider_of(owner).memory();
  }

  static void set_memory(ValueInfo& value, const MemoryInfo& memory) {
    bool on_cpu = memory.on_cpu() || (value.type.known() && !value.type.is_tensor());
    value.memory = on_cpu ? nullptr : &memory;
  }

  /** The value itself, or a copy of it that lies in `needed`. */
  ValueInfo* in_place(ValueInfo& value, const MemoryInfo& needed) {
    const MemoryInfo& now = value.memory != nullptr ? *value.memory : cpu_memory();
    if (same_place(now, needed) || (value.type.known() && !value.type.is_tensor())) return &value;
    const MemoryInfo& target = needed.on_cpu() ? cpu_memory() : needed;
    ValueInfo*& copy = copies_[{&value, &target}];
    if (copy == nullptr) copy = value.is_fixed() ? copied_constant(value, target) : add_copy(value, target);
    return copy;
  }

  ValueInfo* copied_constant(ValueInfo& value, const MemoryInfo& target) {
    Tensor moved = devices_.copied_constant(*value.fixed_constant(), target);
    ValueInfo* copy = value.graph->add_initializer(value.graph->unique_name(value.name), std::move(moved));
    set_memory(*copy, target);
    return copy;
  }

  ValueInfo* add_copy(ValueInfo& value, const MemoryInfo& target) {
    Graph& graph = *value.graph;
    ValueInfo* copy = graph.add_value(graph.unique_name(value.name), value.type);
    copy->content = value.content;
    set_memory(*copy, target);
    Node* node = graph.add_node(copy->name, kCopyName, kCopyDomain, {&value}, {copy});
    node->opset = 1;
    node->schema = operator_for(target);
    node->provider = provider_with(target).type();
    return copy;
  }

  const ExecutionProvider& provider_with(const MemoryInfo& memory) const {
    for (const auto& provider : providers_) {
      if (same_place(provider->memory(), memory)) return *provider;
    }
    return *providers_.back();
  }

  const CustomOperator* operator_for(const MemoryInfo& target) {
    auto [found, added] = operator_by_target_.try_emplace(&target, nullptr);
    if (added) {
      operators_.push_back(std::make_unique<CopyOperator>(target, devices_));
      found->second = operators_.back().get();
    }
    return found->second;
  }

  std::span<const std::unique_ptr<ExecutionProvider>> providers_;
  const DeviceMemories& devices_;
  std::map<std::pair<const ValueInfo*, const MemoryInfo*>, ValueInfo*> copies_;
  std::map<const MemoryInfo*, const CustomOperator*> operator_by_target_;
  std::vector<std::unique_ptr<CustomOperator>> operators_;
};

}  // namespace

CopyOperator::CopyOperator(const MemoryInfo& target, const DeviceMemories& devices)
    : CustomOperator(ops::SchemaRow{kCopyDomain, kCopyName, 1, ops::kLatest, 1, 1, nullptr}),
      target_(target),
      devices_(devices) {}

void CopyOperator::infer(ops::InferContext& context) const { context.set_type(0, context.input_type(0)); }

std::unique_ptr<OpKernel> CopyOperator::make(const KernelInfo& info) const {
  return std::make_unique<CopyKernel>(target_, devices_, is_callers(*info.node().input(0)));
}

bool is_copy(const Node& node) { return node.domain == kCopyDomain && node.op_type == kCopyName; }

std::vector<std::unique_ptr<CustomOperator>> place_values(Graph& graph,
                                                          std::span<const std::unique_ptr<ExecutionProvider>> providers,
                                                          const DeviceMemories& devices) {
  Placement placement(providers, devices);
  placement.place(graph, nullptr);
  return placement.take_operators();
}

std::vector<PlacedCopy> list_copies(Graph& graph, const std::string& cpu) {
  auto maker = [&](const ValueInfo& value) { return value.producer != nullptr ? value.producer->provider : cpu; };
  std::vector<PlacedCopy> copies;
  for_each_graph(graph, [&](Graph& part) {
    for (const auto& node : part.nodes()) {
      if (is_copy(*node)) copies.push_back({node->input(0)->name, maker(*node->input(0)), node->provider});
    }
  });
  for (const ValueInfo* output : graph.outputs) {
    if (output->memory != nullptr) copies.push_back({output->name, maker(*output), cpu});
  }
  return copies;
}

bool read_on_cpu(const ValueInfo& input) {
  auto reads = [](const Node* reader) { return !is_copy(*reader) && !asks_shape(*reader); };
  return input.is_output || std::ranges::any_of(input.consumers, reads);
}

bool computes_from_shapes(const Graph& graph, const std::string& device, const std::string& cpu) {
  if (std::ranges::any_of(graph.inputs, [](const ValueInfo* input) { return read_on_cpu(*input); })) return false;
  auto is_made_there = [&](const ValueInfo* value) {
    return value->producer != nullptr && value->producer->provider == device && value->memory != nullptr;
  };
  if (!std::ranges::all_of(graph.outputs, is_made_there)) return false;
  return std::ranges::all_of(graph.nodes(), [&](const auto& node) {
    if (is_copy(*node)) return node->input(0)->producer == nullptr;
    return node->provider == device || (node->provider == cpu && node->subgraphs().empty());
  });
}

const MemoryInfo& expected_memory(const ValueInfo& input) {
  for (const Node* reader : input.consumers) {
    if (!is_copy(*reader)) continue;
    const ValueInfo* copy = reader->output(0);
    if (copy->memory != nullptr) return *copy->memory;
  }
  return cpu_allocator()->info();
}

}  // namespace ortolan::runtime
