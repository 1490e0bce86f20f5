// Compiles a graph of Mul and Add to steps, and runs them on the device.
#include "compiled_group.h"

#include "profiler.h"

namespace ortolan::example {

struct CompiledGroup::State : Counted<Live::kState> {
  std::string name;  // of the fused node, for profiles
};

CompiledGroup::CompiledGroup(const Host& host, Device& device, const OrtGraph* graph, const OrtNode* fused_node)
    : OrtNodeComputeInfo{}, host_(host), device_(device) {
  ort_version_supported = host.level;
  CreateState = create_state;
  Compute = compute;
  ReleaseState = release_state;
  read_edges(fused_node);
  read_constants(graph);
  read_steps(graph);
}

size_t CompiledGroup::number_of(const OrtValueInfo* value) {
  return numbers_.try_emplace(name_of(host_, value), numbers_.size()).first->second;
}

/** A kernel context knows inputs and outputs by their positions at the fused node. */
void CompiledGroup::read_edges(const OrtNode* fused_node) {
  for (const OrtValueInfo* input : inputs_of(host_, fused_node)) inputs_.push_back(number_of(input));
  size_t position = 0;
  for (const OrtValueInfo* output : outputs_of(host_, fused_node)) outputs_[number_of(output)] = position++;
}

/** With drop_constant_initializers, constants are not among the fused node's inputs: these copies are all there is. */
void CompiledGroup::read_constants(const OrtGraph* graph) {
  for (const OrtValueInfo* initializer : initializers_of(host_, graph)) {
    bool constant = false;
    check(host_, host_.api->ValueInfo_IsConstantInitializer(initializer, &constant));
    if (!constant) continue;
    const OrtValue* value = nullptr;
    check(host_, host_.api->ValueInfo_GetInitializerValue(initializer, &value));
    if (value) constants_[number_of(initializer)] = on_device(device_, nullptr, tensor_of(host_, value));
  }
}

void CompiledGroup::read_steps(const OrtGraph* graph) {
  for (const OrtNode* node : nodes_of(host_, graph)) {
    Step step{};
    if (!is_supported(host_, node, step.operation)) fail(ORT_FAIL, "a node to compile is neither Mul nor Add");
    std::vector<const OrtValueInfo*> inputs = inputs_of(host_, node);
    step.left = number_of(inputs[0]);
    step.right = number_of(inputs[1]);
    step.result = number_of(outputs_of(host_, node)[0]);
    steps_.push_back(step);
  }
}

void CompiledGroup::run(OrtKernelContext* context) const {
  Queue* queue = queue_of(host_, device_, context);
  std::vector<Tensor> values(numbers_.size());
  for (size_t i = 0; i < inputs_.size(); i++) {
    if (!constants_.count(inputs_[i])) values[inputs_[i]] = on_device(device_, queue, input_of(host_, context, i));
  }
  for (const auto& [number, constant] : constants_) values[number] = constant;
  for (const Step& step : steps_) {
    const Tensor &left = values[step.left], &right = values[step.right];
    Shape shape = broadcast(left.shape, right.shape);
    auto output = outputs_.find(step.result);
    Tensor result =
        output == outputs_.end() ? new_tensor(device_, shape) : output_of(host_, context, output->second, shape);
    example::compute(device_, queue, step.operation, left, right, result);
    values[step.result] = result;
  }
}

OrtStatus* ORT_API_CALL CompiledGroup::create_state(OrtNodeComputeInfo* self, OrtNodeComputeContext* context,
                                                    void** state) noexcept {
  const auto& group = *static_cast<CompiledGroup*>(self);
  return guard(group.host_, [&] {
    auto made = std::make_unique<State>();
    made->name = group.host_.ep->NodeComputeContext_NodeName(context);
    *state = made.release();
  });
}

OrtStatus* ORT_API_CALL CompiledGroup::compute(OrtNodeComputeInfo* self, void* state,
                                               OrtKernelContext* context) noexcept {
  const auto& group = *static_cast<CompiledGroup*>(self);
  note(Event::kCompute);
  return guard(group.host_, [&] {
    Measured measured(static_cast<State*>(state)->name);
    group.run(context);
  });
}

void ORT_API_CALL CompiledGroup::release_state(OrtNodeComputeInfo*, void* state) noexcept {
  delete static_cast<State*>(state);
}

}  // namespace ortolan::example
