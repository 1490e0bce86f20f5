// Digests by XXH3.
#include "base/digest.h"

#include <cstdio>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ortolan::base {

struct alignas(64) Digest::State {
  XXH3_state_t hash;
};

Digest::Digest() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->hash); }
Digest::~Digest() = default;

void Digest::add(std::span<const std::byte> piece) {
  const uint64_t size = piece.size();
  XXH3_64bits_update(&state_->hash, &size, sizeof size);
  XXH3_64bits_update(&state_->hash, piece.data(), piece.size());
}

uint64_t Digest::value() const { return XXH3_64bits_digest(&state_->hash); }

std::string hex_of(uint64_t value) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

}  // namespace ortolan::base
