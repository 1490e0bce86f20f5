// What ai.onnx.ml predictors share: reading feature rows, post-transforms of scores, and writing class labels.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

inline constexpr TypeSet kFeatureTypes =
    ElementType::kFloat | ElementType::kDouble | ElementType::kInt64 | ElementType::kInt32;

enum class PostTransform { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

/** The one with that name ("NONE", "SOFTMAX", …); throws kInvalidGraph for others. */
PostTransform post_transform_called(std::string_view name);
/** Transforms one row of scores. */
void transform_scores(PostTransform transform, std::span<float> scores);

/** Transforms `rows` rows of `width` scores each. */
void transform_rows(PostTransform transform, float* scores, int64_t rows, int64_t width);

/** A table of features: rank 1 is one row, dimensions after the second are part of the row. */
struct FeatureRows {
  explicit FeatureRows(const Tensor& input);
  int64_t rows, features;
};

/** All elements as floats: the tensor's own for float, else a copy in scratch memory. */
const float* features_as_floats(KernelContext& context, const Tensor& input);

/** The sum of products of two rows. */
float dot(const float* a, const float* b, int64_t count);

/** Class labels given as strings or integers by these attributes; at most one of them may be given. */
class ClassLabels {
 public:
  ClassLabels(const Node& node, const char* strings, const char* ints);
  size_t count() const { return strings_.empty() ? ints_.size() : strings_.size(); }
  bool strings() const { return !strings_.empty(); }
  /** Writes the label of each row, given its class; the class itself where there is no label for it. */
  void write(Tensor& output, std::span<const int64_t> classes) const;

 private:
  std::vector<std::string> strings_;
  std::vector<int64_t> ints_;
};

}  // namespace ortolan::cpu
