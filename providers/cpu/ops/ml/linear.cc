// Kernels of LinearClassifier and LinearRegressor.
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/trees/score_rows.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::ml {
namespace {

constexpr const char* kDomain = "ai.onnx.ml";

/** Scores = coefficients · features + intercepts for each target. */
class LinearModel {
 public:
  LinearModel(const Node& node, int64_t targets)
      : coefficients_(node.floats("coefficients")), intercepts_(node.floats("intercepts")), targets_(targets) {
    require(targets > 0 && targets <= 1 << 24, ErrorCode::kInvalidGraph, "the model has ", targets, " targets");
    auto count = static_cast<int64_t>(coefficients_.size());
    require(count > 0 && count % targets == 0, ErrorCode::kInvalidGraph, "coefficients has ", count, " entries for ",
            targets, " targets; it needs one for each feature of each target");
    features_ = count / targets;
    if (intercepts_.empty()) intercepts_.resize(static_cast<size_t>(targets));
    require(static_cast<int64_t>(intercepts_.size()) == targets, ErrorCode::kInvalidGraph, "intercepts has ",
            intercepts_.size(), " entries for ", targets, " targets");
  }
  int64_t targets() const { return targets_; }

  void check(const Tensor& input) const {
    FeatureRows table(input);
    require(table.features == features_, ErrorCode::kInvalidArgument, "the input of shape ", input.shape(), " has ",
            table.features, " features; the model has coefficients for ", features_);
  }
  /** The scores of `count` rows, `stride` apart. */
  void scores(const float* rows, int64_t count, float* result, int64_t stride) const {
    if (count < 4) {
      for (int64_t r = 0; r < count; ++r) score_row(rows + r * features_, result + r * stride);
      return;
    }
    kernels::Epilogue epilogue;
    epilogue.bias_kind = kernels::BiasKind::kColumn;
    epilogue.bias = intercepts_.data();
    kernels::gemm(nullptr, count, targets_, features_, rows, features_, false, coefficients_.data(), features_, true,
                  result, stride, epilogue);
  }
  int64_t features() const { return features_; }
  int64_t least_rows() const { return kernels::least_rows(features_ * targets_, kernels::kElementNs); }

 private:
  void score_row(const float* row, float* result) const {
    for (int64_t t = 0; t < targets_; ++t) {
      result[t] = dot(coefficients_.data() + t * features_, row, features_) + intercepts_[static_cast<size_t>(t)];
    }
  }

  std::vector<float> coefficients_, intercepts_;
  int64_t targets_, features_;
};

class LinearRegressor : public OpKernel {
 public:
  explicit LinearRegressor(const KernelInfo& info)
      : model_(info.node(), info.node().int_or("targets", 1)),
        post_(post_transform_called(info.node().string_or("post_transform", "NONE"))) {}
  void compute(KernelContext& context) const override {
    model_.check(context.input(0));
    const float* from = features_as_floats(context, context.input(0));
    Tensor& output = context.output(0);
    float* to = output.mutable_data<float>();
    context.threads().parallel_for(output.shape()[0], model_.least_rows(), [&](int64_t begin, int64_t end) {
      float* scores = to + begin * model_.targets();
      model_.scores(from + begin * model_.features(), end - begin, scores, model_.targets());
      transform_rows(post_, scores, end - begin, model_.targets());
    });
  }

 private:
  LinearModel model_;
  PostTransform post_;
};

class LinearClassifier : public OpKernel {
 public:
  explicit LinearClassifier(const KernelInfo& info)
      : model_(info.node(), std::max<int64_t>(static_cast<int64_t>(info.node().floats("intercepts").size()), 1)),
        labels_(info.node(), "classlabels_strings", "classlabels_ints"),
        post_(post_transform_called(info.node().string_or("post_transform", "NONE"))) {}

  void compute(KernelContext& context) const override {
    model_.check(context.input(0));
    const float* from = features_as_floats(context, context.input(0));
    int64_t rows = FeatureRows(context.input(0)).rows;
    auto best = context.scratch<int64_t>(rows);
    bool two = model_.targets() == 1 && labels_.count() == 2;
    const int64_t width = two ? 2 : model_.targets();
    float* to = context.has_output(1) ? context.output(1).mutable_data<float>()
                                      : context.scratch<float>(checked_mul(rows, width)).data();
    context.threads().parallel_for(rows, model_.least_rows(), [&](int64_t begin, int64_t end) {
      const int64_t targets = model_.targets(), first = width - targets;
      float* scores = to + begin * width;
      model_.scores(from + begin * model_.features(), end - begin, scores + first, width);
      for (int64_t r = begin; r < end; ++r) {
        best[static_cast<size_t>(r)] = choose(std::span(to + r * width + first, static_cast<size_t>(targets)));
      }
      if (!two) return transform_rows(post_, scores, end - begin, width);
      for (int64_t r = begin; r < end; ++r) finish_two(std::span(to + r * width, 2));
    });
    if (context.has_output(0)) labels_.write(context.output(0), best);
  }

 private:
  /** The class of the greatest score; of a single score, 1 where it is positive. */
  static int64_t choose(std::span<const float> scores) {
    if (scores.size() == 1) return scores[0] > 0;
    return std::ranges::max_element(scores) - scores.begin();
  }

  /** A single score of two classes speaks for class 1; what is left is class 0's. */
  void finish_two(std::span<float> scores) const {
    float score = scores[1];
    if (post_ == PostTransform::kLogistic) {
      scores[0] = -score;
      return transform_scores(post_, scores);
    }
    transform_scores(post_ == PostTransform::kProbit ? post_ : PostTransform::kNone, scores.subspan(1));
    scores[0] = 1 - scores[1];
  }

  LinearModel model_;
  ClassLabels labels_;
  PostTransform post_;
};

constexpr KernelRow kRows[] = {
    {kDomain, "LinearClassifier", 1, kLatest, make_kernel<LinearClassifier>},
    {kDomain, "LinearRegressor", 1, kLatest, make_kernel<LinearRegressor>},
};

}  // namespace

extern const KernelTable linear_rows;
const KernelTable linear_rows(kRows);

}  // namespace ortolan::cpu::ml
