// TypeProto: types of values and their shapes.
#include "onnx/tensor_reader.h"

namespace ortolan::onnx {
namespace {

constexpr int kMaxTypeDepth = 32;

Dim read_dim(Bytes message, const DimensionNames& names) {
  Dim dim;
  std::string_view name, denotation;
  WireReader reader(message, "TensorShapeProto.Dimension");
  while (reader.next()) {
    if (reader.number() == 1) dim = Dim(reader.field().integer());
    if (reader.number() == 2) name = reader.field().text();
    if (reader.number() == 3) denotation = reader.field().text();
  }
  return dim.known() ? dim : names.dimension(name, denotation);
}

SymbolicShape read_shape(Bytes message, const DimensionNames& names) {
  DimVector dims;
  WireReader reader(message, "TensorShapeProto");
  while (reader.next()) {
    if (reader.number() == 1) dims.push_back(read_dim(reader.field().bytes(), names));
    require(dims.size() <= static_cast<size_t>(kMaxRank), ErrorCode::kInvalidGraph, "a type has a rank above ",
            kMaxRank);
  }
  return SymbolicShape(std::move(dims));
}

/** TypeProto.Tensor and TypeProto.SparseTensor. */
TypeInfo read_tensor_type(Bytes message, ValueKind kind, const DimensionNames& names) {
  TypeInfo type;
  type.kind = kind;
  WireReader reader(message, "TypeProto.Tensor");
  while (reader.next()) {
    if (reader.number() == 1) type.element = element_type_numbered(reader.field().integer());
    if (reader.number() == 2) type.shape = read_shape(reader.field().bytes(), names);
  }
  return type;
}

/** TypeProto.Sequence, Optional and Map: the last has a key type in field 1, and all their content's type after. */
TypeInfo read_container_type(Bytes message, ValueKind kind, const DimensionNames& names, int depth) {
  TypeInfo type;
  type.kind = kind;
  uint32_t content = kind == ValueKind::kMap ? 2 : 1;
  WireReader reader(message, "TypeProto");
  while (reader.next()) {
    if (reader.number() == content) {
      type.contained = std::make_shared<TypeInfo>(read_type(reader.field().bytes(), names, depth + 1));
    } else if (reader.number() == 1) {
      type.element = element_type_numbered(reader.field().integer());
    }
  }
  return type;
}

}  // namespace

Dim DimensionNames::dimension(std::string_view name, std::string_view denotation) const {
  auto by_denotation = options->dimensions_by_denotation.find(std::string(denotation));
  if (by_denotation != options->dimensions_by_denotation.end()) return by_denotation->second;
  auto by_name = options->dimensions_by_name.find(std::string(name));
  if (by_name != options->dimensions_by_name.end()) return by_name->second;
  return symbols ? symbols->named(std::string(name)) : Dim{};
}

ElementType element_type_numbered(int64_t number) {
  return number > 0 && number < kElementTypeCount ? static_cast<ElementType>(number) : ElementType::kUndefined;
}

TypeInfo read_type(Bytes message, const DimensionNames& names, int depth) {
  require(depth <= kMaxTypeDepth, ErrorCode::kInvalidGraph, "a type is nested deeper than ", kMaxTypeDepth);
  TypeInfo type;
  std::string denotation;
  WireReader reader(message, "TypeProto");
  while (reader.next()) {
    const Field& field = reader.field();
    switch (field.number()) {
      case 1:
        type = read_tensor_type(field.bytes(), ValueKind::kTensor, names);
        break;
      case 4:
        type = read_container_type(field.bytes(), ValueKind::kSequence, names, depth);
        break;
      case 5:
        type = read_container_type(field.bytes(), ValueKind::kMap, names, depth);
        break;
      case 6:
        denotation = field.text();
        break;
      case 7:
        type = {};
        type.kind = ValueKind::kOpaque;
        break;
      case 8:
        type = read_tensor_type(field.bytes(), ValueKind::kSparse, names);
        break;
      case 9:
        type = read_container_type(field.bytes(), ValueKind::kOptional, names, depth);
        break;
      default:
        break;
    }
  }
  type.denotation = std::move(denotation);
  return type;
}

}  // namespace ortolan::onnx
