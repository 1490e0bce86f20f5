// Kernels of TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble. Rows are taken in blocks, and each tree
// walks a whole block, so that its nodes stay in the cache.
#include <cmath>

#include "base/polled_loop.h"
#include "base/thread_pool.h"
#include "cpu/score_rows.h"
#include "cpu/tree_forest.h"
#include "runtime/kernel_registry.h"

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
    int64_t block = std::clamp<int64_t>(kBlockRows * 64 / targets_, 1, kBlockRows);
    int64_t grain = 1 + 2048 / std::max<int64_t>(forest.tree_count(), 1);
    const bool together = checked_mul(table.rows, forest.tree_count()) >= kManyWalks;
    context.threads().parallel_for(table.rows, grain, [&](int64_t begin, int64_t end) {
      std::vector<double> scores(static_cast<size_t>(std::min(block, end - begin) * targets_));
      std::vector<uint8_t> seen(aggregate >= Aggregate::kMin ? scores.size() : 0);
      for (int64_t row = begin; row < end; row += block) {
        int64_t rows = std::min(block, end - row);
        score_block(forest, from + row * table.features, table.features, rows, together, aggregate, scores, seen);
        for (int64_t i = 0; i < rows; ++i) {
          finish(row + i, std::span(scores).subspan(static_cast<size_t>(i * targets_), static_cast<size_t>(targets_)));
        }
      }
    });
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

  template <class C>
  void score_block(const TreeForest<C>& forest, const C* from, int64_t features, int64_t rows, bool together,
                   Aggregate aggregate, std::vector<double>& scores, std::vector<uint8_t>& seen) const {
    std::ranges::fill(scores, 0.0);
    std::ranges::fill(seen, uint8_t{0});
    constexpr int kTogether = TreeForest<C>::kTogether;
    base::TerminatePoll poll;
    for (int64_t tree = 0; tree < forest.tree_count(); ++tree) {
      poll.work(16 * rows);
      int64_t row = 0;
      for (; together && row + kTogether <= rows; row += kTogether) {
        int32_t ends[kTogether];
        forest.leaves(tree, from + row * features, features, ends);
        for (int i = 0; i < kTogether; ++i) add_leaf(forest.weights(ends[i]), row + i, aggregate, scores, seen);
      }
      for (; row < rows; ++row) {
        add_leaf(forest.weights(forest.leaf(tree, from + row * features)), row, aggregate, scores, seen);
      }
    }
    if (aggregate != Aggregate::kAverage || forest.tree_count() == 0) return;
    for (double& score : scores) score /= static_cast<double>(forest.tree_count());
  }

  void add_leaf(std::span<const LeafWeight> weights, int64_t row, Aggregate aggregate, std::vector<double>& scores,
                std::vector<uint8_t>& seen) const {
    if (aggregate < Aggregate::kMin) {
      for (LeafWeight leaf : weights) scores[static_cast<size_t>(row * targets_ + leaf.target)] += leaf.weight;
      return;
    }
    for (LeafWeight leaf : weights) {
      auto at = static_cast<size_t>(row * targets_ + leaf.target);
      double weight = leaf.weight;
      if (aggregate == Aggregate::kMin) weight = seen[at] ? std::min(scores[at], weight) : weight;
      if (aggregate == Aggregate::kMax) weight = seen[at] ? std::max(scores[at], weight) : weight;
      scores[at] = weight;
      seen[at] = 1;
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
