// Tokenizer: strings are cut in parallel into views, which are copied once the widest row is known.
#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/text/regex.h"
#include "cpu/text/text_pieces.h"
#include "cpu/text/utf8.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

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
    if (characters_) return write_characters(context, texts, shape);
    PieceRows rows(context.threads(), texts,
                   [&](std::string_view text, int64_t number, Pieces& to) { tokens_of(text, number, to); });
    size_t most = rows.widest(), width = most == 0 ? 0 : most + (mark_ ? 2 : 0);
    shape.push_back(static_cast<int64_t>(width));
    std::string* to = context.output(0, shape).mutable_data<std::string>();
    if (width == 0) return;
    rows.for_each_row([&](std::span<const std::string_view> tokens) {
      write(to, width, [&](std::string* at) { return write_pieces(tokens, at); });
      to += width;
    });
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

  static size_t valid_count(std::string_view text, int64_t number) {
    auto count = count_code_points(text);
    require(count.has_value(), ErrorCode::kInvalidArgument, "string ", number, " is not valid UTF-8");
    return *count;
  }

  void tokens_of(std::string_view text, int64_t number, Pieces& to) const {
    valid_count(text, number);
    expression_ ? matches(text, to) : parts(text, to);
  }

  bool long_enough(std::string_view token) const {
    return least_ == 1 ? !token.empty() : count_code_points(token).value_or(0) >= least_;
  }

  void write_characters(KernelContext& context, std::span<const std::string> texts, Shape shape) const {
    size_t most = 0;
    base::TerminatePoll poll;
    for (size_t i = 0; i < texts.size(); ++i) {
      poll.work(4 + std::ssize(texts[i]));
      most = std::max(most, valid_count(texts[i], static_cast<int64_t>(i)));
    }
    const size_t width = most == 0 ? 0 : most + (mark_ ? 2 : 0);
    shape.push_back(static_cast<int64_t>(width));
    std::string* to = context.output(0, shape).mutable_data<std::string>();
    if (width == 0) return;
    const int64_t least = kernels::least_items(kernels::kTextNs);
    context.threads().parallel_for(static_cast<int64_t>(texts.size()), least, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        std::string_view text = texts[static_cast<size_t>(i)];
        write(to + static_cast<size_t>(i) * width, width, [&](std::string* at) {
          base::TerminatePoll poll;
          for (size_t first = 0; first < text.size();) {
            poll.work(4);
            size_t last = end_of_character(text, first);
            rebuild(*at++, std::string_view(text.data() + first, last - first));
            first = last;
          }
          return at;
        });
      }
    });
  }

  /** Matches of the expression, one behind the other; after one that is too short the search goes on one character
      further. */
  void matches(std::string_view text, Pieces& to) const {
    base::TerminatePoll poll;
    for (size_t at = 0; auto match = expression_->find(text, at);) {
      poll.work(16);
      std::string_view token = text.substr(match->first, match->second - match->first);
      if (long_enough(token)) {
        to.push_back(token);
        at = match->second;
      } else {
        if (match->first == text.size()) break;
        at = end_of_character(text, match->first);
      }
    }
  }

  /** What each separator in turn leaves of the pieces so far. */
  void parts(std::string_view text, Pieces& to) const {
    if (separators_.size() == 1 && !separators_[0].regex) return split(text, separators_[0], to);
    Pieces pieces{text}, next;
    for (const Separator& separator : separators_) {
      next.clear();
      if (separator.literal.empty()) {
        auto find = [&](std::string_view piece, size_t from) { return separator.regex->find(piece, from); };
        for (std::string_view piece : pieces) split(piece, find, next);
      } else {
        for (std::string_view piece : pieces) split(piece, separator, next);
      }
      std::swap(pieces, next);
    }
    to.insert(to.end(), pieces.begin(), pieces.end());
  }

  /** A match of nothing takes the character behind it. */
  template <class Find>
  void split(std::string_view text, Find&& separator, Pieces& to) const {
    size_t at = 0;
    base::TerminatePoll poll;
    while (auto match = separator(text, at)) {
      poll.work(16);
      std::string_view token = text.substr(at, match->first - at);
      if (long_enough(token)) to.push_back(token);
      at = match->second;
      if (match->first < match->second) continue;
      if (at == text.size()) return;
      at = end_of_character(text, at);
    }
    if (long_enough(text.substr(at))) to.push_back(text.substr(at));
  }

  /** One row; tokens(to) writes its tokens and gives the place behind them. */
  template <class Tokens>
  void write(std::string* to, size_t width, Tokens&& tokens) const {
    std::string* end = to + width;
    if (mark_) *to++ = "\x02";
    to = tokens(to);
    if (mark_) *to++ = "\x03";
    base::polled_loop(end - to, [&](int64_t first, int64_t last) { std::fill(to + first, to + last, pad_); });
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
