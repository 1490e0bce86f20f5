// Element types that C++ lacks, and which element type of tensors each C++ type is. Include onnxruntime_cxx_api.h
// instead of this file.
#pragma once

#include "onnxruntime_cxx_base.h"

namespace Ort {

/** An IEEE 754 half-precision number: storage and conversion, no arithmetic. */
struct Float16_t : onnxruntime_float16::Float16Impl<Float16_t> {
  using Base = onnxruntime_float16::Float16Impl<Float16_t>;

  Float16_t() = default;
  /** Rounds to the nearest, ties to even. */
  explicit Float16_t(float v) noexcept { val = Base::ToUint16Impl(v); }
  /** The number that is stored as these bits. */
  constexpr static Float16_t FromBits(uint16_t v) noexcept { return Float16_t(v, 0); }

  float ToFloat() const noexcept { return Base::ToFloatImpl(); }
  explicit operator float() const noexcept { return ToFloat(); }

 private:
  constexpr Float16_t(uint16_t bits, int) noexcept { val = bits; }
};
static_assert(sizeof(Float16_t) == sizeof(uint16_t), "tensors hold two bytes an element");

/** The upper half of a float: storage and conversion, no arithmetic. */
struct BFloat16_t : onnxruntime_float16::BFloat16Impl<BFloat16_t> {
  using Base = onnxruntime_float16::BFloat16Impl<BFloat16_t>;

  BFloat16_t() = default;
  /** Rounds to the nearest, ties to even. */
  explicit BFloat16_t(float v) noexcept { val = Base::ToUint16Impl(v); }
  /** The number that is stored as these bits. */
  static constexpr BFloat16_t FromBits(uint16_t v) noexcept { return BFloat16_t(v, 0); }

  float ToFloat() const noexcept { return Base::ToFloatImpl(); }
  explicit operator float() const noexcept { return ToFloat(); }

 private:
  constexpr BFloat16_t(uint16_t bits, int) noexcept { val = bits; }
};
static_assert(sizeof(BFloat16_t) == sizeof(uint16_t), "tensors hold two bytes an element");

/** The four 8-bit floating-point formats: storage only. */
#define ORT_CXX_DEFINE_FLOAT8(NAME)                                                          \
  struct NAME {                                                                              \
    uint8_t value;                                                                           \
    constexpr NAME() noexcept : value(0) {}                                                  \
    constexpr NAME(uint8_t v) noexcept : value(v) {}                                         \
    constexpr operator uint8_t() const noexcept { return value; }                            \
    constexpr bool operator==(const NAME& rhs) const noexcept { return value == rhs.value; } \
    constexpr bool operator!=(const NAME& rhs) const noexcept { return value != rhs.value; } \
  };                                                                                         \
  static_assert(sizeof(NAME) == sizeof(uint8_t), "tensors hold one byte an element")

ORT_CXX_DEFINE_FLOAT8(Float8E4M3FN_t);
ORT_CXX_DEFINE_FLOAT8(Float8E4M3FNUZ_t);
ORT_CXX_DEFINE_FLOAT8(Float8E5M2_t);
ORT_CXX_DEFINE_FLOAT8(Float8E5M2FNUZ_t);

#undef ORT_CXX_DEFINE_FLOAT8

/** `TypeToTensorType<float>::type` is the element type of tensors of float; not defined for types that tensors cannot
 *  hold. */
template <typename T>
struct TypeToTensorType;

#define ORT_CXX_ELEMENT_TYPE(TYPE, NAME)                                                    \
  template <>                                                                               \
  struct TypeToTensorType<TYPE> {                                                           \
    static constexpr ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_##NAME; \
  }

ORT_CXX_ELEMENT_TYPE(float, FLOAT);
ORT_CXX_ELEMENT_TYPE(Float16_t, FLOAT16);
ORT_CXX_ELEMENT_TYPE(BFloat16_t, BFLOAT16);
ORT_CXX_ELEMENT_TYPE(double, DOUBLE);
ORT_CXX_ELEMENT_TYPE(int8_t, INT8);
ORT_CXX_ELEMENT_TYPE(int16_t, INT16);
ORT_CXX_ELEMENT_TYPE(int32_t, INT32);
ORT_CXX_ELEMENT_TYPE(int64_t, INT64);
ORT_CXX_ELEMENT_TYPE(uint8_t, UINT8);
ORT_CXX_ELEMENT_TYPE(uint16_t, UINT16);
ORT_CXX_ELEMENT_TYPE(uint32_t, UINT32);
ORT_CXX_ELEMENT_TYPE(uint64_t, UINT64);
ORT_CXX_ELEMENT_TYPE(bool, BOOL);
ORT_CXX_ELEMENT_TYPE(std::string, STRING);
ORT_CXX_ELEMENT_TYPE(Float8E4M3FN_t, FLOAT8E4M3FN);
ORT_CXX_ELEMENT_TYPE(Float8E4M3FNUZ_t, FLOAT8E4M3FNUZ);
ORT_CXX_ELEMENT_TYPE(Float8E5M2_t, FLOAT8E5M2);
ORT_CXX_ELEMENT_TYPE(Float8E5M2FNUZ_t, FLOAT8E5M2FNUZ);

#undef ORT_CXX_ELEMENT_TYPE

}  // namespace Ort
