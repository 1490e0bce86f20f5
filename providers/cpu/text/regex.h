// Regular expressions matched in time linear in the text: the common syntax without back references and lookaround.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace ortolan::cpu {

class RegexAutomaton;

/** A compiled pattern over the code points of UTF-8 text: alternation, groups, classes, counted repetition, ^ $ \A \z
    \b \B and the classes \d \w \s (ASCII). Whether repetition is lazy makes no difference, neither to a match of the
    whole text nor to the longest one. Immutable; threads may share it. */
class Regex {
 public:
  /** Throws kInvalidArgument with the position for a pattern it cannot read, or one that becomes too large. */
  explicit Regex(std::string_view pattern);
  /** True when the pattern matches all of `text`. */
  bool matches(std::string_view text) const;

  /** Code points from first to second. */
  using Range = std::pair<uint32_t, uint32_t>;
  enum class Op : uint8_t { kSet, kSplit, kTextBegin, kTextEnd, kBoundary, kNoBoundary, kMatch };
  /** kSet takes a code point in sets[x]; kSplit goes on at x and at y; the others go on with the next one. */
  struct Step {
    Op op;
    uint32_t x = 0, y = 0;
  };

 private:
  friend class RegexSearch;
  void find_first_bytes();

  std::vector<Step> steps_;
  std::vector<std::vector<Range>> sets_;
  std::array<bool, 256> first_{};  // the bytes that a match of something may begin with
  bool may_be_empty_ = false;
  std::shared_ptr<const RegexAutomaton> automaton_;  // nullptr where it would be large
};

/** Searches by one pattern, which must outlive it; for one thread. */
class RegexSearch {
 public:
  explicit RegexSearch(const Regex& regex);
  ~RegexSearch();
  RegexSearch(RegexSearch&&) noexcept;
  /** The first and the end byte of the leftmost match that begins at `from` or later, of these the longest; nothing
      where there is none. What stands before `from` is seen by ^, \b and the like. */
  using Match = std::pair<size_t, size_t>;
  std::optional<Match> find(std::string_view text, size_t from);

 private:
  struct Scratch;
  /** The first place from `at` on where a match may begin. */
  size_t skip(std::string_view text, size_t at) const;
  std::optional<Match> find_side_by_side(std::string_view text, size_t from);

  const Regex* regex_;
  std::unique_ptr<Scratch> scratch_;
};

/** The number of code points of `text`; nothing where it is not valid UTF-8. */
std::optional<size_t> count_code_points(std::string_view text);
/** Where the code point at `at` ends; 0 where it is not valid UTF-8. */
size_t end_beyond_ascii(std::string_view text, size_t at);
inline size_t end_of_character(std::string_view text, size_t at) {
  return static_cast<uint8_t>(text[at]) < 0x80 ? at + 1 : end_beyond_ascii(text, at);
}
/** Reads one code point at `at` and moves past it; a byte that is not valid UTF-8 is its own code point. */
uint32_t next_code_point(std::string_view text, size_t& at);

}  // namespace ortolan::cpu
