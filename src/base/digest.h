// Hashes of content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ortolan::base {

/** A number for what was added, piece by piece: equal for equal pieces, and in practice for no others. It guards
    against accidents, not against forgery. */
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void add(std::span<const std::byte> piece);
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/** Sixteen digits. */
std::string hex_of(uint64_t value);

}  // namespace ortolan::base
