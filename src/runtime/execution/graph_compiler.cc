// Turning a partitioned graph into steps.
#include "runtime/execution/graph_compiler.h"

#include <algorithm>
#include <set>

#include "base/memory/mapped_file.h"
#include "runtime/execution/frame_pool.h"
#include "runtime/kernels/custom_operator.h"

namespace ortolan::runtime {
namespace {

/** What a kernel's maker may ask, answered from the session. */
class StepKernelInfo final : public KernelInfo {
 public:
  StepKernelInfo(const Step& step, const CompileServices& services)
      : KernelInfo(*step.node), step_(step), services_(services) {}

  ThreadPool& threads() const override { return *services_.threads; }
  std::string_view config(std::string_view key, std::string_view fallback) const override {
    auto found = services_.config->find(std::string(key));
    return found == services_.config->end() ? fallback : std::string_view(found->second);
  }
  PackedWeights& packed_weights() const override { return *services_.weights; }
  const std::map<std::string, std::string>* config_entries() const override { return services_.config; }
  const Logger* logger() const override { return services_.logger; }
  const SubgraphRunner& subgraph(std::string_view attribute) const override {
    for (const auto& [name, graph] : step_.subgraphs) {
      if (name == attribute) return *graph;
    }
    fail(ErrorCode::kInvalidGraph, "attribute '", attribute, "' with a graph is missing; the operator needs it");
  }

 private:
  const Step& step_;
  const CompileServices& services_;
};

size_t provider_of(const Node& node, const CompileServices& services) {
  for (size_t i = 0; i < services.providers.size(); ++i) {
    if (services.providers[i]->type() == node.provider) return i;
  }
  fail(ErrorCode::kRuntimeException, node.label(), ": provider '", node.provider, "' is not in the session");
}

}  // namespace

const std::shared_ptr<std::atomic<size_t>>& GraphCompiler::waiting_frames() const {
  return target_.free_frames_->waiting();
}

int GraphCompiler::slot_of(const ValueInfo* value) {
  if (value == nullptr) return -1;
  auto [found, added] = slots_.try_emplace(value, target_.slot_count());
  if (!added) return found->second;
  int slot = found->second;
  target_.slot_values_.push_back(value);
  target_.is_output_.push_back(false);
  if (value->is_fixed()) {
    target_.constants_.emplace_back(slot, Value());  // filled when it is known who reads it
  } else if (value->graph != &target_.graph_) {
    require(outer_ != nullptr, ErrorCode::kInvalidGraph, "value '", value->name, "' belongs to no enclosing graph");
    target_.captures_.emplace_back(outer_->slot_of(value), slot);
  }
  return slot;
}

void GraphCompiler::compile() {
  Graph& graph = target_.graph_;
  for (ValueInfo* input : graph.inputs) target_.input_slots_.push_back(slot_of(input));
  for (const auto& node : graph.nodes()) add_step(*node);
  for (ValueInfo* output : graph.outputs) {
    int slot = slot_of(output);
    target_.output_slots_.push_back(slot);
    target_.is_output_[slot] = true;
  }
  find_dying();
  fill_constants();
  target_.static_inputs_ = std::ranges::all_of(
      graph.inputs, [](const ValueInfo* input) { return input->type.is_tensor() && input->type.shape.fully_known(); });
}

void GraphCompiler::add_step(Node& node) {
  target_.steps_.emplace_back();
  Step& step = target_.steps_.back();
  step.node = &node;
  for (const ValueInfo* value : node.inputs()) step.inputs.push_back(slot_of(value));
  for (const ValueInfo* value : node.outputs()) step.outputs.push_back(slot_of(value));
  add_subgraphs(step, node);
  make_kernel(step);
}

void GraphCompiler::add_subgraphs(Step& step, Node& node) {
  std::set<int> captured;
  for (auto& [name, subgraph] : node.subgraphs()) {
    auto compiled = std::make_unique<CompiledGraph>(*subgraph, services_, this);
    for (const auto& [outer_slot, slot] : compiled->captures()) captured.insert(outer_slot);
    step.subgraphs.emplace_back(name, std::move(compiled));
  }
  step.captured.assign(captured.begin(), captured.end());
}

void GraphCompiler::make_kernel(Step& step) {
  const Node& node = *step.node;
  StepKernelInfo info(step, services_);
  try {
    if (services_.provider == nullptr) step.provider = provider_of(node, services_);
    if (node.schema->flags & ops::kCustom) {
      auto* custom = static_cast<const CustomOperator*>(node.schema);
      step.reuse = custom->reuse();
      step.kernel = custom->make(info);
      return;
    }
    const ExecutionProvider* only = services_.provider;
    const ExecutionProvider& provider = only != nullptr ? *only : *services_.providers[step.provider];
    auto chosen = provider.make_kernel(info);
    step.instruction_set = provider.instruction_set();
    step.reuse = chosen.reuse;
    step.kernel = std::move(chosen.kernel);
    if (!services_.keep_constants) release_packed_pages(step);
  } catch (const Error& error) {
    throw error.within(node.label());
  }
}

void GraphCompiler::release_packed_pages(const Step& step) {
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    ValueInfo* input = step.node->input(i);
    const Tensor* weights = input != nullptr ? input->stored_constant() : nullptr;
    if (weights == nullptr || step.kernel->constant_use(i) != ConstantUse::kNothing) continue;
    for (const auto& file : services_.files) {
      if (!file->contains(weights->raw())) continue;
      file->release({static_cast<const std::byte*>(weights->raw()), weights->byte_count()});
    }
    bool only_here = input->consumers.size() == 1 && !input->is_output;
    if (only_here) input->constant = Tensor(weights->type(), weights->shape(), nullptr);
  }
}

void GraphCompiler::fill_constants() {
  std::vector<ConstantUse> uses(target_.slot_count(), ConstantUse::kNothing);
  for (const Step& step : target_.steps_) {
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (int slot = step.inputs[i]; slot >= 0) uses[slot] = std::max(uses[slot], step.kernel->constant_use(i));
    }
  }
  for (auto& [slot, value] : target_.constants_) {
    const ValueInfo& info = *target_.slot_values_[slot];
    bool elements = uses[slot] == ConstantUse::kElements || target_.is_output_[slot];
    value = elements ? *info.fixed_constant() : *info.stored_constant();
    if (!elements && uses[slot] == ConstantUse::kNothing) target_.unread_.push_back(slot);
  }
}

void GraphCompiler::find_dying() {
  std::vector<int> last_use(target_.slot_count(), -1);
  auto& steps = target_.steps_;
  for (size_t i = 0; i < steps.size(); ++i) {
    for (const auto* slots : {&steps[i].inputs, &steps[i].captured, &steps[i].outputs}) {
      for (int slot : *slots) {
        if (slot >= 0) last_use[slot] = static_cast<int>(i);
      }
    }
  }
  for (const auto& [slot, value] : target_.constants_) last_use[slot] = -1;
  for (int slot = 0; slot < target_.slot_count(); ++slot) {
    if (last_use[slot] >= 0 && !target_.is_output_[slot]) steps[last_use[slot]].dying.push_back(slot);
  }
}

}  // namespace ortolan::runtime
