// Sizes and names of element types, and counts of elements.
#include "gpu/core/graph/element_type.h"

#include <algorithm>
#include <string>

#include "gpu/device/error.h"

namespace ortolan::gpu {

size_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kUint8:
    case ElementType::kInt8:
    case ElementType::kBool:
      return 1;
    case ElementType::kUint16:
    case ElementType::kInt16:
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return 2;
    case ElementType::kFloat:
    case ElementType::kInt32:
    case ElementType::kUint32:
      return 4;
    case ElementType::kInt64:
    case ElementType::kUint64:
    case ElementType::kDouble:
      return 8;
    default:
      return 0;
  }
}

const char* type_name(ElementType type) {
  switch (type) {
    case ElementType::kFloat:
      return "float";
    case ElementType::kUint8:
      return "uint8";
    case ElementType::kInt8:
      return "int8";
    case ElementType::kUint16:
      return "uint16";
    case ElementType::kInt16:
      return "int16";
    case ElementType::kInt32:
      return "int32";
    case ElementType::kInt64:
      return "int64";
    case ElementType::kBool:
      return "bool";
    case ElementType::kFloat16:
      return "float16";
    case ElementType::kDouble:
      return "double";
    case ElementType::kUint32:
      return "uint32";
    case ElementType::kUint64:
      return "uint64";
    case ElementType::kBfloat16:
      return "bfloat16";
    default:
      return "another type";
  }
}

int64_t element_count(const Shape& shape) { return element_count(shape, 0, shape.size()); }

int64_t element_count(const Shape& shape, size_t first, size_t last) {
  int64_t count = 1;
  bool is_empty = std::find(shape.begin() + first, shape.begin() + last, 0) != shape.begin() + last;
  for (size_t i = first; i < last; i++) {
    if (shape[i] < 0 || (!is_empty && (shape[i] > INT32_MAX || count * shape[i] > INT32_MAX))) {
      throw Error(ErrorKind::kInvalid, "a tensor has dimension " + std::to_string(shape[i]) + " at axis " +
                                           std::to_string(i) +
                                           "; dimensions are 0 or more and their product is 2147483647 at most");
    }
    count *= is_empty ? 0 : shape[i];
  }
  return count;
}

}  // namespace ortolan::gpu
