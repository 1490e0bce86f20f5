// ai.onnx.ml operators that predict: linear models, support vector machines, tree ensembles.
#include "ops/element_dims.h"
#include "ops/ml/domain.h"

namespace ortolan::ops::ml {
namespace {

/** The rows of a [rows, features] input; one row when it has rank 1. */
Dim rows_of(const InferContext& context) {
  context.require_rank(0, 1, kMaxRank);
  if (!context.has_shape(0)) return {};
  return context.shape(0).rank() == 1 ? Dim(1) : context.shape(0)[0];
}

void set_labels(InferContext& context, bool strings) {
  context.set_output(0, strings ? ElementType::kString : ElementType::kInt64, DimVector{rows_of(context)});
}

void linear_classifier_rule(InferContext& context) {
  const Node& node = context.node();
  size_t labels = std::max(node.strings("classlabels_strings").size(), node.ints("classlabels_ints").size());
  size_t targets = std::max<size_t>(node.floats("intercepts").size(), 1);
  set_labels(context, node.has_attribute("classlabels_strings"));
  int64_t scores = targets == 1 && labels == 2 ? 2 : static_cast<int64_t>(targets);
  context.set_output(1, ElementType::kFloat, DimVector{rows_of(context), Dim(scores)});
}

void linear_regressor_rule(InferContext& context) {
  context.set_output(0, ElementType::kFloat, DimVector{rows_of(context), Dim(context.node().int_or("targets", 1))});
}

void svm_classifier_rule(InferContext& context) {
  const Node& node = context.node();
  bool strings = node.has_attribute("classlabels_strings");
  size_t labels = std::max(node.strings("classlabels_strings").size(), node.ints("classlabels_ints").size());
  auto classes = static_cast<int64_t>(node.ints("vectors_per_class").size());
  if (classes == 0) classes = static_cast<int64_t>(labels);
  bool votes = node.has_attribute("vectors_per_class") && node.floats("prob_a").empty() && classes > 2;
  set_labels(context, strings);
  context.set_output(1, ElementType::kFloat,
                     DimVector{rows_of(context), Dim(votes ? classes * (classes - 1) / 2 : classes)});
}

void svm_regressor_rule(InferContext& context) {
  context.set_output(0, ElementType::kFloat, DimVector{rows_of(context), Dim(1)});
}

void tree_classifier_rule(InferContext& context) {
  const Node& node = context.node();
  size_t strings = node.strings("classlabels_strings").size(), ints = node.ints("classlabels_int64s").size();
  set_labels(context, strings > 0);
  auto scores = static_cast<int64_t>(std::max(strings, ints));
  context.set_output(1, ElementType::kFloat, DimVector{rows_of(context), Dim(std::max<int64_t>(scores, 2))});
}

void tree_regressor_rule(InferContext& context) {
  context.set_output(0, ElementType::kFloat, DimVector{rows_of(context), Dim(context.node().int_or("n_targets", 1))});
}

void tree_ensemble_rule(InferContext& context) {
  context.set_output(0, context.element(0), DimVector{rows_of(context), Dim(context.node().int_or("n_targets", 1))});
}

constexpr TypeSet kFloats = ElementType::kFloat | ElementType::kDouble | ElementType::kFloat16;
constexpr SchemaRow kRows[] = {
    {kDomain, "LinearClassifier", 1, kLatest, 1, 2, linear_classifier_rule, {{0, kNumbers}}},
    {kDomain, "LinearRegressor", 1, kLatest, 1, 1, linear_regressor_rule, {{0, kNumbers}}},
    {kDomain, "SVMClassifier", 1, kLatest, 1, 2, svm_classifier_rule, {{0, kNumbers}}},
    {kDomain, "SVMRegressor", 1, kLatest, 1, 1, svm_regressor_rule, {{0, kNumbers}}},
    {kDomain, "TreeEnsembleClassifier", 1, 4, 1, 2, tree_classifier_rule, {{0, kNumbers}}},
    {kDomain, "TreeEnsembleClassifier", 5, kLatest, 1, 2, tree_classifier_rule, {{0, kNumbers}}, kDeprecated},
    {kDomain, "TreeEnsembleRegressor", 1, 4, 1, 1, tree_regressor_rule, {{0, kNumbers}}},
    {kDomain, "TreeEnsembleRegressor", 5, kLatest, 1, 1, tree_regressor_rule, {{0, kNumbers}}, kDeprecated},
    {kDomain, "TreeEnsemble", 5, kLatest, 1, 1, tree_ensemble_rule, {{0, kFloats}}},
};

}  // namespace

extern const SchemaTable predictors_rows;
const SchemaTable predictors_rows(kRows);

}  // namespace ortolan::ops::ml
