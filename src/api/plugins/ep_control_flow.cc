// Our kernels of If, Loop and Scan for the registries of plugins, which bring what needs their device's memory.
#include "api/arguments.h"
#include "api/guard.h"
#include "api/operators/kernel_info.h"
#include "api/status.h"
#include "runtime/kernels/slice_operations.h"
#include "runtime/providers/execution_provider.h"

namespace ortolan::api {
namespace {

struct EndHelper {
  template <class Helper>
  void operator()(Helper* helper) const {
    if (helper->Release != nullptr) helper->Release(helper);
  }
};

/** The helper of a Loop or Scan kernel; there is none for If. */
class PluginSlices final : public runtime::SliceOperations {
 public:
  void take(OrtLoopKernelHelper* helper) { loop_.reset(helper); }
  void take(OrtScanKernelHelper* helper) { scan_.reset(helper); }

  bool concat(runtime::KernelContext& context, std::span<const Value> slices, Tensor& out) const override {
    if (loop_ == nullptr) return false;
    void* stream = nullptr;
    check_status(KernelContext_GetGPUComputeStream(wrap<OrtKernelContext>(&context), &stream));
    std::vector<const OrtValue*> handles;
    for (const Value& slice : slices) handles.push_back(wrap<const OrtValue>(&slice));
    check_status(
        loop_->ConcatOutput(loop_.get(), stream, handles.data(), handles.size(), out.mutable_raw(), out.byte_count()));
    return true;
  }

  bool transpose(runtime::KernelContext& context, std::span<const size_t> permutation, const Value& input,
                 Value& out) const override {
    if (scan_ == nullptr) return false;
    OrtSyncStream* stream = nullptr;
    check_status(KernelContext_GetSyncStream(wrap<OrtKernelContext>(&context), &stream));
    check_status(scan_->Transpose(scan_.get(), permutation.data(), permutation.size(), wrap<const OrtValue>(&input),
                                  stream, wrap<OrtValue>(&out)));
    return true;
  }

 private:
  std::unique_ptr<OrtLoopKernelHelper, EndHelper> loop_;
  std::unique_ptr<OrtScanKernelHelper, EndHelper> scan_;
};

/** What the plugin's kernel may ask, with the plugin's helper added. */
class HelperKernelInfo final : public runtime::SliceKernelInfo {
 public:
  HelperKernelInfo(const runtime::KernelInfo& info, const runtime::SliceOperations& slices)
      : SliceKernelInfo(info.node()), info_(info), slices_(slices) {}

  base::ThreadPool& threads() const override { return info_.threads(); }
  std::string_view config(std::string_view key, std::string_view fallback) const override {
    return info_.config(key, fallback);
  }
  runtime::PackedWeights& packed_weights() const override { return info_.packed_weights(); }
  const std::map<std::string, std::string>* config_entries() const override { return info_.config_entries(); }
  const base::Logger* logger() const override { return info_.logger(); }
  const runtime::SubgraphRunner& subgraph(std::string_view attribute) const override {
    return info_.subgraph(attribute);
  }
  const runtime::SliceOperations& slice_operations() const override { return slices_; }

 private:
  const runtime::KernelInfo& info_;
  const runtime::SliceOperations& slices_;
};

/** One of our kernels in a plugin's hands. */
struct ControlFlowKernel : OrtKernelImpl {
  PluginSlices slices;
  std::unique_ptr<runtime::OpKernel> core;  // uses `slices`

  ControlFlowKernel() : OrtKernelImpl{} {
    ort_version_supported = ORT_API_VERSION;
    Compute = [](OrtKernelImpl* self, OrtKernelContext* context) -> OrtStatusPtr {
      return guard([&] { static_cast<ControlFlowKernel*>(self)->core->compute(unwrap(context, "context")); });
    };
    Release = [](OrtKernelImpl* self) { delete static_cast<ControlFlowKernel*>(self); };
  }
};

std::unique_ptr<ControlFlowKernel> make_kernel(const OrtKernelInfo* kernel_info, const char* op_type) {
  const KernelInfoObject& info = unwrap(kernel_info, "kernel_info");
  const KernelDescription& node = *info.node;
  require(info.making != nullptr, ErrorCode::kInvalidArgument,
          "kernel_info is not that of a kernel of a plugin which is being made");
  require(node.op_type == op_type && node.domain.empty(), ErrorCode::kInvalidArgument, "node '", node.node_name,
          "' is ", node.op_type, ", not ", op_type);
  auto kernel = std::make_unique<ControlFlowKernel>();
  HelperKernelInfo with_helper(*info.making, kernel->slices);
  kernel->core = runtime::make_cpu_execution_provider()->make_kernel(with_helper).kernel;
  return kernel;
}

/** Makes the kernel and, when all went well, hands the helper over to it. */
template <class Helper, class Function>
OrtStatus* create(const OrtKernelInfo* kernel_info, const char* op_type, Helper* helper, Function Helper::*needed,
                  OrtKernelImpl** kernel_out) noexcept {
  return guard([&] {
    require_argument(helper, "helper");
    require(helper->*needed != nullptr, ErrorCode::kInvalidArgument, "the helper for ", op_type,
            " lacks its function; every member must be set");
    require_argument(kernel_out, "kernel_out");
    auto kernel = make_kernel(kernel_info, op_type);
    kernel->slices.take(helper);
    *kernel_out = kernel.release();
  });
}

}  // namespace

OrtStatus* ORT_API_CALL CreateIfKernel(const OrtKernelInfo* kernel_info, OrtKernelImpl** kernel_out) noexcept {
  return guard([&] {
    require_argument(kernel_out, "kernel_out");
    *kernel_out = make_kernel(kernel_info, "If").release();
  });
}

OrtStatus* ORT_API_CALL CreateLoopKernel(const OrtKernelInfo* kernel_info, OrtLoopKernelHelper* helper,
                                         OrtKernelImpl** kernel_out) noexcept {
  return create(kernel_info, "Loop", helper, &OrtLoopKernelHelper::ConcatOutput, kernel_out);
}

OrtStatus* ORT_API_CALL CreateScanKernel(const OrtKernelInfo* kernel_info, OrtScanKernelHelper* helper,
                                         OrtKernelImpl** kernel_out) noexcept {
  return create(kernel_info, "Scan", helper, &OrtScanKernelHelper::Transpose, kernel_out);
}

void ORT_API_CALL ReleaseKernelImpl(OrtKernelImpl* kernel) noexcept {
  if (kernel != nullptr && kernel->Release != nullptr) kernel->Release(kernel);
}

}  // namespace ortolan::api
