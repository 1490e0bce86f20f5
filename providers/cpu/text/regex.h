// Regular expressions as RE2 reads them, matched in time linear in the text.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace ortolan::cpu {

/** A compiled pattern. Immutable; threads may share it. A text is matched in one go: a run that is told to end does so
    after it. */
class Regex {
 public:
  /** Throws kInvalidArgument for a pattern that RE2 cannot read, or that becomes too large, and kNotImplemented where
     the module libortolan_regex is not installed. */
  explicit Regex(std::string_view pattern);
  /** True when the pattern matches all of `text`. */
  bool matches(std::string_view text) const;

  using Match = std::pair<size_t, size_t>;
  /** The first and the end byte of the leftmost match that begins at `from` or later, of these the longest; nothing
      where there is none. What stands before `from` is seen by ^, \b and the like. */
  std::optional<Match> find(std::string_view text, size_t from) const;

 private:
  std::unique_ptr<void, void (*)(void*)> compiled_;
};

}  // namespace ortolan::cpu
