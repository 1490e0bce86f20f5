// NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss: how unlikely the scores [N, C, d1, …] make the labels [N, d1, …].
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void loss_shape(InferContext& context) {
  context.require_rank(0, 2, SIZE_MAX);
  std::string_view reduction = context.node().string_or("reduction", "mean");
  require(reduction == "none" || reduction == "sum" || reduction == "mean", ErrorCode::kInvalidGraph,
          "attribute reduction is '", reduction, "'; set it to 'none', 'sum' or 'mean'");
  const SymbolicShape& scores = context.shape(0);
  const SymbolicShape& labels = context.shape(1);
  if (scores.has_rank() && labels.has_rank()) {
    require(labels.rank() + 1 == scores.rank(), ErrorCode::kInvalidGraph, "labels of shape ", labels,
            " do not match scores of shape ", scores, "; they must lack the second dimension only");
  }
  SymbolicShape loss(DimVector{});
  if (reduction == "none") loss = labels;
  context.set_output(0, context.element(0), std::move(loss));
  context.set_output(1, context.element(0), scores);
}

constexpr SchemaRow kRows[] = {
    {"",
     "NegativeLogLikelihoodLoss",
     12,
     kLatest,
     {2, 3},
     1,
     loss_shape,
     {{0, kFloatTypes, 'T'}, {1, kIndexTypes}, {2, kFloatTypes, 'T'}}},
    {"",
     "SoftmaxCrossEntropyLoss",
     12,
     kLatest,
     {2, 3},
     {1, 2},
     loss_shape,
     {{0, kFloatTypes, 'T'}, {1, kIndexTypes}, {2, kFloatTypes, 'T'}}},
};

}  // namespace

extern const SchemaTable losses_rows;
constinit const SchemaTable losses_rows(kRows);

}  // namespace ortolan::ops::onnx
