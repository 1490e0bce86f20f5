// What values answer: name and type, who makes and uses them, what they are to the graph, their contents.
#include "api/arguments.h"
#include "api/graph/external_initializers.h"
#include "api/graph/graph_objects.h"
#include "api/guard.h"
#include "tensor/external_place.h"

namespace ortolan::api {
namespace {

OrtStatus* flag_of(const OrtValueInfo* value, bool (ValueObject::*flag)() const, bool* out, const char* name) noexcept {
  return guard([&] { put(out, (unwrap(value, "value_info").*flag)(), name); });
}

/** The value, when it is of a graph; one that a caller builds has no links yet. */
const ValueObject& linked(const OrtValueInfo* handle) {
  const ValueObject& value = unwrap(handle, "value_info");
  require(value.graph() != nullptr, ErrorCode::kNotImplemented, "value '", value.name(),
          "' is being built and knows no nodes; ask a value of a session's graph");
  return value;
}

}  // namespace

OrtStatus* ORT_API_CALL GetValueInfoName(const OrtValueInfo* value_info, const char** name) noexcept {
  return guard([&] { put(name, unwrap(value_info, "value_info").name().c_str(), "name"); });
}

OrtStatus* ORT_API_CALL GetValueInfoTypeInfo(const OrtValueInfo* value_info, const OrtTypeInfo** type_info) noexcept {
  return guard([&] { put(type_info, wrap<const OrtTypeInfo>(&unwrap(value_info, "value_info").type()), "type_info"); });
}

OrtStatus* ORT_API_CALL ValueInfo_GetValueProducer(const OrtValueInfo* value_info, const OrtNode** producer_node,
                                                   size_t* producer_output_index) noexcept {
  return guard([&] {
    const ValueObject& value = linked(value_info);
    put(producer_node, wrap<const OrtNode>(value.producer()), "producer_node");
    if (producer_output_index != nullptr) *producer_output_index = value.producer_output();
  });
}

OrtStatus* ORT_API_CALL ValueInfo_GetValueNumConsumers(const OrtValueInfo* value_info, size_t* num_consumers) noexcept {
  return guard([&] { put(num_consumers, linked(value_info).consumers().size(), "num_consumers"); });
}

OrtStatus* ORT_API_CALL ValueInfo_GetValueConsumers(const OrtValueInfo* value_info, const OrtNode** nodes,
                                                    int64_t* input_indices, size_t num_consumers) noexcept {
  return guard([&] {
    auto uses = linked(value_info).consumers();
    require(uses.empty() || input_indices != nullptr, ErrorCode::kInvalidArgument,
            "argument 'input_indices' must not be NULL");
    copy_items(uses.size(), nodes, num_consumers, "nodes", [&](size_t i) { return wrap<const OrtNode>(uses[i].node); });
    copy_items(uses.size(), input_indices, num_consumers, "input_indices", [&](size_t i) { return uses[i].input; });
  });
}

OrtStatus* ORT_API_CALL ValueInfo_GetInitializerValue(const OrtValueInfo* value_info,
                                                      const OrtValue** initializer_value) noexcept {
  return guard([&] {
    put(initializer_value, wrap<const OrtValue>(unwrap(value_info, "value_info").initializer()), "initializer_value");
  });
}

OrtStatus* ORT_API_CALL ValueInfo_GetExternalInitializerInfo(const OrtValueInfo* value_info,
                                                             OrtExternalInitializerInfo** info) noexcept {
  return guard([&] {
    const auto& constant = linked(value_info).core().constant;
    const ExternalPlace* place = constant ? place_of(*constant) : nullptr;
    if (place == nullptr) return put(info, nullptr, "info");
    give(info, ExternalInitializer{place->file, static_cast<int64_t>(place->offset), place->bytes}, "info");
  });
}

OrtStatus* ORT_API_CALL ValueInfo_IsRequiredGraphInput(const OrtValueInfo* value_info,
                                                       bool* is_required_graph_input) noexcept {
  return flag_of(value_info, &ValueObject::is_required_input, is_required_graph_input, "is_required_graph_input");
}
OrtStatus* ORT_API_CALL ValueInfo_IsOptionalGraphInput(const OrtValueInfo* value_info,
                                                       bool* is_optional_graph_input) noexcept {
  return flag_of(value_info, &ValueObject::is_optional_input, is_optional_graph_input, "is_optional_graph_input");
}
OrtStatus* ORT_API_CALL ValueInfo_IsGraphOutput(const OrtValueInfo* value_info, bool* is_graph_output) noexcept {
  return flag_of(value_info, &ValueObject::is_output, is_graph_output, "is_graph_output");
}
OrtStatus* ORT_API_CALL ValueInfo_IsConstantInitializer(const OrtValueInfo* value_info,
                                                        bool* is_constant_initializer) noexcept {
  return flag_of(value_info, &ValueObject::is_constant_initializer, is_constant_initializer, "is_constant_initializer");
}
OrtStatus* ORT_API_CALL ValueInfo_IsFromOuterScope(const OrtValueInfo* value_info, bool* is_from_outer_scope) noexcept {
  return flag_of(value_info, &ValueObject::is_from_outer_scope, is_from_outer_scope, "is_from_outer_scope");
}

void ORT_API_CALL ReleaseValueInfo(OrtValueInfo* value_info) noexcept {
  const ValueObject* object = unwrap_optional(value_info);
  bool is_callers = object != nullptr && object->graph() == nullptr && !object->is_taken();
  if (is_callers) release(value_info);
}

}  // namespace ortolan::api
