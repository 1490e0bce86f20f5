// Element types of tensors: names, sizes, numbers in files, and reading one element as a number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "onnxruntime_c_api.h"

namespace ortolan::tools {

using ElementType = ONNXTensorElementDataType;

struct ElementTraits {
  ElementType type;
  const char* name;
  int bits;       // of one element; complex numbers whole; 0 for strings
  int file_type;  // the number in model files
  bool floating;  // compared with a tolerance
};

// Throws for a type that is unknown here.
const ElementTraits& traits(ElementType type);
ElementType type_of_file(int file_type);
ElementType type_of_name(const std::string& name);

// Bytes of so many elements; elements under a byte are packed from the low bits up.
size_t byte_size(ElementType type, size_t elements);

// Element index as a number. Complex types count their parts: twice as many elements. Not for strings.
double number_at(ElementType type, const std::byte* data, size_t index);
// Integers exactly; for the integer types and bool.
int64_t integer_at(ElementType type, const std::byte* data, size_t index);
// Stores a number, rounded to the type. For types of a whole number of bytes that are not complex.
void set_number(ElementType type, std::byte* data, size_t index, double value);

}  // namespace ortolan::tools
