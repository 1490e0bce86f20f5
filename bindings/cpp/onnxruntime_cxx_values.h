// Values that models take and give. Include onnxruntime_cxx_api.h instead of this file.
#pragma once

#include "onnxruntime_cxx_environment.h"
#include "onnxruntime_cxx_types.h"

namespace Ort {

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
Value ConstValueImpl<T>::GetValue(int index, OrtAllocator* allocator) const {
  return Value{Get<OrtValue*>(GetApi().GetValue, this->p_, index, allocator)};
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
