// The model editor's values, nodes, graphs and models, until a session is made of them.
#include "api/arguments.h"
#include "api/graph/graph_objects.h"
#include "api/graph/model_drafts.h"
#include "api/guard.h"

namespace ortolan::api {
namespace {

/** The standard operators' domain has two names. */
std::string domain_from(const char* name) {
  std::string_view domain = text(name, "domain_name");
  return domain == "ai.onnx" ? std::string() : std::string(domain);
}

std::vector<std::string> names_from(const char* const* names, size_t count, const char* what) {
  std::vector<std::string> result;
  for (const char* name : array(names, count, what)) result.emplace_back(text(name, what));
  return result;
}

/** The graph, when the caller may change it. */
GraphObject& draft_of(OrtGraph* handle) {
  GraphObject& graph = unwrap(handle, "graph");
  require(graph.draft() != nullptr, ErrorCode::kInvalidArgument, "the graph '", graph.name(),
          "' belongs to a session and cannot be changed; build one with CreateGraph");
  return graph;
}

// What is taken over becomes NULL in the caller's array: then nothing is released twice by clean-ups of arrays.

/** Throws unless each value is the caller's and given once. */
void check_values(std::span<OrtValueInfo* const> handles, const char* name) {
  std::unordered_set<const OrtValueInfo*> seen;
  for (OrtValueInfo* handle : handles) {
    const ValueObject& value = unwrap(handle, name);
    bool is_free = value.graph() == nullptr && !value.is_taken() && seen.insert(handle).second;
    require(is_free, ErrorCode::kInvalidArgument, "value info '", value.name(),
            "' already belongs to a graph; create another for each use");
  }
}

using TakeValues = void (GraphObject::*)(std::vector<std::unique_ptr<ValueObject>>);

OrtStatus* set_values(OrtGraph* graph, OrtValueInfo** values, size_t count, const char* name,
                      TakeValues take) noexcept {
  return guard([&] {
    GraphObject& target = draft_of(graph);
    auto handles = array(values, count, name);
    check_values(handles, name);
    std::vector<std::unique_ptr<ValueObject>> taken;
    taken.reserve(count);
    for (OrtValueInfo*& handle : handles) taken.emplace_back(unwrap_optional(std::exchange(handle, nullptr)));
    (target.*take)(std::move(taken));
  });
}

/** Throws unless each attribute is there once and has a name of its own. */
void check_attributes(std::span<OrtOpAttr* const> handles) {
  std::unordered_set<std::string_view> names;
  for (const OrtOpAttr* handle : handles) {
    const graph::Attribute& attribute = unwrap(handle, "attributes[i]");
    require(names.insert(attribute.name).second, ErrorCode::kInvalidArgument, "attribute '", attribute.name,
            "' is given twice; a node has each attribute once");
  }
}

/** Throws unless the model format can hold the tensor. */
void check_initializer(const Value& value, std::string_view name) {
  require(value.is_tensor(), ErrorCode::kInvalidArgument, "initializer '", name, "' must be a tensor");
  const Tensor& tensor = value.tensor();
  require(tensor.memory().device == Device{}, ErrorCode::kInvalidArgument, "initializer '", name,
          "' is in the memory '", tensor.memory().name, "'; copy it to the CPU first");
}

/** The tensor with memory that it keeps, or that the caller keeps for it. */
Tensor kept(const Tensor& tensor, bool is_callers) {
  bool usable = tensor.type() == ElementType::kString || is_aligned(tensor.type(), tensor.raw());
  return usable && (is_callers || tensor.owner() != nullptr) ? tensor : clone(tensor);
}

}  // namespace

OrtStatus* ORT_API_CALL CreateValueInfo(const char* name, const OrtTypeInfo* type_info,
                                        OrtValueInfo** value_info) noexcept {
  return guard([&] {
    std::string value_name = text(name, "name");
    require(!value_name.empty(), ErrorCode::kInvalidArgument, "a value needs a name that is not empty");
    const TypeDescription& type = unwrap(type_info, "type_info");
    require_argument(value_info, "value_info");
    *value_info = wrap<OrtValueInfo>(std::make_unique<ValueObject>(std::move(value_name), type));
  });
}

OrtStatus* ORT_API_CALL CreateNode(const char* operator_name, const char* domain_name, const char* node_name,
                                   const char* const* input_names, size_t input_names_len,
                                   const char* const* output_names, size_t output_names_len, OrtOpAttr** attributes,
                                   size_t attribs_len, OrtNode** node) noexcept {
  return guard([&] {
    auto draft = std::make_unique<NodeDraft>();
    draft->op_type = text(operator_name, "operator_name");
    require(!draft->op_type.empty(), ErrorCode::kInvalidArgument, "argument 'operator_name' must not be empty");
    draft->domain = domain_from(domain_name);
    draft->name = text(node_name, "node_name");
    draft->inputs = names_from(input_names, input_names_len, "input_names");
    draft->outputs = names_from(output_names, output_names_len, "output_names");
    auto handles = array(attributes, attribs_len, "attributes");
    check_attributes(handles);
    draft->attributes.reserve(attribs_len);
    require_argument(node, "node");
    auto object = std::make_unique<NodeObject>(std::move(draft));
    for (OrtOpAttr*& handle : handles) {
      std::unique_ptr<graph::Attribute> taken(unwrap_optional(std::exchange(handle, nullptr)));
      object->draft()->attributes.push_back(std::move(*taken));
    }
    *node = wrap<OrtNode>(std::move(object));
  });
}

OrtStatus* ORT_API_CALL CreateGraph(OrtGraph** graph) noexcept {
  return guard([&] {
    require_argument(graph, "graph");
    auto draft = std::make_unique<GraphDraft>();
    draft->name = "ModelEditorGraph";
    *graph = wrap<OrtGraph>(std::make_unique<GraphObject>(std::move(draft)));
  });
}

OrtStatus* ORT_API_CALL SetGraphInputs(OrtGraph* graph, OrtValueInfo** inputs, size_t inputs_len) noexcept {
  return set_values(graph, inputs, inputs_len, "inputs", &GraphObject::take_inputs);
}

OrtStatus* ORT_API_CALL SetGraphOutputs(OrtGraph* graph, OrtValueInfo** outputs, size_t outputs_len) noexcept {
  return set_values(graph, outputs, outputs_len, "outputs", &GraphObject::take_outputs);
}

OrtStatus* ORT_API_CALL AddInitializerToGraph(OrtGraph* graph, const char* name, OrtValue* tensor,
                                              bool data_is_external) noexcept {
  return guard([&] {
    GraphObject& target = draft_of(graph);
    std::string value_name = text(name, "name");
    require(!value_name.empty(), ErrorCode::kInvalidArgument, "an initializer needs a name that is not empty");
    Value& value = unwrap(tensor, "tensor");
    check_initializer(value, value_name);
    GraphDraft& draft = *target.draft();
    require(!draft.initializer_names.contains(value_name), ErrorCode::kInvalidArgument,
            "the graph already has an "
            "initializer '",
            value_name, "'; give each its own name");
    require(!draft.taken_values.contains(&value), ErrorCode::kInvalidArgument, "the value given for initializer '",
            value_name, "' already belongs to the graph; create another for each use");
    value = kept(value.tensor(), data_is_external);
    target.take_initializer(std::make_unique<ValueObject>(std::move(value_name), std::unique_ptr<Value>(&value)));
  });
}

OrtStatus* ORT_API_CALL AddNodeToGraph(OrtGraph* graph, OrtNode* node) noexcept {
  return guard([&] {
    GraphObject& target = draft_of(graph);
    NodeObject& added = unwrap(node, "node");
    bool is_free = added.draft() != nullptr && !added.is_linked() && !added.draft()->taken;
    require(is_free, ErrorCode::kInvalidArgument, "node '", added.name(), "' (", added.op_type(),
            ") already belongs to a graph; create another for each use");
    GraphDraft& draft = *target.draft();
    draft.nodes.emplace_back(&added);  // where memory is short this throws before it takes the node
    added.draft()->id = draft.nodes.size() - 1;
    added.draft()->taken = true;
  });
}

OrtStatus* ORT_API_CALL CreateModel(const char* const* domain_names, const int* opset_versions,
                                    size_t opset_entries_len, OrtModel** model) noexcept {
  return guard([&] {
    auto names = array(domain_names, opset_entries_len, "domain_names");
    auto versions = array(opset_versions, opset_entries_len, "opset_versions");
    ModelDraft draft;
    for (size_t i = 0; i < names.size(); ++i) {
      std::string domain = domain_from(names[i]);
      require(versions[i] > 0, ErrorCode::kInvalidArgument, "version ", versions[i], " of operator set '", domain,
              "' is not above 0");
      bool is_new = draft.opsets.emplace(domain, versions[i]).second;
      require(is_new, ErrorCode::kInvalidArgument, "operator set '", domain, "' is given twice; give one version");
    }
    give(model, std::move(draft), "model");
  });
}

OrtStatus* ORT_API_CALL AddGraphToModel(OrtModel* model, OrtGraph* graph) noexcept {
  return guard([&] {
    ModelDraft& target = unwrap(model, "model");
    GraphObject& added = draft_of(graph);
    require(!added.draft()->taken, ErrorCode::kInvalidArgument,
            "the graph already belongs to a model; create another for each model");
    require(target.graph == nullptr, ErrorCode::kInvalidArgument, "the model already has a graph");
    added.draft()->taken = true;
    target.graph.reset(&added);
  });
}

void ORT_API_CALL ReleaseModel(OrtModel* model) noexcept { release(model); }

}  // namespace ortolan::api
