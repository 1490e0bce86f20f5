// The caller's custom operators as the runtime takes them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/operators/kernel_info.h"
#include "onnxruntime_c_api.h"
#include "runtime/kernels/custom_operator.h"
#include "runtime/session/session_options.h"

namespace ortolan::api {

/** Behind OrtCustomOpDomain. */
struct CustomOpDomain {
  std::string name;
  std::vector<const OrtCustomOp*> operators;
};

/** An OrtCustomOp. Callbacks that its version does not have are never read. `op` must outlive every session. */
class CallersOperator final : public runtime::CustomOperator {
 public:
  static std::shared_ptr<const CallersOperator> make_from(const std::string& domain, const OrtCustomOp& op);

  std::string_view provider() const override { return provider_; }
  void infer(ops::InferContext& context) const override;
  std::unique_ptr<runtime::OpKernel> make(const runtime::KernelInfo& info) const override;

 private:
  CallersOperator(std::shared_ptr<const std::string> domain, std::shared_ptr<const std::string> name,
                  const OrtCustomOp& op);
  tensor::ElementType output_type(const ops::InferContext& context, size_t index) const;

  std::shared_ptr<const std::string> domain_;
  std::shared_ptr<const std::string> name_;
  std::string provider_;
  const OrtCustomOp& op_;
};

}  // namespace ortolan::api
