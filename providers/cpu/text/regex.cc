// Regular expressions: an automaton where it is small, else all states that the text so far may have led to, side by
// side.
#include "cpu/text/regex.h"

#include <algorithm>
#include <cstring>

#include "base/threads/polled_loop.h"
#include "cpu/text/regex_automaton.h"
#include "cpu/text/regex_parser.h"
#include "cpu/text/regex_states.h"

namespace ortolan::cpu {
namespace {

using States = RegexStates;

/** The place before byte `at`, given the byte that precedes (or a code point beyond ASCII). */
RegexPlace place_at(std::string_view text, size_t at, bool after_word) {
  bool before_word = at < text.size() && is_word(static_cast<uint8_t>(text[at]));
  return {at == 0, at == text.size(), after_word != before_word};
}

}  // namespace

Regex::Regex(std::string_view pattern) {
  RegexProgram program = parse_regex(pattern);
  steps_ = std::move(program.steps);
  sets_ = std::move(program.sets);
  find_first_bytes();
  automaton_ = RegexAutomaton::build(steps_, sets_);
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
  if (automaton_) return automaton_->matches(text);
  States now(steps_), next(steps_);
  base::TerminatePoll poll;
  size_t at = 0;
  now.add(0, place_at(text, 0, false));
  while (at < text.size() && !now.waiting().empty()) {
    uint32_t code = next_code_point(text, at);
    RegexPlace place = place_at(text, at, is_word(code));
    next.clear();
    poll.work(8 + 8 * std::ssize(now.waiting()));
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

RegexSearch::RegexSearch(const Regex& regex) : regex_(&regex) {}
RegexSearch::~RegexSearch() = default;
RegexSearch::RegexSearch(RegexSearch&&) noexcept = default;

size_t RegexSearch::skip(std::string_view text, size_t at) const {
  if (regex_->may_be_empty_) return at;
  while (at < text.size() && !regex_->first_[static_cast<uint8_t>(text[at])]) ++at;
  return at;
}

std::optional<RegexSearch::Match> RegexSearch::find(std::string_view text, size_t from) {
  if (from > text.size()) return std::nullopt;
  if (!regex_->automaton_) return find_side_by_side(text, from);
  // Each attempt begins one place further, so that many long ones would take time that grows with the text's square.
  size_t left = 64 + 8 * (text.size() - from);
  for (size_t at = skip(text, from);; at = skip(text, at)) {
    auto [end, read] = regex_->automaton_->longest(text, at);
    if (end != std::string_view::npos) return Match(at, end);
    if (at == text.size()) return std::nullopt;
    next_code_point(text, at);
    if (read - at > left) return find_side_by_side(text, at);
    left -= read > at ? read - at : 0;
  }
}

std::optional<RegexSearch::Match> RegexSearch::find_side_by_side(std::string_view text, size_t from) {
  if (!scratch_) scratch_ = std::make_unique<Scratch>(regex_->steps_);
  States &now = scratch_->now, &next = scratch_->next;
  now.clear();
  std::optional<Match> found;
  size_t at = from;
  auto place_before = [&] { return place_at(text, at, at > 0 && is_word(static_cast<uint8_t>(text[at - 1]))); };
  RegexPlace place = place_before();
  base::TerminatePoll poll;
  while (true) {
    if (!found && !now.matched() && now.waiting().empty()) {
      size_t before = std::exchange(at, skip(text, at));
      if (at != before) place = place_before();
    }
    if (!found) now.add(0, place, at);  // last, so that it yields to matches that began before
    if (now.matched() && (!found || now.match_begin() <= found->first)) found = {now.match_begin(), at};
    if (at == text.size() || (found && now.waiting().empty())) return found;
    uint32_t code = next_code_point(text, at);
    place = place_at(text, at, is_word(code));
    next.clear();
    poll.work(8 + 8 * std::ssize(now.waiting()));
    for (const auto& [step, begin] : now.waiting()) {
      if (found && begin > found->first) break;
      if (inside(regex_->sets_[regex_->steps_[step].x], code)) next.add(step + 1, place, begin);
    }
    std::swap(now, next);
  }
}

namespace {

template <class Word>
bool any_high_bit(const char* bytes, size_t count) {
  constexpr Word kHighBits = static_cast<Word>(0x8080808080808080u);
  Word all = 0, word;
  for (size_t at = 0; at + sizeof(Word) <= count; at += sizeof(Word)) {
    std::memcpy(&word, bytes + at, sizeof(Word));
    all |= word;
  }
  std::memcpy(&word, bytes + count - sizeof(Word), sizeof(Word));  // the last ones, some of them again
  return ((all | word) & kHighBits) != 0;
}

bool is_ascii(std::string_view text) {
  size_t count = text.size();
  if (count >= 8) return !any_high_bit<uint64_t>(text.data(), count);
  if (count >= 4) return !any_high_bit<uint32_t>(text.data(), count);
  return count == 0 || ((text[0] | text[count / 2] | text[count - 1]) & 0x80) == 0;
}

}  // namespace

std::optional<size_t> count_code_points(std::string_view text) {
  if (is_ascii(text)) return text.size();
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) {
    size_t end = end_of_character(text, at);
    if (end == 0) return std::nullopt;
    at = end;
  }
  return count;
}

size_t end_beyond_ascii(std::string_view text, size_t at) {
  size_t end = at;
  next_code_point(text, end);
  return end - at == 1 ? 0 : end;
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
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  valid = valid && code >= kLeast[length] && code <= 0x10ffff && (code < 0xd800 || code >= 0xe000);
  at += valid ? length : 1;
  return valid ? code : byte;
}

}  // namespace ortolan::cpu
