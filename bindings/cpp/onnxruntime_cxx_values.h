// Values that models take and give, and their types. Include onnxruntime_cxx_api.h instead of this file.
#pragma once

#include "onnxruntime_cxx_environment.h"

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

/** The values of a sparse tensor with their shape. */
struct OrtSparseValuesParam {
  const int64_t* values_shape;
  size_t values_shape_len;
  union {
    const void* p_data; /**< elements that are not strings */
    const char** str;   /**< strings */
  } data;
};

/** A shape, borrowed. */
struct Shape {
  const int64_t* shape;
  size_t shape_len;
};

template <typename T>
struct ConstValueImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  /** Copies a value of a type that a custom operator defined. */
  template <typename R>
  void GetOpaqueData(const char* domain, const char* type_name, R& out) const {
    ThrowOnError(GetApi().GetOpaqueValue(domain, type_name, this->p_, &out, sizeof(R)));
  }

  bool IsTensor() const { return Get<int>(GetApi().IsTensor, this->p_) != 0; }
  bool IsSparseTensor() const { return Get<int>(GetApi().IsSparseTensor, this->p_) != 0; }
  /** Whether an optional value holds something; true for values of other kinds. */
  bool HasValue() const { return Get<int>(GetApi().HasValue, this->p_) != 0; }
  /** How many elements a sequence has; 2 for a map. */
  size_t GetCount() const { return Get<size_t>(GetApi().GetValueCount, this->p_); }
  /** An element of a sequence, or of a map its keys (index 0) or its values (index 1). */
  Value GetValue(int index, OrtAllocator* allocator) const;

  /** Holds NULL when the value holds nothing. */
  TypeInfo GetTypeInfo() const { return TypeInfo{Get<OrtTypeInfo*>(GetApi().GetTypeInfo, this->p_)}; }
  TensorTypeAndShapeInfo GetTensorTypeAndShapeInfo() const {
    return TensorTypeAndShapeInfo{Get<OrtTensorTypeAndShapeInfo*>(GetApi().GetTensorTypeAndShape, this->p_)};
  }
  /** Element type and shape of a tensor without a new object; the shape is borrowed from the value. */
  void GetTensorElementTypeAndShapeDataReference(ONNXTensorElementDataType& elem_type, Shape& shape) const {
    ThrowOnError(
        GetApi().GetTensorElementTypeAndShapeDataReference(this->p_, &elem_type, &shape.shape, &shape.shape_len));
  }
  /** Where the elements are, borrowed. */
  ConstMemoryInfo GetTensorMemoryInfo() const {
    return ConstMemoryInfo{Get<const OrtMemoryInfo*>(GetApi().GetTensorMemoryInfo, this->p_)};
  }
  size_t GetTensorSizeInBytes() const { return Get<size_t>(GetApi().GetTensorSizeInBytes, this->p_); }

  /** The elements, borrowed; R must be their type. */
  template <typename R>
  const R* GetTensorData() const {
    return static_cast<const R*>(GetTensorRawData());
  }
  const void* GetTensorRawData() const {
    return Get<void*>(GetApi().GetTensorMutableData, const_cast<OrtValue*>(static_cast<const OrtValue*>(*this)));
  }
  /** One element; a location has as many indices as the tensor has dimensions. */
  template <typename R>
  const R& At(const std::vector<int64_t>& location) const {
    OrtValue* value = const_cast<OrtValue*>(static_cast<const OrtValue*>(*this));
    return *static_cast<const R*>(Get<void*>(GetApi().TensorAt, value, location.data(), location.size()));
  }

  /** Bytes of all strings together, without terminators. */
  size_t GetStringTensorDataLength() const { return Get<size_t>(GetApi().GetStringTensorDataLength, this->p_); }
  /** Copies all strings, one behind the other without terminators, and the offset at which each begins. */
  void GetStringTensorContent(void* buffer, size_t buffer_length, size_t* offsets, size_t offsets_count) const {
    ThrowOnError(GetApi().GetStringTensorContent(this->p_, buffer, buffer_length, offsets, offsets_count));
  }
  size_t GetStringTensorElementLength(size_t element_index) const {
    return Get<size_t>(GetApi().GetStringTensorElementLength, this->p_, element_index);
  }
  /** Copies one string, without terminator. */
  void GetStringTensorElement(size_t buffer_length, size_t element_index, void* buffer) const {
    ThrowOnError(GetApi().GetStringTensorElement(this->p_, buffer_length, element_index, buffer));
  }
  std::string GetStringTensorElement(size_t element_index) const {
    std::string out(GetStringTensorElementLength(element_index), '\0');
    GetStringTensorElement(out.size(), element_index, out.data());
    return out;
  }

  OrtSparseFormat GetSparseFormat() const { return Get<OrtSparseFormat>(GetApi().GetSparseTensorFormat, this->p_); }
  TensorTypeAndShapeInfo GetSparseTensorValuesTypeAndShapeInfo() const {
    return TensorTypeAndShapeInfo{
        Get<OrtTensorTypeAndShapeInfo*>(GetApi().GetSparseTensorValuesTypeAndShape, this->p_)};
  }
  TensorTypeAndShapeInfo GetSparseTensorIndicesTypeShapeInfo(OrtSparseIndicesFormat format) const {
    return TensorTypeAndShapeInfo{
        Get<OrtTensorTypeAndShapeInfo*>(GetApi().GetSparseTensorIndicesTypeShape, this->p_, format)};
  }
  /** One array of indices, borrowed, with its number of elements. */
  template <typename R>
  const R* GetSparseTensorIndicesData(OrtSparseIndicesFormat indices_format, size_t& num_indices) const {
    const void* indices = nullptr;
    ThrowOnError(GetApi().GetSparseTensorIndices(this->p_, indices_format, &num_indices, &indices));
    return static_cast<const R*>(indices);
  }
  /** The values, borrowed. */
  template <typename R>
  const R* GetSparseTensorValues() const {
    return static_cast<const R*>(Get<const void*>(GetApi().GetSparseTensorValues, this->p_));
  }
};

template <typename T>
struct ValueImpl : ConstValueImpl<T> {
  using B = ConstValueImpl<T>;
  using B::At;
  using B::B;

  /** The elements, borrowed; R must be their type. */
  template <typename R>
  R* GetTensorMutableData() {
    return static_cast<R*>(GetTensorMutableRawData());
  }
  void* GetTensorMutableRawData() { return Get<void*>(GetApi().GetTensorMutableData, this->p_); }
  /** One element, to be written. */
  template <typename R>
  R& At(const std::vector<int64_t>& location) {
    return *static_cast<R*>(Get<void*>(GetApi().TensorAt, this->p_, location.data(), location.size()));
  }

  /** Copies as many strings as there are elements. */
  void FillStringTensor(const char* const* s, size_t s_len) {
    ThrowOnError(GetApi().FillStringTensor(this->p_, s, s_len));
  }
  void FillStringTensorElement(const char* s, size_t index) {
    ThrowOnError(GetApi().FillStringTensorElement(this->p_, s, index));
  }
  /** Makes one string that long and gives its bytes, to be written. */
  char* GetResizedStringTensorElementBuffer(size_t index, size_t buffer_length) {
    return Get<char*>(GetApi().GetResizedStringTensorElementBuffer, this->p_, index, buffer_length);
  }

  /** Indices over memory of the caller, for a sparse tensor over values of the caller. */
  void UseCooIndices(int64_t* indices_data, size_t indices_num) {
    ThrowOnError(GetApi().UseCooIndices(this->p_, indices_data, indices_num));
  }
  void UseCsrIndices(int64_t* inner_data, size_t inner_num, int64_t* outer_data, size_t outer_num) {
    ThrowOnError(GetApi().UseCsrIndices(this->p_, inner_data, inner_num, outer_data, outer_num));
  }
  void UseBlockSparseIndices(const Shape& indices_shape, int32_t* indices_data) {
    ThrowOnError(GetApi().UseBlockSparseIndices(this->p_, indices_shape.shape, indices_shape.shape_len, indices_data));
  }

  /** Copies of values and indices, for a sparse tensor with memory of an allocator. */
  void FillSparseTensorCoo(const OrtMemoryInfo* data_mem_info, const OrtSparseValuesParam& values_param,
                           const int64_t* indices_data, size_t indices_num) {
    ThrowOnError(GetApi().FillSparseTensorCoo(this->p_, data_mem_info, values_param.values_shape,
                                              values_param.values_shape_len, values_param.data.p_data, indices_data,
                                              indices_num));
  }
  void FillSparseTensorCsr(const OrtMemoryInfo* data_mem_info, const OrtSparseValuesParam& values,
                           const int64_t* inner_indices_data, size_t inner_indices_num,
                           const int64_t* outer_indices_data, size_t outer_indices_num) {
    ThrowOnError(GetApi().FillSparseTensorCsr(this->p_, data_mem_info, values.values_shape, values.values_shape_len,
                                              values.data.p_data, inner_indices_data, inner_indices_num,
                                              outer_indices_data, outer_indices_num));
  }
  void FillSparseTensorBlockSparse(const OrtMemoryInfo* data_mem_info, const OrtSparseValuesParam& values,
                                   const Shape& indices_shape, const int32_t* indices_data) {
    ThrowOnError(GetApi().FillSparseTensorBlockSparse(this->p_, data_mem_info, values.values_shape,
                                                      values.values_shape_len, values.data.p_data, indices_shape.shape,
                                                      indices_shape.shape_len, indices_data));
  }
};

}  // namespace detail

using ConstValue = detail::ConstValueImpl<detail::Unowned<const OrtValue>>;
using UnownedValue = detail::ValueImpl<detail::Unowned<OrtValue>>;

/** A tensor, sequence, map, optional or sparse tensor. */
struct Value : detail::ValueImpl<OrtValue> {
  using Base = detail::ValueImpl<OrtValue>;
  using Base::Base;
  using OrtSparseValuesParam = detail::OrtSparseValuesParam;
  using Shape = detail::Shape;

  Value() = default;
  Value(std::nullptr_t) {}
  /** Takes ownership. */
  explicit Value(OrtValue* p) : Base{p} {}
  Value(Value&&) = default;
  Value& operator=(Value&&) = default;

  ConstValue GetConst() const { return ConstValue{p_}; }
  UnownedValue GetUnowned() const { return UnownedValue{p_}; }

  /** A tensor over memory of the caller, who keeps it until the value and all that shares it are gone. */
  template <typename T>
  static Value CreateTensor(const OrtMemoryInfo* info, T* p_data, size_t p_data_element_count, const int64_t* shape,
                            size_t shape_len) {
    return CreateTensor(info, p_data, p_data_element_count * sizeof(T), shape, shape_len, TypeToTensorType<T>::type);
  }
  static Value CreateTensor(const OrtMemoryInfo* info, void* p_data, size_t p_data_byte_count, const int64_t* shape,
                            size_t shape_len, ONNXTensorElementDataType type) {
    return Made(GetApi().CreateTensorWithDataAsOrtValue, info, p_data, p_data_byte_count, shape, shape_len, type);
  }
  /** The same, and the tensor frees the memory with `deleter` in the end. */
  static Value CreateTensor(OrtAllocator* deleter, void* p_data, size_t p_data_byte_count, const int64_t* shape,
                            size_t shape_len, ONNXTensorElementDataType type) {
    return Made(GetApi().CreateTensorWithDataAndDeleterAsOrtValue, deleter, p_data, p_data_byte_count, shape, shape_len,
                type);
  }
  /** A tensor with memory from the allocator, which must outlive it. */
  template <typename T>
  static Value CreateTensor(OrtAllocator* allocator, const int64_t* shape, size_t shape_len) {
    return CreateTensor(allocator, shape, shape_len, TypeToTensorType<T>::type);
  }
  static Value CreateTensor(OrtAllocator* allocator, const int64_t* shape, size_t shape_len,
                            ONNXTensorElementDataType type) {
    return Made(GetApi().CreateTensorAsOrtValue, allocator, shape, shape_len, type);
  }

  /** The values given stay the caller's. */
  static Value CreateMap(const Value& keys, const Value& values) {
    const OrtValue* const inputs[] = {keys, values};
    return Made(GetApi().CreateValue, inputs, size_t{2}, ONNX_TYPE_MAP);
  }
  static Value CreateSequence(const std::vector<Value>& values) {
    std::vector<const OrtValue*> inputs(values.begin(), values.end());
    return Made(GetApi().CreateValue, inputs.data(), inputs.size(), ONNX_TYPE_SEQUENCE);
  }
  /** A value of a type that a custom operator defined. */
  template <typename T>
  static Value CreateOpaque(const char* domain, const char* type_name, const T& value) {
    return Made(GetApi().CreateOpaqueValue, domain, type_name, static_cast<const void*>(&value), sizeof(T));
  }

  /** A sparse tensor over values of the caller; one of the Use… functions gives it indices. */
  template <typename T>
  static Value CreateSparseTensor(const OrtMemoryInfo* info, T* p_data, const Shape& dense_shape,
                                  const Shape& values_shape) {
    return CreateSparseTensor(info, p_data, dense_shape, values_shape, TypeToTensorType<T>::type);
  }
  static Value CreateSparseTensor(const OrtMemoryInfo* info, void* p_data, const Shape& dense_shape,
                                  const Shape& values_shape, ONNXTensorElementDataType type) {
    return Made(GetApi().CreateSparseTensorWithValuesAsOrtValue, info, p_data, dense_shape.shape, dense_shape.shape_len,
                values_shape.shape, values_shape.shape_len, type);
  }
  /** A sparse tensor without elements; one of the Fill… functions gives it content. */
  template <typename T>
  static Value CreateSparseTensor(OrtAllocator* allocator, const Shape& dense_shape) {
    return CreateSparseTensor(allocator, dense_shape, TypeToTensorType<T>::type);
  }
  static Value CreateSparseTensor(OrtAllocator* allocator, const Shape& dense_shape, ONNXTensorElementDataType type) {
    return Made(GetApi().CreateSparseTensorAsOrtValue, allocator, dense_shape.shape, dense_shape.shape_len, type);
  }

 private:
  template <typename Function, typename... Args>
  static Value Made(Function function, Args... args) {
    return Value{detail::Get<OrtValue*>(function, args...)};
  }
};
static_assert(sizeof(Value) == sizeof(OrtValue*), "arrays of values are arrays of pointers");

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

template <typename T>
Value ConstValueImpl<T>::GetValue(int index, OrtAllocator* allocator) const {
  return Value{Get<OrtValue*>(GetApi().GetValue, this->p_, index, allocator)};
}

template <typename T>
SyncStream EpDeviceImpl<T>::CreateSyncStream(ConstKeyValuePairs stream_options) const {
  return SyncStream{Get<OrtSyncStream*>(GetApi().CreateSyncStreamForEpDevice, static_cast<const OrtEpDevice*>(*this),
                                        static_cast<const OrtKeyValuePairs*>(stream_options))};
}

/** The pointers of the values, borrowed. */
inline const OrtValue* const* Pointers(const Value* values) { return reinterpret_cast<const OrtValue* const*>(values); }
inline OrtValue** Pointers(Value* values) { return reinterpret_cast<OrtValue**>(values); }

}  // namespace detail

inline Status Env::CopyTensors(const std::vector<Value>& src_tensors, const std::vector<Value>& dst_tensors,
                               OrtSyncStream* stream) const {
  if (src_tensors.size() != dst_tensors.size()) {
    return Status{"There are not as many sources as destinations.", ORT_INVALID_ARGUMENT};
  }
  if (src_tensors.empty()) return Status{"There are no tensors to copy.", ORT_INVALID_ARGUMENT};
  return Status{GetApi().CopyTensors(p_, detail::Pointers(src_tensors.data()),
                                     reinterpret_cast<OrtValue* const*>(dst_tensors.data()), stream,
                                     src_tensors.size())};
}

}  // namespace Ort
