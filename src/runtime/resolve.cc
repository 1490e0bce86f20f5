// Making a freshly read model complete.
#include "runtime/resolve.h"

#include "graph/constant_value.h"
#include "ops/schema.h"
#include "runtime/gradient.h"

namespace ortolan::runtime {
namespace {

constexpr int64_t kMostContent = 64;  // longer integer tensors are not followed as dimensions

/** The elements of a small integer constant of rank 0 or 1 as dimensions. */
std::optional<DimVector> content_of(const Tensor& tensor) {
  bool integer = tensor.type() == ElementType::kInt64 || tensor.type() == ElementType::kInt32;
  if (!integer || tensor.rank() > 1 || tensor.element_count() > kMostContent) return std::nullopt;
  DimVector content;
  for (int64_t value : to_int64s(tensor)) {
    if (value < 0) return std::nullopt;
    content.push_back(value);
  }
  return content;
}

void set_type_of_constants(Graph& graph) {
  for (const auto& value : graph.values()) {
    if (!value->constant) continue;
    value->type = TypeInfo::of_tensor(value->constant->type(), value->constant->shape());
    if (!value->is_input) value->content = content_of(*value->constant);
  }
}

void turn_constants_to_initializers(Graph& graph) {
  std::vector<Node*> constants;
  for (const auto& node : graph.nodes()) {
    if (node->op_type == "Constant" && node->domain.empty()) constants.push_back(node.get());
  }
  std::erase_if(constants, [](Node* node) {
    Tensor value = constant_value(*node);
    ValueInfo* output = node->output(0);
    if (!value.defined() || output == nullptr) return true;
    node->set_output(0, nullptr);
    output->constant = std::move(value);
    return false;
  });
  graph.remove_nodes(constants);
}

void check_known_type(const Node& node, const ValueInfo& value) {
  require(value.type.known() || value.producer != nullptr || value.is_input || value.constant.has_value(),
          ErrorCode::kInvalidGraph, node.label(), ": input '", value.name, "' has no type");
}

/** Keeps the file's element type where the rule could not tell. */
TypeInfo with_hint(TypeInfo inferred, const TypeInfo& stated) {
  if (!inferred.known()) {
    TypeInfo hint = stated;
    hint.shape = {};
    return hint;
  }
  if (inferred.is_tensor() && inferred.element == ElementType::kUndefined) inferred.element = stated.element;
  return inferred;
}

void infer_graph(Graph& graph);

/** Runs a node's rule and stores what it says in its outputs. */
void infer_node(Node& node) {
  std::vector<ops::InferInput> inputs;
  for (const ValueInfo* value : node.inputs()) {
    if (value != nullptr) check_known_type(node, *value);
    inputs.push_back(infer_input(value));
  }
  ops::check_input_types(node);
  std::vector<ops::InferOutput> outputs(node.outputs().size());
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i].wanted = node.outputs()[i] != nullptr;

  auto into_subgraph = [](Graph& subgraph, std::span<const TypeInfo> types) {
    for (size_t i = 0; i < types.size() && i < subgraph.inputs.size(); ++i) {
      TypeInfo type = types[i];
      subgraph.inputs[i]->type = with_hint(std::move(type), subgraph.inputs[i]->type);
    }
    infer_graph(subgraph);
    std::vector<TypeInfo> results;
    for (const ValueInfo* output : subgraph.outputs) results.push_back(output->type);
    return results;
  };
  ops::InferSubgraph infer_subgraph(into_subgraph);
  ops::InferContext context(node, inputs, outputs, &infer_subgraph);
  ops::infer(context);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (ValueInfo* value = node.outputs()[i]) {
      value->type = with_hint(std::move(outputs[i].type), value->type);
      value->content = std::move(outputs[i].content);
    }
  }
}

void infer_graph(Graph& graph) {
  set_type_of_constants(graph);
  for (const auto& node : graph.nodes()) infer_node(*node);
}

/** Formal inputs of subgraphs get their shapes from the node around them, not from the file, unless its rule asks. */
void forget_stated_shapes(const Node& node) {
  if (node.schema->flags & ops::kStatedShapes) return;
  for (const auto& [name, subgraph] : node.subgraphs()) {
    for (ValueInfo* input : subgraph->inputs) input->type.shape = {};
  }
}

}  // namespace

const Tensor* known_elements(const ValueInfo& value) {
  const Tensor* stored = value.stored_constant();
  bool released = stored != nullptr && stored->raw() == nullptr && stored->element_count() != 0;
  return stored != nullptr && !released && is_aligned(stored->type(), stored->raw()) ? stored : nullptr;
}

ops::InferInput infer_input(const ValueInfo* value) {
  if (value == nullptr) return {};
  ops::InferInput input;
  input.present = true;
  input.type = {value->type.kind, value->type.element, value->type.shape, value->type.contained, {}};
  input.value = known_elements(*value);
  input.content = value->content ? &*value->content : nullptr;
  return input;
}

TypeInfo type_of(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kTensor:
      return TypeInfo::of_tensor(value.tensor().type(), value.tensor().shape());
    case ValueKind::kSparse:
      return {ValueKind::kSparse, value.sparse()->type, value.sparse()->dense_shape, nullptr, {}};
    case ValueKind::kMap:
      return TypeInfo::of_map(value.map().keys.tensor().type(),
                              TypeInfo::of_tensor(value.map().values.tensor().type()));
    case ValueKind::kSequence: {
      const Sequence& sequence = value.sequence();
      if (const MapRows* rows = sequence.rows()) {
        return TypeInfo::of_sequence(
            TypeInfo::of_map(rows->keys.tensor().type(), TypeInfo::of_tensor(rows->values.tensor().type())));
      }
      if (!sequence.items().empty() && !sequence.items().front().is_tensor()) {
        return TypeInfo::of_sequence(type_of(sequence.items().front()));
      }
      return TypeInfo::of_sequence(TypeInfo::of_tensor(sequence.element_type));
    }
    default:
      return {};
  }
}

void infer_types(Graph& graph) { infer_graph(graph); }

void resolve_model(Model& model, std::span<const ops::SchemaRow* const> custom) {
  for_each_graph(*model.graph, [&](Graph& graph) {
    turn_constants_to_initializers(graph);
    expand_gradients(graph);
    graph.sort();
    for (const auto& node : graph.nodes()) {
      ops::resolve_schema(*node, custom);
      forget_stated_shapes(*node);
    }
  });
  infer_graph(*model.graph);
}

}  // namespace ortolan::runtime
