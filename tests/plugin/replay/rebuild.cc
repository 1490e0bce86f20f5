// Nodes, values and initializers, each read by one API and made by the other.
#include "rebuild.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "example/graph.h"

namespace ortolan::replay {
namespace {

using example::check;
using example::Host;
using Names = std::vector<std::string>;

std::vector<const char*> pointers(const Names& names) {
  std::vector<const char*> list;
  for (const std::string& name : names) list.push_back(name.c_str());
  return list;
}

Names names_of(const Host& host, const std::vector<const OrtValueInfo*>& values) {
  Names names;
  for (const OrtValueInfo* value : values) names.push_back(value ? example::name_of(host, value) : "");
  return names;
}

std::string read_bytes(const Host& host, const OrtOpAttr* attribute, OrtOpAttrType type) {
  size_t size = 0;
  char nothing = 0;
  host.api->ReleaseStatus(host.api->ReadOpAttr(attribute, type, &nothing, 0, &size));
  std::string bytes(size, '\0');
  if (size > 0) check(host, host.api->ReadOpAttr(attribute, type, bytes.data(), size, &size));
  return bytes;
}

OrtOpAttr* create(const Host& host, const char* name, const void* data, size_t count, OrtOpAttrType type) {
  OrtOpAttr* made = nullptr;
  check(host, host.api->CreateOpAttr(name, data, static_cast<int>(count), type, &made));
  return made;
}

/** Terminated strings, one behind the other. */
OrtOpAttr* copy_strings(const Host& host, const char* name, const std::string& joined) {
  Names strings;
  for (size_t start = 0; start < joined.size();) {
    size_t end = std::min(joined.find('\0', start), joined.size());
    strings.push_back(joined.substr(start, end - start));
    start = end + 1;
  }
  return create(host, name, pointers(strings).data(), strings.size(), ORT_OP_ATTR_STRINGS);
}

OrtNode* copy_node(const Host& host, const OrtNode* node) {
  const char *type = nullptr, *domain = nullptr, *name = nullptr;
  check(host, host.api->Node_GetOperatorType(node, &type));
  check(host, host.api->Node_GetDomain(node, &domain));
  check(host, host.api->Node_GetName(node, &name));
  Names inputs = names_of(host, example::inputs_of(host, node));
  Names outputs = names_of(host, example::outputs_of(host, node));
  std::vector<OrtOpAttr*> attributes;
  for (const OrtOpAttr* attribute : attributes_of(host, node)) attributes.push_back(copy_attribute(host, attribute));
  OrtNode* copy = nullptr;
  check(host, host.api->GetModelEditorApi()->CreateNode(type, domain, name, pointers(inputs).data(), inputs.size(),
                                                        pointers(outputs).data(), outputs.size(), attributes.data(),
                                                        attributes.size(), &copy));
  return copy;
}

std::vector<OrtValueInfo*> copy_values(const Host& host, const std::vector<const OrtValueInfo*>& values) {
  std::vector<OrtValueInfo*> copies;
  for (const OrtValueInfo* value : values) {
    const OrtTypeInfo* type = nullptr;
    check(host, host.api->GetValueInfoTypeInfo(value, &type));
    copies.push_back(nullptr);
    check(host,
          host.api->GetModelEditorApi()->CreateValueInfo(example::name_of(host, value).c_str(), type, &copies.back()));
  }
  return copies;
}

OrtValue* copy_tensor(const Host& host, const OrtValue* tensor) {
  OrtValue* copy = new_like(host, tensor);
  example::Tensor from = example::tensor_of(host, tensor), to = example::tensor_of(host, copy);
  if (from.bytes > 0) std::memcpy(to.address, from.address, from.bytes);
  return copy;
}

void add_initializers(const Host& host, const OrtGraph* graph, const Names& inputs, OrtGraph* target) {
  for (const OrtValueInfo* initializer : example::initializers_of(host, graph)) {
    std::string name = example::name_of(host, initializer);
    if (std::find(inputs.begin(), inputs.end(), name) != inputs.end()) continue;
    const OrtValue* value = nullptr;
    check(host, host.api->ValueInfo_GetInitializerValue(initializer, &value));
    if (!value) continue;
    check(host,
          host.api->GetModelEditorApi()->AddInitializerToGraph(target, name.c_str(), copy_tensor(host, value), false));
  }
}

OrtModel* create_model(const Host& host, const OrtGraph* graph) {
  size_t count = 0;
  check(host, host.api->Graph_GetNumOperatorSets(graph, &count));
  std::vector<const char*> domains(count);
  std::vector<int64_t> versions(count);
  check(host, host.api->Graph_GetOperatorSets(graph, domains.data(), versions.data(), count));
  std::vector<int> numbers(versions.begin(), versions.end());
  OrtModel* model = nullptr;
  check(host, host.api->GetModelEditorApi()->CreateModel(domains.data(), numbers.data(), count, &model));
  return model;
}

}  // namespace

OrtValue* new_like(const Host& host, const OrtValue* tensor) {
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  const int64_t* dims = nullptr;
  size_t rank = 0;
  check(host, host.api->GetTensorElementTypeAndShapeDataReference(tensor, &type, &dims, &rank));
  OrtAllocator* allocator = nullptr;
  check(host, host.api->GetAllocatorWithDefaultOptions(&allocator));
  OrtValue* made = nullptr;
  check(host, host.api->CreateTensorAsOrtValue(allocator, dims, rank, type, &made));
  return made;
}

OrtOpAttr* copy_attribute(const Host& host, const OrtOpAttr* attribute) {
  OrtOpAttrType type = ORT_OP_ATTR_UNDEFINED;
  const char* name = nullptr;
  check(host, host.api->OpAttr_GetType(attribute, &type));
  check(host, host.api->OpAttr_GetName(attribute, &name));
  if (type < ORT_OP_ATTR_INT || type > ORT_OP_ATTR_STRINGS) return nullptr;
  std::string bytes = read_bytes(host, attribute, type);
  switch (type) {
    case ORT_OP_ATTR_INT:
    case ORT_OP_ATTR_INTS:
      return create(host, name, bytes.data(), bytes.size() / sizeof(int64_t), type);
    case ORT_OP_ATTR_FLOAT:
    case ORT_OP_ATTR_FLOATS:
      return create(host, name, bytes.data(), bytes.size() / sizeof(float), type);
    case ORT_OP_ATTR_STRINGS:
      return copy_strings(host, name, bytes);
    default:  // a string; the terminator may have come with it
      return create(host, name, bytes.data(), std::strlen(bytes.c_str()), type);
  }
}

std::vector<const OrtOpAttr*> attributes_of(const Host& host, const OrtNode* node) {
  size_t count = 0;
  check(host, host.api->Node_GetNumAttributes(node, &count));
  std::vector<const OrtOpAttr*> attributes(count);
  check(host, host.api->Node_GetAttributes(node, attributes.data(), count));
  return attributes;
}

OrtModel* rebuild(const Host& host, const OrtGraph* graph, const std::vector<const OrtValueInfo*>& inputs,
                  const std::vector<const OrtValueInfo*>& outputs) {
  const OrtModelEditorApi& editor = *host.api->GetModelEditorApi();
  OrtGraph* target = nullptr;
  check(host, editor.CreateGraph(&target));
  std::vector<OrtValueInfo*> input_copies = copy_values(host, inputs), output_copies = copy_values(host, outputs);
  check(host, editor.SetGraphInputs(target, input_copies.data(), input_copies.size()));
  check(host, editor.SetGraphOutputs(target, output_copies.data(), output_copies.size()));
  add_initializers(host, graph, names_of(host, inputs), target);
  for (const OrtNode* node : example::nodes_of(host, graph)) {
    check(host, editor.AddNodeToGraph(target, copy_node(host, node)));
  }
  OrtModel* model = create_model(host, graph);
  check(host, editor.AddGraphToModel(model, target));
  return model;
}

}  // namespace ortolan::replay
