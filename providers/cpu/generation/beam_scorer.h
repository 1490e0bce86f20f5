// Beam search: the likeliest continuations of several rows an entry, and the best sequences that have ended.
#pragma once

#include <vector>

#include "cpu/generation/parameters.h"
#include "cpu/generation/token_chooser.h"

namespace ortolan::cpu::generation {

/** One sequence that has ended, and its score: the sum of log-probabilities / length^length_penalty. */
struct Hypothesis {
  float score;
  std::vector<int32_t> tokens;  // without the token that ended it
};

/** The best ended sequences of one entry, best first; earlier ones first among equals. */
class Hypotheses {
 public:
  void add(float score, std::span<const int32_t> tokens, size_t most);
  bool holds(size_t count) const { return best_.size() >= count; }
  float worst() const { return best_.back().score; }
  const Hypothesis& operator[](size_t i) const { return best_[i]; }

 private:
  std::vector<Hypothesis> best_;
};

/** A token that may continue a beam. */
struct Candidate {
  float score;
  int32_t beam;
  int32_t token;
};

/** The `count` best of scores = [beams][vocabulary], best first, lower places first among equals; NaN counts as the
    lowest. There must be as many scores. */
std::vector<Candidate> best_candidates(std::span<const float> scores, int64_t vocabulary, size_t count);

class BeamScorer final : public TokenChooser {
 public:
  /** Throws where the vocabulary has fewer than two tokens. `log` has room for the
      scores of all steps, which are written there; NULL if nobody asked. */
  BeamScorer(const Attributes& attributes, const Parameters& parameters, int64_t vocabulary, ThreadPool& threads,
             float* log);

  bool wants_log_probabilities() const override { return true; }
  void choose(std::span<float> scores, const Sequences& sequences) override;
  std::span<const int32_t> tokens() const override { return tokens_; }
  std::span<const int32_t> parents() const override { return parents_; }
  bool done() const override;

  /** Takes the rows of entries that are not done as ended. Then best(entry, i) is valid for i < beams. */
  void finish(const Sequences& sequences);
  const Hypothesis& best(int64_t entry, int64_t i) const { return ended_[entry][static_cast<size_t>(i)]; }

 private:
  void choose_for(int64_t entry, std::span<const float> scores, const Sequences& sequences);
  void set(int64_t row, float score, int32_t token, int64_t parent);
  float final_score(float sum, int64_t length) const;

  int64_t beams_, vocabulary_;
  float length_penalty_;
  bool early_stopping_;
  int32_t eos_, pad_;
  ThreadPool& threads_;
  float* log_;
  std::vector<float> sums_;  // of log-probabilities, one a row
  std::vector<int32_t> tokens_, parents_;
  std::vector<Hypotheses> ended_;  // one an entry
  std::vector<uint8_t> done_;
};

}  // namespace ortolan::cpu::generation
