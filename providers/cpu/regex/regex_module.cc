// Compiled patterns, and searches that are quicker than RE2's own where matches are close.
#include "cpu/regex/regex_module.h"

#include <re2/re2.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace {

RE2::Options options() {
  RE2::Options options;
  options.set_longest_match(true);
  options.set_log_errors(false);
  return options;
}

/** Whether what stands before a match may decide about it. True where it cannot be seen that it does not. */
bool looks_back(std::string_view pattern) {
  for (size_t at = 0; at < pattern.size(); ++at) {
    const char next = at + 1 < pattern.size() ? pattern[at + 1] : 0;
    if (pattern[at] == '^' && (at == 0 || pattern[at - 1] != '[')) return true;
    if (pattern[at] == '\\' && (next == 'b' || next == 'B' || next == 'A')) return true;
  }
  return false;
}

/** A pattern and the bytes that a match may begin with. RE2 looks for a match of unknown place twice, forward for its
   end and back for its beginning; where most lie close to where a search begins, one that is anchored takes half the
   time. */
class Pattern {
 public:
  explicit Pattern(std::string_view text) : regex_(re2::StringPiece(text.data(), text.size()), options()) {
    std::string least, greatest;
    if (!regex_.ok() || looks_back(text) || !regex_.PossibleMatchRange(&least, &greatest, 4) || least.empty()) return;
    known_ = true;
    first_ = static_cast<uint8_t>(least[0]);
    last_ = greatest.empty() ? UINT8_MAX : static_cast<uint8_t>(greatest[0]);
  }

  const RE2& regex() const { return regex_; }

  bool find(re2::StringPiece text, size_t at, re2::StringPiece& found) const {
    for (int tries = known_ ? kTries : 0; tries > 0; --tries, ++at) {
      at = skip(text, at);
      if (at >= text.size()) return false;
      if (regex_.Match(text, at, text.size(), RE2::ANCHOR_START, &found, 1)) return true;
    }
    return regex_.Match(text, at, text.size(), RE2::UNANCHORED, &found, 1);
  }

 private:
  static constexpr int kTries = 2;

  size_t skip(re2::StringPiece text, size_t at) const {
    auto begins = [this](char c) { return static_cast<uint8_t>(c) >= first_ && static_cast<uint8_t>(c) <= last_; };
    while (at < text.size() && !begins(text[at])) ++at;
    return at;
  }

  RE2 regex_;
  bool known_ = false;  // and no match is empty
  uint8_t first_ = 0, last_ = UINT8_MAX;
};

const Pattern& as_pattern(const void* pattern) { return *static_cast<const Pattern*>(pattern); }

void* compile(const char* pattern, size_t size, char* error, size_t error_size) try {
  auto made = std::make_unique<Pattern>(std::string_view(pattern, size));
  if (made->regex().ok()) return made.release();
  std::snprintf(error, error_size, "%s", made->regex().error().c_str());
  return nullptr;
} catch (const std::bad_alloc&) {
  std::snprintf(error, error_size, "there is no memory for it");
  return nullptr;
}

void release(void* pattern) { delete static_cast<Pattern*>(pattern); }

int match_all(const void* pattern, const char* text, size_t size) try {
  return as_pattern(pattern).regex().Match(re2::StringPiece(text, size), 0, size, RE2::ANCHOR_BOTH, nullptr, 0);
} catch (const std::bad_alloc&) {
  return -1;
}

int find(const void* pattern, const char* text, size_t size, size_t from, size_t* match) try {
  re2::StringPiece found;
  if (!as_pattern(pattern).find(re2::StringPiece(text, size), from, found)) return 0;
  match[0] = static_cast<size_t>(found.data() - text);
  match[1] = match[0] + found.size();
  return 1;
} catch (const std::bad_alloc&) {
  return -1;
}

}  // namespace

const OrtolanRegex* ortolan_get_regex() {
  static constexpr OrtolanRegex functions{compile, release, match_all, find};
  return &functions;
}
