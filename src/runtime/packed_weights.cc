// The cache of packed weights.
#include "runtime/packed_weights.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ortolan::runtime {

std::shared_ptr<void> PackedWeightsCache::get(const Tensor& weights, std::string_view layout,
                                              FunctionRef<std::shared_ptr<void>()> make) {
  std::string key = join(layout, "|", name_of(weights.type()), weights.shape(), "|");
  if (key_ == WeightsKey::kContent) {
    XXH128_hash_t hash = XXH3_128bits(weights.raw(), weights.byte_count());
    base::append(key, join(hash.high64, ",", hash.low64));
  } else {
    base::append(key, reinterpret_cast<uintptr_t>(weights.raw()));
  }
  std::lock_guard lock(mutex_);
  std::shared_ptr<void>& packed = packed_[key];
  if (packed == nullptr) packed = make();
  return packed;
}

}  // namespace ortolan::runtime
