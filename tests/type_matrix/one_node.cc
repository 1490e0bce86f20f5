// Reading and rewriting models of one node.
#include "one_node.h"

#include <algorithm>
#include <map>

#include "common/files.h"
#include "onnx_format.pb.h"

namespace ortolan::type_matrix {
namespace pb = ortolan_onnx;

struct OneNode::Model {
  pb::ModelProto proto;
  const pb::GraphProto& graph() const { return proto.graph(); }
  const pb::NodeProto& node() const { return proto.graph().node(0); }

  int version() const {
    for (const auto& entry : proto.opset_import()) {
      std::string domain = entry.domain() == "ai.onnx" ? "" : entry.domain();
      if (domain == node().domain()) return int(entry.version());
    }
    fail("the model does not import domain '", node().domain(), "'");
  }

  /** The graph input of that name; none for what is left out. */
  int input_of(const std::string& name) const {
    for (int i = 0; i < graph().input_size(); ++i) {
      if (!name.empty() && graph().input(i).name() == name) return i;
    }
    return -1;
  }
};

namespace {

/** The element type field inside of sequences and optionals; NULL where there is none. */
int* element_of(pb::TypeProto& type, int& place) {
  if (type.has_tensor_type()) {
    place = type.tensor_type().elem_type();
    return &place;
  }
  if (type.has_sequence_type()) return element_of(*type.mutable_sequence_type()->mutable_elem_type(), place);
  if (type.has_optional_type()) return element_of(*type.mutable_optional_type()->mutable_elem_type(), place);
  return nullptr;
}

void set_element(pb::TypeProto& type, int element) {
  if (type.has_tensor_type()) type.mutable_tensor_type()->set_elem_type(element);
  if (type.has_sequence_type()) set_element(*type.mutable_sequence_type()->mutable_elem_type(), element);
  if (type.has_optional_type()) set_element(*type.mutable_optional_type()->mutable_elem_type(), element);
}

bool is_simple(const pb::ModelProto& proto) {
  if (proto.functions_size() || proto.graph().node_size() != 1 || proto.graph().initializer_size()) return false;
  const auto& attributes = proto.graph().node(0).attribute();
  return std::none_of(attributes.begin(), attributes.end(), [](const auto& a) { return a.has_g(); });
}

std::vector<ElementType> allowed_types(const Library& library, const OrtEpApi& ep,
                                       const OrtOpSchemaTypeConstraint* constraint) {
  const char* const* names = nullptr;
  size_t count = 0;
  library.check(ep.OpSchemaTypeConstraint_GetAllowedTypes(constraint, &names, &count));
  std::vector<ElementType> types;
  for (size_t i = 0; i < count; ++i) {
    ElementType type = type_of_declaration(names[i]);
    if (type != ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) types.push_back(type);
  }
  std::sort(types.begin(), types.end());
  types.erase(std::unique(types.begin(), types.end()), types.end());
  return types;
}

}  // namespace

OneNode::OneNode(const std::string& path) : model_(std::make_unique<Model>()) {
  if (!model_->proto.ParseFromString(read_file(path))) fail(path, " is no model");
  if (!is_simple(model_->proto)) fail(path, " is more than one node");
}
OneNode::~OneNode() = default;

std::string OneNode::domain() const { return model_->node().domain().empty() ? "ai.onnx" : model_->node().domain(); }
std::string OneNode::name() const { return model_->node().op_type(); }

Handle<OrtOpSchema> OneNode::schema_of(const Library& library) const {
  const OrtEpApi& ep = *library->GetEpApi();
  return library.make<OrtOpSchema>(ep.GetOpSchema, ep.ReleaseOpSchema, name().c_str(), model_->version(),
                                   model_->node().domain().c_str());
}

std::vector<std::string> OneNode::output_parameters(const Library& library) const {
  const OrtEpApi& ep = *library->GetEpApi();
  Handle<OrtOpSchema> schema = schema_of(library);
  size_t count = schema ? library.get<size_t>(ep.OpSchema_GetNumOutputs, schema.get()) : 0;
  std::vector<std::string> result(size_t(model_->graph().output_size()));
  for (int i = 0; i < model_->node().output_size() && count > 0; ++i) {
    auto* constraint = library.get<const OrtOpSchemaTypeConstraint*>(ep.OpSchema_GetOutputTypeConstraint, schema.get(),
                                                                     std::min(size_t(i), count - 1));
    for (int k = 0; k < model_->graph().output_size() && constraint; ++k) {
      if (model_->graph().output(k).name() != model_->node().output(i)) continue;
      result[size_t(k)] = library.get<const char*>(ep.OpSchemaTypeConstraint_GetTypeParamName, constraint);
    }
  }
  return result;
}

std::vector<Parameter> OneNode::parameters(const Library& library) const {
  const OrtEpApi& ep = *library->GetEpApi();
  Handle<OrtOpSchema> schema = schema_of(library);
  std::vector<Parameter> result;
  size_t count = schema ? library.get<size_t>(ep.OpSchema_GetNumInputs, schema.get()) : 0;
  for (int i = 0; i < model_->node().input_size() && count > 0; ++i) {
    int input = model_->input_of(model_->node().input(i));
    if (input < 0) continue;
    auto* constraint = library.get<const OrtOpSchemaTypeConstraint*>(ep.OpSchema_GetInputTypeConstraint, schema.get(),
                                                                     std::min(size_t(i), count - 1));
    if (!constraint) continue;
    pb::TypeProto type = model_->graph().input(input).type();
    int place = 0;
    if (!element_of(type, place)) continue;
    std::string name = library.get<const char*>(ep.OpSchemaTypeConstraint_GetTypeParamName, constraint);
    auto found = std::find_if(result.begin(), result.end(), [&](const Parameter& p) { return p.name == name; });
    if (found == result.end()) {
      result.push_back({name, allowed_types(library, ep, constraint), {}, type_of_file(place)});
      found = result.end() - 1;
    }
    if (type_of_file(place) == found->type) found->inputs.push_back(size_t(input));
  }
  return result;
}

void OneNode::write(const std::string& path, const std::vector<size_t>& inputs, ElementType type) const {
  pb::ModelProto proto = model_->proto;
  for (size_t i : inputs)
    set_element(*proto.mutable_graph()->mutable_input(int(i))->mutable_type(), traits(type).file_type);
  for (auto& output : *proto.mutable_graph()->mutable_output()) output.clear_type();
  write_file(path, proto.SerializeAsString());
}

}  // namespace ortolan::type_matrix
