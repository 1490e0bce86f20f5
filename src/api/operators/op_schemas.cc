// OrtOpSchema and OrtOpSchemaTypeConstraint: what operators call their inputs, outputs and types.
#include "api/arguments.h"
#include "api/guard.h"
#include "ops/signatures.h"

namespace ortolan::api {

/** OrtOpSchema. */
struct OpSchema {
  const ops::OperatorSignature* signature;
};

namespace {

const ops::OperatorSignature& signature_of(const OrtOpSchema* schema) { return *unwrap(schema, "schema").signature; }

template <class T>
const T& item(const std::vector<T>& items, size_t index, const char* what) {
  require(index < items.size(), ErrorCode::kInvalidArgument, "index ", index, " is out of range; the schema has ",
          items.size(), " ", what);
  return items[index];
}

const OrtOpSchemaTypeConstraint* constraint_of(const ops::OperatorSignature& signature, const ops::FormalValue& value) {
  if (value.parameter < 0) return nullptr;
  return wrap<const OrtOpSchemaTypeConstraint>(&signature.parameters[value.parameter]);
}

template <class T>
void give_list(const std::vector<T>& items, T const** out, size_t* count) {
  require_argument(out, "out");
  put(count, items.size(), "count");
  *out = items.data();
}

}  // namespace

OrtStatus* ORT_API_CALL GetOpSchema(const char* name, int max_inclusive_version, const char* domain,
                                    OrtOpSchema** out_schema) noexcept {
  return guard([&] {
    const auto* signature = ops::find_signature(text(domain, "domain"), text(name, "name"), max_inclusive_version);
    require_argument(out_schema, "out_schema");
    *out_schema = nullptr;
    if (signature != nullptr) give(out_schema, OpSchema{signature});
  });
}

void ORT_API_CALL ReleaseOpSchema(OrtOpSchema* schema) noexcept { release(schema); }

OrtStatus* ORT_API_CALL OpSchema_GetSinceVersion(const OrtOpSchema* schema, int* out) noexcept {
  return guard([&] { put(out, signature_of(schema).since); });
}

OrtStatus* ORT_API_CALL OpSchema_GetNumInputs(const OrtOpSchema* schema, size_t* out) noexcept {
  return guard([&] { put(out, signature_of(schema).inputs.size()); });
}

OrtStatus* ORT_API_CALL OpSchema_GetInputName(const OrtOpSchema* schema, size_t index, const char** out) noexcept {
  return guard([&] { put(out, item(signature_of(schema).inputs, index, "inputs").name.c_str()); });
}

OrtStatus* ORT_API_CALL OpSchema_GetInputTypeConstraint(const OrtOpSchema* schema, size_t index,
                                                        const OrtOpSchemaTypeConstraint** out) noexcept {
  return guard([&] {
    const auto& signature = signature_of(schema);
    put(out, constraint_of(signature, item(signature.inputs, index, "inputs")));
  });
}

OrtStatus* ORT_API_CALL OpSchema_GetNumOutputs(const OrtOpSchema* schema, size_t* out) noexcept {
  return guard([&] { put(out, signature_of(schema).outputs.size()); });
}

OrtStatus* ORT_API_CALL OpSchema_GetOutputName(const OrtOpSchema* schema, size_t index, const char** out) noexcept {
  return guard([&] { put(out, item(signature_of(schema).outputs, index, "outputs").name.c_str()); });
}

OrtStatus* ORT_API_CALL OpSchema_GetOutputTypeConstraint(const OrtOpSchema* schema, size_t index,
                                                         const OrtOpSchemaTypeConstraint** out) noexcept {
  return guard([&] {
    const auto& signature = signature_of(schema);
    put(out, constraint_of(signature, item(signature.outputs, index, "outputs")));
  });
}

OrtStatus* ORT_API_CALL OpSchema_GetTypeConstraintCount(const OrtOpSchema* schema, size_t* out) noexcept {
  return guard([&] { put(out, signature_of(schema).parameters.size()); });
}

OrtStatus* ORT_API_CALL OpSchema_GetTypeConstraint(const OrtOpSchema* schema, size_t index,
                                                   const OrtOpSchemaTypeConstraint** out) noexcept {
  return guard([&] {
    const auto& parameter = item(signature_of(schema).parameters, index, "type constraints");
    put(out, wrap<const OrtOpSchemaTypeConstraint>(&parameter));
  });
}

OrtStatus* ORT_API_CALL OpSchemaTypeConstraint_GetTypeParamName(const OrtOpSchemaTypeConstraint* constraint,
                                                                const char** out) noexcept {
  return guard([&] { put(out, unwrap(constraint, "type_constraint").name.c_str()); });
}

OrtStatus* ORT_API_CALL OpSchemaTypeConstraint_GetAllowedTypes(const OrtOpSchemaTypeConstraint* constraint,
                                                               const char* const** out_types,
                                                               size_t* num_types) noexcept {
  return guard([&] { give_list(unwrap(constraint, "type_constraint").types, out_types, num_types); });
}

OrtStatus* ORT_API_CALL OpSchemaTypeConstraint_GetInputIndices(const OrtOpSchemaTypeConstraint* constraint,
                                                               const size_t** out_indices, size_t* count) noexcept {
  return guard([&] { give_list(unwrap(constraint, "type_constraint").inputs, out_indices, count); });
}

OrtStatus* ORT_API_CALL OpSchemaTypeConstraint_GetOutputIndices(const OrtOpSchemaTypeConstraint* constraint,
                                                                const size_t** out_indices, size_t* count) noexcept {
  return guard([&] { give_list(unwrap(constraint, "type_constraint").outputs, out_indices, count); });
}

}  // namespace ortolan::api
