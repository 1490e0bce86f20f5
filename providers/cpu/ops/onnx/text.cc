// Kernels of StringNormalizer, StringConcat, StringSplit and RegexFullMatch.
#include <cstring>
#include <unordered_set>

#include "base/memory/memory_budget.h"
#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/moves/strided_copy.h"
#include "cpu/text/regex.h"
#include "cpu/text/text_pieces.h"
#include "cpu/text/unicode_case.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

class StringNormalizer : public OpKernel {
 public:
  explicit StringNormalizer(const KernelInfo& info) : case_sensitive_(info.node().int_or("is_case_sensitive", 0) != 0) {
    std::string_view action = info.node().string_or("case_change_action", "NONE");
    require(action == "NONE" || action == "LOWER" || action == "UPPER", ErrorCode::kInvalidGraph,
            "case_change_action '", action, "' is unknown; it must be LOWER, UPPER or NONE");
    lower_ = action == "LOWER";
    upper_ = action == "UPPER";
    for (const std::string& word : info.node().strings("stopwords")) {
      stop_words_.insert(case_sensitive_ ? word : lower_case(word));
    }
  }

  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    require(input.rank() == 1 || (input.rank() == 2 && input.shape()[0] == 1), ErrorCode::kInvalidArgument,
            "the input has shape ", input.shape(), "; it must be [C] or [1,C]");
    if (stop_words_.empty() && input.element_count() > 0) return change_all(context, input);
    std::vector<std::string> kept;
    kept.reserve(static_cast<size_t>(input.element_count()));
    base::TerminatePoll poll;
    for (const std::string& word : input.span<std::string>()) {
      poll.work(32 + std::ssize(word));
      if (!stop_words_.contains(case_sensitive_ ? word : lower_case(word))) kept.push_back(changed(word));
    }
    if (kept.empty()) kept.emplace_back();
    Shape shape(input.rank(), 1);
    shape.back() = static_cast<int64_t>(kept.size());
    auto* to = context.output(0, ElementType::kString, shape).mutable_data<std::string>();
    base::polled_loop(std::ssize(kept), [&](int64_t begin, int64_t end) {
      std::move(kept.begin() + begin, kept.begin() + end, to + begin);
    });
  }

 private:
  std::string changed(const std::string& word) const {
    return lower_ ? lower_case(word) : upper_ ? upper_case(word) : word;
  }
  void change_all(KernelContext& context, const Tensor& input) const {
    auto* to = context.output(0, ElementType::kString, input.shape()).mutable_data<std::string>();
    base::TerminatePoll poll;
    for (const std::string& word : input.span<std::string>()) {
      poll.work(32 + std::ssize(word));
      *to++ = changed(word);
    }
  }

  bool case_sensitive_, lower_, upper_;
  std::unordered_set<std::string> stop_words_;
};

class StringConcat : public OpKernel {
 public:
  explicit StringConcat(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    Tensor& output = context.output(0);
    Tensor left = spread(context, context.input(0), output.shape());
    Tensor right = spread(context, context.input(1), output.shape());
    const auto* a = left.data<std::string>();
    const auto* b = right.data<std::string>();
    auto* to = output.mutable_data<std::string>();
    base::TerminatePoll poll;
    for (int64_t i = 0; i < output.element_count(); ++i) {
      const size_t size = a[i].size() + b[i].size();
      poll.work(4 + static_cast<int64_t>(size) / base::kBytesPerUnit);
      base::count_string(size);
      if (size > to[i].capacity()) to[i].reserve(size);
      to[i].assign(a[i]).append(b[i]);
    }
  }

 private:
  /** The tensor broadcast to `shape`. */
  static Tensor spread(KernelContext& context, const Tensor& tensor, const Shape& shape) {
    if (tensor.shape() == shape) return tensor;
    Tensor result(tensor.type(), shape);
    Dims from = row_strides(tensor.shape()), to = row_strides(shape);
    size_t added = shape.rank() - tensor.rank();
    StridedWalk walk;
    for (size_t i = 0; i < shape.rank(); ++i) {
      bool repeated = i < added || tensor.shape()[i - added] == 1;
      walk.add(shape[i], repeated ? 0 : from[i - added], to[i]);
    }
    strided_copy(context.threads(), tensor.type(), walk, tensor.raw(), result.mutable_raw());
    return result;
  }
};

/** The first place from `at` on where the delimiter stands; `end` where there is none. */
const char* find_delimiter(base::TerminatePoll& poll, std::string_view delimiter, const char* at, const char* end) {
  const char first = delimiter[0];
  while (static_cast<size_t>(end - at) >= delimiter.size()) {
    const auto places = end - at - std::ssize(delimiter) + 1;
    const char* const stop = at + std::min<ptrdiff_t>(places, base::TerminatePoll::kUnits);
    poll.work(1 + (stop - at) / 64);
    // Texts are short: a loop finds the first letter sooner than a call.
    while (at != stop && (*at != first || std::memcmp(at, delimiter.data(), delimiter.size()) != 0)) ++at;
    if (at != stop) return at;
  }
  return end;
}

/** Pieces between delimiters, at most `limit` of them; the last one takes the rest. */
void split_at(std::string_view text, std::string_view delimiter, size_t limit, Pieces& pieces) {
  const char* begin = text.data();
  const char* const end = begin + text.size();
  base::TerminatePoll poll;
  for (size_t count = 1; count < limit; ++count) {
    const char* at = find_delimiter(poll, delimiter, begin, end);
    if (at == end) break;
    pieces.emplace_back(begin, at - begin);
    begin = at + delimiter.size();
  }
  pieces.emplace_back(begin, end - begin);
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/** Words between runs of white space; the last of `limit` takes the rest. */
void split_words(std::string_view text, size_t limit, Pieces& pieces) {
  const char* at = text.data();
  const char* const end = at + text.size();
  base::TerminatePoll poll;
  for (size_t count = 1;; ++count) {
    poll.work(8);
    while (at != end && is_space(*at)) ++at;
    if (at == end) return;
    const char* begin = at;
    while (at != end && (count == limit || !is_space(*at))) ++at;
    pieces.emplace_back(begin, at - begin);
  }
}

class StringSplit : public OpKernel {
 public:
  explicit StringSplit(const KernelInfo& info) : delimiter_(info.node().string_or("delimiter", "")) {
    if (info.node().has_attribute("maxsplit")) {
      int64_t splits = info.node().int_of("maxsplit");
      if (splits >= 0) limit_ = static_cast<size_t>(splits) + 1;
    }
  }

  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    PieceRows rows(context.threads(), input.span<std::string>(), [&](std::string_view text, int64_t, Pieces& pieces) {
      delimiter_.empty() ? split_words(text, limit_, pieces) : split_at(text, delimiter_, limit_, pieces);
    });
    if (context.has_output(0)) {
      Shape shape = input.shape();
      const size_t width = rows.widest();
      shape.push_back(static_cast<int64_t>(width));
      auto* to = context.output(0, ElementType::kString, shape).mutable_data<std::string>();
      rows.for_each_row([&](std::span<const std::string_view> pieces) {
        write_pieces(pieces, to);
        to += width;
      });
    }
    if (!context.has_output(1)) return;
    auto* counts = context.output(1, ElementType::kInt64, input.shape()).mutable_data<int64_t>();
    rows.for_each_row([&](std::span<const std::string_view> pieces) { *counts++ = std::ssize(pieces); });
  }

 private:
  std::string delimiter_;
  size_t limit_ = SIZE_MAX;
};

class RegexFullMatch : public OpKernel {
 public:
  explicit RegexFullMatch(const KernelInfo& info) : regex_(info.node().string_or("pattern", "")) {}
  void compute(KernelContext& context) const override {
    auto texts = context.input(0).span<std::string>();
    bool* to = context.output(0).mutable_data<bool>();
    const int64_t least = kernels::least_items(kernels::kTextNs);
    context.threads().parallel_for(static_cast<int64_t>(texts.size()), least, [&](int64_t begin, int64_t end) {
      base::TerminatePoll poll;
      for (int64_t i = begin; i < end; ++i) {
        const std::string& text = texts[static_cast<size_t>(i)];
        poll.work(32 + std::ssize(text));
        to[i] = regex_.matches(text);
      }
    });
  }

 private:
  Regex regex_;
};

constexpr KernelRow kRows[] = {
    {"", "StringNormalizer", 10, kLatest, make_kernel<StringNormalizer>},
    {"", "RegexFullMatch", 20, kLatest, make_kernel<RegexFullMatch>},
    {"", "StringConcat", 20, kLatest, make_kernel<StringConcat>},
    {"", "StringSplit", 20, kLatest, make_kernel<StringSplit>},
};

}  // namespace

extern const KernelTable text_rows;
const KernelTable text_rows(kRows);

}  // namespace ortolan::cpu::onnx
