// NodeProto and AttributeProto.
#include <algorithm>

#include "onnx/graph_reader.h"
#include "onnx/node_parts.h"

namespace ortolan::onnx {
namespace {

constexpr size_t kLongestPrefix = 128;

/** Turns a sparse constant into the dense one it stands for. */
void make_dense(TensorReader& tensors, std::vector<Attribute>& attributes) {
  for (Attribute& attribute : attributes) {
    if (attribute.name != "sparse_value" || attribute.kind() != AttributeKind::kSparseTensor) continue;
    attribute = {"value", tensors.densify(*std::get<std::shared_ptr<SparseTensor>>(attribute.value))};
  }
}

const int* version_in(const Opsets& opsets, const std::string& domain) {
  auto found = opsets.find(domain);
  return found == opsets.end() ? nullptr : &found->second;
}

std::string label_of(std::string_view name, std::string_view op, std::span<ValueInfo* const> outputs) {
  if (!name.empty()) return join("node '", name, "' (", op, ")");
  for (const ValueInfo* value : outputs) {
    if (value) return join("the node that makes '", value->name, "' (", op, ")");
  }
  return join("a node without outputs (", op, ")");
}

}  // namespace

void GraphReader::NodeList::add(Bytes message) {
  NodeParts parts;
  parts.first_input = inputs.size();
  parts.first_output = output_names.size();
  parts.first_attribute = attributes.size();
  WireReader reader(message, "NodeProto");
  while (reader.next()) {
    const Field& field = reader.field();
    switch (field.number()) {
      case 1:
        inputs.push_back(field.text());
        break;
      case 2:
        output_names.push_back(field.text());
        break;
      case 3:
        parts.name = field.text();
        break;
      case 4:
        parts.op = field.text();
        break;
      case 5:
        attributes.push_back(field.bytes());
        break;
      case 7:
        parts.domain = field.text();
        break;
      case 8:
        parts.overload = field.text();
        break;
      default:
        break;
    }
  }
  parts.input_count = inputs.size() - parts.first_input;
  parts.output_count = output_names.size() - parts.first_output;
  parts.attribute_count = attributes.size() - parts.first_attribute;
  if (parts.domain == "ai.onnx") parts.domain = "";
  nodes.push_back(parts);
}

void GraphReader::read_nodes(std::span<const Bytes> messages, Scope& scope) {
  nodes_ += static_cast<int64_t>(messages.size());
  require(
      nodes_ <= options_.max_nodes, ErrorCode::kInvalidGraph, "the model has more than ", options_.max_nodes,
      " nodes once its functions are inlined; set the session entry ortolan.max_nodes higher or simplify the model");
  NodeList list;
  list.nodes.reserve(messages.size());
  for (Bytes message : messages) list.add(message);
  list.outputs.reserve(list.output_names.size());
  for (const NodeParts& node : list.nodes) define_outputs(node, list, scope);
  for (const NodeParts& node : list.nodes) {
    try {
      build_node(node, list, scope);
    } catch (const Error& error) {
      throw error.within(label_of(node.name, node.op, list.outputs_of(node)));
    }
  }
}

void GraphReader::define_outputs(const NodeParts& parts, NodeList& list, Scope& scope) {
  for (size_t i = 0; i < parts.output_count; ++i) {
    std::string_view name = list.output_names[parts.first_output + i];
    try {
      ValueInfo* value = name.empty() ? nullptr : given_before(parts, name, scope);
      if (value == nullptr && !name.empty()) value = define(name, scope);
      if (value != nullptr && scope.is_main() && parts.is_constant()) constants_.insert(value);
      list.outputs.push_back(value);
    } catch (const Error& error) {
      throw error.within(label_of(parts.name, parts.op, {}));
    }
  }
}

ValueInfo* GraphReader::given_before(const NodeParts& parts, std::string_view name, const Scope& scope) {
  if (!scope.is_main() || !parts.is_constant()) return nullptr;
  ValueInfo* value = scope.graph.find(name);
  bool given = value != nullptr && (value->is_input || value->constant || constants_.contains(value));
  return given ? value : nullptr;
}

void GraphReader::build_node(const NodeParts& parts, const NodeList& list, Scope& scope) {
  require(!parts.op.empty(), ErrorCode::kInvalidGraph, "it has no operator type");
  auto outputs = list.outputs_of(parts);
  auto attribute_messages = list.attributes_of(parts);
  std::vector<ValueInfo*> inputs;
  inputs.reserve(parts.input_count);
  for (std::string_view name : list.inputs_of(parts)) {
    auto [known, value] = name.empty() ? Found{true, nullptr} : find(name, scope);
    require(known, ErrorCode::kInvalidGraph, "its input '", name,
            "' is made by no node and is no input or initializer of the graph; check the name or add what makes it");
    inputs.push_back(value);
  }
  if (FunctionBody* function = find_function(parts.domain, parts.op, parts.overload)) {
    return inline_call(*function, parts, inputs, outputs, attribute_messages, scope);
  }
  std::string domain(parts.domain);
  int opset = opset_of(domain, scope);
  auto attributes = read_attributes(attribute_messages, scope);
  if (parts.is_constant()) {
    make_dense(tensors_, attributes);
    ValueInfo* output = outputs.empty() ? nullptr : outputs[0];
    bool again = output != nullptr && (output->producer != nullptr || output->is_input || output->constant);
    if (again) return build_constant_again(*output, std::move(attributes), scope);
  }
  Node* node = scope.graph.add_node(node_name(parts.name, scope), std::string(parts.op), std::move(domain),
                                    std::move(inputs), {outputs.begin(), outputs.end()});
  node->overload = parts.overload;
  node->opset = opset;
  for (Attribute& attribute : attributes) node->set_attribute(std::move(attribute.name), std::move(attribute.value));
}

int GraphReader::opset_of(const std::string& domain, const Scope& scope) {
  std::string_view shown = domain.empty() ? std::string_view("ai.onnx") : std::string_view(domain);
  const int* version = version_in(scope.opsets, domain);
  if (version == nullptr) version = version_in(model_.context->opsets, domain);
  if (version == nullptr) version = version_in(options_.default_opsets, domain);
  require(version != nullptr, ErrorCode::kInvalidGraph, "its domain '", shown,
          "' is not imported; add it with a version to the model's opset_import");
  require(*version > 0, ErrorCode::kInvalidGraph, "its domain '", shown, "' is imported with version ", *version,
          "; versions of operator sets begin with 1");
  model_.context->opsets.try_emplace(domain, *version);
  return *version;
}

std::string GraphReader::node_name(std::string_view name, const Scope& scope) const {
  if (!scope.frame) return std::string(name);
  return join(std::string_view(scope.frame->prefix).substr(0, kLongestPrefix), "/", name);
}

}  // namespace ortolan::onnx
