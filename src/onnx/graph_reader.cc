// GraphProto: inputs, initializers, outputs, type hints, and names.
#include "onnx/graph_reader.h"

#include <algorithm>

#include "graph/constant_value.h"

namespace ortolan::onnx {
namespace {

constexpr int64_t kFirstOverridableIr = 4;  // before, initializers had to be inputs too, and were constant all the same

/** ValueInfoProto. */
struct NamedType {
  std::string_view name;
  TypeInfo type;
};

NamedType read_named_type(Bytes message, const DimensionNames& names) {
  NamedType result;
  WireReader reader(message, "ValueInfoProto");
  while (reader.next()) {
    if (reader.number() == 1) result.name = reader.field().text();
    if (reader.number() == 2) result.type = read_type(reader.field().bytes(), names);
  }
  return result;
}

TypeInfo type_of_tensor(const Tensor& tensor) {
  return TypeInfo::of_tensor(tensor.type(), SymbolicShape(tensor.shape()));
}

bool fits(const SymbolicShape& stated, const Shape& shape) {
  if (!stated.has_rank()) return true;
  bool fits = stated.rank() == shape.rank();
  for (size_t i = 0; fits && i < shape.rank(); ++i) fits = !stated[i].known() || stated[i].value() == shape[i];
  return fits;
}

/** Throws unless `again` has the type that `name` has had. */
void check_alike(std::string_view name, const TypeInfo& before, const Tensor& again) {
  require(before.is_tensor() && before.element == again.type() && fits(before.shape, again.shape()),
          ErrorCode::kInvalidGraph, "'", name, "' is defined twice, as ", tensor::name_of(before.element), " ",
          before.shape, " and as ", tensor::name_of(again.type()), " ", again.shape(),
          "; make both alike or give each its own name");
}

}  // namespace

/** The fields of a GraphProto, in the order in which they can be understood. */
struct GraphReader::GraphParts {
  std::string_view name;
  std::string_view doc;
  std::vector<Bytes> nodes, initializers, sparse_initializers, inputs, outputs, hints;

  explicit GraphParts(Bytes message) {
    WireReader reader(message, "GraphProto");
    while (reader.next()) {
      const Field& field = reader.field();
      switch (field.number()) {
        case 1:
          nodes.push_back(field.bytes());
          break;
        case 2:
          name = field.text();
          break;
        case 5:
          initializers.push_back(field.bytes());
          break;
        case 10:
          doc = field.text();
          break;
        case 11:
          inputs.push_back(field.bytes());
          break;
        case 12:
          outputs.push_back(field.bytes());
          break;
        case 13:
          hints.push_back(field.bytes());
          break;
        case 15:
          sparse_initializers.push_back(field.bytes());
          break;
        default:
          break;
      }
    }
  }
};

// Symbols of the main graph only: inside a loop's body the same name may be another number each time.
DimensionNames GraphReader::names_for(const Scope& scope) const {
  static const auto& no_options = *new ReadOptions;
  if (!scope.is_main()) return {nullptr, &no_options};
  return {&scope.graph.context().symbols, &options_};
}

void GraphReader::read_main(Bytes message) {
  model_.graph = std::make_unique<Graph>(model_.context);
  const Opsets opsets = model_.context->opsets;
  Scope scope{*model_.graph, opsets, nullptr, nullptr, 0, 0, {}, {}};
  read_graph(message, scope);
  require(!model_.graph->outputs.empty(), ErrorCode::kInvalidArgument,
          "the graph has no outputs, so there is nothing to run; declare at least one");
}

void GraphReader::read_graph(Bytes message, Scope& scope) {
  GraphParts parts(message);
  scope.graph.name = parts.name;
  scope.graph.doc = parts.doc;
  read_inputs(parts, scope);
  read_initializers(parts, scope);
  read_nodes(parts.nodes, scope);
  std::erase_if(scope.graph.inputs, [](const ValueInfo* value) { return !value->is_input; });
  read_outputs(parts, scope);
  for (Bytes hint : parts.hints) read_hint(hint, scope);
  scope.graph.sort();
}

void GraphReader::read_inputs(const GraphParts& parts, Scope& scope) {
  for (Bytes message : parts.inputs) {
    NamedType input = read_named_type(message, names_for(scope));
    require(!input.name.empty(), ErrorCode::kInvalidGraph, "an input of graph '", parts.name, "' has no name");
    ValueInfo* value = define(input.name, scope);
    value->type = std::move(input.type);
    value->is_input = true;
    scope.graph.inputs.push_back(value);
  }
}

void GraphReader::read_initializers(const GraphParts& parts, Scope& scope) {
  for (Bytes message : parts.initializers) {
    std::string_view name = TensorReader::name_in(message);
    if (name.empty()) continue;  // nothing can refer to it
    add_initializer(name, scope.is_main() ? main_initializer(name, message) : tensors_.read(message), scope);
  }
  for (Bytes message : parts.sparse_initializers) {
    add_initializer(TensorReader::sparse_name_in(message), tensors_.densify(*tensors_.read_sparse(message)), scope);
  }
  if (!scope.is_main()) return;
  for (const auto& [name, value] : options_.external_initializers) {
    const ValueInfo* known = scope.graph.find(name);
    require(known != nullptr && known->constant.has_value(), ErrorCode::kFail, "the model has no initializer '", name,
            "', for which a value is given; name one of the main graph's");
  }
}

Tensor GraphReader::main_initializer(std::string_view name, Bytes message) {
  const std::string key(name);
  if (const auto given = options_.initializers.find(key); given != options_.initializers.end()) return given->second;
  const auto given = options_.external_initializers.find(key);
  if (given == options_.external_initializers.end()) return tensors_.read(message);
  TensorReader::check_replacement(message, given->second);
  return given->second;
}

void GraphReader::add_initializer(std::string_view name, Tensor tensor, Scope& scope) {
  require(!name.empty(), ErrorCode::kInvalidGraph, "an initializer of graph '", scope.graph.name, "' has no name");
  ValueInfo* value = scope.frame ? nullptr : scope.graph.find(name);
  if (scope.frame) {
    auto own = scope.names.find(name);
    if (own != scope.names.end()) value = own->second;
  }
  if (!value) value = define(name, scope);
  if (value->constant) {
    require(scope.is_main(), ErrorCode::kInvalidGraph, "the initializer '", name,
            "' is defined twice; give each its own name");
    check_alike(name, type_of_tensor(*value->constant), tensor);
  }
  if (value->is_input && model_.ir_version < kFirstOverridableIr) {
    value->is_input = false;
  }
  if (!value->is_input || !value->type.known()) value->type = type_of_tensor(tensor);
  value->constant = std::move(tensor);
}

void GraphReader::build_constant_again(ValueInfo& value, std::vector<Attribute> attributes, Scope& scope) {
  Node holder;
  for (Attribute& attribute : attributes) holder.set_attribute(std::move(attribute.name), std::move(attribute.value));
  Tensor tensor = constant_value(holder);
  require(tensor.defined(), ErrorCode::kInvalidGraph, "it has no value");
  if (Node* first = value.producer) {
    check_alike(value.name, type_of_tensor(constant_value(*first)), tensor);
    while (!first->attributes().empty()) first->remove_attribute(std::string(first->attributes().back().name));
    first->set_attribute("value", std::move(tensor));
    return;
  }
  if (!value.constant && value.type.known()) check_alike(value.name, value.type, tensor);
  add_initializer(value.name, std::move(tensor), scope);
}

void GraphReader::read_outputs(const GraphParts& parts, Scope& scope) {
  for (Bytes message : parts.outputs) {
    NamedType output = read_named_type(message, names_for(scope));
    ValueInfo* value = find(output.name, scope).value;
    require(value != nullptr, ErrorCode::kInvalidGraph, "the output '", output.name, "' of graph '", parts.name,
            "' is made by no node and is no input or initializer; check its name");
    if (value->graph != &scope.graph) {
      // A branch may name a value from around it; inside the graph it becomes a value of its own.
      ValueInfo* own = scope.graph.add_value(scope.graph.unique_name(join(output.name, "_inner")));
      copy_value(value, own, scope);
      value = own;
    }
    if (!value->constant && !value->is_input && output.type.known()) value->type = std::move(output.type);
    scope.graph.mark_output(value);
  }
}

void GraphReader::read_hint(Bytes message, Scope& scope) {
  NamedType hint = read_named_type(message, names_for(scope));
  ValueInfo* value = find(hint.name, scope).value;
  if (value && value->graph == &scope.graph && !value->type.known()) value->type = std::move(hint.type);
}

ValueInfo* GraphReader::define(std::string_view name, Scope& scope) {
  if (!scope.frame) {
    require(!scope.graph.find(name), ErrorCode::kInvalidGraph, "the name '", name, "' is defined twice in graph '",
            scope.graph.name, "'; every value needs its own name");
    return scope.graph.add_value(std::string(name));
  }
  auto reserved = scope.reserved.find(name);
  ValueInfo* value = nullptr;
  if (reserved != scope.reserved.end()) {
    value = reserved->second;
    scope.reserved.erase(reserved);
  }
  auto [at, is_new] = scope.names.try_emplace(name, value);
  require(is_new, ErrorCode::kInvalidGraph, "the name '", name, "' is defined twice in function ",
          scope.frame->function.label, "; every value needs its own name");
  if (!value) at->second = scope.graph.add_value(scope.graph.unique_name(name));
  return at->second;
}

GraphReader::Found GraphReader::find(std::string_view name, const Scope& scope) const {
  for (const Scope* at = &scope; at; at = at->parent) {
    if (!at->frame) {
      if (ValueInfo* value = at->graph.find(name)) return {true, value};
    } else {
      auto found = at->names.find(name);
      if (found != at->names.end()) return {true, found->second};
    }
  }
  return {false, nullptr};
}

}  // namespace ortolan::onnx
