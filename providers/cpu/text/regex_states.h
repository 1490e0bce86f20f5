// The states that a text so far may have led a regular expression to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/text/regex.h"

namespace ortolan::cpu {

inline bool is_word(uint32_t code) {
  return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') || code == '_' || (code >= 'a' && code <= 'z');
}

inline bool inside(const std::vector<Regex::Range>& set, uint32_t code) {
  return std::ranges::any_of(set, [&](Regex::Range range) { return code >= range.first && code <= range.second; });
}

/** Where between two code points the machine is. */
struct RegexPlace {
  bool begin, end, boundary;
};

/** A set of steps that wait for the next code point, in the order they were added; each knows where in the text the
    match that it belongs to begins. Of two ways to a step the first one added stays. */
class RegexStates {
 public:
  explicit RegexStates(const std::vector<Regex::Step>& steps) : steps_(steps.data()), seen_(steps.size()) {}
  void clear() {
    ++round_;
    waiting_.clear();
    matched_ = false;
  }
  struct Waiting {
    uint32_t step;
    size_t begin;
  };
  /** Adds the step and whatever follows from it without taking a code point. */
  void add(uint32_t step, const RegexPlace& place, size_t begin = 0) {
    begin_ = begin;
    stack_.push_back(step);
    while (!stack_.empty()) {
      uint32_t at = stack_.back();
      stack_.pop_back();
      if (seen_[at] == round_) continue;
      seen_[at] = round_;
      visit(at, place);
    }
  }
  const std::vector<Waiting>& waiting() const { return waiting_; }
  /** Whether a match ends here, and where the first one that was added begins. */
  bool matched() const { return matched_; }
  size_t match_begin() const { return match_begin_; }

 private:
  void visit(uint32_t at, const RegexPlace& place) {
    const Regex::Step& step = steps_[at];
    bool passes = true;
    switch (step.op) {
      case Regex::Op::kSet:
        waiting_.push_back({at, begin_});
        return;
      case Regex::Op::kMatch:
        if (!matched_) match_begin_ = begin_;
        matched_ = true;
        return;
      case Regex::Op::kSplit:
        stack_.push_back(step.y);
        stack_.push_back(step.x);
        return;
      case Regex::Op::kTextBegin:
        passes = place.begin;
        break;
      case Regex::Op::kTextEnd:
        passes = place.end;
        break;
      case Regex::Op::kBoundary:
        passes = place.boundary;
        break;
      case Regex::Op::kNoBoundary:
        passes = !place.boundary;
        break;
    }
    if (passes) stack_.push_back(at + 1);
  }

  const Regex::Step* steps_;
  std::vector<uint64_t> seen_;  // the round in which a step was last added
  uint64_t round_ = 1;
  std::vector<Waiting> waiting_;
  std::vector<uint32_t> stack_;
  size_t begin_ = 0, match_begin_ = 0;
  bool matched_ = false;
};

}  // namespace ortolan::cpu
