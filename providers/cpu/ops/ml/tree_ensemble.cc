// Kernels of TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble. Rows are taken in blocks, and each tree
// walks a whole block, so that its nodes stay in the cache.
#include <cmath>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/trees/forest_division.h"
#include "cpu/trees/score_rows.h"
#include "cpu/trees/tree_forest.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::ml {
namespace {

constexpr const char* kDomain = "ai.onnx.ml";
constexpr int64_t kBlockRows = 64;
constexpr int64_t kMostTargets = 1 << 20;
constexpr int64_t kManyWalks = 3000;  // of a run's rows through its trees: from here on branches are not foreseen

enum class Aggregate { kAverage, kSum, kMin, kMax };

Aggregate aggregate_called(std::string_view name) {
  constexpr std::string_view kNames[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  auto found = std::ranges::find(kNames, name);
  require(found != std::end(kNames), ErrorCode::kInvalidGraph, "aggregate_function '", name,
          "' is unknown; it must be AVERAGE, SUM, MIN or MAX");
  return static_cast<Aggregate>(found - std::begin(kNames));
}

/** Of some rows, for each target of each. */
class Scores {
 public:
  Scores(Aggregate aggregate, int64_t count)
      : aggregate_(aggregate),
        values_(static_cast<size_t>(count)),
        seen_(aggregate >= Aggregate::kMin ? static_cast<size_t>(count) : 0) {}

  void clear() {
    std::ranges::fill(values_, 0.0);
    std::ranges::fill(seen_, uint8_t{0});
  }
  void add(std::span<const LeafWeight> weights, int64_t first) {
    for (LeafWeight leaf : weights) add(static_cast<size_t>(first + leaf.target), leaf.weight);
  }
  /** Scores of the same rows from other trees. */
  void join(const Scores& other) {
    for (size_t at = 0; at < values_.size(); ++at) {
      if (seen_.empty() || other.seen_[at] != 0) add(at, other.values_[at]);
    }
  }
  void average(int64_t trees) {
    if (aggregate_ != Aggregate::kAverage || trees == 0) return;
    for (double& value : values_) value /= static_cast<double>(trees);
  }
  std::span<double> of_row(int64_t row, int64_t targets) {
    return std::span(values_).subspan(static_cast<size_t>(row * targets), static_cast<size_t>(targets));
  }

 private:
  void add(size_t at, double weight) {
    if (aggregate_ < Aggregate::kMin) {
      values_[at] += weight;
      return;
    }
    if (aggregate_ == Aggregate::kMin && seen_[at] != 0) weight = std::min(values_[at], weight);
    if (aggregate_ == Aggregate::kMax && seen_[at] != 0) weight = std::max(values_[at], weight);
    values_[at] = weight;
    seen_[at] = 1;
  }

  Aggregate aggregate_;
  std::vector<double> values_;
  std::vector<uint8_t> seen_;
};

/** Rows on their way through trees. */
template <class C>
struct Walks {
  const TreeForest<C>& forest;
  const C* from;
  int64_t features, targets;
  bool together;  // rows that branches on what they hold would slow down
  Aggregate aggregate;

  /** The scores that a part of the trees gives `rows` rows from `first` on. */
  void score(int64_t first, int64_t rows, int64_t part, Scores& scores) const {
    scores.clear();
    constexpr int kTogether = TreeForest<C>::kTogether;
    const C* x = from + first * features;
    base::TerminatePoll poll;
    const int64_t end = std::min(forest.tree_count(), (part + 1) * kPartTrees);
    for (int64_t tree = part * kPartTrees; tree < end; ++tree) {
      poll.work(16 * rows);
      int64_t row = 0;
      for (; together && row + kTogether <= rows; row += kTogether) {
        int32_t ends[kTogether];
        forest.leaves(tree, x + row * features, features, ends);
        for (int i = 0; i < kTogether; ++i) scores.add(forest.weights(ends[i]), (row + i) * targets);
      }
      for (; row < rows; ++row) scores.add(forest.weights(forest.leaf(tree, x + row * features)), row * targets);
    }
  }
};

/** A forest over floats, or over doubles for all other inputs. */
class Forest {
 public:
  Forest(const ListedForest& listed, int64_t targets, ElementType features) : targets_(targets) {
    require(targets > 0 && targets <= kMostTargets, ErrorCode::kInvalidGraph, "the ensemble has ", targets,
            " targets; it must have 1 to ", kMostTargets);
    if (features == ElementType::kFloat || features == ElementType::kFloat16) {
      floats_ = std::make_unique<TreeForest<float>>(listed, targets);
    } else {
      doubles_ = std::make_unique<TreeForest<double>>(listed, targets);
    }
  }
  int64_t targets() const { return targets_; }

  /** Calls finish(row, scores) for each row of `input`, from many threads. */
  template <class Finish>
  void score(KernelContext& context, const Tensor& input, Aggregate aggregate, Finish&& finish) const {
    dispatch<kFeatureTypes | ElementType::kFloat16>(input.type(), [&]<class T>(TypeTag<T>) {
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, Half>) {
        run<T, float>(context, *floats_, input, aggregate, finish);
      } else {
        run<T, double>(context, *doubles_, input, aggregate, finish);
      }
    });
  }

 private:
  template <class T, class C, class Finish>
  void run(KernelContext& context, const TreeForest<C>& forest, const Tensor& input, Aggregate aggregate,
           Finish&& finish) const {
    FeatureRows table(input);
    require(forest.feature_count() <= table.features, ErrorCode::kInvalidArgument, "the input of shape ", input.shape(),
            " has ", table.features, " features, but the trees test feature ", forest.feature_count() - 1);
    const C* from = as_numbers<C>(context, input.data<T>(), input.element_count());
    const bool together = checked_mul(table.rows, forest.tree_count()) >= kManyWalks;
    const Walks<C> walks{forest, from, table.features, targets_, together, aggregate};
    const ForestDivision d =
        divide_forest(table.rows, forest.tree_count(), targets_, kernels::threads_of(&context.threads()));
    d.by_parts ? run_parts(context, walks, table.rows, d.least, finish)
               : run_rows(context, walks, table.rows, d.least, finish);
  }

  /** All trees for some rows at a time. */
  template <class C, class Finish>
  void run_rows(KernelContext& context, const Walks<C>& walks, int64_t count, int64_t least, Finish&& finish) const {
    const int64_t block = std::clamp<int64_t>(kBlockRows * 64 / targets_, 1, kBlockRows);
    const int64_t parts = forest_parts(walks.forest.tree_count());
    context.threads().parallel_for(count, least, [&](int64_t begin, int64_t end) {
      const int64_t most = std::min(block, end - begin);
      Scores scores(walks.aggregate, most * targets_), part(walks.aggregate, parts > 1 ? most * targets_ : 0);
      for (int64_t row = begin; row < end; row += block) {
        const int64_t rows = std::min(block, end - row);
        walks.score(row, rows, 0, scores);
        for (int64_t p = 1; p < parts; ++p) {
          walks.score(row, rows, p, part);
          scores.join(part);
        }
        finish_rows(walks, scores, row, rows, finish);
      }
    });
  }

  /** Parts of the trees for a few rows at a time, which are then joined in their order. */
  template <class C, class Finish>
  void run_parts(KernelContext& context, const Walks<C>& walks, int64_t count, int64_t least, Finish&& finish) const {
    const int64_t parts = forest_parts(walks.forest.tree_count()), groups = kernels::divide_up(count, kRowsTogether);
    std::vector<Scores> scores;
    for (int64_t i = 0; i < parts * groups; ++i) {
      scores.emplace_back(walks.aggregate, std::min(kRowsTogether, count - i % groups * kRowsTogether) * targets_);
    }
    context.threads().parallel_for(parts * groups, least, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i % groups * kRowsTogether;
        walks.score(row, std::min(kRowsTogether, count - row), i / groups, scores[static_cast<size_t>(i)]);
      }
    });
    for (int64_t g = 0; g < groups; ++g) {
      Scores& first = scores[static_cast<size_t>(g)];
      for (int64_t p = 1; p < parts; ++p) first.join(scores[static_cast<size_t>(p * groups + g)]);
      finish_rows(walks, first, g * kRowsTogether, std::min(kRowsTogether, count - g * kRowsTogether), finish);
    }
  }

  template <class C, class Finish>
  void finish_rows(const Walks<C>& walks, Scores& scores, int64_t row, int64_t rows, Finish&& finish) const {
    scores.average(walks.forest.tree_count());
    for (int64_t i = 0; i < rows; ++i) finish(row + i, scores.of_row(i, targets_));
  }

  template <class C, class T>
  static const C* as_numbers(KernelContext& context, const T* values, int64_t count) {
    if constexpr (std::is_same_v<C, T>) {
      return values;
    } else {
      auto copy = context.scratch<C>(count);
      std::transform(values, values + count, copy.begin(), [](T value) { return static_cast<C>(value); });
      return copy.data();
    }
  }

  int64_t targets_;
  std::unique_ptr<TreeForest<float>> floats_;
  std::unique_ptr<TreeForest<double>> doubles_;
};

/** TreeEnsembleRegressor and TreeEnsemble. */
class Regressor : public OpKernel {
 public:
  Regressor(const KernelInfo& info, const ListedForest& listed, Aggregate aggregate, PostTransform post)
      : forest_(listed, info.node().int_or("n_targets", 1), info.input_type(0).element),
        aggregate_(aggregate),
        post_(post),
        base_(listed_numbers(info.node(), "base_values")) {
    auto targets = static_cast<size_t>(forest_.targets());
    if (base_.size() == 1) base_.resize(targets, base_[0]);
    if (base_.empty()) base_.resize(targets);
    require(base_.size() == targets, ErrorCode::kInvalidGraph, "base_values has ", base_.size(), " entries for ",
            targets, " targets");
  }

  void compute(KernelContext& context) const override {
    Tensor& output = context.output(0);
    auto targets = static_cast<size_t>(forest_.targets());
    dispatch<kFloat32And64 | ElementType::kFloat16>(output.type(), [&]<class T>(TypeTag<T>) {
      T* to = output.mutable_data<T>();
      forest_.score(context, context.input(0), aggregate_, [&](int64_t row, std::span<double> scores) {
        for (size_t t = 0; t < targets; ++t) scores[t] += base_[t];
        if (post_ != PostTransform::kNone) transform(scores);
        for (size_t t = 0; t < targets; ++t) {
          if constexpr (std::is_same_v<T, double>) to[row * forest_.targets() + static_cast<int64_t>(t)] = scores[t];
          if constexpr (!std::is_same_v<T, double>) {
            to[row * forest_.targets() + static_cast<int64_t>(t)] = static_cast<T>(static_cast<float>(scores[t]));
          }
        }
      });
    });
  }

 private:
  void transform(std::span<double> scores) const {
    std::vector<float> narrow(scores.begin(), scores.end());
    transform_scores(post_, narrow);
    std::ranges::copy(narrow, scores.begin());
  }

  Forest forest_;
  Aggregate aggregate_;
  PostTransform post_;
  std::vector<double> base_;
};

std::unique_ptr<OpKernel> make_regressor(const KernelInfo& info) {
  return std::make_unique<Regressor>(info, listed_trees(info.node(), "target"),
                                     aggregate_called(info.node().string_or("aggregate_function", "SUM")),
                                     post_transform_called(info.node().string_or("post_transform", "NONE")));
}

std::unique_ptr<OpKernel> make_ensemble(const KernelInfo& info) {
  int64_t aggregate = info.node().int_or("aggregate_function", 1), post = info.node().int_or("post_transform", 0);
  require(aggregate >= 0 && aggregate <= 3 && post >= 0 && post <= 4, ErrorCode::kInvalidGraph,
          "aggregate_function is ", aggregate, " and post_transform ", post, "; they must be 0 to 3 and 0 to 4");
  constexpr PostTransform kNumbered[] = {PostTransform::kNone, PostTransform::kSoftmax, PostTransform::kLogistic,
                                         PostTransform::kSoftmaxZero, PostTransform::kProbit};
  return std::make_unique<Regressor>(info, listed_ensemble(info.node()), static_cast<Aggregate>(aggregate),
                                     kNumbered[post]);
}

class Classifier : public OpKernel {
 public:
  explicit Classifier(const KernelInfo& info) : Classifier(info, listed_trees(info.node(), "class")) {}

  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    int64_t rows = FeatureRows(input).rows, width = std::max<int64_t>(classes_, 2);
    auto best = context.scratch<int64_t>(rows);
    float* to = context.has_output(1) ? context.output(1).mutable_data<float>()
                                      : context.scratch<float>(checked_mul(rows, width)).data();
    forest_.score(context, input, Aggregate::kSum, [&](int64_t row, std::span<double> scores) {
      std::span<float> place(to + row * width, static_cast<size_t>(width));
      for (size_t c = 0; c < scores.size(); ++c) scores[c] += base_[c];
      best[static_cast<size_t>(row)] = single_ ? finish_single(scores, place) : finish(scores, place);
    });
    if (context.has_output(0)) labels_.write(context.output(0), best);
  }

 private:
  Classifier(const KernelInfo& info, const ListedForest& listed)
      : labels_(info.node(), "classlabels_strings", "classlabels_int64s"),
        classes_(std::max<int64_t>(static_cast<int64_t>(labels_.count()), 1)),
        forest_(listed, classes_, info.input_type(0).element),
        post_(post_transform_called(info.node().string_or("post_transform", "NONE"))),
        base_(listed_numbers(info.node(), "base_values")) {
    for (const ListedWeight& weight : listed.weights) {
      single_ = single_ && weight.target == listed.weights[0].target;
      positive_ = positive_ && weight.weight >= 0;
    }
    single_ = single_ && classes_ <= 2;
    single_class_ = listed.weights.empty() ? 0 : static_cast<size_t>(listed.weights[0].target);
    auto classes = static_cast<size_t>(classes_);
    if (single_ && base_.size() == 1) base_.resize(classes, base_[0]);
    if (base_.empty()) base_.resize(classes);
    require(base_.size() == classes, ErrorCode::kInvalidGraph, "base_values has ", base_.size(), " entries for ",
            classes, " classes");
  }

  int64_t finish(std::span<const double> scores, std::span<float> place) const {
    std::ranges::transform(scores, place.begin(), [](double score) { return static_cast<float>(score); });
    auto best = std::ranges::max_element(scores) - scores.begin();
    transform_scores(post_, place);
    return best;
  }

  /** All leaves count for one class of two: its score is a probability when no weight is negative, else a margin. */
  int64_t finish_single(std::span<const double> scores, std::span<float> place) const {
    auto score = static_cast<float>(scores[single_class_]);
    bool second = positive_ ? score > 0.5f : score > 0;
    if (post_ == PostTransform::kProbit) {
      place[1] = score;
      transform_scores(post_, place.subspan(1));
      place[0] = 1 - place[1];
    } else if (positive_) {
      place[1] = score;
      place[0] = 1 - score;
    } else {
      place[1] = score;
      place[0] = -score;
      if (post_ == PostTransform::kLogistic) transform_scores(post_, place);
    }
    return second;
  }

  ClassLabels labels_;
  int64_t classes_;
  Forest forest_;
  PostTransform post_;
  std::vector<double> base_;
  bool single_ = true, positive_ = true;
  size_t single_class_ = 0;
};

constexpr KernelRow kRows[] = {
    {kDomain, "TreeEnsembleClassifier", 1, kLatest, make_kernel<Classifier>},
    {kDomain, "TreeEnsembleRegressor", 1, kLatest, make_regressor},
    {kDomain, "TreeEnsemble", 5, kLatest, make_ensemble},
};

}  // namespace

extern const KernelTable tree_ensemble_rows;
const KernelTable tree_ensemble_rows(kRows);

}  // namespace ortolan::cpu::ml
