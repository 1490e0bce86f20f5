// The cache of packed weights.
#include "runtime/kernels/packed_weights.h"

#include <tuple>

#include "runtime/session/prepared_model.h"
#include "tensor/external_place.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ortolan::runtime {

bool PackedWeightsCache::Key::operator<(const Key& other) const {
  if (owner.owner_before(other.owner)) return true;
  if (other.owner.owner_before(owner)) return false;
  return std::tie(place, text) < std::tie(other.place, other.text);
}

PackedWeightsCache::Key PackedWeightsCache::key_of(const Tensor& weights, std::string form) const {
  Key key;
  key.text = std::move(form);
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
  const std::string form = join(layout, "|", name_of(weights.type()), weights.shape(), "|");
  Key key = key_of(weights, form);
  std::lock_guard lock(mutex_);
  std::shared_ptr<void>& packed = packed_[std::move(key)];
  if (packed == nullptr) packed = make_form(weights, form, make);
  return packed;
}

std::shared_ptr<void> PackedWeightsCache::make_form(const Tensor& weights, const std::string& form,
                                                    FunctionRef<std::shared_ptr<void>()> make) {
  if (const base::PackedParts* kept = prepared_ != nullptr ? prepared_->find(weights, form) : nullptr) {
    const base::TakesParts taking(*kept);
    auto made = make();
    taking.check_all_taken();
    ++counts_.taken;
    return made;
  }
  ++counts_.made;
  if (!notes_) return make();
  auto parts = std::make_unique<base::PackedParts>();
  std::shared_ptr<void> made;
  {
    const base::NotesParts noting(*parts);
    made = make();
  }
  noted_.push_back({weights.raw(), weights.byte_count(), form, std::move(parts)});
  return made;
}

}  // namespace ortolan::runtime
