// NGramRepeatBlock sets the scores of tokens that would repeat an n-gram of input_ids to -inf. BifurcationDetector
// appends predicted tokens up to the first that differs from the source, and finds where the source goes on.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void ngram_repeat_block(InferContext& context) {
  context.require_rank(0, 2, 2);
  context.require_rank(1, 2, 2);
  if (context.has_shape(0) && context.has_shape(1)) {
    Dim rows = context.shape(0)[0], scores = context.shape(1)[0];
    require(!rows.known() || !scores.known() || rows == scores, ErrorCode::kInvalidGraph, "input_ids has shape ",
            context.shape(0), ", but scores has shape ", context.shape(1), "; both need the same batch");
  }
  context.set_output_like(0, 1);
}

void bifurcation_detector(InferContext& context) {
  for (size_t i : {0, 1, 3}) context.require_rank(i, 1, 1);
  bool appends = context.has_input(3);
  Dim tokens = !appends && context.has_shape(1) ? context.shape(1)[0] : Dim{};
  context.set_output(0, context.element(0), DimVector{tokens});
  context.set_output(1, context.element(0), context.shape(2));
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft",
     "NGramRepeatBlock",
     1,
     kLatest,
     2,
     1,
     ngram_repeat_block,
     {{0, ElementType::kInt64}, {1, kFloatTypes}}},
    {"com.microsoft",
     "BifurcationDetector",
     1,
     kLatest,
     {3, 4},
     2,
     bifurcation_detector,
     {{kTheRest, ElementType::kInt64}}},
};

}  // namespace

extern const SchemaTable token_matching_rows;
const SchemaTable token_matching_rows(kRows);

}  // namespace ortolan::ops::microsoft
