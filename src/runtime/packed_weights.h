// The cache of packed weights.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/kernel.h"

namespace ortolan::runtime {

/** How a cache knows equal weights. */
enum class WeightsKey {
  kOwner,    // the same place in memory of the same owner, dead owners never being taken for living ones; without an
             // owner, the content: enough within one session
  kContent,  // a hash of the bytes, so that sessions of different files share (OrtPrepackedWeightsContainer)
};

/** Finds packed weights by memory or content, layout, type and shape. Thread-safe. */
class PackedWeightsCache : public PackedWeights {
 public:
  explicit PackedWeightsCache(WeightsKey key) : key_(key) {}
  /** Throws where the weights' memory was given back. */
  std::shared_ptr<void> get(const Tensor& weights, std::string_view layout,
                            FunctionRef<std::shared_ptr<void>()> make) override;
  /** True when other sessions may get what is packed here. */
  bool across_sessions() const { return key_ == WeightsKey::kContent; }

 private:
  /** One form of some weights. The owner is not kept alive, but while it is named here no other can be equal to it. */
  struct Key {
    std::weak_ptr<void> owner;
    const void* place = nullptr;  // only beside an owner
    std::string text;
    bool operator<(const Key& other) const;
  };
  Key key_of(const Tensor& weights, std::string_view layout) const;

  const WeightsKey key_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<void>> packed_;
};

}  // namespace ortolan::runtime
