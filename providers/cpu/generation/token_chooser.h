// How the next token of each row is chosen.
#pragma once

#include <span>

#include "cpu/generation/sequences.h"

namespace ortolan::cpu::generation {

class TokenChooser {
 public:
  virtual ~TokenChooser() = default;
  /** True where choose() takes log-probabilities, false for logits. */
  virtual bool wants_log_probabilities() const { return false; }
  /** Chooses from scores = [rows][vocabulary], which it may change. */
  virtual void choose(std::span<float> scores, const Sequences& sequences) = 0;
  /** The tokens chosen, one a row; and the row that each one continues, empty where that is its own. */
  virtual std::span<const int32_t> tokens() const = 0;
  virtual std::span<const int32_t> parents() const { return {}; }
  /** True when no row needs another token. */
  virtual bool done() const = 0;
};

}  // namespace ortolan::cpu::generation
