// The inputs and outputs that functions see which are custom operators. Include onnxruntime_lite_custom_op.h instead of
// this file.
#pragma once

#include <string_view>

#include "onnxruntime_cxx_api.h"

namespace Ort {
namespace Custom {

/** An input or output by its position. */
class ArgBase {
 public:
  ArgBase(OrtKernelContext* ctx, size_t indice, bool is_input) : ctx_(ctx), indice_(indice), is_input_(is_input) {}
  virtual ~ArgBase() = default;

 protected:
  KernelContext ctx_;
  size_t indice_;
  bool is_input_;
};

/** A tensor of any element type. */
class TensorBase : public ArgBase {
 public:
  /** Inputs are read; outputs have no shape before they are allocated. */
  TensorBase(OrtKernelContext* ctx, size_t indice, bool is_input) : ArgBase(ctx, indice, is_input) {
    if (!is_input) return;
    value_ = ctx_.GetInput(indice);
    const auto info = value_.GetTensorTypeAndShapeInfo();
    shape_ = info.GetShape();
    type_ = info.GetElementType();
    is_cpu_ = value_.GetTensorMemoryInfo().GetAllocatorName() == "Cpu";
  }

  /** Whether there is a shape. */
  operator bool() const { return shape_.has_value(); }
  const std::vector<int64_t>& Shape() const {
    if (!shape_.has_value()) ORT_CXX_API_THROW("The tensor has no shape yet.", ORT_RUNTIME_EXCEPTION);
    return *shape_;
  }
  ONNXTensorElementDataType Type() const { return type_; }
  int64_t NumberOfElement() const {
    if (!shape_.has_value()) return 0;
    return std::accumulate(shape_->begin(), shape_->end(), int64_t{1}, std::multiplies<int64_t>());
  }
  std::string Shape2Str() const {
    std::string text;
    for (int64_t dim : Shape()) text += (text.empty() ? "" : ", ") + std::to_string(dim);
    return text;
  }
  bool IsCpuTensor() const { return is_cpu_; }

  virtual const void* DataRaw() const = 0;
  virtual size_t SizeInBytes() const = 0;

 protected:
  size_t Count() const { return static_cast<size_t>(NumberOfElement()); }

  /** Makes the output with this shape. */
  UnownedValue MakeOutput(const std::vector<int64_t>& shape) {
    if (is_input_) ORT_CXX_API_THROW("An input cannot be allocated.", ORT_RUNTIME_EXCEPTION);
    shape_ = shape;
    return ctx_.GetOutput(indice_, shape);
  }

  ConstValue value_;
  std::optional<std::vector<int64_t>> shape_;
  ONNXTensorElementDataType type_ = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  bool is_cpu_ = true;
};

/** Elements in a row, borrowed. */
template <typename T>
struct Span {
  const T* data_ = nullptr;
  size_t size_ = 0;

  void Assign(const T* data, size_t size) {
    data_ = data;
    size_ = size;
  }
  size_t size() const { return size_; }
  const T* data() const { return data_; }
  const T& operator[](size_t indice) const { return data_[indice]; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
};

/** A tensor of that element type. */
template <typename T>
class Tensor : public TensorBase {
 public:
  using TT = std::remove_cv_t<std::remove_reference_t<T>>;

  Tensor(OrtKernelContext* ctx, size_t indice, bool is_input) : TensorBase(ctx, indice, is_input) {
    type_ = TypeToTensorType<TT>::type;
    if (is_input) data_ = value_.template GetTensorData<TT>();
    span_.Assign(data_, Count());
  }

  const TT* Data() const { return data_; }
  /** Makes the output with this shape and returns its elements, to be written. */
  TT* Allocate(const std::vector<int64_t>& shape) {
    TT* elements = MakeOutput(shape).template GetTensorMutableData<TT>();
    data_ = elements;
    span_.Assign(data_, Count());
    return elements;
  }
  const Span<TT>& AsSpan() const { return span_; }
  /** The only element. */
  const TT& AsScalar() const {
    if (Count() != 1 || Shape().size() > 1) {
      ORT_CXX_API_THROW("A tensor of shape {" + Shape2Str() + "} is no scalar.", ORT_RUNTIME_EXCEPTION);
    }
    return *data_;
  }
  const void* DataRaw() const override { return data_; }
  size_t SizeInBytes() const override { return sizeof(TT) * Count(); }

 private:
  const TT* data_ = nullptr;
  Span<TT> span_;
};

/** A tensor of strings: the base of the two classes below. */
template <typename T>
class StringTensor : public TensorBase {
 public:
  StringTensor(OrtKernelContext* ctx, size_t indice, bool is_input) : TensorBase(ctx, indice, is_input) {
    type_ = ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING;
    if (is_input) ReadStrings();
    span_.Assign(strings_.data(), strings_.size());
  }

  const std::vector<T>& Data() const { return strings_; }
  const Span<T>& AsSpan() const { return span_; }
  /** The only string. */
  const T& AsScalar() const {
    if (strings_.size() != 1) {
      ORT_CXX_API_THROW("A tensor of shape {" + Shape2Str() + "} is no scalar.", ORT_RUNTIME_EXCEPTION);
    }
    return strings_[0];
  }
  const void* DataRaw() const override { return characters_.data(); }
  size_t SizeInBytes() const override { return characters_.size(); }

 private:
  void ReadStrings() {
    characters_.resize(value_.GetStringTensorDataLength());
    std::vector<size_t> begins(Count() + 1, characters_.size());
    if (Count() == 0) return;
    value_.GetStringTensorContent(characters_.data(), characters_.size(), begins.data(), Count());
    for (size_t i = 0; i < Count(); ++i) {
      strings_.emplace_back(characters_.data() + begins[i], begins[i + 1] - begins[i]);
    }
  }

  std::string characters_;
  std::vector<T> strings_;
  Span<T> span_;
};

template <>
class Tensor<std::string> : public StringTensor<std::string> {
 public:
  using StringTensor<std::string>::StringTensor;

  /** Makes the output of these strings. */
  void SetStringOutput(const std::vector<std::string>& ss, const std::vector<int64_t>& dims) {
    SetStringOutput(Ort::detail::CStrings(ss), dims);
  }
  void SetStringOutput(const std::vector<const char*>& ss, const std::vector<int64_t>& dims) {
    MakeOutput(dims).FillStringTensor(ss.data(), ss.size());
  }
};

template <>
class Tensor<std::string_view> : public StringTensor<std::string_view> {
 public:
  using StringTensor<std::string_view>::StringTensor;
};

using TensorPtr = std::unique_ptr<TensorBase>;

/** All inputs, or all outputs, from a position on. */
class TensorArray : public ArgBase {
 public:
  TensorArray(OrtKernelContext* ctx, size_t start_indice, bool is_input) : ArgBase(ctx, start_indice, is_input) {
    const size_t count = is_input ? ctx_.GetInputCount() : ctx_.GetOutputCount();
    tensors_.resize(count > start_indice ? count - start_indice : 0);
    if (!is_input) return;
    for (size_t i = 0; i < tensors_.size(); ++i) tensors_[i] = ReadInput(start_indice + i);
  }

  bool Empty() const { return tensors_.empty(); }
  size_t Size() const { return tensors_.size(); }
  size_t size() const { return tensors_.size(); }
  /** Outputs are NULL before they are allocated. */
  const TensorPtr& operator[](size_t indice) const { return tensors_.at(indice); }

  /** Makes an output and returns its elements, to be written. */
  template <typename T>
  T* AllocateOutput(size_t ith_output, const std::vector<int64_t>& shape) {
    auto tensor = std::make_unique<Tensor<T>>(ctx_.GetOrtKernelContext(), indice_ + ith_output, false);
    T* elements = tensor->Allocate(shape);
    tensors_.at(ith_output) = std::move(tensor);
    return elements;
  }
  /** Makes an output of strings, to be set. */
  Tensor<std::string>& AllocateStringTensor(size_t ith_output) {
    auto tensor = std::make_unique<Tensor<std::string>>(ctx_.GetOrtKernelContext(), indice_ + ith_output, false);
    Tensor<std::string>& output = *tensor;
    tensors_.at(ith_output) = std::move(tensor);
    return output;
  }

 private:
  template <typename T>
  TensorPtr Make(size_t indice) {
    return std::make_unique<Tensor<T>>(ctx_.GetOrtKernelContext(), indice, true);
  }

  TensorPtr ReadInput(size_t indice) {
    const ConstValue value = ctx_.GetInput(indice);
    switch (value.GetTensorTypeAndShapeInfo().GetElementType()) {
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
        return Make<bool>(indice);
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
        return Make<float>(indice);
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
        return Make<double>(indice);
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
        return Make<Float16_t>(indice);
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
        return Make<BFloat16_t>(indice);
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
        return Make<int8_t>(indice);
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
        return Make<int16_t>(indice);
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
        return Make<int32_t>(indice);
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
        return Make<int64_t>(indice);
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
        return Make<uint8_t>(indice);
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16:
        return Make<uint16_t>(indice);
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32:
        return Make<uint32_t>(indice);
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64:
        return Make<uint64_t>(indice);
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING:
        return Make<std::string>(indice);
      default:
        ORT_CXX_API_THROW("An input has an element type that TensorArray does not know.", ORT_RUNTIME_EXCEPTION);
    }
  }

  std::vector<TensorPtr> tensors_;
};

using Variadic = TensorArray;

}  // namespace Custom
}  // namespace Ort
