// FunctionProto: calls of model-local functions are replaced by their nodes while the graph is read.
#include "onnx/graph_reader.h"
#include "onnx/node_parts.h"

namespace ortolan::onnx {
namespace {

std::string key_of(std::string_view domain, std::string_view name, std::string_view overload) {
  return join(domain, std::string_view("\0", 1), name, std::string_view("\0", 1), overload);
}

/** Sets a call's busy mark for a scope's time. */
struct OpenCall {
  explicit OpenCall(FunctionBody& function) : function(function) { function.open = true; }
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;
  ~OpenCall() { function.open = false; }
  FunctionBody& function;
};

std::string_view attribute_name(Bytes message) {
  std::string_view name;
  WireReader reader(message, "AttributeProto");
  while (reader.next()) {
    if (reader.number() == 1) name = reader.field().text();
  }
  return name;
}

}  // namespace

void read_opset_import(Bytes message, Opsets& opsets) {
  std::string_view domain;
  int64_t version = 0;
  WireReader reader(message, "OperatorSetIdProto");
  while (reader.next()) {
    if (reader.number() == 1) domain = reader.field().text();
    if (reader.number() == 2) version = reader.field().integer();
  }
  require(version >= INT32_MIN && version <= INT32_MAX, ErrorCode::kInvalidGraph, "the opset import of domain '",
          domain, "' has version ", version, ", which no operator set has");
  opsets[domain == "ai.onnx" ? std::string() : std::string(domain)] = static_cast<int>(version);
}

void GraphReader::add_function(Bytes message) {
  FunctionBody body;
  std::string_view name, domain, overload;
  WireReader reader(message, "FunctionProto");
  while (reader.next()) {
    const Field& field = reader.field();
    switch (field.number()) {
      case 1:
        name = field.text();
        break;
      case 4:
        body.inputs.push_back(field.text());
        break;
      case 5:
        body.outputs.push_back(field.text());
        break;
      case 7:
        body.nodes.push_back(field.bytes());
        break;
      case 9:
        read_opset_import(field.bytes(), body.opsets);
        break;
      case 10:
        domain = field.text();
        break;
      case 11:
        body.defaults.emplace_back(attribute_name(field.bytes()), field.bytes());
        break;
      case 13:
        overload = field.text();
        break;
      default:
        break;
    }
  }
  if (domain == "ai.onnx") domain = "";
  body.label = join("'", domain, domain.empty() ? "" : ".", name, "'");
  body.bytes = static_cast<int64_t>(message.size());
  functions_.push_back(std::move(body));
  functions_by_key_[key_of(domain, name, overload)] = &functions_.back();
}

FunctionBody* GraphReader::find_function(std::string_view domain, std::string_view name, std::string_view overload) {
  if (functions_.empty()) return nullptr;
  auto at = functions_by_key_.find(key_of(domain, name, overload));
  return at == functions_by_key_.end() ? nullptr : at->second;
}

void GraphReader::count_inlined(size_t bytes) {
  inlined_bytes_ += static_cast<int64_t>(bytes);
  require(inlined_bytes_ <= options_.max_inlined_bytes, ErrorCode::kInvalidGraph,
          "the model's functions are inlined to more than ", options_.max_inlined_bytes,
          " bytes; set the session entry ortolan.max_inlined_bytes higher or simplify the model");
}

void GraphReader::inline_call(FunctionBody& function, const NodeParts& parts, std::span<ValueInfo* const> inputs,
                              std::span<ValueInfo* const> outputs, std::span<const Bytes> attributes, Scope& scope) {
  require(!function.open, ErrorCode::kInvalidGraph, "function ", function.label,
          " calls itself; functions must not be recursive");
  require(scope.function_depth < options_.max_function_depth, ErrorCode::kInvalidGraph,
          "function calls are nested deeper than ", options_.max_function_depth, "; flatten the model");
  require(inputs.size() <= function.inputs.size() && outputs.size() <= function.outputs.size(),
          ErrorCode::kInvalidGraph, "it has ", inputs.size(), " inputs and ", outputs.size(), " outputs, but function ",
          function.label, " has ", function.inputs.size(), " and ", function.outputs.size());
  count_inlined(static_cast<size_t>(function.bytes));
  OpenCall open(function);
  Frame frame{function, {}, node_name(parts.name.empty() ? parts.op : parts.name, scope)};
  Scope body{scope.graph, function.opsets, nullptr, &frame, scope.subgraph_depth, scope.function_depth + 1, {}, {}};
  for (auto& [name, message] : function.defaults)
    frame.attributes.insert_or_assign(name, BoundAttribute{message, &body});
  for (Bytes message : attributes) {
    frame.attributes.insert_or_assign(attribute_name(message), BoundAttribute{message, &scope});
  }
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    bool is_new = body.names.emplace(function.inputs[i], i < inputs.size() ? inputs[i] : nullptr).second;
    require(is_new, ErrorCode::kInvalidGraph, "function ", function.label, " has two inputs '", function.inputs[i],
            "'");
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] && !body.names.contains(function.outputs[i])) body.reserved.emplace(function.outputs[i], outputs[i]);
  }
  try {
    read_nodes(function.nodes, body);
    finish_outputs(function, outputs, body);
  } catch (const Error& error) {
    throw error.within(join("function ", function.label));
  }
}

void GraphReader::finish_outputs(const FunctionBody& function, std::span<ValueInfo* const> outputs, Scope& body) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    ValueInfo* output = outputs[i];
    if (!output) continue;
    auto made = body.names.find(function.outputs[i]);
    require(made != body.names.end() && made->second, ErrorCode::kInvalidGraph, "its output '", function.outputs[i],
            "' is made by no node of it");
    if (made->second != output) copy_value(made->second, output, body);
  }
}

void GraphReader::copy_value(ValueInfo* from, ValueInfo* to, Scope& scope) {
  Node* node = scope.graph.add_node(node_name("", scope), "Identity", "", {from}, {to});
  auto own = scope.opsets.find("");
  if (own != scope.opsets.end()) node->opset = own->second;
  if (node->opset < 1) node->opset = model_.context->opsets[""] = 1;
}

}  // namespace ortolan::onnx
