// Kernels of SVMClassifier and SVMRegressor. Class probabilities follow T.-F. Wu, C.-J. Lin and R. C. Weng,
// "Probability estimates for multi-class classification by pairwise coupling" (2004).
#include <cmath>

#include "base/thread_pool.h"
#include "cpu/score_rows.h"
#include "runtime/kernel_registry.h"

namespace ortolan::cpu::ml {
namespace {

constexpr const char* kDomain = "ai.onnx.ml";

/** The kernel function of a support vector machine. */
class Similarity {
 public:
  explicit Similarity(const Node& node) {
    std::string_view name = node.string_or("kernel_type", "LINEAR");
    constexpr std::string_view kNames[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
    auto found = std::ranges::find(kNames, name);
    require(found != std::end(kNames), ErrorCode::kInvalidGraph, "kernel_type '", name,
            "' is unknown; it must be LINEAR, POLY, RBF or SIGMOID");
    kind_ = static_cast<Kind>(found - std::begin(kNames));
    const auto& params = node.floats("kernel_params");
    require(params.empty() || params.size() == 3, ErrorCode::kInvalidGraph, "kernel_params has ", params.size(),
            " entries; it must hold gamma, coef0 and degree");
    if (!params.empty()) gamma_ = params[0], coef0_ = params[1], degree_ = params[2];
  }
  float operator()(const float* a, const float* b, int64_t count) const {
    switch (kind_) {
      case Kind::kPoly:
        return std::pow(gamma_ * dot(a, b, count) + coef0_, degree_);
      case Kind::kRbf: {
        float sum = 0;
        for (int64_t i = 0; i < count; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
        return std::exp(-gamma_ * sum);
      }
      case Kind::kSigmoid:
        return std::tanh(gamma_ * dot(a, b, count) + coef0_);
      default:
        return dot(a, b, count);
    }
  }

 private:
  enum class Kind { kLinear, kPoly, kRbf, kSigmoid };
  Kind kind_;
  float gamma_ = 0, coef0_ = 0, degree_ = 0;
};

/** Rows of `count` vectors in a flat list; throws unless the list divides evenly. */
int64_t row_length(const std::vector<float>& list, int64_t count, const char* what) {
  auto size = static_cast<int64_t>(list.size());
  require(count > 0 && size > 0 && size % count == 0, ErrorCode::kInvalidGraph, what, " has ", size, " entries for ",
          count, " vectors");
  return size / count;
}

void require_features(const Tensor& input, int64_t features) {
  FeatureRows table(input);
  require(table.features == features, ErrorCode::kInvalidArgument, "the input of shape ", input.shape(), " has ",
          table.features, " features; the model has ", features);
}

class SvmRegressor : public OpKernel {
 public:
  explicit SvmRegressor(const KernelInfo& info)
      : similarity_(info.node()),
        vectors_(info.node().floats("support_vectors")),
        coefficients_(info.node().floats("coefficients")),
        count_(info.node().int_or("n_supports", 0)),
        one_class_(info.node().int_or("one_class", 0) != 0),
        post_(post_transform_called(info.node().string_or("post_transform", "NONE"))) {
    const auto& rho = info.node().floats("rho");
    require(!rho.empty(), ErrorCode::kInvalidGraph, "rho is missing");
    rho_ = rho[0];
    if (count_ == 0) {  // linear: the coefficients are the one vector
      vectors_ = coefficients_;
      coefficients_ = {1};
      count_ = 1;
    }
    features_ = row_length(vectors_, count_, "support_vectors");
    require(static_cast<int64_t>(coefficients_.size()) == count_, ErrorCode::kInvalidGraph, "there are ",
            coefficients_.size(), " coefficients for ", count_, " support vectors");
  }

  void compute(KernelContext& context) const override {
    require_features(context.input(0), features_);
    const float* from = features_as_floats(context, context.input(0));
    Tensor& output = context.output(0);
    float* to = output.mutable_data<float>();
    context.threads().parallel_for(output.shape()[0], 1 + (1 << 16) / (count_ * features_),
                                   [&](int64_t begin, int64_t end) {
                                     for (int64_t r = begin; r < end; ++r) to[r] = predict(from + r * features_);
                                   });
  }

 private:
  float predict(const float* row) const {
    float sum = rho_;
    for (int64_t i = 0; i < count_; ++i) {
      sum += coefficients_[static_cast<size_t>(i)] * similarity_(row, vectors_.data() + i * features_, features_);
    }
    if (one_class_) return sum > 0 ? 1.0f : -1.0f;
    transform_scores(post_, std::span(&sum, 1));
    return sum;
  }

  Similarity similarity_;
  std::vector<float> vectors_, coefficients_;
  int64_t count_, features_;
  float rho_;
  bool one_class_;
  PostTransform post_;
};

/** Class probabilities from those of all pairs: pair[i * n + j] that it is i, where it is i or j. */
void couple(std::span<const double> pair, std::span<double> p) {
  size_t n = p.size();
  std::vector<double> q(n * n), qp(n);
  for (size_t t = 0; t < n; ++t) {
    p[t] = 1.0 / static_cast<double>(n);
    for (size_t j = 0; j < n; ++j) {
      if (j == t) continue;
      q[t * n + t] += pair[j * n + t] * pair[j * n + t];
      q[t * n + j] = -pair[j * n + t] * pair[t * n + j];
    }
  }
  double close = 0.005 / static_cast<double>(n);
  for (size_t round = 0; round < std::max<size_t>(100, n); ++round) {
    double total = 0, error = 0;
    for (size_t t = 0; t < n; ++t) {
      qp[t] = 0;
      for (size_t j = 0; j < n; ++j) qp[t] += q[t * n + j] * p[j];
      total += p[t] * qp[t];
    }
    for (size_t t = 0; t < n; ++t) error = std::max(error, std::abs(qp[t] - total));
    if (error < close) break;
    for (size_t t = 0; t < n; ++t) {
      double change = (total - qp[t]) / q[t * n + t];
      p[t] += change;
      total = (total + change * (change * q[t * n + t] + 2 * qp[t])) / (1 + change) / (1 + change);
      for (size_t j = 0; j < n; ++j) {
        qp[j] = (qp[j] + change * q[t * n + j]) / (1 + change);
        p[j] /= 1 + change;
      }
    }
  }
}

class SvmClassifier : public OpKernel {
 public:
  explicit SvmClassifier(const KernelInfo& info)
      : similarity_(info.node()),
        labels_(info.node(), "classlabels_strings", "classlabels_ints"),
        vectors_(info.node().floats("support_vectors")),
        coefficients_(info.node().floats("coefficients")),
        rho_(info.node().floats("rho")),
        prob_a_(info.node().floats("prob_a")),
        prob_b_(info.node().floats("prob_b")),
        post_(post_transform_called(info.node().string_or("post_transform", "NONE"))) {
    set_classes(info.node().ints("vectors_per_class"));
    if (starts_.empty()) {
      set_linear();
    } else {
      check_pairs();
    }
  }

  void compute(KernelContext& context) const override {
    require_features(context.input(0), features_);
    const float* from = features_as_floats(context, context.input(0));
    int64_t rows = FeatureRows(context.input(0)).rows, width = score_width();
    auto best = context.scratch<int64_t>(rows);
    float* to = context.has_output(1) ? context.output(1).mutable_data<float>()
                                      : context.scratch<float>(checked_mul(rows, width)).data();
    int64_t work = std::max<int64_t>(static_cast<int64_t>(vectors_.size()), 1);
    context.threads().parallel_for(rows, 1 + (1 << 16) / work, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        std::span<float> scores(to + r * width, static_cast<size_t>(width));
        const float* row = from + r * features_;
        best[static_cast<size_t>(r)] = starts_.empty() ? score_linear(row, scores) : score_pairs(row, scores);
        transform_scores(post_, scores);
      }
    });
    if (!context.has_output(0)) return;
    Tensor& chosen = context.output(0);
    for (int64_t r = 0; r < rows; ++r) labels_.write(chosen, r, best[static_cast<size_t>(r)]);
  }

 private:
  void set_classes(const std::vector<int64_t>& per_class) {
    constexpr size_t kMostClasses = 4096;
    classes_ = static_cast<int64_t>(per_class.empty() ? labels_.count() : per_class.size());
    require(classes_ >= 1 && per_class.size() <= kMostClasses && per_class.size() != 1, ErrorCode::kInvalidGraph,
            "the model has ", classes_, " classes; it must have 2 to ", kMostClasses);
    if (!per_class.empty()) starts_.push_back(0);
    for (int64_t count : per_class) {
      require(count >= 0, ErrorCode::kInvalidGraph, "vectors_per_class holds ", count);
      starts_.push_back(checked_add(starts_.back(), count));
    }
  }

  /** Without support vectors there is one vector of coefficients a class. */
  void set_linear() {
    features_ = row_length(coefficients_, classes_, "coefficients");
    vectors_ = coefficients_;
    require(!rho_.empty(), ErrorCode::kInvalidGraph, "rho is missing");
    rho_.resize(static_cast<size_t>(classes_), rho_[0]);
  }

  void check_pairs() {
    int64_t count = starts_.back();
    features_ = row_length(vectors_, count, "support_vectors");
    auto pairs = static_cast<size_t>(classes_ * (classes_ - 1) / 2);
    require(static_cast<int64_t>(coefficients_.size()) == count * (classes_ - 1), ErrorCode::kInvalidGraph,
            "coefficients has ", coefficients_.size(), " entries for ", count, " support vectors of ", classes_,
            " classes");
    bool fits =
        rho_.size() == pairs && (prob_a_.empty() || prob_a_.size() == pairs) && prob_b_.size() == prob_a_.size();
    require(fits, ErrorCode::kInvalidGraph, "rho, prob_a and prob_b have ", rho_.size(), ", ", prob_a_.size(), " and ",
            prob_b_.size(), " entries; ", pairs, " pairs of classes need one each");
  }

  int64_t score_width() const {
    bool pairs = !starts_.empty() && prob_a_.empty() && classes_ > 2;
    return pairs ? classes_ * (classes_ - 1) / 2 : classes_;
  }

  int64_t score_linear(const float* row, std::span<float> scores) const {
    for (size_t c = 0; c < scores.size(); ++c) {
      scores[c] = similarity_(row, vectors_.data() + static_cast<int64_t>(c) * features_, features_) + rho_[c];
    }
    return std::ranges::max_element(scores) - scores.begin();
  }

  /** Each pair of classes decides between them; the class with most decisions wins, or the likeliest one. */
  int64_t score_pairs(const float* row, std::span<float> scores) const {
    std::vector<float> decisions = decide(row);
    auto n = static_cast<size_t>(classes_);
    std::vector<int64_t> votes(n);
    size_t pair = 0;
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = i + 1; j < n; ++j) ++votes[decisions[pair++] > 0 ? i : j];
    }
    int64_t winner = std::ranges::max_element(votes) - votes.begin();
    if (!prob_a_.empty()) {
      set_probabilities(decisions, scores);
      winner = std::ranges::max_element(scores) - scores.begin();
    } else if (n == 2) {
      scores[0] = decisions[0];
      scores[1] = -decisions[0];
    } else {
      std::ranges::copy(decisions, scores.begin());
    }
    return winner;
  }

  std::vector<float> decide(const float* row) const {
    int64_t count = starts_.back();
    std::vector<float> like(static_cast<size_t>(count)), decisions;
    for (int64_t v = 0; v < count; ++v)
      like[static_cast<size_t>(v)] = similarity_(row, vectors_.data() + v * features_, features_);
    auto sum = [&](int64_t of_class, int64_t line) {
      float total = 0;
      for (int64_t v = starts_[static_cast<size_t>(of_class)]; v < starts_[static_cast<size_t>(of_class) + 1]; ++v) {
        total += coefficients_[static_cast<size_t>(line * count + v)] * like[static_cast<size_t>(v)];
      }
      return total;
    };
    for (int64_t i = 0; i < classes_; ++i) {
      for (int64_t j = i + 1; j < classes_; ++j)
        decisions.push_back(sum(i, j - 1) + sum(j, i) + rho_[decisions.size()]);
    }
    return decisions;
  }

  void set_probabilities(std::span<const float> decisions, std::span<float> scores) const {
    auto n = static_cast<size_t>(classes_);
    std::vector<double> pairs(n * n), result(n);
    size_t pair = 0;
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = i + 1; j < n; ++j, ++pair) {
        double p = 1 / (1 + std::exp(static_cast<double>(decisions[pair]) * prob_a_[pair] + prob_b_[pair]));
        p = std::clamp(p, 1e-7, 1 - 1e-7);
        pairs[i * n + j] = p;
        pairs[j * n + i] = 1 - p;
      }
    }
    couple(pairs, result);
    std::ranges::transform(result, scores.begin(), [](double p) { return static_cast<float>(p); });
  }

  Similarity similarity_;
  ClassLabels labels_;
  std::vector<float> vectors_, coefficients_, rho_, prob_a_, prob_b_;
  std::vector<int64_t> starts_;  // of each class's support vectors, and their end; empty for a linear model
  int64_t classes_, features_;
  PostTransform post_;
};

constexpr KernelRow kRows[] = {
    {kDomain, "SVMClassifier", 1, kLatest, make_kernel<SvmClassifier>},
    {kDomain, "SVMRegressor", 1, kLatest, make_kernel<SvmRegressor>},
};

}  // namespace

extern const KernelTable svm_rows;
const KernelTable svm_rows(kRows);

}  // namespace ortolan::cpu::ml
