// The cache of packed weights, shared by content.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/kernel.h"

namespace ortolan::runtime {

/** How a cache knows equal weights. */
enum class WeightsKey {
  kAddress,  // the same memory: enough within one session, whose initializers stay where they are
  kContent,  // a hash of the bytes, so that sessions of different files share (OrtPrepackedWeightsContainer)
};

/** Finds packed weights by memory or content, layout, type and shape. Thread-safe. */
class PackedWeightsCache : public PackedWeights {
 public:
  explicit PackedWeightsCache(WeightsKey key) : key_(key) {}
  std::shared_ptr<void> get(const Tensor& weights, std::string_view layout,
                            FunctionRef<std::shared_ptr<void>()> make) override;
  /** True when other sessions may get what is packed here. */
  bool across_sessions() const { return key_ == WeightsKey::kContent; }

 private:
  const WeightsKey key_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<void>> packed_;
};

}  // namespace ortolan::runtime
