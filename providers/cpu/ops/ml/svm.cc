// Kernels of SVMClassifier and SVMRegressor.
#include <cmath>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/trees/pairwise_coupling.h"
#include "cpu/trees/score_rows.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::ml {
namespace {

constexpr const char* kDomain = "ai.onnx.ml";

/** `count` vectors of `features` each, as columns; products with them are packed where `multiplied`. */
struct SupportVectors {
  SupportVectors() = default;
  SupportVectors(const std::vector<float>& rows, int64_t count, int64_t features, bool multiplied)
      : count(count), features(features), columns(rows.size()) {
    for (int64_t v = 0; v < count; ++v) {
      for (int64_t f = 0; f < features; ++f) {
        columns[static_cast<size_t>(f * count + v)] = rows[static_cast<size_t>(v * features + f)];
      }
    }
    if (multiplied) packed = kernels::pack_b(nullptr, features, count, columns.data(), count, false);
  }
  int64_t count = 0, features = 0;
  std::vector<float> columns;
  kernels::PackedMatrix packed;
};

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
  bool multiplies() const { return kind_ != Kind::kRbf; }
  bool is_linear() const { return kind_ == Kind::kLinear; }

  /** like[r * count + v] = how like row r is to vector v. */
  void compare(const float* rows, int64_t row_count, const SupportVectors& vectors, float* like) const {
    const int64_t total = row_count * vectors.count;
    if (!multiplies()) {
      for (int64_t r = 0; r < row_count; ++r) distances(rows + r * vectors.features, vectors, like + r * vectors.count);
      kernels::scale_shift(like, -gamma_, 0, like, total);
      return kernels::unary({kernels::UnaryOp::kExp}, like, like, total);
    }
    kernels::gemm(nullptr, row_count, rows, vectors.features, false, vectors.packed, like, vectors.count, {});
    if (kind_ == Kind::kLinear) return;
    kernels::scale_shift(like, gamma_, coef0_, like, total);
    if (kind_ == Kind::kSigmoid) return kernels::unary({kernels::UnaryOp::kTanh}, like, like, total);
    raise(like, total);
  }

 private:
  static void distances(const float* row, const SupportVectors& vectors, float* to) {
    const float* column = vectors.columns.data();
    std::fill_n(to, vectors.count, 0.0f);
    base::TerminatePoll poll;
    for (int64_t f = 0; f < vectors.features; ++f, column += vectors.count) {
      poll.work(vectors.count);
      for (int64_t v = 0; v < vectors.count; ++v) to[v] += (row[f] - column[v]) * (row[f] - column[v]);
    }
  }

  /** To the power degree_; small whole powers, which models use most, are products. */
  void raise(float* x, int64_t count) const {
    if (degree_ != 2 && degree_ != 3) return kernels::binary(kernels::BinaryOp::kPow, x, degree_, x, count);
    if (degree_ == 2) return kernels::binary(kernels::BinaryOp::kMul, x, x, x, count);
    for (int64_t i = 0; i < count; ++i) x[i] = x[i] * x[i] * x[i];
  }

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

/** The vector whose product with a row is that of `count` vectors, each times its coefficient, added up: what a linear
    machine's vectors come down to. They are added to `sums`. */
void add_vectors(const float* vectors, const float* coefficients, int64_t count, std::span<double> sums) {
  for (int64_t v = 0; v < count; ++v) {
    for (double& sum : sums) sum += static_cast<double>(*coefficients) * static_cast<double>(*vectors++);
    ++coefficients;
  }
}

/** Rows that are compared at a time. */
constexpr int64_t kBlockRows = 64;

void require_features(const Tensor& input, int64_t features) {
  FeatureRows table(input);
  require(table.features == features, ErrorCode::kInvalidArgument, "the input of shape ", input.shape(), " has ",
          table.features, " features; the model has ", features);
}

class SvmRegressor : public OpKernel {
 public:
  explicit SvmRegressor(const KernelInfo& info)
      : similarity_(info.node()),
        coefficients_(info.node().floats("coefficients")),
        count_(info.node().int_or("n_supports", 0)),
        one_class_(info.node().int_or("one_class", 0) != 0),
        post_(post_transform_called(info.node().string_or("post_transform", "NONE"))) {
    const auto& rho = info.node().floats("rho");
    require(!rho.empty(), ErrorCode::kInvalidGraph, "rho is missing");
    rho_ = rho[0];
    std::vector<float> vectors = info.node().floats("support_vectors");
    if (count_ == 0) {  // linear: the coefficients are the one vector
      vectors = coefficients_;
      coefficients_ = {1};
      count_ = 1;
    }
    features_ = row_length(vectors, count_, "support_vectors");
    require(static_cast<int64_t>(coefficients_.size()) == count_, ErrorCode::kInvalidGraph, "there are ",
            coefficients_.size(), " coefficients for ", count_, " support vectors");
    if (similarity_.is_linear()) {
      std::vector<double> sums(static_cast<size_t>(features_));
      add_vectors(vectors.data(), coefficients_.data(), count_, sums);
      vectors.assign(sums.begin(), sums.end());
      coefficients_ = {1};
      count_ = 1;
    }
    support_ = SupportVectors(vectors, count_, features_, similarity_.multiplies());
  }

  void compute(KernelContext& context) const override {
    require_features(context.input(0), features_);
    const float* from = features_as_floats(context, context.input(0));
    Tensor& output = context.output(0);
    float* to = output.mutable_data<float>();
    context.threads().parallel_for(
        output.shape()[0], kernels::least_rows(count_ * features_, kernels::kElementNs),
        [&](int64_t begin, int64_t end) {
          std::vector<float> like(static_cast<size_t>(std::min(kBlockRows, end - begin) * count_));
          for (int64_t r = begin; r < end; r += kBlockRows) {
            int64_t rows = std::min(kBlockRows, end - r);
            similarity_.compare(from + r * features_, rows, support_, like.data());
            for (int64_t i = 0; i < rows; ++i) to[r + i] = predict(like.data() + i * count_);
          }
        });
  }

 private:
  float predict(const float* like) const {
    float sum = rho_ + dot(coefficients_.data(), like, count_);
    if (one_class_) return sum > 0 ? 1.0f : -1.0f;
    transform_scores(post_, std::span(&sum, 1));
    return sum;
  }

  Similarity similarity_;
  std::vector<float> coefficients_;
  SupportVectors support_;
  int64_t count_, features_;
  float rho_;
  bool one_class_;
  PostTransform post_;
};

class SvmClassifier : public OpKernel {
 public:
  explicit SvmClassifier(const KernelInfo& info)
      : similarity_(info.node()),
        labels_(info.node(), "classlabels_strings", "classlabels_ints"),
        coefficients_(info.node().floats("coefficients")),
        rho_(info.node().floats("rho")),
        prob_a_(info.node().floats("prob_a")),
        prob_b_(info.node().floats("prob_b")),
        post_(post_transform_called(info.node().string_or("post_transform", "NONE"))) {
    set_classes(info.node().ints("vectors_per_class"));
    std::vector<float> vectors = info.node().floats("support_vectors");
    if (starts_.empty()) {
      set_linear();
      vectors = coefficients_;
    } else {
      check_pairs(vectors);
      if (similarity_.is_linear()) fold_pairs(vectors);
    }
    support_ = SupportVectors(vectors, vector_count(), features_, similarity_.multiplies());
  }

  void compute(KernelContext& context) const override {
    require_features(context.input(0), features_);
    const float* from = features_as_floats(context, context.input(0));
    int64_t rows = FeatureRows(context.input(0)).rows, width = score_width();
    auto best = context.scratch<int64_t>(rows);
    float* to = context.has_output(1) ? context.output(1).mutable_data<float>()
                                      : context.scratch<float>(checked_mul(rows, width)).data();
    int64_t work = std::max<int64_t>(static_cast<int64_t>(support_.columns.size()), 1);
    const int64_t least = kernels::least_rows(work, kernels::kElementNs);
    context.threads().parallel_for(rows, least, [&](int64_t begin, int64_t end) {
      const int64_t count = vector_count();
      std::vector<float> like(static_cast<size_t>(std::min(kBlockRows, end - begin) * count));
      for (int64_t first = begin; first < end; first += kBlockRows) {
        const int64_t rows = std::min(kBlockRows, end - first);
        similarity_.compare(from + first * features_, rows, support_, like.data());
        for (int64_t r = first; r < first + rows; ++r) {
          base::check_terminate();
          std::span<float> scores(to + r * width, static_cast<size_t>(width));
          const float* row = like.data() + (r - first) * count;
          best[static_cast<size_t>(r)] = starts_.empty() ? score_linear(row, scores) : score_pairs(row, scores);
        }
      }
      transform_rows(post_, to + begin * width, end - begin, width);
    });
    if (context.has_output(0)) labels_.write(context.output(0), best);
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
    require(!rho_.empty(), ErrorCode::kInvalidGraph, "rho is missing");
    rho_.resize(static_cast<size_t>(classes_), rho_[0]);
  }

  void check_pairs(const std::vector<float>& vectors) {
    int64_t count = starts_.back();
    features_ = row_length(vectors, count, "support_vectors");
    auto pairs = static_cast<size_t>(classes_ * (classes_ - 1) / 2);
    require(static_cast<int64_t>(coefficients_.size()) == count * (classes_ - 1), ErrorCode::kInvalidGraph,
            "coefficients has ", coefficients_.size(), " entries for ", count, " support vectors of ", classes_,
            " classes");
    bool fits =
        rho_.size() == pairs && (prob_a_.empty() || prob_a_.size() == pairs) && prob_b_.size() == prob_a_.size();
    require(fits, ErrorCode::kInvalidGraph, "rho, prob_a and prob_b have ", rho_.size(), ", ", prob_a_.size(), " and ",
            prob_b_.size(), " entries; ", pairs, " pairs of classes need one each");
  }

  /** Makes one vector for each pair of classes, where that gives fewer than there are and costs little. */
  void fold_pairs(std::vector<float>& vectors) {
    constexpr int64_t kMostWork = 1 << 26;
    auto pairs = static_cast<int64_t>(rho_.size());
    if (pairs > starts_.back() || static_cast<int64_t>(coefficients_.size()) > kMostWork / features_) return;
    std::vector<float> folded;
    for_each_pair([&](int64_t i, int64_t j) {
      std::vector<double> sums(static_cast<size_t>(features_));
      auto add = [&](int64_t of_class, int64_t line) {
        const auto [first, count] = vectors_of(of_class);
        add_vectors(vectors.data() + first * features_, coefficients_.data() + line * starts_.back() + first, count,
                    sums);
      };
      add(i, j - 1);
      add(j, i);
      folded.insert(folded.end(), sums.begin(), sums.end());
    });
    vectors = std::move(folded);
    folded_ = true;
  }

  template <class Body>
  void for_each_pair(Body&& body) const {
    for (int64_t i = 0; i < classes_; ++i) {
      for (int64_t j = i + 1; j < classes_; ++j) body(i, j);
    }
  }
  /** The first support vector of a class, and how many it has. */
  std::pair<int64_t, int64_t> vectors_of(int64_t of_class) const {
    const int64_t first = starts_[static_cast<size_t>(of_class)];
    return {first, starts_[static_cast<size_t>(of_class) + 1] - first};
  }

  int64_t vector_count() const {
    return starts_.empty() ? classes_ : folded_ ? static_cast<int64_t>(rho_.size()) : starts_.back();
  }

  int64_t score_width() const {
    bool pairs = !starts_.empty() && prob_a_.empty() && classes_ > 2;
    return pairs ? classes_ * (classes_ - 1) / 2 : classes_;
  }

  int64_t score_linear(const float* like, std::span<float> scores) const {
    for (size_t c = 0; c < scores.size(); ++c) scores[c] = like[c] + rho_[c];
    return std::ranges::max_element(scores) - scores.begin();
  }

  /** Each pair of classes decides between them; the class with most decisions wins, even where another one is likelier.
   */
  int64_t score_pairs(const float* like, std::span<float> scores) const {
    std::vector<float> decisions = decide(like);
    auto n = static_cast<size_t>(classes_);
    std::vector<int64_t> votes(n);
    size_t pair = 0;
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = i + 1; j < n; ++j) ++votes[decisions[pair++] > 0 ? i : j];
    }
    if (!prob_a_.empty()) {
      set_probabilities(decisions, scores);
    } else if (n == 2) {
      scores[0] = decisions[0];
      scores[1] = -decisions[0];
    } else {
      std::ranges::copy(decisions, scores.begin());
    }
    return std::ranges::max_element(votes) - votes.begin();
  }

  std::vector<float> decide(const float* like) const {
    std::vector<float> decisions;
    decisions.reserve(rho_.size());
    auto sum = [&](int64_t of_class, int64_t line) {
      const auto [first, count] = vectors_of(of_class);
      return dot(coefficients_.data() + line * starts_.back() + first, like + first, count);
    };
    for_each_pair([&](int64_t i, int64_t j) {
      float value = folded_ ? like[decisions.size()] : sum(i, j - 1) + sum(j, i);
      decisions.push_back(value + rho_[decisions.size()]);
    });
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
    couple_pairs(pairs, result);
    std::ranges::transform(result, scores.begin(), [](double p) { return static_cast<float>(p); });
  }

  Similarity similarity_;
  ClassLabels labels_;
  std::vector<float> coefficients_, rho_, prob_a_, prob_b_;
  SupportVectors support_;
  std::vector<int64_t> starts_;  // of each class's support vectors, and their end; empty for a linear model
  int64_t classes_, features_;
  bool folded_ = false;  // the vectors are those of fold_pairs
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
