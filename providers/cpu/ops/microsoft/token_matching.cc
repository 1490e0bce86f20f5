// Kernels of NGramRepeatBlock and BifurcationDetector.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

class NGramRepeatBlock : public OpKernel {
 public:
  explicit NGramRepeatBlock(const KernelInfo& info) : size_(info.node().int_of("ngram_size")) {
    require(size_ > 0, ErrorCode::kInvalidGraph, "ngram_size is ", size_, "; it must be positive");
  }

  void compute(KernelContext& context) const override {
    const Tensor& ids = context.input(0);
    const Tensor& scores = context.input(1);
    require(ids.rank() == 2 && scores.rank() == 2 && ids.shape()[0] == scores.shape()[0], ErrorCode::kInvalidArgument,
            "input_ids has shape ", ids.shape(), " and scores ", scores.shape(),
            "; they must be [batch, length] and [batch, vocabulary]");
    Tensor& output = context.output(0);
    copy_elements(scores, output);
    int64_t length = ids.shape()[1], vocabulary = scores.shape()[1];
    if (size_ > length) return;
    dispatch<kFloatTypes>(scores.type(), [&]<class T>(TypeTag<T>) {
      T* to = output.mutable_data<T>();
      context.threads().parallel_for(ids.shape()[0], kernels::least_rows(length, kernels::kScalarNs),
                                     [&](int64_t begin, int64_t end) {
                                       for (int64_t i = begin; i < end; ++i) {
                                         std::span row(ids.data<int64_t>() + i * length, static_cast<size_t>(length));
                                         block(row, std::span(to + i * vocabulary, static_cast<size_t>(vocabulary)));
                                       }
                                     });
    });
  }

 private:
  /** Blocks each token that stands behind an earlier copy of the row's last size - 1 tokens. */
  template <class T>
  void block(std::span<const int64_t> row, std::span<T> scores) const {
    auto prefix = row.last(static_cast<size_t>(size_ - 1));
    base::TerminatePoll poll;
    for (int64_t i = 0; i + size_ <= std::ssize(row); ++i) {
      poll.work();
      if (size_ > 1 && row[i + size_ - 2] != row.back()) continue;
      poll.work(size_);
      if (!std::equal(prefix.begin(), prefix.end(), row.begin() + i)) continue;
      int64_t token = row[i + size_ - 1];
      require(token >= 0 && token < std::ssize(scores), ErrorCode::kInvalidArgument, "input_ids holds ", token,
              ", which is no token of the vocabulary of ", scores.size());
      scores[token] = T(-INFINITY);
    }
  }

  int64_t size_;
};

class BifurcationDetector : public OpKernel {
 public:
  explicit BifurcationDetector(const KernelInfo& info)
      : least_(info.node().int_or("min_ngram_size", 1)), most_(info.node().int_or("max_ngram_size", 3)) {
    require(least_ > 0 && most_ >= least_, ErrorCode::kInvalidGraph, "min_ngram_size is ", least_,
            " and max_ngram_size ", most_, "; they must be positive and in order");
  }

  void compute(KernelContext& context) const override {
    auto source = tokens(context, 0), current = tokens(context, 1);
    const Tensor& last_match = context.input(2);
    require(last_match.element_count() == 1, ErrorCode::kInvalidArgument, "prev_suffix_match_idx has shape ",
            last_match.shape(), "; it must hold one number");
    std::span<const int64_t> added;
    if (context.has_input(3)) added = predicted(tokens(context, 3), source, *last_match.data<int64_t>());
    Tensor& output = context.output(0, Shape{std::ssize(current) + std::ssize(added)});
    auto joined = output.mutable_span<int64_t>();
    std::ranges::copy(added, std::ranges::copy(current, joined.begin()).out);
    *context.output(1).mutable_data<int64_t>() = suffix_match(source, joined);
  }

 private:
  static std::span<const int64_t> tokens(const KernelContext& context, size_t i) {
    const Tensor& tensor = context.input(i);
    require(tensor.rank() == 1, ErrorCode::kInvalidArgument, "input ", i, " has shape ", tensor.shape(),
            "; tokens stand in one dimension");
    return tensor.span<int64_t>();
  }

  /** The predicted tokens up to and including the first that differs from the source after the match. */
  static std::span<const int64_t> predicted(std::span<const int64_t> all, std::span<const int64_t> source,
                                            int64_t match) {
    require(match >= 0 && match <= std::ssize(source), ErrorCode::kInvalidArgument, "prev_suffix_match_idx is ", match,
            "; the source has ", source.size(), " tokens");
    auto rest = source.subspan(static_cast<size_t>(match));
    require(all.size() == rest.size() + 1, ErrorCode::kInvalidArgument, "pred_tokens has ", all.size(),
            " tokens; behind match ", match, " of ", source.size(), " source tokens there must be ", rest.size() + 1);
    auto differs = std::ranges::mismatch(all.first(rest.size()), rest).in1;
    return all.first(static_cast<size_t>(differs - all.begin()) + 1);
  }

  /** Where the source goes on after the longest suffix that it holds exactly once; -1 where there is none. */
  int64_t suffix_match(std::span<const int64_t> source, std::span<const int64_t> joined) const {
    int64_t match = -1;
    base::TerminatePoll poll;
    auto equal = [&](int64_t a, int64_t b) {
      poll.work();
      return a == b;
    };
    for (int64_t size = least_; size <= std::min(most_, std::ssize(joined)); ++size) {
      auto suffix = joined.last(static_cast<size_t>(size));
      auto place_in = [&](std::span<const int64_t> ids) {
        return std::search(ids.begin(), ids.end(), suffix.begin(), suffix.end(), equal) - ids.begin();
      };
      const int64_t place = place_in(source);
      if (place == std::ssize(source)) break;
      match = place + size;
      if (match == std::ssize(source)) break;
      auto behind = source.subspan(static_cast<size_t>(place + 1));
      if (place_in(behind) < std::ssize(behind)) match = -1;
    }
    return match;
  }

  int64_t least_, most_;
};

constexpr KernelRow kRows[] = {
    {"com.microsoft", "NGramRepeatBlock", 1, kLatest, make_kernel<NGramRepeatBlock>, {{1, kFloatTypes}}},
    {"com.microsoft", "BifurcationDetector", 1, kLatest, make_kernel<BifurcationDetector>},
};

}  // namespace

extern const KernelTable token_matching_rows;
const KernelTable token_matching_rows(kRows);

}  // namespace ortolan::cpu::microsoft
