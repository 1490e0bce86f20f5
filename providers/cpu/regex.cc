// The matching machine of regular expressions: all states that the text so far may have led to, side by side.
#include "cpu/regex.h"

#include <algorithm>

#include "cpu/regex_parser.h"

namespace ortolan::cpu {
namespace {

bool is_word(uint32_t code) {
  return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') || code == '_' || (code >= 'a' && code <= 'z');
}

/** Where between two code points the machine is. */
struct Place {
  bool begin, end, boundary;
};

/** A set of steps that wait for the next code point. */
class States {
 public:
  explicit States(const std::vector<Regex::Step>& steps) : steps_(steps.data()), seen_(steps.size()) {}
  void clear() {
    seen_.assign(seen_.size(), false);
    waiting_.clear();
    matched_ = false;
  }
  /** Adds the step and whatever follows from it without taking a code point. */
  void add(uint32_t step, const Place& place) {
    stack_.push_back(step);
    while (!stack_.empty()) {
      uint32_t at = stack_.back();
      stack_.pop_back();
      if (seen_[at]) continue;
      seen_[at] = true;
      visit(at, place);
    }
  }
  const std::vector<uint32_t>& waiting() const { return waiting_; }
  bool matched() const { return matched_; }

 private:
  void visit(uint32_t at, const Place& place) {
    const Regex::Step& step = steps_[at];
    bool passes = true;
    switch (step.op) {
      case Regex::Op::kSet:
        waiting_.push_back(at);
        return;
      case Regex::Op::kMatch:
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
  std::vector<bool> seen_;
  std::vector<uint32_t> waiting_, stack_;
  bool matched_ = false;
};

}  // namespace

Regex::Regex(std::string_view pattern) {
  RegexProgram program = parse_regex(pattern);
  steps_ = std::move(program.steps);
  sets_ = std::move(program.sets);
}

bool Regex::matches(std::string_view text) const {
  States now(steps_), next(steps_);
  bool before = false;  // whether a word character precedes
  size_t at = 0;
  auto place_at = [&](size_t position) {
    bool after = position < text.size() && is_word(static_cast<uint8_t>(text[position]));
    return Place{position == 0, position == text.size(), before != after};
  };
  now.add(0, place_at(0));
  while (at < text.size() && !now.waiting().empty()) {
    uint32_t code = next_code_point(text, at);
    before = is_word(code);
    Place place = place_at(at);
    next.clear();
    for (uint32_t step : now.waiting()) {
      const auto& set = sets_[steps_[step].x];
      bool inside = std::ranges::any_of(set, [&](Range range) { return code >= range.first && code <= range.second; });
      if (inside) next.add(step + 1, place);
    }
    std::swap(now, next);
  }
  return at == text.size() && now.matched();
}

uint32_t next_code_point(std::string_view text, size_t& at) {
  auto byte = static_cast<uint8_t>(text[at]);
  size_t length = byte < 0x80                   ? 1
                  : byte >= 0xf0 && byte < 0xf8 ? 4
                  : byte >= 0xe0 && byte < 0xf0 ? 3
                  : byte >= 0xc0 && byte < 0xe0 ? 2
                                                : 0;
  uint32_t code = length <= 1 ? byte : byte & (0x7fu >> length);
  bool valid = length > 0 && length <= text.size() - at;
  for (size_t i = 1; valid && i < length; ++i) {
    auto next = static_cast<uint8_t>(text[at + i]);
    valid = (next & 0xc0) == 0x80;
    code = code << 6 | (next & 0x3f);
  }
  at += valid ? length : 1;
  return valid ? code : byte;
}

}  // namespace ortolan::cpu
