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

/** The place before byte `at`, given the byte that precedes (or a code point beyond ASCII). */
Place place_at(std::string_view text, size_t at, bool after_word) {
  bool before_word = at < text.size() && is_word(static_cast<uint8_t>(text[at]));
  return {at == 0, at == text.size(), after_word != before_word};
}

bool inside(const std::vector<Regex::Range>& set, uint32_t code) {
  return std::ranges::any_of(set, [&](Regex::Range range) { return code >= range.first && code <= range.second; });
}

/** A set of steps that wait for the next code point, in the order they were added; each knows where in the text the
    match that it belongs to begins. Of two ways to a step the first one added stays. */
class States {
 public:
  explicit States(const std::vector<Regex::Step>& steps) : steps_(steps.data()), seen_(steps.size()) {}
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
  void add(uint32_t step, const Place& place, size_t begin = 0) {
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
  void visit(uint32_t at, const Place& place) {
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

}  // namespace

Regex::Regex(std::string_view pattern) {
  RegexProgram program = parse_regex(pattern);
  steps_ = std::move(program.steps);
  sets_ = std::move(program.sets);
  find_first_bytes();
}

void Regex::find_first_bytes() {
  States states(steps_);
  for (bool begin : {false, true}) {
    for (bool boundary : {false, true}) {
      for (bool end : {false, true}) {
        states.clear();
        states.add(0, {begin, end, boundary});
        may_be_empty_ = may_be_empty_ || states.matched();
        for (const auto& [step, unused] : states.waiting()) {
          for (auto [low, high] : sets_[steps_[step].x]) {
            for (uint32_t byte = 0; byte < 256; ++byte) {
              first_[byte] = first_[byte] || (byte < 0x80 ? byte >= low && byte <= high : high >= 0x80);
            }
          }
        }
      }
    }
  }
}

bool Regex::matches(std::string_view text) const {
  States now(steps_), next(steps_);
  size_t at = 0;
  now.add(0, place_at(text, 0, false));
  while (at < text.size() && !now.waiting().empty()) {
    uint32_t code = next_code_point(text, at);
    Place place = place_at(text, at, is_word(code));
    next.clear();
    for (const auto& [step, begin] : now.waiting()) {
      if (inside(sets_[steps_[step].x], code)) next.add(step + 1, place);
    }
    std::swap(now, next);
  }
  return at == text.size() && now.matched();
}

struct RegexSearch::Scratch {
  explicit Scratch(const std::vector<Regex::Step>& steps) : now(steps), next(steps) {}
  States now, next;
};

RegexSearch::RegexSearch(const Regex& regex) : regex_(&regex), scratch_(std::make_unique<Scratch>(regex.steps_)) {}
RegexSearch::~RegexSearch() = default;
RegexSearch::RegexSearch(RegexSearch&&) noexcept = default;

std::optional<std::pair<size_t, size_t>> RegexSearch::find(std::string_view text, size_t from) {
  if (from > text.size()) return std::nullopt;
  States &now = scratch_->now, &next = scratch_->next;
  now.clear();
  std::optional<std::pair<size_t, size_t>> found;
  size_t at = from;
  auto place_before = [&] { return place_at(text, at, at > 0 && is_word(static_cast<uint8_t>(text[at - 1]))); };
  Place place = place_before();
  while (true) {
    if (!found && !now.matched() && now.waiting().empty() && !regex_->may_be_empty_) {
      size_t before = at;
      while (at < text.size() && !regex_->first_[static_cast<uint8_t>(text[at])]) ++at;
      if (at != before) place = place_before();
    }
    if (!found) now.add(0, place, at);  // last, so that it yields to matches that began before
    if (now.matched() && (!found || now.match_begin() <= found->first)) found = {now.match_begin(), at};
    if (at == text.size() || (found && now.waiting().empty())) return found;
    uint32_t code = next_code_point(text, at);
    place = place_at(text, at, is_word(code));
    next.clear();
    for (const auto& [step, begin] : now.waiting()) {
      if (found && begin > found->first) break;
      if (inside(regex_->sets_[regex_->steps_[step].x], code)) next.add(step + 1, place, begin);
    }
    std::swap(now, next);
  }
}

std::optional<size_t> count_code_points(std::string_view text) {
  size_t count = 0, at = 0;
  if (std::ranges::all_of(text, [](char c) { return static_cast<uint8_t>(c) < 0x80; })) return text.size();
  while (at < text.size()) {
    bool ascii = static_cast<uint8_t>(text[at]) < 0x80;
    size_t before = at;
    uint32_t code = next_code_point(text, at);
    size_t length = at - before;
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    bool surrogate = code >= 0xd800 && code < 0xe000;
    if (!ascii && (length == 1 || code < kLeast[length] || surrogate || code > 0x10ffff)) return std::nullopt;
    ++count;
  }
  return count;
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
