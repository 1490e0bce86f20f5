// What nodes answer: operator, inputs and outputs, attributes, subgraphs.
#include "api/arguments.h"
#include "api/graph/graph_objects.h"
#include "api/graph/model_drafts.h"
#include "api/guard.h"

namespace ortolan::api {
namespace {

using Values = std::span<const ValueObject* const>;

OrtStatus* text_of(const OrtNode* node, const std::string& (NodeObject::*member)() const, const char** out,
                   const char* name) noexcept {
  return guard([&] { put(out, (unwrap(node, "node").*member)().c_str(), name); });
}

/** The node, when it is of a graph; one that a caller builds knows its values by name only. */
const NodeObject& linked(const OrtNode* handle) {
  const NodeObject& node = unwrap(handle, "node");
  require(node.is_linked(), ErrorCode::kNotImplemented, "node '", node.name(),
          "' is being built and knows its values by name only; ask a node of a session's graph");
  return node;
}

/** Counts are known of drafts too. */
OrtStatus* count_of(const OrtNode* handle, Values (NodeObject::*values)() const,
                    std::vector<std::string> NodeDraft::*names, size_t* out, const char* what) noexcept {
  return guard([&] {
    const NodeObject& node = unwrap(handle, "node");
    put(out, node.is_linked() ? (node.*values)().size() : (node.draft()->*names).size(), what);
  });
}

OrtStatus* copy_values(const OrtNode* node, Values (NodeObject::*values)() const, const OrtValueInfo** out, size_t room,
                       const char* name) noexcept {
  return guard([&] { copy_handles((linked(node).*values)(), out, room, name); });
}

}  // namespace

OrtStatus* ORT_API_CALL Node_GetId(const OrtNode* node, size_t* node_id) noexcept {
  return guard([&] { put(node_id, unwrap(node, "node").id(), "node_id"); });
}

OrtStatus* ORT_API_CALL Node_GetName(const OrtNode* node, const char** node_name) noexcept {
  return text_of(node, &NodeObject::name, node_name, "node_name");
}
OrtStatus* ORT_API_CALL Node_GetOperatorType(const OrtNode* node, const char** operator_type) noexcept {
  return text_of(node, &NodeObject::op_type, operator_type, "operator_type");
}
OrtStatus* ORT_API_CALL Node_GetDomain(const OrtNode* node, const char** domain_name) noexcept {
  return text_of(node, &NodeObject::domain, domain_name, "domain_name");
}
OrtStatus* ORT_API_CALL Node_GetEpName(const OrtNode* node, const char** out) noexcept {
  return text_of(node, &NodeObject::provider, out, "out");
}

OrtStatus* ORT_API_CALL Node_GetSinceVersion(const OrtNode* node, int* since_version) noexcept {
  return guard([&] { put(since_version, linked(node).since_version(), "since_version"); });
}

OrtStatus* ORT_API_CALL Node_GetNumInputs(const OrtNode* node, size_t* num_inputs) noexcept {
  return count_of(node, &NodeObject::inputs, &NodeDraft::inputs, num_inputs, "num_inputs");
}
OrtStatus* ORT_API_CALL Node_GetInputs(const OrtNode* node, const OrtValueInfo** inputs, size_t num_inputs) noexcept {
  return copy_values(node, &NodeObject::inputs, inputs, num_inputs, "inputs");
}

OrtStatus* ORT_API_CALL Node_GetNumOutputs(const OrtNode* node, size_t* num_outputs) noexcept {
  return count_of(node, &NodeObject::outputs, &NodeDraft::outputs, num_outputs, "num_outputs");
}
OrtStatus* ORT_API_CALL Node_GetOutputs(const OrtNode* node, const OrtValueInfo** outputs,
                                        size_t num_outputs) noexcept {
  return copy_values(node, &NodeObject::outputs, outputs, num_outputs, "outputs");
}

OrtStatus* ORT_API_CALL Node_GetNumImplicitInputs(const OrtNode* node, size_t* num_implicit_inputs) noexcept {
  return guard([&] { put(num_implicit_inputs, linked(node).implicit_inputs().size(), "num_implicit_inputs"); });
}
OrtStatus* ORT_API_CALL Node_GetImplicitInputs(const OrtNode* node, const OrtValueInfo** implicit_inputs,
                                               size_t num_implicit_inputs) noexcept {
  return copy_values(node, &NodeObject::implicit_inputs, implicit_inputs, num_implicit_inputs, "implicit_inputs");
}

OrtStatus* ORT_API_CALL Node_GetNumAttributes(const OrtNode* node, size_t* num_attributes) noexcept {
  return guard([&] { put(num_attributes, unwrap(node, "node").attributes().size(), "num_attributes"); });
}
OrtStatus* ORT_API_CALL Node_GetAttributes(const OrtNode* node, const OrtOpAttr** attributes,
                                           size_t num_attributes) noexcept {
  return guard([&] { copy_handles(unwrap(node, "node").attributes(), attributes, num_attributes, "attributes"); });
}

OrtStatus* ORT_API_CALL Node_GetAttributeByName(const OrtNode* node, const char* attribute_name,
                                                const OrtOpAttr** attribute) noexcept {
  return guard([&] {
    const NodeObject& core = unwrap(node, "node");
    std::string_view wanted = text(attribute_name, "attribute_name");
    put(attribute, nullptr, "attribute");
    for (const graph::Attribute* held : core.attributes()) {
      if (held->name == wanted) return put(attribute, wrap<const OrtOpAttr>(held));
    }
    fail(ErrorCode::kNotFound, "node '", core.name(), "' (", core.op_type(), ") has no attribute '", wanted, "'");
  });
}

OrtStatus* ORT_API_CALL Node_GetNumSubgraphs(const OrtNode* node, size_t* num_subgraphs) noexcept {
  return guard([&] {
    const graph::Node* core = linked(node).core();
    put(num_subgraphs, core != nullptr ? core->subgraphs().size() : 0, "num_subgraphs");
  });
}

OrtStatus* ORT_API_CALL Node_GetSubgraphs(const OrtNode* node, const OrtGraph** subgraphs, size_t num_subgraphs,
                                          const char** attribute_names) noexcept {
  return guard([&] {
    auto held = linked(node).subgraphs();
    copy_items(held.size(), subgraphs, num_subgraphs, "subgraphs",
               [&](size_t i) { return wrap<const OrtGraph>(held[i].graph.get()); });
    if (attribute_names == nullptr) return;
    copy_items(held.size(), attribute_names, num_subgraphs, "attribute_names",
               [&](size_t i) { return held[i].attribute.c_str(); });
  });
}

OrtStatus* ORT_API_CALL Node_GetGraph(const OrtNode* node, const OrtGraph** graph) noexcept {
  return guard([&] { put(graph, wrap<const OrtGraph>(unwrap(node, "node").graph()), "graph"); });
}

void ORT_API_CALL ReleaseNode(OrtNode* node) noexcept {
  const NodeObject* object = unwrap_optional(node);
  bool is_callers = object != nullptr && !object->is_linked() && !object->draft()->taken;
  if (is_callers) release(node);
}

}  // namespace ortolan::api
