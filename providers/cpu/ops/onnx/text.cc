// Kernels of StringNormalizer, StringConcat, StringSplit and RegexFullMatch.
#include <unordered_set>

#include "base/thread_pool.h"
#include "cpu/regex.h"
#include "cpu/strided_copy.h"
#include "cpu/unicode_case.h"
#include "runtime/kernel_registry.h"

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
    std::vector<std::string> kept;
    for (const std::string& word : input.span<std::string>()) {
      if (!stop_words_.empty() && stop_words_.contains(case_sensitive_ ? word : lower_case(word))) continue;
      kept.push_back(lower_ ? lower_case(word) : upper_ ? upper_case(word) : word);
    }
    if (kept.empty()) kept.emplace_back();
    Shape shape(input.rank(), 1);
    shape.back() = static_cast<int64_t>(kept.size());
    std::ranges::move(kept, context.output(0, ElementType::kString, shape).mutable_data<std::string>());
  }

 private:
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
    auto to = output.mutable_span<std::string>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = a[i] + b[i];
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

using Parts = std::vector<std::string_view>;

/** Pieces between delimiters, at most `limit` of them; the last one takes the rest. */
Parts split_at(std::string_view text, std::string_view delimiter, size_t limit) {
  Parts parts;
  while (parts.size() + 1 < limit) {
    size_t at = text.find(delimiter);
    if (at == std::string_view::npos) break;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + delimiter.size());
  }
  parts.push_back(text);
  return parts;
}

/** Words between runs of white space; the last of `limit` takes the rest. */
Parts split_words(std::string_view text, size_t limit) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  Parts parts;
  while (true) {
    size_t begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) return parts;
    text.remove_prefix(begin);
    size_t end = parts.size() + 1 < limit ? text.find_first_of(kSpace) : std::string_view::npos;
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end);
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
    std::vector<Parts> all;
    size_t most = 0;
    for (const std::string& text : input.span<std::string>()) {
      all.push_back(delimiter_.empty() ? split_words(text, limit_) : split_at(text, delimiter_, limit_));
      most = std::max(most, all.back().size());
    }
    if (context.has_output(0)) {
      Shape shape = input.shape();
      shape.push_back(static_cast<int64_t>(most));
      auto* to = context.output(0, ElementType::kString, shape).mutable_data<std::string>();
      for (const Parts& parts : all) {
        std::ranges::copy(parts, to);
        to += most;
      }
    }
    if (!context.has_output(1)) return;
    auto* counts = context.output(1, ElementType::kInt64, input.shape()).mutable_data<int64_t>();
    for (const Parts& parts : all) *counts++ = static_cast<int64_t>(parts.size());
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
    context.threads().parallel_for(static_cast<int64_t>(texts.size()), 64, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = regex_.matches(texts[static_cast<size_t>(i)]);
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
