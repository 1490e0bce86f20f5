// A value on the host that belongs to no library: what files hold, what goes into a run and comes out of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "element_type.h"
#include "library.h"

namespace ortolan::tools {

struct Value {
  enum class Kind { kNone, kTensor, kSequence, kMap };

  Kind kind = Kind::kNone;  // kNone: an optional without content
  ElementType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;      // tensors but of strings: the elements, row by row
  std::vector<std::string> strings;  // tensors of strings
  std::vector<Value> items;          // sequence: its values; map: a tensor of keys, a tensor of values

  size_t elements() const;
};

// An empty tensor of this shape: zeros or empty strings.
Value make_tensor(ElementType type, std::vector<int64_t> shape);

// The type of an input or output as a session tells it.
struct TypeSpec {
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  ElementType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;  // of a tensor; of a map's keys
  std::vector<int64_t> shape;                                     // -1: not known before the run
  std::vector<std::string> symbols;                               // per dimension: its name, or ""
  std::vector<TypeSpec> inner;                                    // of sequence, optional, map
};

// As users read it: float32[batch,3,224,224], sequence(int64[]), ...
std::string to_text(const TypeSpec& type);
std::string to_text(ElementType type, const std::vector<int64_t>& shape);

Handle<OrtValue> to_library(const Library& library, const Value& value);
Value from_library(const Library& library, const OrtValue* value);
TypeSpec read_type(const Library& library, const OrtTypeInfo* info);

}  // namespace ortolan::tools
