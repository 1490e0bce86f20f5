// Types, shapes and bytes are the same; they only change hands.
#include "node_case.h"

#include "ops/schema.h"
#include "ops/signatures.h"

namespace ortolan::gpu::test {
namespace {

bool lies_on_devices(const tensor::Tensor& tensor) {
  return element_bytes(static_cast<ElementType>(tensor.type())) > 0;
}

/** Nothing for kinds that the core does not see. */
std::optional<Attribute> device_attribute(const graph::AttributeValue& value) {
  if (auto* one = std::get_if<int64_t>(&value)) return *one;
  if (auto* one = std::get_if<float>(&value)) return *one;
  if (auto* one = std::get_if<std::string>(&value)) return *one;
  if (auto* list = std::get_if<std::vector<int64_t>>(&value)) return *list;
  if (auto* list = std::get_if<std::vector<float>>(&value)) return *list;
  auto* tensor = std::get_if<tensor::Tensor>(&value);
  if (tensor == nullptr || !lies_on_devices(*tensor)) return {};
  auto bytes = std::make_shared<std::vector<std::byte>>(device_tensor(*tensor).bytes);
  return HostTensor{
      static_cast<ElementType>(tensor->type()), {tensor->shape().begin(), tensor->shape().end()}, {*bytes, bytes}};
}

/** As plugins are told. */
int since_version(const ortolan::test::NodeCase& node, const ops::SchemaRow& schema) {
  const auto* signature = ops::find_signature(node.domain, node.op, node.opset);
  return signature != nullptr ? signature->since : schema.since;
}

}  // namespace

Tensor device_tensor(const tensor::Tensor& from) {
  auto* bytes = static_cast<const std::byte*>(from.raw());
  return {static_cast<ElementType>(from.type()),
          {from.shape().begin(), from.shape().end()},
          {bytes, bytes + from.byte_count()}};
}

std::optional<DeviceCase> device_case(const ortolan::test::NodeCase& node, bool constants) {
  const ops::SchemaRow* schema = ops::find_schema(node.domain, node.op, node.opset);
  if (schema == nullptr || !node.subgraphs.empty()) return {};
  DeviceCase result{{node.op, {}, since_version(node, *schema), node.domain}, {}};
  for (const graph::Attribute& attribute : node.attributes) {
    std::optional<Attribute> value = device_attribute(attribute.value);
    if (!value) return {};
    result.node.attributes.insert_or_assign(attribute.name, std::move(*value));
  }
  for (const std::optional<ortolan::test::Value>& input : node.inputs) {
    if (input && (!input->is_tensor() || !lies_on_devices(input->tensor()))) return {};
    result.inputs.push_back(input ? NodeInput{device_tensor(input->tensor()), constants} : missing());
  }
  return result;
}

}  // namespace ortolan::gpu::test
