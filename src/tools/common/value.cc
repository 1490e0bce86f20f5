// Host values: making them, and carrying them into a library and out of it.
#include "value.h"

#include <cstring>
#include <numeric>

namespace ortolan::tools {
namespace {

Handle<OrtValue> tensor_to_library(const Library& library, const Value& value) {
  auto out = library.make<OrtValue>(library->CreateTensorAsOrtValue, library->ReleaseValue, library.allocator(),
                                    value.shape.data(), value.shape.size(), value.type);
  if (value.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    std::vector<const char*> texts;
    for (const std::string& text : value.strings) texts.push_back(text.c_str());
    library.check(library->FillStringTensor(out.get(), texts.data(), texts.size()));
  } else if (!value.bytes.empty()) {
    std::memcpy(library.get<void*>(library->GetTensorMutableData, out.get()), value.bytes.data(), value.bytes.size());
  }
  return out;
}

std::vector<std::string> read_strings(const Library& library, const OrtValue* value, size_t count) {
  size_t total = library.get<size_t>(library->GetStringTensorDataLength, value);
  std::string content(total, 0);
  std::vector<size_t> starts(count);
  library.check(library->GetStringTensorContent(value, content.data(), total, starts.data(), count));
  std::vector<std::string> texts(count);
  for (size_t i = 0; i < count; ++i) {
    size_t end = i + 1 < count ? starts[i + 1] : total;
    texts[i] = content.substr(starts[i], end - starts[i]);
  }
  return texts;
}

Value tensor_from_library(const Library& library, const OrtValue* value) {
  auto info = library.make<OrtTensorTypeAndShapeInfo>(library->GetTensorTypeAndShape,
                                                      library->ReleaseTensorTypeAndShapeInfo, value);
  auto type = library.get<ElementType>(library->GetTensorElementType, info.get());
  std::vector<int64_t> shape(library.get<size_t>(library->GetDimensionsCount, info.get()));
  library.check(library->GetDimensions(info.get(), shape.data(), shape.size()));
  Value out;
  out.kind = Value::Kind::kTensor;
  out.type = type;
  out.shape = std::move(shape);
  size_t count = out.elements();
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    if (count) out.strings = read_strings(library, value, count);
    return out;
  }
  out.bytes.resize(byte_size(type, count));
  if (out.bytes.empty()) return out;
  // The slot wants a mutable value although it only hands out the address.
  void* data = library.get<void*>(library->GetTensorMutableData, const_cast<OrtValue*>(value));
  std::memcpy(out.bytes.data(), data, out.bytes.size());
  return out;
}

TypeSpec read_tensor_type(const Library& library, const OrtTensorTypeAndShapeInfo* info, ONNXType kind) {
  TypeSpec type;
  type.kind = kind;
  type.element = library.get<ElementType>(library->GetTensorElementType, info);
  type.shape.resize(library.get<size_t>(library->GetDimensionsCount, info));
  library.check(library->GetDimensions(info, type.shape.data(), type.shape.size()));
  std::vector<const char*> symbols(type.shape.size());
  library.check(library->GetSymbolicDimensions(info, symbols.data(), symbols.size()));
  for (const char* symbol : symbols) type.symbols.emplace_back(symbol ? symbol : "");
  return type;
}

TypeSpec read_owned(const Library& library, OrtTypeInfo* info) {
  Handle<OrtTypeInfo> owned(info, library->ReleaseTypeInfo);
  return read_type(library, info);
}

}  // namespace

size_t Value::elements() const {
  return std::accumulate(shape.begin(), shape.end(), size_t{1}, [](size_t n, int64_t d) { return n * size_t(d); });
}

Value make_tensor(ElementType type, std::vector<int64_t> shape) {
  Value value;
  value.kind = Value::Kind::kTensor;
  value.type = type;
  value.shape = std::move(shape);
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    value.strings.resize(value.elements());
  } else {
    value.bytes.resize(byte_size(type, value.elements()));
  }
  return value;
}

std::string to_text(ElementType type, const std::vector<int64_t>& shape) {
  std::string text = traits(type).name;
  text += '[';
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? "," : "") + std::to_string(shape[i]);
  return text + ']';
}

std::string to_text(const TypeSpec& type) {
  switch (type.kind) {
    case ONNX_TYPE_SEQUENCE:
      return "sequence(" + to_text(type.inner.at(0)) + ")";
    case ONNX_TYPE_OPTIONAL:
      return "optional(" + to_text(type.inner.at(0)) + ")";
    case ONNX_TYPE_MAP:
      return join("map(", traits(type.element).name, ", ", to_text(type.inner.at(0)), ")");
    case ONNX_TYPE_TENSOR:
    case ONNX_TYPE_SPARSETENSOR:
      break;
    default:
      return "unknown";
  }
  std::string text = type.kind == ONNX_TYPE_SPARSETENSOR ? "sparse " : "";
  text += traits(type.element).name;
  text += '[';
  for (size_t i = 0; i < type.shape.size(); ++i) {
    if (i) text += ',';
    if (type.shape[i] >= 0) {
      text += std::to_string(type.shape[i]);
    } else {
      text += type.symbols[i].empty() ? "?" : type.symbols[i];
    }
  }
  return text + ']';
}

Handle<OrtValue> to_library(const Library& library, const Value& value) {
  if (value.kind == Value::Kind::kTensor) return tensor_to_library(library, value);
  if (value.kind == Value::Kind::kNone) return Handle<OrtValue>(nullptr, library->ReleaseValue);
  std::vector<Handle<OrtValue>> items;
  std::vector<const OrtValue*> pointers;
  for (const Value& item : value.items) {
    items.push_back(to_library(library, item));
    pointers.push_back(items.back().get());
  }
  ONNXType kind = value.kind == Value::Kind::kMap ? ONNX_TYPE_MAP : ONNX_TYPE_SEQUENCE;
  return library.make<OrtValue>(library->CreateValue, library->ReleaseValue, pointers.data(), pointers.size(), kind);
}

Value from_library(const Library& library, const OrtValue* value) {
  if (!value || !library.get<int>(library->HasValue, value)) return {};
  auto kind = library.get<ONNXType>(library->GetValueType, value);
  if (kind == ONNX_TYPE_TENSOR) return tensor_from_library(library, value);
  if (kind != ONNX_TYPE_SEQUENCE && kind != ONNX_TYPE_MAP) {
    fail("values of ONNX type number ", int(kind), " (sparse or opaque) cannot be shown or compared");
  }
  Value out;
  out.kind = kind == ONNX_TYPE_MAP ? Value::Kind::kMap : Value::Kind::kSequence;
  size_t count = kind == ONNX_TYPE_MAP ? 2 : library.get<size_t>(library->GetValueCount, value);
  for (size_t i = 0; i < count; ++i) {
    auto item = library.make<OrtValue>(library->GetValue, library->ReleaseValue, value, int(i), library.allocator());
    out.items.push_back(from_library(library, item.get()));
  }
  return out;
}

TypeSpec read_type(const Library& library, const OrtTypeInfo* info) {
  TypeSpec type;
  type.kind = library.get<ONNXType>(library->GetOnnxTypeFromTypeInfo, info);
  switch (type.kind) {
    case ONNX_TYPE_TENSOR:
    case ONNX_TYPE_SPARSETENSOR: {
      auto tensor = library.get<const OrtTensorTypeAndShapeInfo*>(library->CastTypeInfoToTensorInfo, info);
      return tensor ? read_tensor_type(library, tensor, type.kind) : type;
    }
    case ONNX_TYPE_SEQUENCE: {
      auto sequence = library.get<const OrtSequenceTypeInfo*>(library->CastTypeInfoToSequenceTypeInfo, info);
      type.inner.push_back(read_owned(library, library.get<OrtTypeInfo*>(library->GetSequenceElementType, sequence)));
      return type;
    }
    case ONNX_TYPE_OPTIONAL: {
      auto optional = library.get<const OrtOptionalTypeInfo*>(library->CastTypeInfoToOptionalTypeInfo, info);
      type.inner.push_back(
          read_owned(library, library.get<OrtTypeInfo*>(library->GetOptionalContainedTypeInfo, optional)));
      return type;
    }
    case ONNX_TYPE_MAP: {
      auto map = library.get<const OrtMapTypeInfo*>(library->CastTypeInfoToMapTypeInfo, info);
      type.element = library.get<ElementType>(library->GetMapKeyType, map);
      type.inner.push_back(read_owned(library, library.get<OrtTypeInfo*>(library->GetMapValueType, map)));
      return type;
    }
    default:
      return type;
  }
}

}  // namespace ortolan::tools
