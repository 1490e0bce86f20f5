// The base of custom operators, and the inference of their shapes. Include onnxruntime_cxx_api.h instead of this file.
#pragma once

#include "onnxruntime_cxx_operators.h"

namespace Ort {

/** What an operator sees when shapes are inferred. */
struct ShapeInferContext {
  /** A dimension: a number, or a name that stands for one. */
  struct SymbolicInteger {
    SymbolicInteger(int64_t i) : i_(i), is_int_(true) {}
    SymbolicInteger(const char* s) : s_(s), is_int_(false) {}
    SymbolicInteger(const SymbolicInteger&) = default;
    SymbolicInteger(SymbolicInteger&&) = default;
    SymbolicInteger& operator=(const SymbolicInteger&) = default;
    SymbolicInteger& operator=(SymbolicInteger&&) = default;

    bool operator==(const SymbolicInteger& dim) const {
      if (is_int_ != dim.is_int_) return false;
      return is_int_ ? i_ == dim.i_ : std::string{s_} == std::string{dim.s_};
    }
    bool IsInt() const { return is_int_; }
    int64_t AsInt() const { return i_; }
    const char* AsSym() const { return s_; }

    /** What a dimension is that has neither number nor name. */
    static constexpr int INVALID_INT_DIM = -2;

    union {
      int64_t i_;
      const char* s_;
    };

   private:
    bool is_int_;
  };

  using Shape = std::vector<SymbolicInteger>;
  using Ints = std::vector<int64_t>;
  using Floats = std::vector<float>;
  using Strings = std::vector<std::string>;

  ShapeInferContext(const OrtApi* ort_api, OrtShapeInferContext* ctx) : ort_api_(ort_api), ctx_(ctx) {
    size_t count = 0;
    ThrowOnError(ort_api_->ShapeInferContext_GetInputCount(ctx_, &count));
    for (size_t i = 0; i < count; ++i) input_shapes_.push_back(ReadInputShape(i));
  }

  /** As far as known; names are borrowed while shapes are inferred. */
  const Shape& GetInputShape(size_t indice) const { return input_shapes_.at(indice); }
  size_t GetInputCount() const { return input_shapes_.size(); }

  Status SetOutputShape(size_t indice, const Shape& shape,
                        ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) {
    OrtTensorTypeAndShapeInfo* raw = nullptr;
    ORT_CXX_RETURN_ON_API_FAIL(ort_api_->CreateTensorTypeAndShapeInfo(&raw));
    const TensorTypeAndShapeInfo info{raw};
    ORT_CXX_RETURN_ON_API_FAIL(ort_api_->SetTensorElementType(raw, type));
    Ints numbers;
    std::vector<const char*> names;
    for (const SymbolicInteger& dim : shape) {
      numbers.push_back(dim.IsInt() ? dim.AsInt() : int64_t{SymbolicInteger::INVALID_INT_DIM});
      names.push_back(dim.IsInt() ? "" : dim.AsSym());
    }
    ORT_CXX_RETURN_ON_API_FAIL(ort_api_->SetDimensions(raw, numbers.data(), numbers.size()));
    ORT_CXX_RETURN_ON_API_FAIL(ort_api_->SetSymbolicDimensions(raw, names.data(), names.size()));
    return Status{ort_api_->ShapeInferContext_SetOutputTypeShape(ctx_, indice, raw)};
  }

  /** Attributes, which the node must have. */
  int64_t GetAttrInt(const char* attr_name) { return Read<int64_t>(attr_name); }
  Ints GetAttrInts(const char* attr_name) { return ReadArray<int64_t>(attr_name); }
  float GetAttrFloat(const char* attr_name) { return Read<float>(attr_name); }
  Floats GetAttrFloats(const char* attr_name) { return ReadArray<float>(attr_name); }
  std::string GetAttrString(const char* attr_name) { return Read<std::string>(attr_name); }
  Strings GetAttrStrings(const char* attr_name) { return ReadArray<std::string>(attr_name); }

 private:
  const OrtOpAttr* GetAttrHdl(const char* attr_name) const {
    return detail::Get<const OrtOpAttr*>(ort_api_->ShapeInferContext_GetAttribute, ctx_, attr_name);
  }

  template <typename R>
  R Read(const char* attr_name) const {
    R out{};
    ThrowOnError(detail::ReadAttributeValue(GetAttrHdl(attr_name), out));
    return out;
  }

  template <typename R>
  std::vector<R> ReadArray(const char* attr_name) const {
    std::vector<R> out;
    ThrowOnError(detail::ReadAttributeArray(GetAttrHdl(attr_name), out));
    return out;
  }

  Shape ReadInputShape(size_t index) const {
    OrtTensorTypeAndShapeInfo* info = nullptr;
    ThrowOnError(ort_api_->ShapeInferContext_GetInputTypeShape(ctx_, index, &info));
    const ConstTensorTypeAndShapeInfo view{info};
    const Ints numbers = view.GetShape();
    const std::vector<const char*> names = view.GetSymbolicDimensions();
    Shape shape;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const bool named = names[i] != nullptr && names[i][0] != '\0';
      shape.push_back(named ? SymbolicInteger{names[i]} : SymbolicInteger{numbers[i]});
    }
    return shape;
  }

  const OrtApi* ort_api_;
  OrtShapeInferContext* ctx_;
  std::vector<Shape> input_shapes_;
};

using ShapeInferFn = Ort::Status (*)(Ort::ShapeInferContext&);

#define MAX_CUSTOM_OP_END_VER (1UL << 31) - 1

/** The base of an operator class `TOp`, whose kernels are of class `TKernel`. TOp derives from CustomOpBase<TOp,
 *  TKernel> and has const member functions
 *    void* CreateKernel(const OrtApi&, const OrtKernelInfo*), const char* GetName(),
 *    size_t GetInputTypeCount(), ONNXTensorElementDataType GetInputType(size_t), and the same two for outputs;
 *  it may hide any of those below, and may have a static Status InferOutputShape(ShapeInferContext&). TKernel has
 *    void Compute(OrtKernelContext*).
 *  With `WithStatus`, the two that may fail return their errors instead:
 *    OrtStatusPtr CreateKernelV2(const OrtApi&, const OrtKernelInfo*, void** kernel), OrtStatusPtr
 *    ComputeV2(OrtKernelContext*).
 */
template <typename TOp, typename TKernel, bool WithStatus = false>
struct CustomOpBase : OrtCustomOp {
  CustomOpBase() {
    static_cast<OrtCustomOp&>(*this) = OrtCustomOp{};
    OrtCustomOp::version = ORT_API_VERSION;
    DescribeOperator();
    DescribeArity();
    DescribeKernel();
    SetShapeInferFn<TOp>(0);
  }

  /** The provider that runs it; NULL is the CPU. */
  const char* GetExecutionProviderType() const { return nullptr; }
  OrtCustomOpInputOutputCharacteristic GetInputCharacteristic(size_t) const { return INPUT_OUTPUT_REQUIRED; }
  OrtCustomOpInputOutputCharacteristic GetOutputCharacteristic(size_t) const { return INPUT_OUTPUT_REQUIRED; }
  OrtMemType GetInputMemoryType(size_t) const { return OrtMemTypeDefault; }
  /** The least number of inputs where the last one is repeated. */
  int GetVariadicInputMinArity() const { return 1; }
  /** Whether repeated inputs all have one type. */
  bool GetVariadicInputHomogeneity() const { return true; }
  int GetVariadicOutputMinArity() const { return 1; }
  bool GetVariadicOutputHomogeneity() const { return true; }
  /** The keys that GetSessionConfigs reads. */
  std::vector<std::string> GetSessionConfigKeys() const { return {}; }

  /** Sets the function for shapes where the class has one. */
  template <typename C>
  decltype(&C::InferOutputShape) SetShapeInferFn(decltype(&C::InferOutputShape)) {
    OrtCustomOp::InferOutputShapeFn = [](const OrtCustomOp*, OrtShapeInferContext* ort_ctx) -> OrtStatusPtr {
      ShapeInferContext ctx(&GetApi(), ort_ctx);
      return C::InferOutputShape(ctx).release();
    };
    return {};
  }
  template <typename C>
  void SetShapeInferFn(...) {
    OrtCustomOp::InferOutputShapeFn = nullptr;
  }

 protected:
  /** The entries of a session for the operator's keys, as far as they are there. */
  void GetSessionConfigs(std::unordered_map<std::string, std::string>& out, ConstSessionOptions options) const {
    const TOp& op = Self(this);
    for (const std::string& key : op.GetSessionConfigKeys()) {
      const std::string full_key = detail::MakeCustomOpConfigEntryKey(op.GetName(), key.c_str());
      if (options.HasConfigEntry(full_key.c_str())) out[key] = options.GetConfigEntry(full_key.c_str());
    }
  }

  /** The first and the last version of the operator set that has it. */
  int start_ver_ = 1;
  int end_ver_ = MAX_CUSTOM_OP_END_VER;

 private:
  static const TOp& Self(const OrtCustomOp* op) { return *static_cast<const TOp*>(op); }

  void DescribeOperator() {
    OrtCustomOp::GetName = [](const OrtCustomOp* op) { return Self(op).GetName(); };
    OrtCustomOp::GetExecutionProviderType = [](const OrtCustomOp* op) { return Self(op).GetExecutionProviderType(); };
    OrtCustomOp::GetStartVersion = [](const OrtCustomOp* op) { return Self(op).start_ver_; };
    OrtCustomOp::GetEndVersion = [](const OrtCustomOp* op) { return Self(op).end_ver_; };
    OrtCustomOp::GetInputTypeCount = [](const OrtCustomOp* op) { return Self(op).GetInputTypeCount(); };
    OrtCustomOp::GetInputType = [](const OrtCustomOp* op, size_t i) { return Self(op).GetInputType(i); };
    OrtCustomOp::GetInputMemoryType = [](const OrtCustomOp* op, size_t i) { return Self(op).GetInputMemoryType(i); };
    OrtCustomOp::GetOutputTypeCount = [](const OrtCustomOp* op) { return Self(op).GetOutputTypeCount(); };
    OrtCustomOp::GetOutputType = [](const OrtCustomOp* op, size_t i) { return Self(op).GetOutputType(i); };
  }

  void DescribeArity() {
    OrtCustomOp::GetInputCharacteristic = [](const OrtCustomOp* op, size_t i) {
      return Self(op).GetInputCharacteristic(i);
    };
    OrtCustomOp::GetOutputCharacteristic = [](const OrtCustomOp* op, size_t i) {
      return Self(op).GetOutputCharacteristic(i);
    };
    OrtCustomOp::GetVariadicInputMinArity = [](const OrtCustomOp* op) { return Self(op).GetVariadicInputMinArity(); };
    OrtCustomOp::GetVariadicInputHomogeneity = [](const OrtCustomOp* op) {
      return static_cast<int>(Self(op).GetVariadicInputHomogeneity());
    };
    OrtCustomOp::GetVariadicOutputMinArity = [](const OrtCustomOp* op) { return Self(op).GetVariadicOutputMinArity(); };
    OrtCustomOp::GetVariadicOutputHomogeneity = [](const OrtCustomOp* op) {
      return static_cast<int>(Self(op).GetVariadicOutputHomogeneity());
    };
  }

  void DescribeKernel() {
    OrtCustomOp::KernelDestroy = [](void* kernel) { delete static_cast<TKernel*>(kernel); };
    if constexpr (WithStatus) {
      OrtCustomOp::CreateKernelV2 = [](const OrtCustomOp* op, const OrtApi* api, const OrtKernelInfo* info,
                                       void** kernel) -> OrtStatusPtr {
        return Self(op).CreateKernelV2(*api, info, kernel);
      };
      OrtCustomOp::KernelComputeV2 = [](void* kernel, OrtKernelContext* context) -> OrtStatusPtr {
        return static_cast<TKernel*>(kernel)->ComputeV2(context);
      };
    } else {
      OrtCustomOp::CreateKernel = [](const OrtCustomOp* op, const OrtApi* api, const OrtKernelInfo* info) -> void* {
        return Self(op).CreateKernel(*api, info);
      };
      OrtCustomOp::KernelCompute = [](void* kernel, OrtKernelContext* context) {
        static_cast<TKernel*>(kernel)->Compute(context);
      };
    }
  }
};

}  // namespace Ort
