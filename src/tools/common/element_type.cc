// Element types of tensors: the table of traits, and conversion of single elements.
#include "element_type.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "error.h"

namespace ortolan::tools {
namespace {

constexpr ElementTraits kTraits[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, "float32", 32, 1, true},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, "uint8", 8, 2, false},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, "int8", 8, 3, false},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, "uint16", 16, 4, false},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, "int16", 16, 5, false},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, "int32", 32, 6, false},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, "int64", 64, 7, false},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, "string", 0, 8, false},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, "bool", 8, 9, false},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, "float16", 16, 10, true},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, "float64", 64, 11, true},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, "uint32", 32, 12, false},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, "uint64", 64, 13, false},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64, "complex64", 64, 14, true},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128, "complex128", 128, 15, true},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, "bfloat16", 16, 16, true},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN, "float8e4m3fn", 8, 17, true},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ, "float8e4m3fnuz", 8, 18, true},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2, "float8e5m2", 8, 19, true},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ, "float8e5m2fnuz", 8, 20, true},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4, "uint4", 4, 21, false},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4, "int4", 4, 22, false},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1, "float4e2m1", 4, 23, true},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0, "float8e8m0", 8, 24, true},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2, "uint2", 2, 25, false},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2, "int2", 2, 26, false},
};

template <class T>
T load(const std::byte* data, size_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(std::byte* data, size_t index, T value) {
  std::memcpy(data + index * sizeof(T), &value, sizeof(T));
}

// What the all-ones exponent of a small float means.
enum class Specials {
  kIeee,      // infinities and NaN
  kLastNan,   // only the all-ones pattern is NaN
  kNegative,  // minus zero is NaN, nothing else is special
  kNone,
};

double small_float(uint32_t bits, int exponent_bits, int mantissa_bits, int bias, Specials specials) {
  uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  uint32_t top = (1u << exponent_bits) - 1;
  uint32_t exponent = bits >> mantissa_bits & top;
  bool negative = bits >> (mantissa_bits + exponent_bits) & 1;
  if (specials == Specials::kIeee && exponent == top) {
    double special = mantissa ? NAN : INFINITY;
    return negative ? -special : special;
  }
  uint32_t magnitude = exponent << mantissa_bits | mantissa;
  if (specials == Specials::kLastNan && magnitude == (1u << (mantissa_bits + exponent_bits)) - 1) return NAN;
  if (specials == Specials::kNegative && negative && magnitude == 0) return NAN;
  double value = exponent ? std::ldexp((1u << mantissa_bits) + mantissa, int(exponent) - bias - mantissa_bits)
                          : std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return negative ? -value : value;
}

// Rounds to nearest even by way of float.
uint16_t to_bfloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return 0x7fc0;
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Rounds to nearest even.
uint16_t to_float16(float value) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00 | (std::bit_cast<uint32_t>(value) >> 13 & 0x3ff));
  if (value == 0) return sign;
  if (std::fabs(value) >= 65520) return static_cast<uint16_t>(sign | 0x7c00);
  int exponent;
  std::frexp(value, &exponent);
  const int last_place = std::max(exponent - 11, -24);
  const auto units = static_cast<int>(std::rint(std::ldexp(std::fabs(value), -last_place)));
  return static_cast<uint16_t>(sign | (units + (last_place + 24) * 1024));
}

uint32_t packed(const std::byte* data, size_t index, int bits) {
  size_t per_byte = 8 / bits;
  return std::to_integer<uint32_t>(data[index / per_byte]) >> (index % per_byte * bits) & ((1u << bits) - 1);
}

int64_t sign_extended(uint32_t value, int bits) {
  return value >> (bits - 1) & 1 ? int64_t(value) - (int64_t{1} << bits) : value;
}

}  // namespace

const ElementTraits& traits(ElementType type) {
  for (const ElementTraits& row : kTraits) {
    if (row.type == type) return row;
  }
  fail("element type number ", int(type), " is unknown");
}

ElementType type_of_file(int file_type) {
  for (const ElementTraits& row : kTraits) {
    if (row.file_type == file_type) return row.type;
  }
  fail("element type number ", file_type, " in a file is unknown");
}

ElementType type_of_name(const std::string& name) {
  for (const ElementTraits& row : kTraits) {
    if (row.name == name) return row.type;
  }
  fail("element type '", name, "' is unknown");
}

size_t byte_size(ElementType type, size_t elements) { return (elements * traits(type).bits + 7) / 8; }

int64_t integer_at(ElementType type, const std::byte* data, size_t index) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
      return load<uint8_t>(data, index);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
      return load<int8_t>(data, index);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16:
      return load<uint16_t>(data, index);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
      return load<int16_t>(data, index);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32:
      return load<uint32_t>(data, index);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
      return load<int32_t>(data, index);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
      return load<int64_t>(data, index);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4:
      return packed(data, index, 4);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4:
      return sign_extended(packed(data, index, 4), 4);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2:
      return packed(data, index, 2);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2:
      return sign_extended(packed(data, index, 2), 2);
    default:
      fail(traits(type).name, " is no integer type");
  }
}

double number_at(ElementType type, const std::byte* data, size_t index) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
      return load<float>(data, index);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
      return load<double>(data, index);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64:
      return double(load<uint64_t>(data, index));
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
      return small_float(load<uint16_t>(data, index), 5, 10, 15, Specials::kIeee);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
      return std::bit_cast<float>(uint32_t(load<uint16_t>(data, index)) << 16);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN:
      return small_float(load<uint8_t>(data, index), 4, 3, 7, Specials::kLastNan);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ:
      return small_float(load<uint8_t>(data, index), 4, 3, 8, Specials::kNegative);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2:
      return small_float(load<uint8_t>(data, index), 5, 2, 15, Specials::kIeee);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ:
      return small_float(load<uint8_t>(data, index), 5, 2, 16, Specials::kNegative);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1:
      return small_float(packed(data, index, 4), 2, 1, 1, Specials::kNone);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0: {
      int exponent = load<uint8_t>(data, index);
      return exponent == 255 ? NAN : std::ldexp(1.0, exponent - 127);
    }
    default:
      return double(integer_at(type, data, index));
  }
}

void set_number(ElementType type, std::byte* data, size_t index, double value) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
      return store(data, index, float(value));
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
      return store(data, index, value);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
      return store(data, index, to_float16(float(value)));
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
      return store(data, index, to_bfloat16(float(value)));
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
      return store(data, index, uint8_t(value != 0));
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
      return store(data, index, uint8_t(value));
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
      return store(data, index, int8_t(value));
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16:
      return store(data, index, uint16_t(value));
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
      return store(data, index, int16_t(value));
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32:
      return store(data, index, uint32_t(value));
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
      return store(data, index, int32_t(value));
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64:
      return store(data, index, uint64_t(value));
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
      return store(data, index, int64_t(value));
    default:
      fail("numbers of type ", traits(type).name, " cannot be made here");
  }
}

}  // namespace ortolan::tools
