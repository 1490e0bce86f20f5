// Each list of the ABI is read the same way: its length, then an array of that length.
#include "graph.h"

#include <cstring>

namespace ortolan::example {
namespace {

template <class Item, class Owner, class Count, class Fill>
std::vector<const Item*> list(const Host& host, const Owner* owner, Count count, Fill fill) {
  size_t length = 0;
  check(host, count(owner, &length));
  std::vector<const Item*> items(length);
  check(host, fill(owner, items.data(), length));
  return items;
}

}  // namespace

std::vector<const OrtNode*> nodes_of(const Host& host, const OrtGraph* graph) {
  return list<OrtNode>(host, graph, host.api->Graph_GetNumNodes, host.api->Graph_GetNodes);
}

std::vector<const OrtValueInfo*> inputs_of(const Host& host, const OrtNode* node) {
  return list<OrtValueInfo>(host, node, host.api->Node_GetNumInputs, host.api->Node_GetInputs);
}

std::vector<const OrtValueInfo*> outputs_of(const Host& host, const OrtNode* node) {
  return list<OrtValueInfo>(host, node, host.api->Node_GetNumOutputs, host.api->Node_GetOutputs);
}

std::vector<const OrtValueInfo*> implicit_inputs_of(const Host& host, const OrtNode* node) {
  return list<OrtValueInfo>(host, node, host.api->Node_GetNumImplicitInputs, host.api->Node_GetImplicitInputs);
}

std::vector<const OrtValueInfo*> initializers_of(const Host& host, const OrtGraph* graph) {
  return list<OrtValueInfo>(host, graph, host.api->Graph_GetNumInitializers, host.api->Graph_GetInitializers);
}

std::string name_of(const Host& host, const OrtValueInfo* value) {
  const char* name = nullptr;
  check(host, host.api->GetValueInfoName(value, &name));
  return name;
}

bool is_float(const Host& host, const OrtValueInfo* value) {
  const OrtTypeInfo* type = nullptr;
  check(host, host.api->GetValueInfoTypeInfo(value, &type));
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  check(host, host.api->CastTypeInfoToTensorInfo(type, &tensor));
  if (!tensor) return false;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  check(host, host.api->GetTensorElementType(tensor, &element));
  return element == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
}

bool is_supported(const Host& host, const OrtNode* node, Operation& operation) {
  const char *type = nullptr, *domain = nullptr, *provider = nullptr;
  int version = 0;
  check(host, host.api->Node_GetOperatorType(node, &type));
  check(host, host.api->Node_GetDomain(node, &domain));
  check(host, host.api->Node_GetEpName(node, &provider));
  check(host, host.api->Node_GetSinceVersion(node, &version));
  bool is_mul = std::strcmp(type, "Mul") == 0;
  if (!is_mul && std::strcmp(type, "Add") != 0) return false;
  if (domain[0] != '\0' || (provider && provider[0] != '\0') || version < 7) return false;
  for (const OrtValueInfo* input : inputs_of(host, node)) {
    if (!input || !is_float(host, input)) return false;
  }
  operation = is_mul ? Operation::kMul : Operation::kAdd;
  return true;
}

}  // namespace ortolan::example
