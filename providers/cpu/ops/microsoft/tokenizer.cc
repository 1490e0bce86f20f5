// Tokenizer: strings are cut in parallel into views, which are copied once the widest row is known.
#include "base/thread_pool.h"
#include "cpu/regex.h"
#include "runtime/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

using Tokens = std::vector<std::string_view>;

size_t end_of_character(std::string_view text, size_t at) {
  if (static_cast<uint8_t>(text[at]) < 0x80) return at + 1;
  next_code_point(text, at);
  return at;
}

/** A regular expression, or plain text, which is found faster. */
struct Separator {
  explicit Separator(const std::string& pattern) {
    bool plain = pattern.find_first_of("\\^$.|?*+()[]{}") == std::string::npos;
    if (plain && !pattern.empty() && count_code_points(pattern)) {
      literal = pattern;
    } else {
      regex.emplace(pattern);
    }
  }
  std::optional<std::pair<size_t, size_t>> operator()(std::string_view text, size_t from) const {
    size_t at = text.find(literal, from);
    if (at == std::string_view::npos) return std::nullopt;
    return std::pair(at, at + literal.size());
  }
  std::string literal;
  std::optional<Regex> regex;
};

class Tokenizer final : public OpKernel {
 public:
  explicit Tokenizer(const KernelInfo& info)
      : mark_(info.node().int_of("mark") != 0), pad_(info.node().string_of("pad_value")) {
    int64_t least = info.node().int_of("mincharnum");
    require(least > 0, ErrorCode::kInvalidGraph, "mincharnum is ", least, "; it must be positive");
    least_ = static_cast<size_t>(least);
    info.node().has_attribute("separators") ? read_separators(info.node().strings("separators"))
                                            : read_expression(info.node().string_or("tokenexp", ""));
    require(!characters_ || least_ == 1, ErrorCode::kInvalidGraph, "mincharnum is ", least,
            ", but tokens are single characters; set it to 1");
  }

  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    require(input.rank() == 1 || input.rank() == 2, ErrorCode::kInvalidArgument, "the input has shape ", input.shape(),
            "; it must be [C] or [N, C]");
    Shape shape = input.shape();
    auto texts = input.span<std::string>();
    if (texts.empty()) {
      shape.back() = 0;
      context.output(0, shape);
      return;
    }
    std::vector<Tokens> rows(texts.size());
    context.threads().parallel_for(static_cast<int64_t>(texts.size()), 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) rows[static_cast<size_t>(i)] = tokens_of(texts[static_cast<size_t>(i)], i);
    });
    size_t most = 0;
    for (const Tokens& row : rows) most = std::max(most, row.size());
    size_t width = most == 0 ? 0 : most + (mark_ ? 2 : 0);
    shape.push_back(static_cast<int64_t>(width));
    std::string* to = context.output(0, shape).mutable_data<std::string>();
    for (size_t i = 0; i < rows.size() && width > 0; ++i) write(rows[i], to + i * width, width);
  }

 private:
  void read_separators(const std::vector<std::string>& separators) {
    require(!separators.empty(), ErrorCode::kInvalidGraph, "separators is empty; name one, or set tokenexp instead");
    characters_ = separators.size() == 1 && separators[0].empty();
    for (size_t i = 0; !characters_ && i < separators.size(); ++i) separators_.emplace_back(separators[i]);
  }

  void read_expression(std::string_view expression) {
    require(!expression.empty(), ErrorCode::kInvalidGraph, "neither separators nor tokenexp is set; set one of them");
    characters_ = expression == ".";
    if (!characters_) expression_.emplace(expression);
  }

  Tokens tokens_of(std::string_view text, int64_t number) const {
    auto count = count_code_points(text);
    require(count.has_value(), ErrorCode::kInvalidArgument, "string ", number, " is not valid UTF-8");
    if (characters_) return characters(text, *count);
    return expression_ ? matches(text) : parts(text);
  }

  bool long_enough(std::string_view token) const { return count_code_points(token).value_or(0) >= least_; }

  static Tokens characters(std::string_view text, size_t count) {
    Tokens tokens;
    tokens.reserve(count);
    for (size_t at = 0; at < text.size();) {
      size_t end = end_of_character(text, at);
      tokens.push_back(text.substr(at, end - at));
      at = end;
    }
    return tokens;
  }

  /** Matches of the expression, one behind the other; after one that is too short the search goes on one character
      further. */
  Tokens matches(std::string_view text) const {
    Tokens tokens;
    RegexSearch search(*expression_);
    for (size_t at = 0; auto match = search.find(text, at);) {
      std::string_view token = text.substr(match->first, match->second - match->first);
      if (long_enough(token)) {
        tokens.push_back(token);
        at = match->second;
      } else {
        if (match->first == text.size()) break;
        at = end_of_character(text, match->first);
      }
    }
    return tokens;
  }

  /** What each separator in turn leaves of the pieces so far. */
  Tokens parts(std::string_view text) const {
    Tokens pieces{text}, next;
    for (const Separator& separator : separators_) {
      next.clear();
      if (separator.literal.empty()) {
        RegexSearch search(*separator.regex);
        auto find = [&](std::string_view piece, size_t from) { return search.find(piece, from); };
        for (std::string_view piece : pieces) split(piece, find, next);
      } else {
        for (std::string_view piece : pieces) split(piece, separator, next);
      }
      std::swap(pieces, next);
    }
    return pieces;
  }

  /** A match of nothing takes the character behind it. */
  template <class Find>
  void split(std::string_view text, Find&& separator, Tokens& to) const {
    size_t at = 0;
    while (auto match = separator(text, at)) {
      std::string_view token = text.substr(at, match->first - at);
      if (long_enough(token)) to.push_back(token);
      at = match->second;
      if (match->first < match->second) continue;
      if (at == text.size()) return;
      at = end_of_character(text, at);
    }
    if (long_enough(text.substr(at))) to.push_back(text.substr(at));
  }

  void write(const Tokens& tokens, std::string* to, size_t width) const {
    std::string* end = to + width;
    if (mark_) *to++ = "\x02";
    to = std::ranges::copy(tokens, to).out;
    if (mark_) *to++ = "\x03";
    std::fill(to, end, pad_);
  }

  bool mark_, characters_ = false;
  std::string pad_;
  size_t least_ = 1;
  std::vector<Separator> separators_;
  std::optional<Regex> expression_;
};

constexpr KernelRow kRows[] = {
    {"com.microsoft", "Tokenizer", 1, kLatest, make_kernel<Tokenizer>},
};

}  // namespace

extern const KernelTable tokenizer_rows;
const KernelTable tokenizer_rows(kRows);
}  // namespace ortolan::cpu::microsoft
