// SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012).
#include "base/text_hash.h"

#include <sys/random.h>

#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>

namespace ortolan::base {
namespace {

struct Key {
  uint64_t low = 0, high = 0;
};

Key drawn_key() {
  Key key;
  if (getrandom(&key, sizeof key, GRND_NONBLOCK) == static_cast<ssize_t>(sizeof key)) return key;
  key.low = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  key.high = reinterpret_cast<uintptr_t>(&key);
  return key;
}

const Key& process_key() {
  static const Key key = drawn_key();
  return key;
}

struct State {
  uint64_t v0, v1, v2, v3;

  explicit State(const Key& key)
      : v0(key.low ^ 0x736f6d6570736575u),
        v1(key.high ^ 0x646f72616e646f6du),
        v2(key.low ^ 0x6c7967656e657261u),
        v3(key.high ^ 0x7465646279746573u) {}

  void round() {
    v0 += v1, v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0, v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1, v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2, v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }
  void take(uint64_t word) {
    v3 ^= word;
    round();
    v0 ^= word;
  }
  uint64_t result() {
    v2 ^= 0xff;
    for (int i = 0; i < 3; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

}  // namespace

size_t TextHash::operator()(std::string_view text) const {
  State state(process_key());
  const char* at = text.data();
  size_t left = text.size();
  for (uint64_t word; left >= sizeof word; at += sizeof word, left -= sizeof word) {
    std::memcpy(&word, at, sizeof word);
    state.take(word);
  }
  uint64_t last = static_cast<uint64_t>(text.size()) << 56;
  for (size_t i = 0; i < left; ++i) last |= uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
  state.take(last);
  return static_cast<size_t>(state.result());
}

}  // namespace ortolan::base
