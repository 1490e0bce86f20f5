// Values by name, nodes with their attributes, constants as views.
#include "gpu/epkit/graph_reader.h"

#include <cstring>
#include <map>

#include "gpu/epkit/context_node.h"
#include "gpu/epkit/node_reader.h"
#include "gpu/epkit/tensor.h"

namespace ortolan::gpu::epkit {
namespace {

HostTensor copied(const Tensor& tensor) {
  auto bytes = std::make_shared<std::vector<std::byte>>(tensor.bytes);
  if (tensor.bytes > 0) std::memcpy(bytes->data(), tensor.address, tensor.bytes);
  return {tensor.type, tensor.shape, {*bytes, bytes}};
}

/** The operator that generates sequences by running the graph, or a graph around it, again and again; "" without one.
 */
std::string generator_around(const Host& host, const OrtGraph* graph) {
  const OrtNode* parent = nullptr;
  check(host, host.api->Graph_GetParentNode(graph, &parent));
  if (parent == nullptr) return "";
  std::string type = operator_of(host, parent);
  for (const char* generator : {"BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch"}) {
    if (type == generator) return type;
  }
  const OrtGraph* outer = nullptr;
  check(host, host.api->Node_GetGraph(parent, &outer));
  return outer == nullptr ? "" : generator_around(host, outer);
}

class Reader {
 public:
  explicit Reader(const Host& host) : host_(host) {}

  void read(const OrtGraph* graph) {
    for (const OrtValueInfo* value :
         list<OrtValueInfo>(host_, graph, host_.api->Graph_GetNumInitializers, host_.api->Graph_GetInitializers)) {
      number_of(value);
    }
    for (const OrtNode* node : nodes_of(host_, graph)) {
      result_.nodes.push_back(node);
      result_.graph.nodes.push_back(read_node(node));
      const char* provider = nullptr;
      check(host_, host_.api->Node_GetEpName(node, &provider));
      result_.taken.push_back(provider != nullptr && provider[0] != '\0');
    }
  }
  std::vector<int> numbers_of(const std::vector<const OrtValueInfo*>& values) {
    std::vector<int> numbers;
    for (const OrtValueInfo* value : values) numbers.push_back(number_of(value));
    return numbers;
  }
  ReadGraph& result() { return result_; }

 private:
  int number_of(const OrtValueInfo* value) {
    if (value == nullptr) return kMissing;
    const char* name = nullptr;
    check(host_, host_.api->GetValueInfoName(value, &name));
    auto [place, is_new] = numbers_.try_emplace(name, static_cast<int>(result_.graph.values.size()));
    if (is_new) result_.graph.values.push_back(read_value(name, value));
    return place->second;
  }

  Value read_value(const char* name, const OrtValueInfo* info) {
    Value value;
    value.name = name;
    read_type(info, value);
    bool is_constant = false;
    check(host_, host_.api->ValueInfo_IsConstantInitializer(info, &is_constant));
    if (is_constant) read_constant(info, value);
    return value;
  }

  void read_type(const OrtValueInfo* info, Value& value) {
    const OrtTypeInfo* type = nullptr;
    check(host_, host_.api->GetValueInfoTypeInfo(info, &type));
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    if (type != nullptr) check(host_, host_.api->CastTypeInfoToTensorInfo(type, &tensor));
    if (tensor == nullptr) return;  // a sequence or a map: no kernel takes it
    ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    check(host_, host_.api->GetTensorElementType(tensor, &element));
    value.type = static_cast<ElementType>(element);
    if (!host_.api->TensorTypeAndShape_HasShape(tensor)) return;
    size_t rank = 0;
    check(host_, host_.api->GetDimensionsCount(tensor, &rank));
    value.shape.emplace(rank);
    check(host_, host_.api->GetDimensions(tensor, value.shape->data(), rank));
  }

  void read_constant(const OrtValueInfo* info, Value& value) {
    const OrtValue* initializer = nullptr;
    check(host_, host_.api->ValueInfo_GetInitializerValue(info, &initializer));
    if (initializer == nullptr || element_bytes(value.type) == 0) return;
    Tensor tensor = tensor_of(host_, initializer);
    if (!tensor.reached_by_host) return;
    value.shape = tensor.shape;
    value.constant = HostBytes{{static_cast<const std::byte*>(tensor.address), tensor.bytes}, nullptr};
  }

  Node read_node(const OrtNode* from) {
    Node node;
    const char* text = nullptr;
    check(host_, host_.api->Node_GetName(from, &text));
    node.name = text;
    check(host_, host_.api->Node_GetOperatorType(from, &text));
    node.op = text;
    check(host_, host_.api->Node_GetDomain(from, &text));
    node.domain = std::strcmp(text, "ai.onnx") == 0 ? "" : text;
    check(host_, host_.api->Node_GetSinceVersion(from, &node.since_version));
    node.inputs = numbers_of(inputs_of(host_, from));
    const std::vector<const OrtValueInfo*> outputs = outputs_of(host_, from);
    node.outputs = numbers_of(outputs);
    for (const std::string& output : names_of(host_, outputs)) {
      if (node.name.empty()) node.name = output;
    }
    read_subgraphs(from, node);
    for (const OrtOpAttr* attribute :
         list<OrtOpAttr>(host_, from, host_.api->Node_GetNumAttributes, host_.api->Node_GetAttributes)) {
      if (attribute != nullptr) read_attribute(attribute, node);
    }
    return node;
  }

  /** What a subgraph reads from outside is an input of its node. */
  void read_subgraphs(const OrtNode* from, Node& node) {
    size_t subgraphs = 0;
    check(host_, host_.api->Node_GetNumSubgraphs(from, &subgraphs));
    if (subgraphs == 0) return;
    node.unsupported = "it has a subgraph, which stays on the CPU";
    for (int value : numbers_of(list<OrtValueInfo>(host_, from, host_.api->Node_GetNumImplicitInputs,
                                                   host_.api->Node_GetImplicitInputs))) {
      node.inputs.push_back(value);
    }
  }

  void read_attribute(const OrtOpAttr* attribute, Node& node) {
    const char* name = nullptr;
    check(host_, host_.api->OpAttr_GetName(attribute, &name));
    if (is_context_node(node.domain, node.op) && std::strcmp(name, kContextContent) == 0) return;
    OrtOpAttrType type = ORT_OP_ATTR_UNDEFINED;
    check(host_, host_.api->OpAttr_GetType(attribute, &type));
    switch (type) {
      case ORT_OP_ATTR_INT:
        node.attributes[name] = read_one<int64_t>(host_, attribute, type);
        break;
      case ORT_OP_ATTR_FLOAT:
        node.attributes[name] = read_one<float>(host_, attribute, type);
        break;
      case ORT_OP_ATTR_INTS:
        node.attributes[name] = read_list<int64_t>(host_, attribute, type);
        break;
      case ORT_OP_ATTR_FLOATS:
        node.attributes[name] = read_list<float>(host_, attribute, type);
        break;
      case ORT_OP_ATTR_STRING:
        node.attributes[name] = read_text(host_, attribute);
        break;
      case ORT_OP_ATTR_STRINGS:
        node.attributes[name] = read_texts(host_, attribute);
        break;
      case ORT_OP_ATTR_TENSOR:
        node.attributes[name] = read_tensor(attribute);
        break;
      case ORT_OP_ATTR_GRAPH:
        break;
      default:
        node.unsupported = std::string("the kind of its attribute '") + name + "' is not read";
    }
  }

  HostTensor read_tensor(const OrtOpAttr* attribute) {
    OrtValue* value = nullptr;
    check(host_, host_.api->OpAttr_GetTensorAttributeAsOrtValue(attribute, &value));
    std::unique_ptr<OrtValue, decltype(host_.api->ReleaseValue)> owner(value, host_.api->ReleaseValue);
    return copied(tensor_of(host_, value));
  }

  const Host& host_;
  std::map<std::string, int> numbers_;  // of values by name
  ReadGraph result_;
};

}  // namespace

ReadGraph read_graph(const Host& host, const OrtGraph* graph) {
  Reader reader(host);
  reader.read(graph);
  std::string searched_by = host.is_ortolan ? "" : generator_around(host, graph);
  for (Node& node : reader.result().graph.nodes) {
    if (!searched_by.empty()) node.unsupported = "this runtime's " + searched_by + " reads its results on the CPU";
  }
  return std::move(reader.result());
}

Graph read_group(const Host& host, const OrtGraph* graph, const OrtNode* fused_node,
                 std::vector<int>& input_positions) {
  Reader reader(host);
  reader.read(graph);
  std::vector<int> inputs = reader.numbers_of(inputs_of(host, fused_node));
  std::vector<int> outputs = reader.numbers_of(outputs_of(host, fused_node));
  Graph result = std::move(reader.result().graph);
  for (size_t i = 0; i < inputs.size(); i++) {
    if (inputs[i] == kMissing || result.values[inputs[i]].constant) continue;
    result.inputs.push_back(inputs[i]);
    input_positions.push_back(static_cast<int>(i));
  }
  result.outputs = std::move(outputs);
  return result;
}

}  // namespace ortolan::gpu::epkit
