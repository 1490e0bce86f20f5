// Names, texts and lists of nodes.
#include "gpu/epkit/node_reader.h"

#include <cstring>

namespace ortolan::gpu::epkit {

std::vector<const OrtNode*> nodes_of(const Host& host, const OrtGraph* graph) {
  return list<OrtNode>(host, graph, host.api->Graph_GetNumNodes, host.api->Graph_GetNodes);
}

std::vector<const OrtValueInfo*> inputs_of(const Host& host, const OrtNode* node) {
  return list<OrtValueInfo>(host, node, host.api->Node_GetNumInputs, host.api->Node_GetInputs);
}

std::vector<const OrtValueInfo*> outputs_of(const Host& host, const OrtNode* node) {
  return list<OrtValueInfo>(host, node, host.api->Node_GetNumOutputs, host.api->Node_GetOutputs);
}

std::vector<std::string> names_of(const Host& host, const std::vector<const OrtValueInfo*>& values) {
  std::vector<std::string> names;
  for (const OrtValueInfo* value : values) {
    const char* name = "";
    if (value != nullptr) check(host, host.api->GetValueInfoName(value, &name));
    names.emplace_back(name);
  }
  return names;
}

std::string name_of(const Host& host, const OrtNode* node) {
  const char* name = nullptr;
  check(host, host.api->Node_GetName(node, &name));
  return name;
}

std::string operator_of(const Host& host, const OrtNode* node) {
  const char* type = nullptr;
  check(host, host.api->Node_GetOperatorType(node, &type));
  return type;
}

std::string read_text(const Host& host, const OrtOpAttr* attribute) {
  std::vector<char> text = read_list<char>(host, attribute, ORT_OP_ATTR_STRING);
  return text.empty() ? "" : std::string(text.data(), strnlen(text.data(), text.size()));
}

// Each ends with a zero.
std::vector<std::string> read_texts(const Host& host, const OrtOpAttr* attribute) {
  std::vector<std::string> texts;
  std::string text;
  for (char c : read_list<char>(host, attribute, ORT_OP_ATTR_STRINGS)) {
    if (c != '\0') {
      text += c;
      continue;
    }
    texts.push_back(std::move(text));
    text.clear();
  }
  return texts;
}

const OrtOpAttr* find_attribute(const Host& host, const OrtNode* node, const char* name) {
  const OrtOpAttr* attribute = nullptr;
  OrtStatus* status = host.api->Node_GetAttributeByName(node, name, &attribute);
  if (status == nullptr) return attribute;
  host.api->ReleaseStatus(status);
  return nullptr;
}

}  // namespace ortolan::gpu::epkit
