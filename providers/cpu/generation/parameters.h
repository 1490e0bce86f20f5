// What a generation node says in its attributes and, for each run, in its inputs.
#pragma once

#include <limits>
#include <span>

#include "runtime/kernels/kernel.h"

namespace ortolan::cpu::generation {
using namespace runtime;

/** The most tokens of a sequence and the most beams of an entry; more is refused, so that memory is bounded. */
inline constexpr int64_t kMostTokens = 4096;
inline constexpr int64_t kMostBeams = 128;
/** The score of a token that may not be chosen. */
inline constexpr float kForbidden = std::numeric_limits<float>::lowest();

/** The places of inputs in one operator; -1 where it has no such input. */
struct InputPlaces {
  int num_beams = -1, num_return_sequences = -1, length_penalty = -1, repetition_penalty, vocab_mask, prefix_vocab_mask,
      attention_mask, decoder_input_ids = -1, logits_processor = -1, extra_decoding_ids = -1, temperature = -1,
      presence_mask = -1, seed = -1;
};

/** Ids of tokens that mean something to Whisper; -1 where not stated. */
struct WhisperTokens {
  int32_t translate, transcribe, start_of_lm, no_speech, no_timestamps, first_timestamp;
};

/** The attributes, read and checked once. */
struct Attributes {
  explicit Attributes(const Node& node);

  int32_t eos, pad, start;  // start is -1 where not stated
  int64_t vocabulary;       // not positive: that of the logits
  int64_t no_repeat_ngram;
  bool early_stopping;
  WhisperTokens whisper;
  float temperature, top_p, filter_value, presence_penalty;
  int64_t min_tokens_to_keep;
  bool custom;
};

/** The inputs of one run, checked; spans are empty where an input is missing. */
struct Parameters {
  Parameters(const KernelContext& context, const InputPlaces& places, const Attributes& attributes);

  int64_t batch = 0, max_length = 0, min_length = 0, beams = 1, returned = 1;
  float length_penalty = 1, repetition_penalty = 1, temperature = 1;
  int64_t logits_processor = 0;
  uint32_t seed = 0;
  const Tensor* attention_mask = nullptr;
  const Tensor* decoder_ids = nullptr;
  std::span<const int32_t> vocab_mask, prefix_mask, presence_mask;  // checked by require_vocabulary
  std::span<const int32_t> forced;                                  // [batch, forced_length]
  int64_t forced_length = 0;

  int64_t rows() const { return batch * beams; }
  /** Throws unless the masks are for a vocabulary of that size. */
  void require_vocabulary(int64_t size) const;
};

}  // namespace ortolan::cpu::generation
