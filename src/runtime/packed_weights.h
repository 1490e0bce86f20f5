// The cache of packed weights, shared by content.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/kernel.h"

namespace ortolan::runtime {

/** Finds packed weights by a hash of their content and layout, confirmed by size and type. Thread-safe; may be shared
    between sessions (OrtPrepackedWeightsContainer). */
class PackedWeightsCache : public PackedWeights {
 public:
  std::shared_ptr<void> get(const Tensor& weights, std::string_view layout,
                            FunctionRef<std::shared_ptr<void>()> make) override;

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<void>> packed_;
};

}  // namespace ortolan::runtime
