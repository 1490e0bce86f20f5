// Compares the memory of outputs with that of inputs.
#include "gpu/core/output_places.h"

#include <algorithm>

namespace ortolan::gpu {
namespace {

bool is_same(const BufferRange& a, const BufferRange& b) {
  return a.buffer == b.buffer && a.offset == b.offset && a.bytes == b.bytes;
}

bool overlap(const BufferRange& a, const BufferRange& b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

}  // namespace

int64_t OutputPlaces::inputs_beside(size_t output) const {
  return std::count_if(inputs_.begin(), inputs_.end(),
                       [&](const GroupInput& input) { return overlap(input.range, places_[output]); });
}

bool OutputPlaces::are_in_place(std::span<const Overwrite> overwrites) const {
  return !overwrites.empty() && std::all_of(overwrites.begin(), overwrites.end(), [&](const Overwrite& pair) {
    auto output = static_cast<size_t>(pair.output);
    return is_same(inputs_[static_cast<size_t>(pair.input)].range, places_[output]) && inputs_beside(output) == 1;
  });
}

std::span<const BufferRange> OutputPlaces::settle(std::span<const Overwrite> in_place) {
  for (size_t i = 0; i < places_.size(); i++) {
    bool stays = std::any_of(in_place.begin(), in_place.end(),
                             [&](const Overwrite& pair) { return pair.output == static_cast<int>(i); });
    if (stays || inputs_beside(i) == 0) continue;
    apart_.push_back({places_[i], device_.allocate(places_[i].bytes)});
    places_[i] = {apart_.back().buffer.get(), 0, places_[i].bytes};
  }
  return places_;
}

void OutputPlaces::deliver(Queue& queue) {
  for (const Apart& apart : apart_) queue.copy(apart.place, {apart.buffer.get(), 0, apart.place.bytes});
}

}  // namespace ortolan::gpu
