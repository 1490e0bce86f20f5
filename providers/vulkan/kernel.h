// Kernels as pipelines.
#pragma once

#include <array>

#include "vulkan/context.h"

namespace ortolan::gpu::vulkan {

class VulkanKernel : public Kernel {
 public:
  /** Throws kCompile where the driver makes no pipeline or the device has no such large groups, kInternal where there
   * is no such kernel or constant. */
  VulkanKernel(std::shared_ptr<Context> context, const KernelSpec& spec, std::span<const std::byte> binary);
  ~VulkanKernel() override;
  VulkanKernel(const VulkanKernel&) = delete;
  VulkanKernel& operator=(const VulkanKernel&) = delete;

  /** The driver's pipeline cache with this kernel alone. */
  std::vector<std::byte> binary() const override;
  bool was_compiled() const override { return was_compiled_; }

  const std::string& name() const { return name_; }
  /** Of its bindings. */
  uint32_t buffers() const { return buffers_; }
  const KernelLayout& layout() const { return *layout_; }
  VkPipeline get() const { return pipeline_; }

 private:
  void check_group(uint32_t width, uint32_t height) const;
  void create_cache(std::span<const std::byte> binary);
  void create_pipeline(const KernelSpec& spec);

  std::shared_ptr<Context> context_;
  std::string name_;
  uint32_t buffers_ = 0;
  const KernelLayout* layout_ = nullptr;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  bool was_compiled_ = true;
};

}  // namespace ortolan::gpu::vulkan
