// The token sequences of all rows, of equal length.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace ortolan::cpu::generation {

class Sequences {
 public:
  /** Starts with `prompt` = [batch][length]; each entry of the batch gives `copies` rows. */
  Sequences(std::span<const int32_t> prompt, int64_t length, int64_t copies, int64_t max_length)
      : max_length_(max_length),
        length_(length),
        rows_(length == 0 ? 0 : static_cast<int64_t>(prompt.size()) / length * copies),
        tokens_(static_cast<size_t>(rows_ * max_length)) {
    for (int64_t row = 0; row < rows_; ++row) {
      std::copy_n(prompt.data() + row / copies * length, length, tokens_.data() + row * max_length);
    }
  }

  int64_t rows() const { return rows_; }
  int64_t length() const { return length_; }
  bool full() const { return length_ >= max_length_; }
  std::span<const int32_t> row(int64_t row) const {
    return {tokens_.data() + row * max_length_, static_cast<size_t>(length_)};
  }

  /** Row i becomes what row parents[i] was, with tokens[i] behind; without parents rows stay where they are. Only
      while not full(). */
  void append(std::span<const int32_t> tokens, std::span<const int32_t> parents) {
    if (!parents.empty()) {
      other_.resize(tokens_.size());
      for (int64_t i = 0; i < rows_; ++i) {
        std::copy_n(tokens_.data() + parents[i] * max_length_, length_, other_.data() + i * max_length_);
      }
      tokens_.swap(other_);
    }
    for (int64_t i = 0; i < rows_; ++i) tokens_[i * max_length_ + length_] = tokens[i];
    ++length_;
  }

 private:
  int64_t max_length_, length_, rows_;
  std::vector<int32_t> tokens_, other_;
};

}  // namespace ortolan::cpu::generation
