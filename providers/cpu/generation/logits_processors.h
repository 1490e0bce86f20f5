// Changes to the scores of the next token before one is chosen: penalties, masks, forced and forbidden tokens.
#pragma once

#include <functional>
#include <vector>

#include "cpu/generation/parameters.h"
#include "cpu/generation/sequences.h"

namespace ortolan::cpu::generation {

/** One row's place in a run. */
struct RowState {
  std::span<const int32_t> tokens;  // so far
  int64_t entry;                    // of the batch
  int64_t step;                     // from 0
};

/** Those that attributes and inputs ask for, in this order: repetition penalty, forbidden n-grams, vocabulary masks,
    least length, temperature, presence penalty, Whisper's timestamps, forced tokens. Ids of prompt tokens outside the
    vocabulary have no score, so they change nothing. The parameters must outlive it. */
class LogitsProcessors {
 public:
  LogitsProcessors(const Attributes& attributes, const Parameters& parameters, int64_t vocabulary);
  /** Changes scores = [rows][vocabulary] for the token after `sequences`. */
  void apply(ThreadPool& threads, const Sequences& sequences, int64_t step, std::span<float> scores) const;

 private:
  using Processor = std::function<void(const RowState&, std::span<float>)>;
  void add_penalties(const Attributes& attributes, const Parameters& parameters);
  void add_masks(const Parameters& parameters);
  void add_whisper(const Attributes& attributes, const Parameters& parameters);

  int64_t vocabulary_, beams_;
  std::vector<Processor> processors_;
};

}  // namespace ortolan::cpu::generation
