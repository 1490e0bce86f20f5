// MemcpyFromHost and MemcpyToHost: nodes that a runtime puts between providers, which it wants as kernels.
#pragma once

#include "gpu/epkit/device_context.h"

namespace ortolan::gpu::epkit {

/** The registry with both kernels, for one provider. */
class CopyKernels {
 public:
  CopyKernels(const Host& host, DeviceContext& context, const char* provider);
  ~CopyKernels();
  CopyKernels(const CopyKernels&) = delete;
  CopyKernels& operator=(const CopyKernels&) = delete;
  const OrtKernelRegistry* registry() const { return registry_; }

 private:
  static OrtStatus* ORT_API_CALL make(void* state, const OrtKernelInfo* info, OrtKernelImpl** kernel) noexcept;
  void add(const char* operation, OrtMemType input, OrtMemType output);

  const Host host_;
  DeviceContext& context_;
  const char* provider_;
  OrtKernelRegistry* registry_ = nullptr;
};

}  // namespace ortolan::gpu::epkit
