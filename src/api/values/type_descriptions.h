// What a type info object of the API holds: a type spelled out with numbers and names, free of any model.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/type_info.h"

namespace ortolan::api {

/** OrtTensorTypeAndShapeInfo. Dimensions that are not known are -1; `names` has one text (or "") for each. */
struct TensorDescription {
  tensor::ElementType element = tensor::ElementType::kUndefined;
  bool has_shape = true;
  std::vector<int64_t> dims;
  std::vector<std::string> names;
};

/** OrtTypeInfo, and, borrowed from it, the map, sequence and optional infos. */
struct TypeDescription {
  tensor::ValueKind kind = tensor::ValueKind::kNone;
  TensorDescription tensor;                                   // of a tensor or sparse tensor
  tensor::ElementType key = tensor::ElementType::kUndefined;  // of a map
  std::shared_ptr<const TypeDescription> contained;           // a map's value, a sequence's or optional's element
  std::string denotation;
};

TensorDescription describe(tensor::ElementType element, const tensor::Shape& shape);
/** `symbols` names the symbolic dimensions; NULL leaves them without names. */
TypeDescription describe(const graph::TypeInfo& type, const graph::SymbolTable* symbols);
TypeDescription describe(const tensor::Value& value);

/** The graph's form of a description; names become symbols of `symbols`, or nothing where it is NULL. */
graph::TypeInfo type_info_of(const TensorDescription& tensor, graph::SymbolTable* symbols);

}  // namespace ortolan::api
