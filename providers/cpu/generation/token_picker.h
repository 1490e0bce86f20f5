// One token a row from its logits: the best, or one drawn from the likeliest.
#pragma once

#include <random>
#include <vector>

#include "cpu/generation/parameters.h"
#include "cpu/generation/token_chooser.h"

namespace ortolan::cpu::generation {

/** The first of the largest scores; NaN counts as the lowest. `scores` must not be empty. */
int32_t best_token(std::span<const float> scores);

/** Sets the logits that top-p sampling leaves out to `filter_value`. Usual: tokens are left out from the unlikeliest
    on, while the sum of their probabilities stays within 1 - top_p, but the last min_tokens_to_keep stay. Custom: the
    likeliest stay until their sum exceeds top_p. */
void filter_top_p(const Attributes& attributes, std::span<float> logits);

/** Draws by the probabilities of the finite logits; equal seeds give equal tokens. */
class TokenSampler {
 public:
  explicit TokenSampler(uint32_t seed) : generator_(seed) {}
  int32_t draw(std::span<const float> logits);

 private:
  std::minstd_rand0 generator_;
  std::vector<double> sums_;
};

/** The rows that have met the end get padding. */
class TokenPicker final : public TokenChooser {
 public:
  /** Draws where `samples`, else takes the best. */
  TokenPicker(const Attributes& attributes, const Parameters& parameters, int64_t vocabulary, bool samples);

  void choose(std::span<float> scores, const Sequences& sequences) override;
  std::span<const int32_t> tokens() const override { return tokens_; }
  bool done() const override;

 private:
  const Attributes& attributes_;
  int64_t vocabulary_;
  bool samples_;
  TokenSampler sampler_;
  std::vector<int32_t> tokens_;
  std::vector<uint8_t> ended_;
};

}  // namespace ortolan::cpu::generation
