// Kernels between plugins and the runtime: a plugin's OrtKernelImpl as a runtime::OpKernel, and our own control flow
// kernels as OrtKernelImpl objects for plugins.
#pragma once

#include <memory>
#include <vector>

#include "api/plugins/ep_kernel_registry.h"
#include "runtime/providers/execution_provider.h"

namespace ortolan::api {

/** The provider that a plugin's kernels are made for; `ep` outlives them. */
struct PluginKernelOwner {
  const OrtEp* ep = nullptr;
  std::shared_ptr<tensor::Allocator> allocator;  // of the provider's own memory; for packed weights
};

/** Makes the kernel and lets it pack the node's constant inputs. */
runtime::ChosenKernel make_plugin_kernel(const PluginKernel& kernel, const PluginKernelOwner& owner,
                                         const runtime::KernelInfo& info);

/** OrtSharedPrePackedWeightCache while a kernel packs one input: the buffers that it gives away. */
struct SharedWeightBuffers {
  std::shared_ptr<tensor::Allocator> allocator;
  std::vector<void*> data;
  std::vector<size_t> sizes;

  explicit SharedWeightBuffers(std::shared_ptr<tensor::Allocator> from) : allocator(std::move(from)) {}
  SharedWeightBuffers(const SharedWeightBuffers&) = delete;
  SharedWeightBuffers& operator=(const SharedWeightBuffers&) = delete;
  ~SharedWeightBuffers();
};

}  // namespace ortolan::api
