// Type infos: making them from types and values, and the slots that read and write them.
#include "api/arguments.h"
#include "api/guard.h"
#include "api/values/type_descriptions.h"

namespace ortolan::api {
namespace {

TensorDescription describe_tensor(const graph::TypeInfo& type, const graph::SymbolTable* symbols) {
  TensorDescription result{type.element, type.shape.has_rank(), {}, {}};
  if (!result.has_shape) return result;
  for (graph::Dim dim : type.shape.dims()) {
    result.dims.push_back(dim.known() ? dim.value() : -1);
    result.names.push_back(symbols != nullptr ? symbols->name_of(dim) : std::string());
  }
  return result;
}

/** The type of a sequence's items, as far as the sequence knows it. */
TypeDescription describe_items(const Sequence& sequence) {
  if (!sequence.items().empty() && sequence.items()[0].kind() == ValueKind::kMap) return describe(sequence.items()[0]);
  TypeDescription item{ValueKind::kTensor};
  bool ask_item = sequence.element_type == ElementType::kUndefined && !sequence.items().empty();
  item.tensor.element = ask_item ? sequence.items()[0].tensor().type() : sequence.element_type;
  item.tensor.has_shape = false;
  return item;
}

TypeDescription describe_map(const Map& map) {
  TypeDescription value{ValueKind::kTensor};
  value.tensor.element = map.values.tensor().type();
  return {ValueKind::kMap, {}, map.keys.tensor().type(), std::make_shared<TypeDescription>(std::move(value)), {}};
}

/** A cast between kinds of type infos: the same object, or NULL when it is of another kind. */
template <class Handle>
OrtStatus* cast_to(const OrtTypeInfo* info, ValueKind kind, const Handle** out) {
  return guard([&] {
    const TypeDescription& type = unwrap(info, "type_info");
    put(out, type.kind == kind ? wrap<const Handle>(&type) : nullptr);
  });
}

/** The contained type, for the caller to own. */
template <class Handle>
OrtStatus* contained_type(const Handle* info, OrtTypeInfo** out) {
  return guard([&] {
    const TypeDescription& type = unwrap(info, "type info");
    give(out, type.contained ? *type.contained : TypeDescription{});
  });
}

}  // namespace

TensorDescription describe(ElementType element, const Shape& shape) {
  return {element, true, {shape.begin(), shape.end()}, std::vector<std::string>(shape.rank())};
}

TypeDescription describe(const graph::TypeInfo& type, const graph::SymbolTable* symbols) {
  TypeDescription result{type.kind, describe_tensor(type, symbols), ElementType::kUndefined, nullptr, type.denotation};
  if (type.kind == ValueKind::kMap) result.key = type.element;
  if (type.contained) result.contained = std::make_shared<TypeDescription>(describe(*type.contained, symbols));
  return result;
}

TypeDescription describe(const Value& value) {
  TypeDescription result{value.kind()};
  switch (value.kind()) {
    case ValueKind::kTensor:
      result.tensor = describe(value.tensor().type(), value.tensor().shape());
      break;
    case ValueKind::kSparse:
      result.tensor = describe(value.sparse()->type, value.sparse()->dense_shape);
      break;
    case ValueKind::kMap:
      return describe_map(value.map());
    case ValueKind::kSequence:
      result.contained = std::make_shared<TypeDescription>(describe_items(value.sequence()));
      break;
    default:
      break;
  }
  return result;
}

graph::TypeInfo type_info_of(const TensorDescription& tensor, graph::SymbolTable* symbols) {
  if (!tensor.has_shape) return graph::TypeInfo::of_tensor(tensor.element);
  graph::DimVector dims;
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    bool named = symbols != nullptr && tensor.dims[i] < 0 && i < tensor.names.size() && !tensor.names[i].empty();
    dims.push_back(named ? symbols->named(tensor.names[i]) : graph::Dim(tensor.dims[i]));
  }
  return graph::TypeInfo::of_tensor(tensor.element, graph::SymbolicShape(std::move(dims)));
}

OrtStatus* ORT_API_CALL CastTypeInfoToTensorInfo(const OrtTypeInfo* info,
                                                 const OrtTensorTypeAndShapeInfo** out) noexcept {
  return guard([&] {
    const TypeDescription& type = unwrap(info, "type_info");
    bool fits = type.kind == ValueKind::kTensor || type.kind == ValueKind::kSparse;
    put(out, fits ? wrap<const OrtTensorTypeAndShapeInfo>(&type.tensor) : nullptr);
  });
}

OrtStatus* ORT_API_CALL CastTypeInfoToMapTypeInfo(const OrtTypeInfo* info, const OrtMapTypeInfo** out) noexcept {
  return cast_to(info, ValueKind::kMap, out);
}

OrtStatus* ORT_API_CALL CastTypeInfoToSequenceTypeInfo(const OrtTypeInfo* info,
                                                       const OrtSequenceTypeInfo** out) noexcept {
  return cast_to(info, ValueKind::kSequence, out);
}

OrtStatus* ORT_API_CALL CastTypeInfoToOptionalTypeInfo(const OrtTypeInfo* info,
                                                       const OrtOptionalTypeInfo** out) noexcept {
  return cast_to(info, ValueKind::kOptional, out);
}

OrtStatus* ORT_API_CALL GetMapKeyType(const OrtMapTypeInfo* info, ONNXTensorElementDataType* out) noexcept {
  return guard([&] { put(out, element_type_to_api(unwrap(info, "map_type_info").key)); });
}

OrtStatus* ORT_API_CALL GetMapValueType(const OrtMapTypeInfo* info, OrtTypeInfo** out) noexcept {
  return contained_type(info, out);
}

OrtStatus* ORT_API_CALL GetSequenceElementType(const OrtSequenceTypeInfo* info, OrtTypeInfo** out) noexcept {
  return contained_type(info, out);
}

OrtStatus* ORT_API_CALL GetOptionalContainedTypeInfo(const OrtOptionalTypeInfo* info, OrtTypeInfo** out) noexcept {
  return contained_type(info, out);
}

OrtStatus* ORT_API_CALL GetOnnxTypeFromTypeInfo(const OrtTypeInfo* info, ONNXType* out) noexcept {
  return guard([&] { put(out, unwrap(info, "type_info").kind); });
}

OrtStatus* ORT_API_CALL GetDenotationFromTypeInfo(const OrtTypeInfo* info, const char** const denotation,
                                                  size_t* len) noexcept {
  return guard([&] {
    const TypeDescription& type = unwrap(info, "type_info");
    require_argument(len, "len");
    put(denotation, type.denotation.c_str(), "denotation");
    *len = type.denotation.size();
  });
}

// What the casts give belongs to the type info, so there is nothing to free.
void ORT_API_CALL ReleaseMapTypeInfo(OrtMapTypeInfo*) noexcept {}
void ORT_API_CALL ReleaseSequenceTypeInfo(OrtSequenceTypeInfo*) noexcept {}
void ORT_API_CALL ReleaseTypeInfo(OrtTypeInfo* info) noexcept { release(info); }
void ORT_API_CALL ReleaseTensorTypeAndShapeInfo(OrtTensorTypeAndShapeInfo* info) noexcept { release(info); }

OrtStatus* ORT_API_CALL CreateTensorTypeAndShapeInfo(OrtTensorTypeAndShapeInfo** out) noexcept {
  return guard([&] { give(out, TensorDescription{}); });
}

OrtStatus* ORT_API_CALL SetTensorElementType(OrtTensorTypeAndShapeInfo* info, ONNXTensorElementDataType type) noexcept {
  return guard([&] { unwrap(info, "info").element = element_type_from_api(type); });
}

OrtStatus* ORT_API_CALL SetDimensions(OrtTensorTypeAndShapeInfo* info, const int64_t* dim_values,
                                      size_t dim_count) noexcept {
  return guard([&] {
    TensorDescription& tensor = unwrap(info, "info");
    auto dims = array(dim_values, dim_count, "dim_values");
    tensor.dims.assign(dims.begin(), dims.end());
    tensor.names.resize(dim_count);
    tensor.has_shape = true;
  });
}

OrtStatus* ORT_API_CALL SetSymbolicDimensions(OrtTensorTypeAndShapeInfo* info, const char* dim_params[],
                                              size_t count) noexcept {
  return guard([&] {
    TensorDescription& tensor = unwrap(info, "info");
    auto names = array(dim_params, count, "dim_params");
    require(count == tensor.dims.size(), ErrorCode::kInvalidArgument, "there are ", count, " names for ",
            tensor.dims.size(), " dimensions; set the dimensions first");
    for (size_t i = 0; i < count; ++i) tensor.names[i] = names[i] == nullptr ? "" : names[i];
  });
}

OrtStatus* ORT_API_CALL GetTensorElementType(const OrtTensorTypeAndShapeInfo* info,
                                             ONNXTensorElementDataType* out) noexcept {
  return guard([&] { put(out, element_type_to_api(unwrap(info, "info").element)); });
}

OrtStatus* ORT_API_CALL GetDimensionsCount(const OrtTensorTypeAndShapeInfo* info, size_t* out) noexcept {
  return guard([&] { put(out, unwrap(info, "info").dims.size()); });
}

OrtStatus* ORT_API_CALL GetDimensions(const OrtTensorTypeAndShapeInfo* info, int64_t* dim_values,
                                      size_t count) noexcept {
  return guard([&] {
    const auto& dims = unwrap(info, "info").dims;
    auto out = array(dim_values, count, "dim_values");
    std::copy_n(dims.begin(), std::min(dims.size(), count), out.begin());
  });
}

OrtStatus* ORT_API_CALL GetSymbolicDimensions(const OrtTensorTypeAndShapeInfo* info, const char* dim_params[],
                                              size_t count) noexcept {
  return guard([&] {
    const auto& names = unwrap(info, "info").names;
    auto out = array(dim_params, count, "dim_params");
    for (size_t i = 0; i < std::min(names.size(), count); ++i) out[i] = names[i].c_str();
  });
}

OrtStatus* ORT_API_CALL GetTensorShapeElementCount(const OrtTensorTypeAndShapeInfo* info, size_t* out) noexcept {
  return guard([&] {
    const auto& dims = unwrap(info, "info").dims;
    bool open = std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0; });
    put(out, open ? SIZE_MAX : static_cast<size_t>(checked_size(dims)));
  });
}

bool ORT_API_CALL TensorTypeAndShape_HasShape(const OrtTensorTypeAndShapeInfo* info) noexcept {
  return info != nullptr && unwrap_optional(info)->has_shape;
}

OrtStatus* ORT_API_CALL GetTypeInfo(const OrtValue* value, OrtTypeInfo** out) noexcept {
  return guard([&] {
    const Value& core = unwrap(value, "value");
    if (core.has_value()) {
      give(out, describe(core));
    } else {
      put(out, nullptr);
    }
  });
}

OrtStatus* ORT_API_CALL GetTensorTypeAndShape(const OrtValue* value, OrtTensorTypeAndShapeInfo** out) noexcept {
  return guard([&] {
    const Value& core = unwrap(value, "value");
    bool fits = core.is_tensor() || core.kind() == ValueKind::kSparse;
    require(fits, ErrorCode::kInvalidArgument, "the value is neither a tensor nor a sparse tensor");
    give(out, describe(core).tensor);
  });
}

OrtStatus* ORT_API_CALL GetValueType(const OrtValue* value, ONNXType* out) noexcept {
  return guard([&] { put(out, unwrap(value, "value").kind()); });
}

}  // namespace ortolan::api
