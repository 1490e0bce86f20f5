// Builds the description of a kernel and adds it to the registry.
#include <memory>

#include "kernels.h"

namespace ortolan::example {

KernelRegistry::~KernelRegistry() {
  if (registry_) host_.ep->ReleaseKernelRegistry(registry_);
}

void KernelRegistry::add(const KernelRow& row, const std::string& provider, void* state) {
  const OrtEpApi& ep = *host_.ep;
  if (!registry_) check(host_, ep.CreateKernelRegistry(&registry_));
  OrtKernelDefBuilder* made = nullptr;
  check(host_, ep.CreateKernelDefBuilder(&made));
  std::unique_ptr<OrtKernelDefBuilder, decltype(ep.ReleaseKernelDefBuilder)> builder(made, ep.ReleaseKernelDefBuilder);
  check(host_, ep.KernelDefBuilder_SetOperatorType(made, row.operation));
  check(host_, ep.KernelDefBuilder_SetDomain(made, ""));
  check(host_, ep.KernelDefBuilder_SetSinceVersion(made, row.since, row.until));
  check(host_, ep.KernelDefBuilder_SetExecutionProvider(made, provider.c_str()));
  if (row.input != OrtMemTypeDefault) check(host_, ep.KernelDefBuilder_SetInputMemType(made, 0, row.input));
  if (row.output != OrtMemTypeDefault) check(host_, ep.KernelDefBuilder_SetOutputMemType(made, 0, row.output));
  if (row.typed) {
    const OrtDataType* type = nullptr;
    check(host_, ep.GetTensorDataType(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &type));
    check(host_, ep.KernelDefBuilder_AddTypeConstraint(made, row.typed, &type, 1));
  }
  OrtKernelDef* definition = nullptr;
  check(host_, ep.KernelDefBuilder_Build(made, &definition));
  std::unique_ptr<OrtKernelDef, decltype(ep.ReleaseKernelDef)> owner(definition, ep.ReleaseKernelDef);
  check(host_, ep.KernelRegistry_AddKernel(registry_, definition, row.make, state));
}

}  // namespace ortolan::example
