// The model editor's types: tensors, and what contains other types.
#include "api/arguments.h"
#include "api/guard.h"
#include "api/values/type_descriptions.h"

namespace ortolan::api {
namespace {

OrtStatus* give_tensor_type(const OrtTensorTypeAndShapeInfo* tensor_info, ValueKind kind, OrtTypeInfo** out) noexcept {
  return guard([&] {
    TypeDescription type{kind, unwrap(tensor_info, "tensor_info")};
    give(out, std::move(type), "type_info");
  });
}

/** A type of one other type: the description that `contained` becomes a part of. */
OrtStatus* give_container(TypeDescription type, const OrtTypeInfo* contained, const char* name,
                          OrtTypeInfo** out) noexcept {
  return guard([&] {
    type.contained = std::make_shared<TypeDescription>(unwrap(contained, name));
    give(out, std::move(type), "type_info");
  });
}

}  // namespace

OrtStatus* ORT_API_CALL CreateTensorTypeInfo(const OrtTensorTypeAndShapeInfo* tensor_info,
                                             OrtTypeInfo** type_info) noexcept {
  return give_tensor_type(tensor_info, ValueKind::kTensor, type_info);
}

OrtStatus* ORT_API_CALL CreateSparseTensorTypeInfo(const OrtTensorTypeAndShapeInfo* tensor_info,
                                                   OrtTypeInfo** type_info) noexcept {
  return give_tensor_type(tensor_info, ValueKind::kSparse, type_info);
}

OrtStatus* ORT_API_CALL CreateMapTypeInfo(ONNXTensorElementDataType map_key_type, const OrtTypeInfo* map_value_type,
                                          OrtTypeInfo** type_info) noexcept {
  return guard([&] {
    TypeDescription type{ValueKind::kMap};
    type.key = element_type_from_api(map_key_type);
    type.contained = std::make_shared<TypeDescription>(unwrap(map_value_type, "map_value_type"));
    give(type_info, std::move(type), "type_info");
  });
}

OrtStatus* ORT_API_CALL CreateSequenceTypeInfo(const OrtTypeInfo* sequence_type, OrtTypeInfo** type_info) noexcept {
  return give_container({ValueKind::kSequence}, sequence_type, "sequence_type", type_info);
}

OrtStatus* ORT_API_CALL CreateOptionalTypeInfo(const OrtTypeInfo* contained_type, OrtTypeInfo** type_info) noexcept {
  return give_container({ValueKind::kOptional}, contained_type, "contained_type", type_info);
}

}  // namespace ortolan::api
