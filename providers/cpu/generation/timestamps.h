// Whisper's rule for timestamp tokens.
#pragma once

#include "cpu/generation/parameters.h"

namespace ortolan::cpu::generation {

/** Timestamps come in pairs (but for the first), never decrease, start within the first second, and one is chosen
    wherever all of them together are likelier than the likeliest text token. */
class TimestampRule {
 public:
  /** Throws where the first timestamp is not a token of the vocabulary. */
  TimestampRule(const Attributes& attributes, int64_t vocabulary);
  void apply(std::span<const int32_t> tokens, std::span<float> scores) const;

 private:
  void keep_pairs(std::span<const int32_t> tokens, size_t begin, std::span<float> scores) const;
  void prefer_timestamp(std::span<float> scores) const;
  bool is_timestamp(int32_t token) const { return token >= whisper_.first_timestamp; }

  WhisperTokens whisper_;
  int32_t start_, eos_;
};

}  // namespace ortolan::cpu::generation
