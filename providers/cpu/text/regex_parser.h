// The parser of regular expressions: pattern to steps of the matching machine.
#pragma once

#include <string_view>
#include <vector>

#include "cpu/text/regex.h"

namespace ortolan::cpu {

/** What a pattern compiles to; ends with Op::kMatch. */
struct RegexProgram {
  std::vector<Regex::Step> steps;
  std::vector<std::vector<Regex::Range>> sets;
};

RegexProgram parse_regex(std::string_view pattern);

}  // namespace ortolan::cpu
