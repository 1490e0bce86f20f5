// What all groups of nodes on one device share: compiled kernels and uploaded weights.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "gpu/core/graph/graph.h"
#include "gpu/core/kernel_store.h"
#include "gpu/core/precision.h"
#include "gpu/core/tuner.h"
#include "gpu/device/device.h"

namespace ortolan::gpu {

/** Compiled kernels by spec, each made once: from the store where it has them. Thread-safe. */
class KernelCache {
 public:
  KernelCache(Device& device, KernelStore store) : device_(device), store_(std::move(store)) {}
  ~KernelCache();
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;
  std::shared_ptr<const Kernel> get(const KernelSpec& spec);
  /** Writes what was compiled to the store. Kernels should have run: some devices compile until then. */
  void store_compiled();
  /** To be called after a run: a thread of its own does the same, once a run compiled nothing more. A device may take
   * as long for it as for compiling; what is not written when the cache ends is compiled again another time. */
  void after_run();

 private:
  bool store_one();

  Device& device_;
  const KernelStore store_;
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::shared_ptr<const Kernel>>> compiled_;  // not in the store, by its key
  size_t compiled_before_ = 0;                                                   // the last run
  std::atomic<bool> ends_{false}, is_storing_{false};
  std::thread storing_;
  std::map<std::string, std::shared_ptr<const Kernel>> kernels_;  // by name and constants
};

/** How a constant lies on the device. */
struct Packing {
  std::string layout;  // names all that decides the result but the constant's bytes
  size_t bytes = 0;    // of the result
  /** Writes all of `to`. */
  std::function<void(std::span<const std::byte> from, std::span<std::byte> to)> pack;
};

/** Constants on the device by content and layout, shared by all that live at a time. Thread-safe. */
class WeightCache {
 public:
  explicit WeightCache(Device& device) : device_(device) {}
  /** The memory of `bytes`. */
  std::shared_ptr<Buffer> get(std::span<const std::byte> bytes);
  /** The memory of `bytes` as `packing` lays them out. */
  std::shared_ptr<Buffer> get(std::span<const std::byte> bytes, const Packing& packing);

 private:
  /** `make` fills memory of `size` bytes where there is none yet under that key. */
  std::shared_ptr<Buffer> get(const std::string& key, size_t size,
                              const std::function<void(Queue& queue, const BufferRange& to)>& make);

  Device& device_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Buffer>> buffers_;  // by hash of the content, size and layout
};

/** Who makes matrix products. */
enum class Products {
  kAuto,     // on GPUs the device's library those that it suits, measured where the device is tuned
  kOwn,      // our kernels all of them
  kLibrary,  // the library all that it can, on any device that has one
};

class Engine {
 public:
  /** The device, which must have that precision, must outlive the engine. Compiled kernels and tuning are kept in that
   *  folder; empty: they are not kept. */
  explicit Engine(Device& device, const std::filesystem::path& folder = {}, Tuning tuning = Tuning::kNone,
                  Products products = Products::kAuto, Precision precision = Precision::kFloat)
      : device_(device),
        kernels_(device, KernelStore(folder)),
        weights_(device),
        tuner_(device, KernelStore(folder), tuning),
        products_(products),
        precision_(precision) {}
  Device& device() { return device_; }
  KernelCache& kernels() { return kernels_; }
  WeightCache& weights() { return weights_; }
  Tuner& tuner() { return tuner_; }
  Products products() const { return products_; }
  Precision precision() const { return precision_; }
  /** The library that may make products; NULL where none is there or may. */
  ProductLibrary* product_library() const;

 private:
  Device& device_;
  KernelCache kernels_;
  WeightCache weights_;
  Tuner tuner_;
  const Products products_;
  const Precision precision_;
};

}  // namespace ortolan::gpu
