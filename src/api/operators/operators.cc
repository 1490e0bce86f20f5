// Operators of the runtime that custom operators call: OrtOp.
#include "api/arguments.h"
#include "api/guard.h"
#include "api/operators/kernel_info.h"
#include "runtime/kernels/standalone_operator.h"

namespace ortolan::api {
namespace {

std::vector<graph::Attribute> copy_attributes(const OrtOpAttr* const* values, int count) {
  require(count >= 0, ErrorCode::kInvalidArgument, "attr_count is ", count);
  std::vector<graph::Attribute> attributes;
  for (const OrtOpAttr* attribute : array(values, static_cast<size_t>(count), "attr_values")) {
    attributes.push_back(unwrap(attribute, "attr_values[i]"));
  }
  return attributes;
}

}  // namespace

// The types that the caller names for type constraints follow from the inputs of each call, so they are not needed.
OrtStatus* ORT_API_CALL CreateOp(const OrtKernelInfo* info, const char* op_name, const char* domain, int version,
                                 const char**, const ONNXTensorElementDataType*, int,
                                 const OrtOpAttr* const* attr_values, int attr_count, int input_count, int output_count,
                                 OrtOp** ort_op) noexcept {
  return guard([&] {
    const KernelInfoObject& kernel = unwrap(info, "info");
    require(input_count >= 0 && output_count >= 0, ErrorCode::kInvalidArgument, "an operator cannot have ", input_count,
            " inputs and ", output_count, " outputs");
    require_argument(ort_op, "ort_op");
    *ort_op = wrap<OrtOp>(std::make_unique<runtime::StandaloneOperator>(
        text(domain, "domain"), text(op_name, "op_name"), version, copy_attributes(attr_values, attr_count),
        static_cast<size_t>(output_count), *kernel.node->threads));
  });
}

void ORT_API_CALL ReleaseOp(OrtOp* op) noexcept { release(op); }

OrtStatus* ORT_API_CALL InvokeOp(const OrtKernelContext* context, const OrtOp* ort_op,
                                 const OrtValue* const* input_values, int input_count, OrtValue* const* output_values,
                                 int output_count) noexcept {
  return guard([&] {
    const auto& services = unwrap(context, "context").services();
    const auto& op = unwrap(ort_op, "ort_op");
    require(input_count >= 0 && output_count >= 0, ErrorCode::kInvalidArgument, "the counts of values are ",
            input_count, " and ", output_count);
    std::vector<const Value*> inputs;
    for (const OrtValue* input : array(input_values, static_cast<size_t>(input_count), "input_values")) {
      inputs.push_back(unwrap_optional(input));
    }
    std::vector<Value> results;
    auto outputs = array(output_values, static_cast<size_t>(output_count), "output_values");
    for (OrtValue* output : outputs) results.push_back(unwrap(output, "output_values[i]"));
    op.run(services, inputs, results);
    for (size_t i = 0; i < results.size(); ++i) *unwrap_optional(outputs[i]) = std::move(results[i]);
  });
}

}  // namespace ortolan::api
