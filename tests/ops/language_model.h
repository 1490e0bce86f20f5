// Tiny language models for tests of generation: graphs, and the same step by hand in double.
#pragma once

#include "graph_builder.h"

namespace ortolan::test {

/** Random tables. A token's logits are last[t] + weight * (sum of the states of all tokens so far) + what the entry
    of the batch adds; the state of a token is code[t] + 0.01 * its position. */
struct LanguageModel {
  LanguageModel(int64_t vocabulary, uint32_t seed);

  int64_t vocabulary;
  Tensor last, weight, code;

  /** The logits after tokens with these positions; `mask_sum` counts the tokens that a mask lets through. */
  std::vector<double> logits(const std::vector<int32_t>& tokens, const std::vector<int32_t>& positions,
                             double mask_sum) const;
};

/** The decoder of a GPT: inputs input_ids, position_ids, attention_mask, past_0; outputs logits, present_0. States and
    logits have that type. */
void build_gpt(GraphBuilder& graph, const LanguageModel& model, ElementType type = ElementType::kFloat);
/** The same for models with an encoder, whose states have no positions: logits gain 0.1 * weight * the sum of the
   source (token ids where the mask is 1, or features). The state's key holds the sum, its value is the key again. */
struct EncoderOptions {
  bool features = false;  // Whisper: the source is features, and there is no mask
  bool logits = true;     // the encoder runs the first tokens, too
  bool hidden = false;    // the decoder takes the encoder's hidden states (and adds nothing from them)
  bool source = false;    // the decoder takes the encoder's ids, and their sum from there
};
void build_encoder(GraphBuilder& graph, const LanguageModel& model, const EncoderOptions& options);
void build_decoder(GraphBuilder& graph, const LanguageModel& model, const EncoderOptions& options);

/** What a search by hand knows of one sequence. */
struct SearchOptions {
  int64_t beams = 1, max_length = 8, min_length = 0, no_repeat = 0;
  int32_t eos = -1;
  double length_penalty = 1, repetition = 1;
  bool early_stopping = false;
  std::vector<int32_t> vocab_mask, prefix_mask;  // empty: none
};
struct Found {
  double score;
  std::vector<int32_t> tokens;
};
using StepFunction = FunctionRef<std::vector<double>(const std::vector<int32_t>& tokens)>;
/** Beam search in the plainest form, best first; `step` gives logits. Greedy search where beams is 1 differs only in
    that it does not see ended sequences. */
std::vector<Found> beam_search(const SearchOptions& options, const std::vector<int32_t>& prompt, StepFunction step);
std::vector<int32_t> greedy_search(const SearchOptions& options, const std::vector<int32_t>& prompt, int32_t pad,
                                   StepFunction step);

}  // namespace ortolan::test
