// A regular expression as a table: for each state and class of code points the state that follows.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "cpu/text/regex.h"

namespace ortolan::cpu {

/** Immutable. Texts are read as Regex reads them. */
class RegexAutomaton {
 public:
  /** nullptr where the table or the work of making it would be large. */
  static std::shared_ptr<const RegexAutomaton> build(const std::vector<Regex::Step>& steps,
                                                     const std::vector<std::vector<Regex::Range>>& sets);

  /** Whether all of the text matches. */
  bool matches(std::string_view text) const;

  struct Longest {
    size_t end;   // npos where no match begins there
    size_t read;  // how far the text was looked at
  };
  /** The longest match that begins at `from`. */
  Longest longest(std::string_view text, size_t from) const;

 private:
  friend class RegexAutomatonBuilder;
  RegexAutomaton() = default;
  /** Reads one code point at `at`, moves past it and gives its class. */
  uint32_t next_class(std::string_view text, size_t& at) const;
  uint32_t class_of(uint32_t code) const;

  /** Where in table_ a state's entries begin: one for each class, then one for the end of the text. An entry is twice
      the beginning of the next state's entries, plus 1 where a match ends before what is read. The state at 0 has no
     way on. */
  std::vector<uint32_t> table_;
  uint32_t classes_ = 0;
  uint8_t class_of_byte_[128] = {};
  std::vector<std::pair<uint32_t, uint8_t>> class_from_;  // code points from 0x80 on: the first one of each span
  uint32_t starts_[3] = {};                               // at the text's begin, behind a word's letter, elsewhere
};

}  // namespace ortolan::cpu
