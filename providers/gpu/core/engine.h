// What all groups of nodes on one device share: compiled kernels and uploaded weights.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gpu/core/graph.h"
#include "gpu/device/device.h"

namespace ortolan::gpu {

/** Compiled kernels by spec, each made once. Thread-safe. */
class KernelCache {
 public:
  explicit KernelCache(Device& device) : device_(device) {}
  std::shared_ptr<const Kernel> get(const KernelSpec& spec);

 private:
  Device& device_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Kernel>> kernels_;  // by name and constants
};

/** Constants on the device by content and layout, shared by all that live at a time. Thread-safe. */
class WeightCache {
 public:
  explicit WeightCache(Device& device) : device_(device) {}
  /** The memory of `bytes` as `pack` lays them out; `layout` names all that decides its result but the bytes. */
  std::shared_ptr<Buffer> get(std::span<const std::byte> bytes, const std::string& layout,
                              const std::function<std::vector<std::byte>(std::span<const std::byte>)>& pack);

 private:
  std::shared_ptr<Buffer> upload(std::span<const std::byte> bytes);

  Device& device_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Buffer>> buffers_;  // by hash of the content, size and layout
};

class Engine {
 public:
  /** The device must outlive the engine. */
  explicit Engine(Device& device) : device_(device), kernels_(device), weights_(device) {}
  Device& device() { return device_; }
  KernelCache& kernels() { return kernels_; }
  WeightCache& weights() { return weights_; }

 private:
  Device& device_;
  KernelCache kernels_;
  WeightCache weights_;
};

}  // namespace ortolan::gpu
