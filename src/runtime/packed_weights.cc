// The cache of packed weights.
#include "runtime/packed_weights.h"

#include <tuple>

#include "tensor/external_place.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ortolan::runtime {

bool PackedWeightsCache::Key::operator<(const Key& other) const {
  if (owner.owner_before(other.owner)) return true;
  if (other.owner.owner_before(owner)) return false;
  return std::tie(place, text) < std::tie(other.place, other.text);
}

PackedWeightsCache::Key PackedWeightsCache::key_of(const Tensor& weights, std::string_view layout) const {
  Key key;
  key.text = join(layout, "|", name_of(weights.type()), weights.shape(), "|");
  if (key_ == WeightsKey::kOwner && weights.owner() != nullptr) {
    key.owner = memory_owner(weights);
    key.place = weights.raw();
    return key;
  }
  XXH128_hash_t hash = XXH3_128bits(weights.raw(), weights.byte_count());
  base::append(key.text, join(weights.byte_count(), ",", hash.high64, ",", hash.low64));
  return key;
}

std::shared_ptr<void> PackedWeightsCache::get(const Tensor& weights, std::string_view layout,
                                              FunctionRef<std::shared_ptr<void>()> make) {
  require(weights.raw() != nullptr || weights.byte_count() == 0, ErrorCode::kRuntimeException, "weights of shape ",
          weights.shape(), " are to be packed as '", layout, "', but their memory was given back");
  Key key = key_of(weights, layout);
  std::lock_guard lock(mutex_);
  std::shared_ptr<void>& packed = packed_[std::move(key)];
  if (packed == nullptr) packed = make();
  return packed;
}

}  // namespace ortolan::runtime
