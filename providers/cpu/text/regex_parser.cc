// The parser of regular expressions. Every construct appends its steps at the end, so a piece of a pattern is a run of
// steps, which repetition copies with its jumps moved along.
#include "cpu/text/regex_parser.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"

namespace ortolan::cpu {
namespace {

using namespace base;
using Range = Regex::Range;
using Ranges = std::vector<Range>;
using Op = Regex::Op;
using Step = Regex::Step;

constexpr uint32_t kLastCode = 0x10ffff;
constexpr size_t kMostSteps = 1 << 16;
constexpr int kMostDepth = 200;
constexpr int kMostRepeats = 1000;

Ranges complement(Ranges ranges) {
  std::ranges::sort(ranges);
  Ranges result;
  uint32_t next = 0;
  for (auto [first, last] : ranges) {
    if (first > next) result.emplace_back(next, first - 1);
    next = std::max(next, last + 1);
  }
  if (next <= kLastCode) result.emplace_back(next, kLastCode);
  return result;
}

/** The class of \d, \w or \s (or, for capitals, all but it). */
std::optional<Ranges> class_of(char letter) {
  Ranges ranges;
  switch (letter | 0x20) {
    case 'd':
      ranges = {{'0', '9'}};
      break;
    case 'w':
      ranges = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
      break;
    case 's':
      ranges = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
      break;
    default:
      return std::nullopt;
  }
  return letter & 0x20 ? ranges : complement(ranges);
}

std::optional<Ranges> posix_class(std::string_view name) {
  struct Named {
    std::string_view name;
    Ranges ranges;
  };
  const Named named[] = {
      {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
      {"digit", {{'0', '9'}}},
      {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
      {"upper", {{'A', 'Z'}}},
      {"lower", {{'a', 'z'}}},
      {"space", {{'\t', '\r'}, {' ', ' '}}},
      {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
      {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
      {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
  };
  for (const Named& entry : named) {
    if (entry.name == name) return entry.ranges;
  }
  return std::nullopt;
}

class Parser {
 public:
  explicit Parser(std::string_view pattern) : pattern_(pattern) {}

  RegexProgram parse() {
    alternation(0);
    if (at_ < pattern_.size()) refuse("a ')' without '('");
    program_.steps.push_back({Op::kMatch});
    return std::move(program_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail(ErrorCode::kInvalidArgument, "the pattern '", pattern_, "' has ", what, " at position ", at_);
  }
  bool more() const { return at_ < pattern_.size(); }
  bool take(std::string_view text) {
    if (!pattern_.substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  uint32_t here() const { return static_cast<uint32_t>(program_.steps.size()); }
  void add(Step step) {
    if (program_.steps.size() >= kMostSteps) refuse("too much repetition");
    program_.steps.push_back(step);
  }
  void add_set(Ranges ranges) {
    add({Op::kSet, static_cast<uint32_t>(program_.sets.size())});
    program_.sets.push_back(std::move(ranges));
  }
  /** Puts a split before the steps from `begin` on; their jumps move along. */
  void insert_split(uint32_t begin, uint32_t x, uint32_t y) {
    add({Op::kSplit});
    auto& steps = program_.steps;
    std::rotate(steps.begin() + begin, steps.end() - 1, steps.end());
    move_jumps(begin + 1, here(), begin, 1);
    steps[begin] = {Op::kSplit, x, y};
  }
  /** Adds `by` to the targets of splits in [first, last) that are at least `from`. */
  void move_jumps(uint32_t first, uint32_t last, uint32_t from, uint32_t by) {
    for (uint32_t i = first; i < last; ++i) {
      Step& step = program_.steps[i];
      if (step.op != Op::kSplit) continue;
      if (step.x >= from) step.x += by;
      if (step.y >= from) step.y += by;
    }
  }

  void alternation(int depth) {
    if (depth > kMostDepth) refuse("too many nested groups");
    uint32_t begin = here();
    std::vector<uint32_t> ends;
    sequence(depth);
    while (take("|")) {
      insert_split(begin, begin + 1, here() + 2);
      ends.push_back(here());
      add({Op::kSplit});  // leaves the alternative; its target is set below
      begin = here();
      sequence(depth);
    }
    for (uint32_t end : ends) program_.steps[end] = {Op::kSplit, here(), here()};
  }

  void sequence(int depth) {
    while (more() && pattern_[at_] != '|' && pattern_[at_] != ')') {
      uint32_t begin = here();
      atom(depth);
      repetition(begin);
    }
  }

  void atom(int depth) {
    if (take("(")) return group(depth);
    if (take("[")) return set();
    if (take(".")) return add_set(complement({{'\n', '\n'}}));
    if (take("^")) return add({Op::kTextBegin});
    if (take("$")) return add({Op::kTextEnd});
    if (take("\\")) return escape();
    if (pattern_[at_] == '*' || pattern_[at_] == '+' || pattern_[at_] == '?') refuse("nothing to repeat");
    uint32_t code = next_code_point(pattern_, at_);
    add_set({{code, code}});
  }

  void group(int depth) {
    if (take("?")) {
      if (take("P<") || take("<")) {
        while (more() && pattern_[at_] != '>') ++at_;
        if (!take(">")) refuse("a group name without end");
      } else if (!take(":")) {
        refuse("a kind of group that is not supported");
      }
    }
    alternation(depth + 1);
    if (!take(")")) refuse("a '(' without ')'");
  }

  void escape() {
    if (!more()) refuse("a '\\' at the end");
    if (take("b")) return add({Op::kBoundary});
    if (take("B")) return add({Op::kNoBoundary});
    if (take("A")) return add({Op::kTextBegin});
    if (take("z")) return add({Op::kTextEnd});
    if (auto ranges = class_of(pattern_[at_])) {
      ++at_;
      return add_set(*ranges);
    }
    uint32_t code = escaped_code();
    add_set({{code, code}});
  }

  /** The code point that the letters after a '\' stand for. */
  uint32_t escaped_code() {
    constexpr std::string_view kLetters = "ntrfva", kCodes = "\n\t\r\f\v\a";
    size_t letter = kLetters.find(pattern_[at_]);
    if (letter != std::string_view::npos) {
      ++at_;
      return static_cast<uint8_t>(kCodes[letter]);
    }
    if (take("x")) return hex_code();
    auto first = static_cast<uint8_t>(pattern_[at_]);
    bool letter_or_digit = (first | 0x20) >= 'a' && (first | 0x20) <= 'z';
    if (letter_or_digit || (first >= '0' && first <= '9')) refuse("an escape that is not supported");
    return next_code_point(pattern_, at_);
  }

  uint32_t hex_code() {
    bool braces = take("{");
    uint32_t code = 0;
    int digits = 0;
    for (; more() && digits < (braces ? 6 : 2); ++digits, ++at_) {
      auto place = std::string_view("0123456789abcdef").find(static_cast<char>(pattern_[at_] | 0x20));
      if (pattern_[at_] >= '0' && pattern_[at_] <= '9') place = static_cast<size_t>(pattern_[at_] - '0');
      if (place == std::string_view::npos) break;
      code = code * 16 + static_cast<uint32_t>(place);
    }
    if (digits == 0 || code > kLastCode || (braces && !take("}"))) refuse("a bad hexadecimal escape");
    return code;
  }

  void set() {
    bool negated = take("^");
    Ranges ranges;
    for (bool first = true; first || !take("]"); first = false) {
      if (!more()) refuse("a '[' without ']'");
      if (take("[:")) {
        size_t end = pattern_.find(":]", at_);
        auto named = end == std::string_view::npos ? std::nullopt : posix_class(pattern_.substr(at_, end - at_));
        if (!named) refuse("an unknown class name");
        at_ = end + 2;
        ranges.insert(ranges.end(), named->begin(), named->end());
        continue;
      }
      set_item(ranges);
    }
    add_set(negated ? complement(std::move(ranges)) : std::move(ranges));
  }

  void set_item(Ranges& ranges) {
    if (pattern_[at_] == '\\' && at_ + 1 < pattern_.size()) {
      if (auto named = class_of(pattern_[at_ + 1])) {
        at_ += 2;
        ranges.insert(ranges.end(), named->begin(), named->end());
        return;
      }
    }
    uint32_t first = set_code(), last = first;
    if (at_ + 1 < pattern_.size() && pattern_[at_] == '-' && pattern_[at_ + 1] != ']') {
      ++at_;
      last = set_code();
      if (last < first) refuse("a range that runs backwards");
    }
    ranges.emplace_back(first, last);
  }

  uint32_t set_code() {
    if (!take("\\")) return next_code_point(pattern_, at_);
    if (!more()) refuse("a '\\' at the end");
    return escaped_code();
  }

  /** {least, most} at this place; most is -1 without limit. */
  std::optional<std::pair<int, int>> counts() {
    if (take("*")) return {{0, -1}};
    if (take("+")) return {{1, -1}};
    if (take("?")) return {{0, 1}};
    size_t before = at_;
    if (!take("{")) return std::nullopt;
    int least = number(), most = least;
    if (least >= 0 && take(",")) most = more() && pattern_[at_] == '}' ? -1 : number();
    bool limited = most != -1 || pattern_[at_ - 1] == ',';
    if (least < 0 || !limited || !take("}")) {
      at_ = before;  // a brace that counts nothing stands for itself
      return std::nullopt;
    }
    if (least > kMostRepeats || most > kMostRepeats || (most >= 0 && most < least)) refuse("a bad repeat count");
    return {{least, most}};
  }

  int number() {
    int value = -1;
    for (; more() && pattern_[at_] >= '0' && pattern_[at_] <= '9'; ++at_) {
      value = std::min(std::max(value, 0) * 10 + (pattern_[at_] - '0'), kMostRepeats + 1);
    }
    return value;
  }

  void repetition(uint32_t begin) {
    auto range = counts();
    if (!range) return;
    take("?");
    auto [least, most] = *range;
    std::vector<Step> piece(program_.steps.begin() + begin, program_.steps.end());
    program_.steps.resize(begin);
    for (int i = 0; i < least; ++i) append(piece, begin);
    if (most < 0) {
      uint32_t again = here();
      add({Op::kSplit});
      append(piece, begin);
      add({Op::kSplit, again, again});
      program_.steps[again] = {Op::kSplit, again + 1, here()};
    }
    std::vector<uint32_t> exits;
    for (int i = least; i < most; ++i) {
      exits.push_back(here());
      add({Op::kSplit});
      append(piece, begin);
    }
    for (uint32_t exit : exits) program_.steps[exit] = {Op::kSplit, exit + 1, here()};
  }

  /** A copy of steps that began at `from`. */
  void append(const std::vector<Step>& piece, uint32_t from) {
    uint32_t by = here() - from;
    for (Step step : piece) {
      if (step.op == Op::kSplit) {
        step.x += by;
        step.y += by;
      }
      add(step);
    }
  }

  std::string_view pattern_;
  size_t at_ = 0;
  RegexProgram program_;
};

}  // namespace

RegexProgram parse_regex(std::string_view pattern) { return Parser(pattern).parse(); }

}  // namespace ortolan::cpu
