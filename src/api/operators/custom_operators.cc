// Custom operators: their schema, shapes and kernels, made from the caller's callbacks.
#include "api/operators/custom_operators.h"

#include "api/arguments.h"
#include "api/operators/shape_inference.h"
#include "api/status.h"
#include "api/tables/tables.h"

namespace ortolan::api {
namespace {

// The release that added each group of callbacks.
constexpr uint32_t kOptionalSince = 8, kVariadicSince = 14, kStatusSince = 16, kShapesSince = 17;

OrtCustomOpInputOutputCharacteristic input_kind(const OrtCustomOp& op, size_t i) {
  if (op.version < kOptionalSince || op.GetInputCharacteristic == nullptr) return INPUT_OUTPUT_REQUIRED;
  return op.GetInputCharacteristic(&op, i);
}

OrtCustomOpInputOutputCharacteristic output_kind(const OrtCustomOp& op, size_t i) {
  if (op.version < kOptionalSince || op.GetOutputCharacteristic == nullptr) return INPUT_OUTPUT_REQUIRED;
  return op.GetOutputCharacteristic(&op, i);
}

/** How many values a node may have: required ones first, then optional ones; a variadic last one stands for many. */
ops::Arity arity_of(const OrtCustomOp& op, size_t count, const char* what,
                    OrtCustomOpInputOutputCharacteristic (*kind)(const OrtCustomOp&, size_t),
                    int (*min_variadic)(const OrtCustomOp*)) {
  require(count < ops::kVariadic, ErrorCode::kInvalidArgument, "a custom operator cannot have ", count, " ", what);
  uint16_t least = 0;
  for (size_t i = 0; i < count; ++i) {
    auto is = kind(op, i);
    if (is == INPUT_OUTPUT_REQUIRED) least = static_cast<uint16_t>(i + 1);
    if (is != INPUT_OUTPUT_VARIADIC) continue;
    require(i + 1 == count, ErrorCode::kInvalidArgument, "only the last of the ", what, " may be variadic, not number ",
            i);
    bool asks = op.version >= kVariadicSince && min_variadic != nullptr;
    int more = asks ? min_variadic(&op) : 1;
    require(more >= 0 && more < 1000, ErrorCode::kInvalidArgument, "the least number of variadic ", what, " is ", more);
    return {static_cast<uint16_t>(i + static_cast<size_t>(more)), ops::kVariadic};
  }
  return {least, static_cast<uint16_t>(count)};
}

ElementType declared(ONNXTensorElementDataType type) {
  return type == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED ? ElementType::kUndefined : element_type_from_api(type);
}

/** The element types of each input; UNDEFINED stands for any. Inputs beyond the room of a row share its last entry. */
void fill_types(ops::SchemaRow& row, const OrtCustomOp& op, size_t count) {
  constexpr size_t kRoom = std::extent_v<decltype(ops::SchemaRow::types)>;
  for (size_t i = 0; i < count; ++i) {
    ElementType type = declared(op.GetInputType(&op, i));
    TypeSet types = type == ElementType::kUndefined ? kAllTypes : TypeSet(type);
    bool variadic = i + 1 == count && row.inputs.max == ops::kVariadic;
    bool rest = variadic || (i >= kRoom - 1 && count > kRoom);
    ops::InputTypes& entry = row.types[std::min(i, kRoom - 1)];
    bool homogeneous = op.version < kVariadicSince || op.GetVariadicInputHomogeneity == nullptr ||
                       op.GetVariadicInputHomogeneity(&op) != 0;
    if (variadic && !homogeneous) types = kAllTypes;
    entry = {rest ? ops::kTheRest : static_cast<int8_t>(i), entry.types | types,
             variadic && homogeneous ? 'V' : char{0}};
  }
}

ops::SchemaRow row_of(const std::string& domain, const std::string& name, const OrtCustomOp& op) {
  size_t inputs = op.GetInputTypeCount(&op);
  size_t outputs = op.GetOutputTypeCount(&op);
  bool versioned = op.version >= kShapesSince;
  int since = versioned && op.GetStartVersion != nullptr ? op.GetStartVersion(&op) : 1;
  int until = versioned && op.GetEndVersion != nullptr ? op.GetEndVersion(&op) : ops::kLatest;
  ops::SchemaRow row{
      domain.c_str(),
      name.c_str(),
      since,
      until,
      arity_of(op, inputs, "inputs", input_kind, op.version >= kVariadicSince ? op.GetVariadicInputMinArity : nullptr),
      arity_of(op, outputs, "outputs", output_kind,
               op.version >= kVariadicSince ? op.GetVariadicOutputMinArity : nullptr),
      nullptr};
  fill_types(row, op, inputs);
  return row;
}

std::string name_from(const OrtCustomOp& op) {
  require(op.GetName != nullptr, ErrorCode::kInvalidArgument, "OrtCustomOp::GetName must not be NULL");
  return text(op.GetName(&op), "the custom operator's name");
}

/** The caller's kernel object. The description lives as long, since the kernel may keep what it borrowed from it. */
class CallersKernel final : public runtime::OpKernel {
 public:
  CallersKernel(const OrtCustomOp& op, const runtime::KernelInfo& info) : op_(op), info_{describe_kernel(info)} {
    auto* handle = wrap<const OrtKernelInfo>(&info_);
    if (has_statuses() && op_.CreateKernelV2 != nullptr) {
      check_status(op_.CreateKernelV2(&op_, &ort_api(), handle, &kernel_));
    } else {
      require(op_.CreateKernel != nullptr, ErrorCode::kInvalidArgument, "OrtCustomOp::CreateKernel must not be NULL");
      kernel_ = op_.CreateKernel(&op_, &ort_api(), handle);
    }
  }
  CallersKernel(const CallersKernel&) = delete;
  CallersKernel& operator=(const CallersKernel&) = delete;
  ~CallersKernel() override {
    if (op_.KernelDestroy != nullptr) op_.KernelDestroy(kernel_);
  }

  void compute(runtime::KernelContext& context) const override {
    auto* handle = wrap<OrtKernelContext>(&context);
    if (has_statuses() && op_.KernelComputeV2 != nullptr) {
      check_status(op_.KernelComputeV2(kernel_, handle));
    } else {
      op_.KernelCompute(kernel_, handle);
    }
  }

 private:
  bool has_statuses() const { return op_.version >= kStatusSince; }

  const OrtCustomOp& op_;
  KernelInfoObject info_;
  void* kernel_ = nullptr;
};

/** True when names of dimensions may be added: the rule is asked about a model, not within a run. */
bool asks_about_model(const ops::InferContext& context) {
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (context.has_input(i) && !context.shape(i).fully_known()) return true;
  }
  return false;
}

}  // namespace

std::shared_ptr<const CallersOperator> CallersOperator::make_from(const std::string& domain, const OrtCustomOp& op) {
  auto name = std::make_shared<const std::string>(name_from(op));
  return std::shared_ptr<const CallersOperator>(
      new CallersOperator(std::make_shared<const std::string>(domain), std::move(name), op));
}

CallersOperator::CallersOperator(std::shared_ptr<const std::string> domain, std::shared_ptr<const std::string> name,
                                 const OrtCustomOp& op)
    : CustomOperator(row_of(*domain, *name, op)), domain_(std::move(domain)), name_(std::move(name)), op_(op) {
  const char* provider = op.GetExecutionProviderType == nullptr ? nullptr : op.GetExecutionProviderType(&op);
  provider_ = provider == nullptr ? "" : provider;
}

ElementType CallersOperator::output_type(const ops::InferContext& context, size_t index) const {
  size_t count = op_.GetOutputTypeCount(&op_);
  ElementType type =
      count == 0 ? ElementType::kUndefined : declared(op_.GetOutputType(&op_, std::min(index, count - 1)));
  for (size_t i = 0; type == ElementType::kUndefined && i < context.input_count(); ++i) {
    size_t input = std::min(i, op_.GetInputTypeCount(&op_) - 1);
    bool any = declared(op_.GetInputType(&op_, input)) == ElementType::kUndefined;
    if (any && context.has_input(i)) type = context.element(i);
  }
  return type;
}

void CallersOperator::infer(ops::InferContext& context) const {
  for (size_t i = 0; i < context.output_count(); ++i) {
    context.set_type(i, graph::TypeInfo::of_tensor(output_type(context, i)));
  }
  if (op_.version < kShapesSince || op_.InferOutputShapeFn == nullptr) return;
  auto& symbols = context.node().graph().context().symbols;
  ShapeInference inference(context, asks_about_model(context) ? &symbols : nullptr);
  check_status(op_.InferOutputShapeFn(&op_, wrap<OrtShapeInferContext>(&inference)));
}

std::unique_ptr<runtime::OpKernel> CallersOperator::make(const runtime::KernelInfo& info) const {
  require(provider_.empty() || provider_ == "CPUExecutionProvider", ErrorCode::kNotImplemented,
          "the custom operator is for ", provider_, ", which the session does not have");
  return std::make_unique<CallersKernel>(op_, info);
}

}  // namespace ortolan::api
