// Element types of tensors, numbered as in ONNX files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ortolan::gpu {

enum class ElementType {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
};

/** Bytes of an element; 0 for types that no kernel stores. */
size_t element_bytes(ElementType type);
const char* type_name(ElementType type);

inline bool is_float(ElementType type) { return type == ElementType::kFloat || type == ElementType::kFloat16; }

/** Whether values of the type fit in a signed 64-bit integer. */
inline bool is_integer(ElementType type) {
  return element_bytes(type) > 0 && !is_float(type) && type != ElementType::kDouble && type != ElementType::kBfloat16 &&
         type != ElementType::kUint64;
}

using Shape = std::vector<int64_t>;

/** The product of the dimensions. Throws kInvalid where it exceeds what kernels index, 2^31 - 1. */
int64_t element_count(const Shape& shape);
/** The same over the axes [first, last). */
int64_t element_count(const Shape& shape, size_t first, size_t last);

}  // namespace ortolan::gpu
