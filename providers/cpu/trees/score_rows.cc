// What ai.onnx.ml predictors share.
#include "cpu/trees/score_rows.h"

#include <cmath>
#include <cstring>

#include "cpu/kernels/elementwise/cast.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/rows/normalization_f32.h"

namespace ortolan::cpu {
namespace {

float logistic(float x) {
  float part = 1 / (1 + std::exp(-std::abs(x)));
  return x < 0 ? 1 - part : part;
}

/** The quantile of the standard normal distribution, by Newton's method from Winitzki's approximation. */
float probit(float p) {
  if (!(p > 0 && p < 1)) return p <= 0 ? -INFINITY : p >= 1 ? INFINITY : p;
  constexpr double kA = 0.147, kPi = 3.14159265358979323846;
  double y = 2 * static_cast<double>(p) - 1, log_term = std::log((1 - y) * (1 + y));
  double v = 2 / (kPi * kA) + log_term / 2;
  double x = std::copysign(std::sqrt(std::sqrt(v * v - log_term / kA) - v), y);
  for (int i = 0; i < 3; ++i) x -= (std::erf(x) - y) / (2 / std::sqrt(kPi) * std::exp(-x * x));
  return static_cast<float>(x * std::sqrt(2.0));
}

/** With `keep_zeros`, scores of zero stay zero and do not count. */
void softmax(std::span<float> scores, bool keep_zeros) {
  float highest = *std::ranges::max_element(scores), sum = 0;
  for (float& score : scores) {
    if (keep_zeros && std::abs(score) < 1e-7f) {
      score = 0;
      continue;
    }
    score = std::exp(score - highest);
    sum += score;
  }
  for (float& score : scores) score = sum > 0 ? score / sum : score;
}

}  // namespace

PostTransform post_transform_called(std::string_view name) {
  constexpr std::string_view kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  auto found = std::ranges::find(kNames, name);
  require(found != std::end(kNames), ErrorCode::kInvalidGraph, "post_transform '", name,
          "' is unknown; it must be NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT");
  return static_cast<PostTransform>(found - std::begin(kNames));
}

void transform_scores(PostTransform transform, std::span<float> scores) {
  if (scores.empty()) return;
  switch (transform) {
    case PostTransform::kNone:
      return;
    case PostTransform::kSoftmax:
      return softmax(scores, false);
    case PostTransform::kSoftmaxZero:
      return softmax(scores, true);
    case PostTransform::kLogistic:
      for (float& score : scores) score = logistic(score);
      return;
    case PostTransform::kProbit:
      for (float& score : scores) score = probit(score);
      return;
  }
}

void transform_rows(PostTransform transform, float* scores, int64_t rows, int64_t width) {
  if (rows == 0 || width == 0 || transform == PostTransform::kNone) return;
  if (transform == PostTransform::kSoftmax) return kernels::softmax(nullptr, scores, rows, width, 1, false, scores);
  if (transform == PostTransform::kLogistic) {
    return kernels::unary({kernels::UnaryOp::kSigmoid}, scores, scores, rows * width);
  }
  for (int64_t row = 0; row < rows; ++row) {
    transform_scores(transform, std::span(scores + row * width, static_cast<size_t>(width)));
  }
}

FeatureRows::FeatureRows(const Tensor& input) {
  const Shape& shape = input.shape();
  require(shape.rank() > 0, ErrorCode::kInvalidArgument, "the input is a scalar; it must be [rows, features]");
  rows = shape.rank() == 1 ? 1 : shape[0];
  features = shape.count_from(shape.rank() == 1 ? 0 : 1);
}

const float* features_as_floats(KernelContext& context, const Tensor& input) {
  if (input.type() == ElementType::kFloat) return input.data<float>();
  auto copy = context.scratch<float>(input.element_count());
  dispatch<kFeatureTypes>(
      input.type(), [&]<class T>(TypeTag<T>) { kernels::cast(input.data<T>(), input.element_count(), copy.data()); });
  return copy.data();
}

float dot(const float* a, const float* b, int64_t count) {
  constexpr int64_t kLanes = 8;
  using Lanes [[gnu::vector_size(kLanes * sizeof(float))]] = float;
  Lanes sums = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Lanes x, y;
    std::memcpy(&x, a + i, sizeof x);
    std::memcpy(&y, b + i, sizeof y);
    sums += x * y;
  }
  float sum = 0;
  for (int64_t lane = 0; lane < kLanes; ++lane) sum += sums[lane];
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

ClassLabels::ClassLabels(const Node& node, const char* strings, const char* ints)
    : strings_(node.strings(strings)), ints_(node.ints(ints)) {
  require(strings_.empty() || ints_.empty(), ErrorCode::kInvalidGraph, "attributes '", strings, "' and '", ints,
          "' are both given; give one of them");
}

void ClassLabels::write(Tensor& output, std::span<const int64_t> classes) const {
  if (!strings_.empty()) {
    std::ranges::transform(classes, output.mutable_data<std::string>(), [this](int64_t index) {
      auto i = static_cast<size_t>(index);
      return i < strings_.size() ? strings_[i] : std::string();
    });
  } else {
    std::ranges::transform(classes, output.mutable_data<int64_t>(), [this](int64_t index) {
      auto i = static_cast<size_t>(index);
      return i < ints_.size() ? ints_[i] : index;
    });
  }
}

}  // namespace ortolan::cpu
