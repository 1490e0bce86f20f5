// The element types of tensors, sets of them, and the one dispatch from a type's number to its C++ type.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/small_float.h"

namespace ortolan::tensor {
using namespace base;

/** Numbers are those of ONNX's TensorProto.DataType. */
enum class ElementType : uint8_t {
  kUndefined = 0,
  kFloat = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUInt4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUInt2 = 25,
  kInt2 = 26,
};
inline constexpr int kElementTypeCount = 27;

/** "float", "int64", …: the names of the specification's tensor(…) notation. */
std::string_view name_of(ElementType type);
/** The type called `name` ("float", "int64", …), or kUndefined. */
ElementType element_type_called(std::string_view name);
/** Bits of one element: 4 and 2 for the packed types; a std::string's size for kString. */
int bits_of(ElementType type);
/** Bytes of `count` elements, packed types rounded up to whole bytes. Throws on overflow or a negative count. */
size_t bytes_for(ElementType type, int64_t count);
/** True for the types that share a byte: int4, uint4, float4, int2, uint2 (first element in the low bits). */
constexpr bool is_packed(ElementType type) {
  return type == ElementType::kUInt4 || type == ElementType::kInt4 || type == ElementType::kFloat4E2M1 ||
         type == ElementType::kUInt2 || type == ElementType::kInt2;
}

/** A set of element types, a bit each; structural, so it can be a template argument. */
struct TypeSet {
  uint32_t bits = 0;

  constexpr TypeSet() = default;
  constexpr TypeSet(ElementType type) : bits(1u << static_cast<int>(type)) {}
  constexpr bool contains(ElementType type) const { return (bits >> static_cast<int>(type)) & 1u; }
  constexpr bool empty() const { return bits == 0; }
  constexpr TypeSet operator|(TypeSet other) const { return from_bits(bits | other.bits); }
  constexpr TypeSet without(TypeSet other) const { return from_bits(bits & ~other.bits); }
  constexpr bool operator==(const TypeSet&) const = default;
  /** "float, double, …". */
  void append_to(std::string& out) const;
  static constexpr TypeSet from_bits(uint32_t bits) {
    TypeSet set;
    set.bits = bits;
    return set;
  }
};
constexpr TypeSet operator|(ElementType a, ElementType b) { return TypeSet(a) | TypeSet(b); }

inline constexpr TypeSet kFloat32And64 = ElementType::kFloat | ElementType::kDouble;
inline constexpr TypeSet kHalfTypes = ElementType::kFloat16 | ElementType::kBFloat16;
inline constexpr TypeSet kFloatTypes = kFloat32And64 | kHalfTypes;
inline constexpr TypeSet kFloat32AndHalf = kHalfTypes | ElementType::kFloat;
inline constexpr TypeSet kIndexTypes = ElementType::kInt32 | ElementType::kInt64;
inline constexpr TypeSet kByteTypes = ElementType::kInt8 | ElementType::kUInt8;
inline constexpr TypeSet kSignedTypes =
    ElementType::kInt8 | ElementType::kInt16 | ElementType::kInt32 | ElementType::kInt64;
inline constexpr TypeSet kUnsignedTypes =
    ElementType::kUInt8 | ElementType::kUInt16 | ElementType::kUInt32 | ElementType::kUInt64;
inline constexpr TypeSet kIntegerTypes = kSignedTypes | kUnsignedTypes;
inline constexpr TypeSet kNumericTypes = kFloatTypes | kIntegerTypes;
inline constexpr TypeSet kFloat8Types =
    ElementType::kFloat8E4M3FN | ElementType::kFloat8E4M3FNUZ | ElementType::kFloat8E5M2 | ElementType::kFloat8E5M2FNUZ;
inline constexpr TypeSet kPackedTypes =
    ElementType::kUInt4 | ElementType::kInt4 | ElementType::kFloat4E2M1 | ElementType::kUInt2 | ElementType::kInt2;
inline constexpr TypeSet kComplexTypes = ElementType::kComplex64 | ElementType::kComplex128;
/** Types of a fixed size of whole bytes. */
inline constexpr TypeSet kPlainTypes =
    kNumericTypes | kComplexTypes | kFloat8Types | ElementType::kFloat8E8M0 | ElementType::kBool;
inline constexpr TypeSet kAllTypes = kPlainTypes | kPackedTypes | ElementType::kString;

template <class T>
inline constexpr ElementType kTypeOf = ElementType::kUndefined;
template <>
inline constexpr ElementType kTypeOf<float> = ElementType::kFloat;
template <>
inline constexpr ElementType kTypeOf<double> = ElementType::kDouble;
template <>
inline constexpr ElementType kTypeOf<uint8_t> = ElementType::kUInt8;
template <>
inline constexpr ElementType kTypeOf<int8_t> = ElementType::kInt8;
template <>
inline constexpr ElementType kTypeOf<uint16_t> = ElementType::kUInt16;
template <>
inline constexpr ElementType kTypeOf<int16_t> = ElementType::kInt16;
template <>
inline constexpr ElementType kTypeOf<uint32_t> = ElementType::kUInt32;
template <>
inline constexpr ElementType kTypeOf<int32_t> = ElementType::kInt32;
template <>
inline constexpr ElementType kTypeOf<uint64_t> = ElementType::kUInt64;
template <>
inline constexpr ElementType kTypeOf<int64_t> = ElementType::kInt64;
template <>
inline constexpr ElementType kTypeOf<bool> = ElementType::kBool;
template <>
inline constexpr ElementType kTypeOf<std::string> = ElementType::kString;
template <>
inline constexpr ElementType kTypeOf<Half> = ElementType::kFloat16;
template <>
inline constexpr ElementType kTypeOf<BFloat16> = ElementType::kBFloat16;
template <>
inline constexpr ElementType kTypeOf<std::complex<float>> = ElementType::kComplex64;
template <>
inline constexpr ElementType kTypeOf<std::complex<double>> = ElementType::kComplex128;
template <>
inline constexpr ElementType kTypeOf<Float8E4M3FN> = ElementType::kFloat8E4M3FN;
template <>
inline constexpr ElementType kTypeOf<Float8E4M3FNUZ> = ElementType::kFloat8E4M3FNUZ;
template <>
inline constexpr ElementType kTypeOf<Float8E5M2> = ElementType::kFloat8E5M2;
template <>
inline constexpr ElementType kTypeOf<Float8E5M2FNUZ> = ElementType::kFloat8E5M2FNUZ;
template <>
inline constexpr ElementType kTypeOf<Float8E8M0> = ElementType::kFloat8E8M0;

/** Carries a C++ type to a generic lambda: `[&]<class T>(TypeTag<T>) { … }`. */
template <class T>
struct TypeTag {
  using type = T;
};

/** Calls `body(TypeTag<T>{})` with T the C++ type of `type`, which must be in `Allowed`; only those are instantiated.
    The one dispatch of the project. Packed types have no C++ type and are never allowed here. */
template <TypeSet Allowed, class Body>
decltype(auto) dispatch(ElementType type, Body&& body) {
#define ORTOLAN_DISPATCH(Kind, T)                                                 \
  case ElementType::Kind:                                                         \
    if constexpr (Allowed.contains(ElementType::Kind)) return body(TypeTag<T>{}); \
    break;
  switch (type) {
    ORTOLAN_DISPATCH(kFloat, float)
    ORTOLAN_DISPATCH(kDouble, double)
    ORTOLAN_DISPATCH(kUInt8, uint8_t)
    ORTOLAN_DISPATCH(kInt8, int8_t)
    ORTOLAN_DISPATCH(kUInt16, uint16_t)
    ORTOLAN_DISPATCH(kInt16, int16_t)
    ORTOLAN_DISPATCH(kInt32, int32_t)
    ORTOLAN_DISPATCH(kInt64, int64_t)
    ORTOLAN_DISPATCH(kUInt32, uint32_t)
    ORTOLAN_DISPATCH(kUInt64, uint64_t)
    ORTOLAN_DISPATCH(kBool, bool)
    ORTOLAN_DISPATCH(kString, std::string)
    ORTOLAN_DISPATCH(kFloat16, Half)
    ORTOLAN_DISPATCH(kBFloat16, BFloat16)
    ORTOLAN_DISPATCH(kComplex64, std::complex<float>)
    ORTOLAN_DISPATCH(kComplex128, std::complex<double>)
    ORTOLAN_DISPATCH(kFloat8E4M3FN, Float8E4M3FN)
    ORTOLAN_DISPATCH(kFloat8E4M3FNUZ, Float8E4M3FNUZ)
    ORTOLAN_DISPATCH(kFloat8E5M2, Float8E5M2)
    ORTOLAN_DISPATCH(kFloat8E5M2FNUZ, Float8E5M2FNUZ)
    ORTOLAN_DISPATCH(kFloat8E8M0, Float8E8M0)
    default:
      break;
  }
#undef ORTOLAN_DISPATCH
  fail(ErrorCode::kNotImplemented, "element type ", name_of(type), " is not among those supported here: ", Allowed);
}

}  // namespace ortolan::tensor
