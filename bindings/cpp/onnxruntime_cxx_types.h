// The types of values. Include onnxruntime_cxx_api.h instead of this file.
#pragma once

#include "onnxruntime_cxx_numbers.h"

namespace Ort {

struct TypeInfo;

namespace detail {

/** Element type and shape of a tensor. */
template <typename T>
struct TensorTypeAndShapeInfoImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  ONNXTensorElementDataType GetElementType() const {
    return Get<ONNXTensorElementDataType>(GetApi().GetTensorElementType, this->p_);
  }
  /** The product of the dimensions; SIZE_MAX when one is not known. */
  size_t GetElementCount() const { return Get<size_t>(GetApi().GetTensorShapeElementCount, this->p_); }
  /** The rank; 0 also when the shape is not known. */
  size_t GetDimensionsCount() const { return Get<size_t>(GetApi().GetDimensionsCount, this->p_); }
  /** Copies up to `values_count` dimensions. */
  void GetDimensions(int64_t* values, size_t values_count) const {
    ThrowOnError(GetApi().GetDimensions(this->p_, values, values_count));
  }
  /** The names of up to `values_count` dimensions, borrowed; empty where a dimension has none. */
  void GetSymbolicDimensions(const char** values, size_t values_count) const {
    ThrowOnError(GetApi().GetSymbolicDimensions(this->p_, values, values_count));
  }
  std::vector<const char*> GetSymbolicDimensions() const {
    std::vector<const char*> out(GetDimensionsCount());
    GetSymbolicDimensions(out.data(), out.size());
    return out;
  }
  /** The dimensions; -1 stands for one that is not known. */
  std::vector<int64_t> GetShape() const {
    std::vector<int64_t> out(GetDimensionsCount());
    GetDimensions(out.data(), out.size());
    return out;
  }
  /** Whether at least the rank is known. */
  bool HasShape() const { return GetApi().TensorTypeAndShape_HasShape(this->p_); }
};

template <typename T>
struct SequenceTypeInfoImpl : Base<T> {
  using B = Base<T>;
  using B::B;
  TypeInfo GetSequenceElementType() const;
};

template <typename T>
struct OptionalTypeInfoImpl : Base<T> {
  using B = Base<T>;
  using B::B;
  /** The type inside. */
  TypeInfo GetOptionalElementType() const;
};

template <typename T>
struct MapTypeInfoImpl : Base<T> {
  using B = Base<T>;
  using B::B;
  ONNXTensorElementDataType GetMapKeyType() const {
    return Get<ONNXTensorElementDataType>(GetApi().GetMapKeyType, this->p_);
  }
  TypeInfo GetMapValueType() const;
};

}  // namespace detail

using ConstTensorTypeAndShapeInfo =
    detail::TensorTypeAndShapeInfoImpl<detail::Unowned<const OrtTensorTypeAndShapeInfo>>;
using ConstSequenceTypeInfo = detail::SequenceTypeInfoImpl<detail::Unowned<const OrtSequenceTypeInfo>>;
using ConstOptionalTypeInfo = detail::OptionalTypeInfoImpl<detail::Unowned<const OrtOptionalTypeInfo>>;
using ConstMapTypeInfo = detail::MapTypeInfoImpl<detail::Unowned<const OrtMapTypeInfo>>;

struct TensorTypeAndShapeInfo : detail::TensorTypeAndShapeInfoImpl<OrtTensorTypeAndShapeInfo> {
  using Base = detail::TensorTypeAndShapeInfoImpl<OrtTensorTypeAndShapeInfo>;
  using Base::Base;

  TensorTypeAndShapeInfo() = default;
  explicit TensorTypeAndShapeInfo(std::nullptr_t) {}
  /** Takes ownership. */
  explicit TensorTypeAndShapeInfo(OrtTensorTypeAndShapeInfo* p) : Base{p} {}
  /** -1 stands for a dimension that is not known; `symbolic_dims` names as many as there are, NULL none. */
  TensorTypeAndShapeInfo(ONNXTensorElementDataType element_type, const std::vector<int64_t>& dims,
                         const std::vector<std::string>* symbolic_dims = nullptr) {
    ThrowOnError(GetApi().CreateTensorTypeAndShapeInfo(&p_));
    ThrowOnError(GetApi().SetTensorElementType(p_, element_type));
    ThrowOnError(GetApi().SetDimensions(p_, dims.data(), dims.size()));
    if (symbolic_dims == nullptr) return;
    std::vector<const char*> names = detail::CStrings(*symbolic_dims);
    ThrowOnError(GetApi().SetSymbolicDimensions(p_, names.data(), names.size()));
  }
  ConstTensorTypeAndShapeInfo GetConst() const { return ConstTensorTypeAndShapeInfo{p_}; }
};

struct SequenceTypeInfo : detail::SequenceTypeInfoImpl<OrtSequenceTypeInfo> {
  using Base = detail::SequenceTypeInfoImpl<OrtSequenceTypeInfo>;
  using Base::Base;

  explicit SequenceTypeInfo(std::nullptr_t) {}
  explicit SequenceTypeInfo(OrtSequenceTypeInfo* p) : Base{p} {}
  ConstSequenceTypeInfo GetConst() const { return ConstSequenceTypeInfo{p_}; }
};

struct MapTypeInfo : detail::MapTypeInfoImpl<OrtMapTypeInfo> {
  using Base = detail::MapTypeInfoImpl<OrtMapTypeInfo>;
  using Base::Base;

  explicit MapTypeInfo(std::nullptr_t) {}
  explicit MapTypeInfo(OrtMapTypeInfo* p) : Base{p} {}
  ConstMapTypeInfo GetConst() const { return ConstMapTypeInfo{p_}; }
};

namespace detail {

/** The type of a value. What the four Get…Info functions give is borrowed from it, and holds NULL for types of other
 *  kinds. */
template <typename T>
struct TypeInfoImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  ConstTensorTypeAndShapeInfo GetTensorTypeAndShapeInfo() const {
    return ConstTensorTypeAndShapeInfo{
        Get<const OrtTensorTypeAndShapeInfo*>(GetApi().CastTypeInfoToTensorInfo, this->p_)};
  }
  ConstSequenceTypeInfo GetSequenceTypeInfo() const {
    return ConstSequenceTypeInfo{Get<const OrtSequenceTypeInfo*>(GetApi().CastTypeInfoToSequenceTypeInfo, this->p_)};
  }
  ConstMapTypeInfo GetMapTypeInfo() const {
    return ConstMapTypeInfo{Get<const OrtMapTypeInfo*>(GetApi().CastTypeInfoToMapTypeInfo, this->p_)};
  }
  ConstOptionalTypeInfo GetOptionalTypeInfo() const {
    return ConstOptionalTypeInfo{Get<const OrtOptionalTypeInfo*>(GetApi().CastTypeInfoToOptionalTypeInfo, this->p_)};
  }
  ONNXType GetONNXType() const { return Get<ONNXType>(GetApi().GetOnnxTypeFromTypeInfo, this->p_); }
};

}  // namespace detail

using ConstTypeInfo = detail::TypeInfoImpl<detail::Unowned<const OrtTypeInfo>>;

struct TypeInfo : detail::TypeInfoImpl<OrtTypeInfo> {
  using Base = detail::TypeInfoImpl<OrtTypeInfo>;
  using Base::Base;

  explicit TypeInfo(std::nullptr_t) {}
  /** Takes ownership. */
  explicit TypeInfo(OrtTypeInfo* p) : Base{p} {}

#if !defined(ORT_MINIMAL_BUILD)
  static TypeInfo CreateTensorInfo(ConstTensorTypeAndShapeInfo tensor_info) {
    return Made(GetModelEditorApi().CreateTensorTypeInfo, static_cast<const OrtTensorTypeAndShapeInfo*>(tensor_info));
  }
  static TypeInfo CreateSparseTensorInfo(ConstTensorTypeAndShapeInfo sparse_tensor_info) {
    return Made(GetModelEditorApi().CreateSparseTensorTypeInfo,
                static_cast<const OrtTensorTypeAndShapeInfo*>(sparse_tensor_info));
  }
  static TypeInfo CreateSequenceTypeInfo(ConstTypeInfo sequence_type) {
    return Made(GetModelEditorApi().CreateSequenceTypeInfo, static_cast<const OrtTypeInfo*>(sequence_type));
  }
  static TypeInfo CreateMapTypeInfo(ONNXTensorElementDataType key_type, ConstTypeInfo value_type) {
    return Made(GetModelEditorApi().CreateMapTypeInfo, key_type, static_cast<const OrtTypeInfo*>(value_type));
  }
  static TypeInfo CreateOptionalTypeInfo(ConstTypeInfo contained_type) {
    return Made(GetModelEditorApi().CreateOptionalTypeInfo, static_cast<const OrtTypeInfo*>(contained_type));
  }
#endif
  ConstTypeInfo GetConst() const { return ConstTypeInfo{p_}; }

 private:
  template <typename Function, typename... Args>
  static TypeInfo Made(Function function, Args... args) {
    return TypeInfo{detail::Get<OrtTypeInfo*>(function, args...)};
  }
};

namespace detail {

template <typename T>
TypeInfo SequenceTypeInfoImpl<T>::GetSequenceElementType() const {
  return TypeInfo{Get<OrtTypeInfo*>(GetApi().GetSequenceElementType, this->p_)};
}

template <typename T>
TypeInfo OptionalTypeInfoImpl<T>::GetOptionalElementType() const {
  return TypeInfo{Get<OrtTypeInfo*>(GetApi().GetOptionalContainedTypeInfo, this->p_)};
}

template <typename T>
TypeInfo MapTypeInfoImpl<T>::GetMapValueType() const {
  return TypeInfo{Get<OrtTypeInfo*>(GetApi().GetMapValueType, this->p_)};
}

}  // namespace detail

}  // namespace Ort
