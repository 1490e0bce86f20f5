// Custom operators from plain functions: inputs and outputs follow from the arguments.
//
// CreateLiteCustomOp makes an operator of a function, or of a class with a constructor (const OrtApi*, const
// OrtKernelInfo*) and a function Compute. Both return nothing or an Ort::Status, and may throw. Their arguments are, in
// the order of the operator's inputs and outputs:
//   const Tensor<T>& or const Tensor<T>*    an input          std::optional<const Tensor<T>*>   one that may be left
//   out const Span<T>& or const Span<T>*        its elements      std::optional<const Span<T>*>     likewise T its only
//   element  std::optional<T>                  likewise const TensorArray& or const TensorArray*  all further inputs
//   Tensor<T>& or Tensor<T>*                an output         std::optional<Tensor<T>*>         one that may be left
//   out TensorArray& or TensorArray*            all further outputs OrtKernelContext*                       the
//   context; no input or output
// T is an element type of tensors, std::string, or for inputs std::string_view.
#pragma once

#include <tuple>

#include "onnxruntime_lite_tensors.h"

namespace Ort {
namespace Custom {

namespace detail {

/** The position of an argument among the inputs or outputs of one computation. */
struct Place {
  OrtKernelContext* context;
  size_t index;

  bool HasInput() const {
    const KernelContext ctx{context};
    return index < ctx.GetInputCount() && ctx.GetInput(index) != nullptr;
  }
  bool HasOutput() const { return index < KernelContext{context}.GetOutputCount(); }
};

enum class Role { kContext, kInput, kOutput };

template <typename T>
constexpr ONNXTensorElementDataType ElementType() {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING;
  } else {
    return TypeToTensorType<T>::type;
  }
}

/** What an argument of type A is: its role, element type and characteristic. An object of it holds what is passed. The
 *  argument is a single element unless one of the specialisations below fits. */
template <typename A>
struct Argument {
  using T = std::remove_cv_t<std::remove_reference_t<A>>;
  static constexpr Role role = Role::kInput;
  static constexpr ONNXTensorElementDataType type = ElementType<T>();
  static constexpr OrtCustomOpInputOutputCharacteristic characteristic = INPUT_OUTPUT_REQUIRED;
  explicit Argument(Place place) : tensor(place.context, place.index, true) {}
  const T& Pass() { return tensor.AsScalar(); }
  Tensor<T> tensor;
};

template <>
struct Argument<OrtKernelContext*> {
  static constexpr Role role = Role::kContext;
  explicit Argument(Place place) : context(place.context) {}
  OrtKernelContext* Pass() { return context; }
  OrtKernelContext* context;
};

template <>
struct Argument<OrtKernelContext&> : Argument<OrtKernelContext*> {
  using Argument<OrtKernelContext*>::Argument;
  OrtKernelContext& Pass() { return *context; }
};

/** A tensor, given as a pointer: constant ones are inputs. */
template <typename T, bool is_input>
struct TensorArgument {
  using Passed = std::conditional_t<is_input, const Tensor<T>, Tensor<T>>;
  static constexpr Role role = is_input ? Role::kInput : Role::kOutput;
  static constexpr ONNXTensorElementDataType type = ElementType<T>();
  static constexpr OrtCustomOpInputOutputCharacteristic characteristic = INPUT_OUTPUT_REQUIRED;
  explicit TensorArgument(Place place) : tensor(place.context, place.index, is_input) {}
  Passed* Pass() { return &tensor; }
  Tensor<T> tensor;
};
template <typename T>
struct Argument<const Tensor<T>*> : TensorArgument<T, true> {
  using TensorArgument<T, true>::TensorArgument;
};
template <typename T>
struct Argument<Tensor<T>*> : TensorArgument<T, false> {
  using TensorArgument<T, false>::TensorArgument;
};

/** The elements of an input. */
template <typename T>
struct Argument<const Span<T>*> : TensorArgument<T, true> {
  using TensorArgument<T, true>::TensorArgument;
  const Span<T>* Pass() { return &this->tensor.AsSpan(); }
};

/** All further inputs or outputs, of any type. */
template <bool is_input>
struct ArrayArgument {
  using Passed = std::conditional_t<is_input, const TensorArray, TensorArray>;
  static constexpr Role role = is_input ? Role::kInput : Role::kOutput;
  static constexpr ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  static constexpr OrtCustomOpInputOutputCharacteristic characteristic = INPUT_OUTPUT_VARIADIC;
  explicit ArrayArgument(Place place) : array(place.context, place.index, is_input) {}
  Passed* Pass() { return &array; }
  TensorArray array;
};
template <>
struct Argument<const TensorArray*> : ArrayArgument<true> {
  using ArrayArgument<true>::ArrayArgument;
};
template <>
struct Argument<TensorArray*> : ArrayArgument<false> {
  using ArrayArgument<false>::ArrayArgument;
};

/** A reference is passed where a pointer would be. */
template <typename Pointer>
struct ReferenceArgument : Argument<Pointer> {
  using Argument<Pointer>::Argument;
  decltype(auto) Pass() { return *Argument<Pointer>::Pass(); }
};
template <typename T>
struct Argument<const Tensor<T>&> : ReferenceArgument<const Tensor<T>*> {
  using ReferenceArgument<const Tensor<T>*>::ReferenceArgument;
};
template <typename T>
struct Argument<Tensor<T>&> : ReferenceArgument<Tensor<T>*> {
  using ReferenceArgument<Tensor<T>*>::ReferenceArgument;
};
template <typename T>
struct Argument<const Span<T>&> : ReferenceArgument<const Span<T>*> {
  using ReferenceArgument<const Span<T>*>::ReferenceArgument;
};
template <>
struct Argument<const TensorArray&> : ReferenceArgument<const TensorArray*> {
  using ReferenceArgument<const TensorArray*>::ReferenceArgument;
};
template <>
struct Argument<TensorArray&> : ReferenceArgument<TensorArray*> {
  using ReferenceArgument<TensorArray*>::ReferenceArgument;
};

/** One that may be left out. */
template <typename A>
struct Argument<std::optional<A>> {
  using Inner = Argument<A>;
  static constexpr Role role = Inner::role;
  static constexpr ONNXTensorElementDataType type = Inner::type;
  static constexpr OrtCustomOpInputOutputCharacteristic characteristic = INPUT_OUTPUT_OPTIONAL;
  explicit Argument(Place place) {
    if (role == Role::kInput ? place.HasInput() : place.HasOutput()) inner.emplace(place);
  }
  std::optional<A> Pass() { return inner.has_value() ? std::optional<A>{inner->Pass()} : std::nullopt; }
  std::optional<Inner> inner;
};
template <typename A>
struct Argument<const std::optional<A>&> : Argument<std::optional<A>> {
  using Argument<std::optional<A>>::Argument;
};

/** How many of the first `end` arguments have the role. */
template <typename... Args>
constexpr size_t CountRole(Role role, size_t end = sizeof...(Args)) {
  const std::array<Role, sizeof...(Args)> roles{Argument<Args>::role...};
  size_t count = 0;
  for (size_t i = 0; i < end; ++i) count += roles[i] == role ? 1 : 0;
  return count;
}

/** Calls a function with the inputs and outputs of a computation; gives its status. */
template <typename... Args, typename Function, size_t... I>
OrtStatus* Call(const Function& function, OrtKernelContext* context, std::index_sequence<I...>) {
  std::tuple<Argument<Args>...> arguments{Place{context, CountRole<Args...>(Argument<Args>::role, I)}...};
  static_cast<void>(arguments);
  if constexpr (std::is_same_v<std::invoke_result_t<Function, Args...>, Status>) {
    return function(std::get<I>(arguments).Pass()...).release();
  } else {
    function(std::get<I>(arguments).Pass()...);
    return nullptr;
  }
}

/** What an action throws, as a status. */
template <typename Action>
OrtStatus* ToStatus(const Action& action) noexcept {
#ifdef ORT_NO_EXCEPTIONS
  return action();
#else
  try {
    return action();
  } catch (const Exception& e) {
    return Status{e}.release();
  } catch (const std::exception& e) {
    return Status{e}.release();
  } catch (...) {
    return Status{"A custom operator threw something that is no exception.", ORT_FAIL}.release();
  }
#endif
}

}  // namespace detail

/** An operator whose inputs and outputs were read from arguments. */
struct OrtLiteCustomOp : public OrtCustomOp {
  using ShapeFunction = Status (*)(ShapeInferContext&);

  OrtLiteCustomOp(const char* op_name, const char* execution_provider, ShapeFunction shape_infer_fn, int start_ver,
                  int end_ver)
      : OrtCustomOp{},
        op_name_(op_name),
        execution_provider_(execution_provider == nullptr ? "" : execution_provider),
        shape_infer_fn_(shape_infer_fn),
        start_ver_(start_ver),
        end_ver_(end_ver) {
    OrtCustomOp::version = ORT_API_VERSION;
    Describe();
    if (shape_infer_fn_ == nullptr) return;
    OrtCustomOp::InferOutputShapeFn = [](const OrtCustomOp* op, OrtShapeInferContext* ort_ctx) -> OrtStatusPtr {
      return detail::ToStatus([&] {
        ShapeInferContext ctx{&GetApi(), ort_ctx};
        return Self(op).shape_infer_fn_(ctx).release();
      });
    };
  }
  virtual ~OrtLiteCustomOp() = default;
  OrtLiteCustomOp(const OrtLiteCustomOp&) = delete;
  OrtLiteCustomOp& operator=(const OrtLiteCustomOp&) = delete;

 protected:
  /** Reads inputs and outputs from the types of arguments. */
  template <typename... Args>
  void ReadArguments() {
    (ReadArgument<detail::Argument<Args>>(), ...);
  }

 private:
  struct Port {
    ONNXTensorElementDataType type;
    OrtCustomOpInputOutputCharacteristic characteristic;
  };

  template <typename Argument>
  void ReadArgument() {
    if constexpr (Argument::role != detail::Role::kContext) {
      auto& ports = Argument::role == detail::Role::kInput ? inputs_ : outputs_;
      ports.push_back(Port{Argument::type, Argument::characteristic});
    }
  }

  static const OrtLiteCustomOp& Self(const OrtCustomOp* op) { return *static_cast<const OrtLiteCustomOp*>(op); }

  void Describe() {
    OrtCustomOp::GetName = [](const OrtCustomOp* op) { return Self(op).op_name_.c_str(); };
    OrtCustomOp::GetExecutionProviderType = [](const OrtCustomOp* op) -> const char* {
      return Self(op).execution_provider_.empty() ? nullptr : Self(op).execution_provider_.c_str();
    };
    OrtCustomOp::GetInputTypeCount = [](const OrtCustomOp* op) { return Self(op).inputs_.size(); };
    OrtCustomOp::GetInputType = [](const OrtCustomOp* op, size_t i) { return Self(op).inputs_[i].type; };
    OrtCustomOp::GetInputCharacteristic = [](const OrtCustomOp* op, size_t i) {
      return Self(op).inputs_[i].characteristic;
    };
    OrtCustomOp::GetInputMemoryType = [](const OrtCustomOp*, size_t) { return OrtMemTypeDefault; };
    OrtCustomOp::GetOutputTypeCount = [](const OrtCustomOp* op) { return Self(op).outputs_.size(); };
    OrtCustomOp::GetOutputType = [](const OrtCustomOp* op, size_t i) { return Self(op).outputs_[i].type; };
    OrtCustomOp::GetOutputCharacteristic = [](const OrtCustomOp* op, size_t i) {
      return Self(op).outputs_[i].characteristic;
    };
    OrtCustomOp::GetVariadicInputMinArity = [](const OrtCustomOp*) { return 1; };
    OrtCustomOp::GetVariadicInputHomogeneity = [](const OrtCustomOp*) { return 0; };
    OrtCustomOp::GetVariadicOutputMinArity = [](const OrtCustomOp*) { return 1; };
    OrtCustomOp::GetVariadicOutputHomogeneity = [](const OrtCustomOp*) { return 0; };
    OrtCustomOp::GetStartVersion = [](const OrtCustomOp* op) { return Self(op).start_ver_; };
    OrtCustomOp::GetEndVersion = [](const OrtCustomOp* op) { return Self(op).end_ver_; };
  }

  std::string op_name_, execution_provider_;
  ShapeFunction shape_infer_fn_;
  int start_ver_, end_ver_;
  std::vector<Port> inputs_, outputs_;
};

/** An operator of a function. */
template <typename Result, typename... Args>
struct OrtLiteCustomFunc : public OrtLiteCustomOp {
  using ComputeFn = Result (*)(Args...);

  OrtLiteCustomFunc(const char* op_name, const char* execution_provider, ComputeFn compute_fn,
                    ShapeFunction shape_infer_fn, int start_ver, int end_ver)
      : OrtLiteCustomOp(op_name, execution_provider, shape_infer_fn, start_ver, end_ver), compute_fn_(compute_fn) {
    ReadArguments<Args...>();
    // A kernel is the operator itself: it has no state.
    OrtCustomOp::CreateKernelV2 = [](const OrtCustomOp* op, const OrtApi*, const OrtKernelInfo*,
                                     void** kernel) -> OrtStatusPtr {
      *kernel = const_cast<OrtLiteCustomFunc*>(static_cast<const OrtLiteCustomFunc*>(op));
      return nullptr;
    };
    OrtCustomOp::KernelComputeV2 = [](void* kernel, OrtKernelContext* context) -> OrtStatusPtr {
      return detail::ToStatus([&] {
        return detail::Call<Args...>(static_cast<const OrtLiteCustomFunc*>(kernel)->compute_fn_, context,
                                     std::index_sequence_for<Args...>{});
      });
    };
    OrtCustomOp::KernelDestroy = [](void*) {};
  }

 private:
  ComputeFn compute_fn_;
};

/** An operator of a class; each kernel is an object of it. */
template <typename CustomOp>
struct OrtLiteCustomStruct : public OrtLiteCustomOp {
  OrtLiteCustomStruct(const char* op_name, const char* execution_provider, int start_ver, int end_ver)
      : OrtLiteCustomOp(op_name, execution_provider, ShapeFunctionOf<CustomOp>(0), start_ver, end_ver) {
    Read(&CustomOp::Compute);
    OrtCustomOp::CreateKernelV2 = [](const OrtCustomOp*, const OrtApi* api, const OrtKernelInfo* info,
                                     void** kernel) -> OrtStatusPtr {
      return detail::ToStatus([&]() -> OrtStatus* {
        *kernel = new CustomOp(api, info);
        return nullptr;
      });
    };
    OrtCustomOp::KernelDestroy = [](void* kernel) { delete static_cast<CustomOp*>(kernel); };
  }

 private:
  template <typename C>
  static decltype(ShapeFunction{&C::InferOutputShape}) ShapeFunctionOf(int) {
    return &C::InferOutputShape;
  }
  template <typename C>
  static ShapeFunction ShapeFunctionOf(long) {
    return nullptr;
  }

  template <typename Result, typename... Args>
  void Read(Result (CustomOp::*)(Args...)) {
    ComputeWith<Args...>();
  }
  template <typename Result, typename... Args>
  void Read(Result (CustomOp::*)(Args...) const) {
    ComputeWith<Args...>();
  }

  template <typename... Args>
  void ComputeWith() {
    ReadArguments<Args...>();
    OrtCustomOp::KernelComputeV2 = [](void* kernel, OrtKernelContext* context) -> OrtStatusPtr {
      auto compute = [kernel](Args... args) {
        return static_cast<CustomOp*>(kernel)->Compute(std::forward<Args>(args)...);
      };
      return detail::ToStatus(
          [&] { return detail::Call<Args...>(compute, context, std::index_sequence_for<Args...>{}); });
    };
  }
};

/** An operator of a function that returns nothing. The caller deletes it, after the domain that it is added to. */
template <typename... Args>
OrtLiteCustomOp* CreateLiteCustomOp(const char* op_name, const char* execution_provider,
                                    void (*custom_compute_fn)(Args...),
                                    Status (*shape_infer_fn)(ShapeInferContext&) = {}, int start_ver = 1,
                                    int end_ver = MAX_CUSTOM_OP_END_VER) {
  return new OrtLiteCustomFunc<void, Args...>(op_name, execution_provider, custom_compute_fn, shape_infer_fn, start_ver,
                                              end_ver);
}

/** The same of a function that returns a status. */
template <typename... Args>
OrtLiteCustomOp* CreateLiteCustomOp(const char* op_name, const char* execution_provider,
                                    Status (*custom_compute_fn)(Args...),
                                    Status (*shape_infer_fn)(ShapeInferContext&) = {}, int start_ver = 1,
                                    int end_ver = MAX_CUSTOM_OP_END_VER) {
  return new OrtLiteCustomFunc<Status, Args...>(op_name, execution_provider, custom_compute_fn, shape_infer_fn,
                                                start_ver, end_ver);
}

/** The same of a class, which may have a static function InferOutputShape. */
template <typename CustomOp>
OrtLiteCustomOp* CreateLiteCustomOp(const char* op_name, const char* execution_provider, int start_ver = 1,
                                    int end_ver = MAX_CUSTOM_OP_END_VER) {
  return new OrtLiteCustomStruct<CustomOp>(op_name, execution_provider, start_ver, end_ver);
}

}  // namespace Custom
}  // namespace Ort
