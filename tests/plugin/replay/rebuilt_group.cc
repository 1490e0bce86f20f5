// Runs the rebuilt model: inputs come from where the runtime has them, outputs go to where it wants them.
#include "rebuilt_group.h"

#include <cstring>

#include "example/data_transfer.h"
#include "example/graph.h"
#include "rebuild.h"

namespace ortolan::replay {
namespace {

using example::check;
using example::guard;
using example::Host;
using Value = std::unique_ptr<OrtValue, void (*)(OrtValue*)>;

bool is_plain_tensor(const Host& host, const OrtValueInfo* value) {
  const OrtTypeInfo* type = nullptr;
  check(host, host.api->GetValueInfoTypeInfo(value, &type));
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  if (type) check(host, host.api->CastTypeInfoToTensorInfo(type, &tensor));
  if (!tensor) return false;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  check(host, host.api->GetTensorElementType(tensor, &element));
  return element != ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED && element != ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING;
}

std::vector<const char*> pointers(const std::vector<std::string>& names) {
  std::vector<const char*> list;
  for (const std::string& name : names) list.push_back(name.c_str());
  return list;
}

}  // namespace

Tally& tally() {
  static Tally all{};
  return all;
}

bool can_rebuild(const Host& host, const OrtNode* node) {
  const char *domain = nullptr, *provider = nullptr;
  check(host, host.api->Node_GetDomain(node, &domain));
  check(host, host.api->Node_GetEpName(node, &provider));
  if (provider && provider[0] != '\0') return false;
  if (domain[0] != '\0' && std::strcmp(domain, "ai.onnx.ml") != 0) return false;
  size_t subgraphs = 0;
  check(host, host.api->Node_GetNumSubgraphs(node, &subgraphs));
  if (subgraphs > 0) return false;
  for (const auto& values : {example::inputs_of(host, node), example::outputs_of(host, node)}) {
    for (const OrtValueInfo* value : values) {
      if (value && !is_plain_tensor(host, value)) return false;
    }
  }
  for (const OrtOpAttr* attribute : attributes_of(host, node)) {
    OrtOpAttr* copy = copy_attribute(host, attribute);
    if (!copy) return false;
    host.api->ReleaseOpAttr(copy);
  }
  return true;
}

RebuiltGroup::RebuiltGroup(const Host& host, example::Device& device, const OrtGraph* graph, const OrtNode* fused_node)
    : OrtNodeComputeInfo{},
      host_(host),
      device_(device),
      env_(nullptr, host.api->ReleaseEnv),
      session_(nullptr, host.api->ReleaseSession) {
  ort_version_supported = host.level;
  CreateState = create_state;
  Compute = compute;
  ReleaseState = release_state;
  std::vector<const OrtValueInfo*> inputs = example::inputs_of(host, fused_node);
  std::vector<const OrtValueInfo*> outputs = example::outputs_of(host, fused_node);
  for (const OrtValueInfo* input : inputs) inputs_.push_back(example::name_of(host, input));
  for (const OrtValueInfo* output : outputs) outputs_.push_back(example::name_of(host, output));
  std::unique_ptr<OrtModel, decltype(host.api->ReleaseModel)> model(rebuild(host, graph, inputs, outputs),
                                                                    host.api->ReleaseModel);
  OrtSessionOptions* made = nullptr;
  check(host, host.api->CreateSessionOptions(&made));
  std::unique_ptr<OrtSessionOptions, decltype(host.api->ReleaseSessionOptions)> options(
      made, host.api->ReleaseSessionOptions);
  check(host, host.api->SetIntraOpNumThreads(made, 1));
  check(host, host.api->SetSessionGraphOptimizationLevel(made, ORT_DISABLE_ALL));
  OrtEnv* env = nullptr;
  check(host, host.api->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "replay", &env));
  env_.reset(env);
  OrtSession* session = nullptr;
  check(host, host.api->GetModelEditorApi()->CreateSessionFromModel(env, model.get(), made, &session));
  session_.reset(session);
  tally().groups++;
  tally().nodes += static_cast<int64_t>(example::nodes_of(host, graph).size());
}

void RebuiltGroup::run(OrtKernelContext* context) const {
  tally().runs++;
  example::Queue* queue = example::queue_of(host_, device_, context);
  std::vector<Value> owners;
  std::vector<const OrtValue*> inputs;
  for (size_t i = 0; i < inputs_.size(); i++) {
    const OrtValue* input = nullptr;
    check(host_, host_.api->KernelContext_GetInput(context, i, &input));
    if (!input) example::fail(ORT_FAIL, "input '" + inputs_[i] + "' is missing");
    owners.emplace_back(new_like(host_, input), host_.api->ReleaseValue);
    inputs.push_back(owners.back().get());
    example::copy_tensor(host_, device_, input, owners.back().get(), queue);
  }
  std::vector<OrtValue*> outputs(outputs_.size());
  check(host_, host_.api->Run(session_.get(), nullptr, pointers(inputs_).data(), inputs.data(), inputs.size(),
                              pointers(outputs_).data(), outputs.size(), outputs.data()));
  for (OrtValue* output : outputs) owners.emplace_back(output, host_.api->ReleaseValue);
  for (size_t i = 0; i < outputs.size(); i++) {
    example::Shape shape = example::tensor_of(host_, outputs[i]).shape;
    OrtValue* target = nullptr;
    check(host_, host_.api->KernelContext_GetOutput(context, i, shape.data(), shape.size(), &target));
    if (target) example::copy_tensor(host_, device_, outputs[i], target, queue);
  }
}

OrtStatus* RebuiltGroup::create_state(OrtNodeComputeInfo*, OrtNodeComputeContext*, void** state) noexcept {
  *state = nullptr;
  return nullptr;
}

OrtStatus* RebuiltGroup::compute(OrtNodeComputeInfo* self, void*, OrtKernelContext* context) noexcept {
  const auto& group = *static_cast<RebuiltGroup*>(self);
  return guard(group.host_, [&] { group.run(context); });
}

void RebuiltGroup::release_state(OrtNodeComputeInfo*, void*) noexcept {}

}  // namespace ortolan::replay
