// OrtOpAttr: an attribute made by the caller, or read from a node.
#include "api/arguments.h"
#include "api/guard.h"
#include "graph/attribute.h"

namespace ortolan::api {
namespace {

using graph::AttributeKind;
using graph::AttributeValue;

template <class T>
std::vector<T> items(const void* data, int count) {
  require(count >= 0, ErrorCode::kInvalidArgument, "an attribute cannot have ", count, " items");
  auto span = array(static_cast<const T*>(data), static_cast<size_t>(count), "data");
  return {span.begin(), span.end()};
}

std::vector<std::string> strings(const void* data, int count) {
  std::vector<std::string> result;
  for (const char* item : items<const char*>(data, count)) result.emplace_back(text(item, "data[i]"));
  return result;
}

AttributeValue value_from(const void* data, int length, OrtOpAttrType type) {
  switch (type) {
    case ORT_OP_ATTR_INT:
      return items<int64_t>(data, 1)[0];
    case ORT_OP_ATTR_INTS:
      return items<int64_t>(data, length);
    case ORT_OP_ATTR_FLOAT:
      return items<float>(data, 1)[0];
    case ORT_OP_ATTR_FLOATS:
      return items<float>(data, length);
    case ORT_OP_ATTR_STRING: {
      auto characters = items<char>(data, length);
      return std::string(characters.begin(), characters.end());
    }
    case ORT_OP_ATTR_STRINGS:
      return strings(data, length);
    case ORT_OP_ATTR_TENSOR:
      return unwrap(static_cast<const OrtValue*>(data), "data").tensor();
    default:
      fail(ErrorCode::kInvalidArgument, "attributes of type ", static_cast<int>(type), " cannot be made");
  }
}

OrtOpAttrType type_to_api(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInt:
      return ORT_OP_ATTR_INT;
    case AttributeKind::kInts:
      return ORT_OP_ATTR_INTS;
    case AttributeKind::kFloat:
      return ORT_OP_ATTR_FLOAT;
    case AttributeKind::kFloats:
      return ORT_OP_ATTR_FLOATS;
    case AttributeKind::kString:
      return ORT_OP_ATTR_STRING;
    case AttributeKind::kStrings:
      return ORT_OP_ATTR_STRINGS;
    case AttributeKind::kGraph:
      return ORT_OP_ATTR_GRAPH;
    case AttributeKind::kTensor:
      return ORT_OP_ATTR_TENSOR;
    default:
      return ORT_OP_ATTR_UNDEFINED;
  }
}

/** The attribute's content as ReadOpAttr gives it: numbers as they are, strings one after the other, each with NUL. */
std::span<const char> content_of(const graph::Attribute& attribute, std::string& joined) {
  auto bytes = [](const auto* data, size_t count) {
    return std::span(static_cast<const char*>(static_cast<const void*>(data)), count * sizeof *data);
  };
  const AttributeValue& value = attribute.value;
  if (auto* number = std::get_if<int64_t>(&value)) return bytes(number, 1);
  if (auto* number = std::get_if<float>(&value)) return bytes(number, 1);
  if (auto* list = std::get_if<std::vector<int64_t>>(&value)) return bytes(list->data(), list->size());
  if (auto* list = std::get_if<std::vector<float>>(&value)) return bytes(list->data(), list->size());
  if (auto* string = std::get_if<std::string>(&value)) return bytes(string->data(), string->size());
  if (auto* list = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& string : *list) joined.append(string).push_back('\0');
    return joined;
  }
  fail(ErrorCode::kInvalidArgument, "attribute '", attribute.name, "' (ONNX attribute type ", attribute.kind(),
       ") cannot be read as bytes");
}

}  // namespace

OrtStatus* ORT_API_CALL CreateOpAttr(const char* name, const void* data, int len, OrtOpAttrType type,
                                     OrtOpAttr** op_attr) noexcept {
  return guard([&] {
    require_argument(data, "data");
    give(op_attr, graph::Attribute{text(name, "name"), value_from(data, len, type)}, "op_attr");
  });
}

void ORT_API_CALL ReleaseOpAttr(OrtOpAttr* attribute) noexcept { release(attribute); }

OrtStatus* ORT_API_CALL ReadOpAttr(const OrtOpAttr* op_attr, OrtOpAttrType type, void* data, size_t len,
                                   size_t* out) noexcept {
  return guard([&] {
    const graph::Attribute& attribute = unwrap(op_attr, "op_attr");
    require_argument(out, "out");
    require(type == type_to_api(attribute.kind()), ErrorCode::kInvalidArgument, "attribute '", attribute.name,
            "' has type ", static_cast<int>(type_to_api(attribute.kind())), ", not ", static_cast<int>(type));
    std::string joined;
    auto content = content_of(attribute, joined);
    *out = content.size();
    require(len >= content.size(), ErrorCode::kInvalidArgument, "the buffer has ", len, " bytes, but attribute '",
            attribute.name, "' needs ", content.size());
    auto buffer = array(static_cast<char*>(data), content.size(), "data");
    std::copy(content.begin(), content.end(), buffer.begin());
  });
}

OrtStatus* ORT_API_CALL OpAttr_GetType(const OrtOpAttr* attribute, OrtOpAttrType* type) noexcept {
  return guard([&] { put(type, type_to_api(unwrap(attribute, "attribute").kind()), "type"); });
}

OrtStatus* ORT_API_CALL OpAttr_GetName(const OrtOpAttr* attribute, const char** name) noexcept {
  return guard([&] { put(name, unwrap(attribute, "attribute").name.c_str(), "name"); });
}

OrtStatus* ORT_API_CALL OpAttr_GetTensorAttributeAsOrtValue(const OrtOpAttr* attribute, OrtValue** out) noexcept {
  return guard([&] {
    const graph::Attribute& core = unwrap(attribute, "attribute");
    const auto* tensor = std::get_if<Tensor>(&core.value);
    require(tensor != nullptr, ErrorCode::kInvalidArgument, "attribute '", core.name, "' is not a tensor");
    give(out, *tensor, "attr_tensor");
  });
}

}  // namespace ortolan::api
