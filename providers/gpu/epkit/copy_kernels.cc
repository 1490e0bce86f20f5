// One kernel for both directions: addresses tell where a tensor lies.
#include "gpu/epkit/copy_kernels.h"

namespace ortolan::gpu::epkit {
namespace {

class CopyKernel : public OrtKernelImpl {
 public:
  CopyKernel(const Host& host, DeviceContext& context) : OrtKernelImpl{}, host_(host), context_(context) {
    ort_version_supported = host.level;
    Compute = compute;
    Release = [](OrtKernelImpl* self) noexcept { delete static_cast<CopyKernel*>(self); };
  }

 private:
  static OrtStatus* ORT_API_CALL compute(OrtKernelImpl* self, OrtKernelContext* context) noexcept {
    auto& kernel = *static_cast<CopyKernel*>(self);
    return guard(kernel.host_, [&] { kernel.run(context); });
  }

  void run(OrtKernelContext* context) {
    const OrtValue* input = nullptr;
    OrtValue* output = nullptr;
    void* handle = nullptr;
    check(host_, host_.api->KernelContext_GetInput(context, 0, &input));
    Tensor from = tensor_of(host_, input);
    check(host_, host_.api->KernelContext_GetOutput(context, 0, from.shape.data(), from.shape.size(), &output));
    check(host_, host_.api->KernelContext_GetGPUComputeStream(context, &handle));
    ScopedQueue queue(context_, handle);
    copy_tensor(*queue, from, tensor_of(host_, output));
    queue.close();
  }

  const Host host_;
  DeviceContext& context_;
};

}  // namespace

CopyKernels::CopyKernels(const Host& host, DeviceContext& context, const char* provider)
    : host_(host), context_(context), provider_(provider) {
  add("MemcpyFromHost", OrtMemTypeCPUInput, OrtMemTypeDefault);
  add("MemcpyToHost", OrtMemTypeDefault, OrtMemTypeCPUOutput);
}

CopyKernels::~CopyKernels() {
  if (registry_ != nullptr) host_.ep->ReleaseKernelRegistry(registry_);
}

OrtStatus* ORT_API_CALL CopyKernels::make(void* state, const OrtKernelInfo*, OrtKernelImpl** kernel) noexcept {
  auto& kernels = *static_cast<CopyKernels*>(state);
  return guard(kernels.host_, [&] { *kernel = new CopyKernel(kernels.host_, kernels.context_); });
}

void CopyKernels::add(const char* operation, OrtMemType input, OrtMemType output) {
  const OrtEpApi& ep = *host_.ep;
  if (registry_ == nullptr) check(host_, ep.CreateKernelRegistry(&registry_));
  OrtKernelDefBuilder* made = nullptr;
  check(host_, ep.CreateKernelDefBuilder(&made));
  std::unique_ptr<OrtKernelDefBuilder, decltype(ep.ReleaseKernelDefBuilder)> builder(made, ep.ReleaseKernelDefBuilder);
  check(host_, ep.KernelDefBuilder_SetOperatorType(made, operation));
  check(host_, ep.KernelDefBuilder_SetDomain(made, ""));
  check(host_, ep.KernelDefBuilder_SetSinceVersion(made, 1, 1));
  check(host_, ep.KernelDefBuilder_SetExecutionProvider(made, provider_));
  if (input != OrtMemTypeDefault) check(host_, ep.KernelDefBuilder_SetInputMemType(made, 0, input));
  if (output != OrtMemTypeDefault) check(host_, ep.KernelDefBuilder_SetOutputMemType(made, 0, output));
  OrtKernelDef* definition = nullptr;
  check(host_, ep.KernelDefBuilder_Build(made, &definition));
  std::unique_ptr<OrtKernelDef, decltype(ep.ReleaseKernelDef)> owner(definition, ep.ReleaseKernelDef);
  check(host_, ep.KernelRegistry_AddKernel(registry_, definition, make, this));
}

}  // namespace ortolan::gpu::epkit
