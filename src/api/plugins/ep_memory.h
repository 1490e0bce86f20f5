// A plugin's allocators and data transfers as the core uses them.
#pragma once

#include <memory>
#include <string>

#include "onnxruntime_ep_c_api.h"
#include "tensor/allocator.h"
#include "tensor/device.h"

namespace ortolan::api {

class EpLibrary;

/** A plugin's allocator; its factory releases it. */
class PluginAllocator final : public tensor::Allocator {
 public:
  /** Takes `theirs` over. `memory` is what the plugin registered. */
  PluginAllocator(std::shared_ptr<EpLibrary> library, OrtEpFactory& factory, const OrtMemoryInfo& memory,
                  OrtAllocator& theirs);
  ~PluginAllocator() override;

  void* allocate(size_t bytes) override;
  void* reserve(size_t bytes) override;
  void* allocate_on(tensor::Stream& stream, size_t bytes) override;
  void free(void* block) noexcept override { theirs_.Free(&theirs_, block); }
  const tensor::MemoryInfo& info() const override { return info_; }
  tensor::AllocatorStats stats() const override;
  void shrink() override;

  /** The plugin's own object. */
  OrtAllocator& theirs() const { return theirs_; }

 private:
  void* checked(void* block, size_t bytes) const;

  std::shared_ptr<EpLibrary> library_;
  OrtEpFactory& factory_;
  const tensor::MemoryInfo& info_;
  OrtAllocator& theirs_;
};

/** A plugin's data transfer. */
class PluginDataTransfer final : public tensor::DataTransfer {
 public:
  /** Takes `theirs` over. */
  PluginDataTransfer(std::shared_ptr<EpLibrary> library, std::string provider, OrtDataTransferImpl& theirs);
  ~PluginDataTransfer() override;

  bool can_copy(const tensor::MemoryInfo& from, const tensor::MemoryInfo& to) const override;
  void copy(const tensor::Tensor& from, tensor::Tensor& to, tensor::Stream* stream) const override;

 private:
  bool looks_like_own(const tensor::MemoryInfo& memory) const;

  std::shared_ptr<EpLibrary> library_;
  std::string provider_;
  std::vector<const tensor::MemoryInfo*> own_;  // memories of the provider's devices
  OrtDataTransferImpl& theirs_;
};

}  // namespace ortolan::api
