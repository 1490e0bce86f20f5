// Names and sizes of the element types.
#include "tensor/element_type.h"

#include <array>

#include "base/checked.h"

namespace ortolan::tensor {
namespace {

struct TypeFacts {
  std::string_view name;
  int bits;
};

constexpr std::array<TypeFacts, kElementTypeCount> kFacts{{
    {"undefined", 0},      {"float", 32},     {"uint8", 8},
    {"int8", 8},           {"uint16", 16},    {"int16", 16},
    {"int32", 32},         {"int64", 64},     {"string", 8 * static_cast<int>(sizeof(std::string))},
    {"bool", 8},           {"float16", 16},   {"double", 64},
    {"uint32", 32},        {"uint64", 64},    {"complex64", 64},
    {"complex128", 128},   {"bfloat16", 16},  {"float8e4m3fn", 8},
    {"float8e4m3fnuz", 8}, {"float8e5m2", 8}, {"float8e5m2fnuz", 8},
    {"uint4", 4},          {"int4", 4},       {"float4e2m1", 4},
    {"float8e8m0", 8},     {"uint2", 2},      {"int2", 2},
}};

}  // namespace

std::string_view name_of(ElementType type) {
  auto index = static_cast<size_t>(type);
  return index < kFacts.size() ? kFacts[index].name : "unknown";
}

ElementType element_type_called(std::string_view name) {
  for (size_t i = 1; i < kFacts.size(); ++i) {
    if (kFacts[i].name == name) return static_cast<ElementType>(i);
  }
  return ElementType::kUndefined;
}

int bits_of(ElementType type) {
  auto index = static_cast<size_t>(type);
  require(index > 0 && index < kFacts.size(), ErrorCode::kInvalidArgument, "element type ", static_cast<int>(index),
          " is unknown; ONNX defines 1 to ", kElementTypeCount - 1);
  return kFacts[index].bits;
}

size_t bytes_for(ElementType type, int64_t count) {
  require(count >= 0, ErrorCode::kInvalidArgument, "element count ", count, " is negative");
  auto n = static_cast<size_t>(count);
  int bits = bits_of(type);
  if (bits >= 8) return checked_mul(n, static_cast<size_t>(bits / 8));
  size_t per_byte = 8 / bits;
  return n / per_byte + (n % per_byte != 0);
}

void TypeSet::append_to(std::string& out) const {
  bool first = true;
  for (int i = 1; i < kElementTypeCount; ++i) {
    if (!contains(static_cast<ElementType>(i))) continue;
    if (!first) out += ", ";
    out += kFacts[i].name;
    first = false;
  }
}

}  // namespace ortolan::tensor
