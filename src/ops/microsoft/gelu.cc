// The Gelu family: Gelu, FastGelu (its tanh form, with an optional bias), BiasGelu, QuickGelu (x * sigmoid(alpha x)).
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void with_bias(InferContext& context) {
  if (context.has_shape(0) && context.has_shape(1)) {
    context.require_rank(1, 1, 1);
    context.require_rank(0, 1, SIZE_MAX);
    Dim last = context.shape(0)[context.shape(0).rank() - 1], size = context.shape(1)[0];
    require(!last.known() || !size.known() || last.value() == size.value(), ErrorCode::kInvalidArgument,
            "the bias has shape ", context.shape(1), "; it needs one value for the last dimension of ",
            context.shape(0));
  }
  context.set_output_like(0, 0);
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft", "Gelu", 1, kLatest, 1, 1, same_as_first_input, {{0, kFloatTypes}}},
    {"com.microsoft", "QuickGelu", 1, kLatest, 1, 1, same_as_first_input, {{0, kFloatTypes}}},
    {"com.microsoft", "BiasGelu", 1, kLatest, 2, 1, with_bias, {{kTheRest, kFloatTypes, 'T'}}},
    {"com.microsoft", "FastGelu", 1, kLatest, {1, 2}, 1, with_bias, {{kTheRest, kFloatTypes, 'T'}}},
};

}  // namespace

extern const SchemaTable gelu_rows;
const SchemaTable gelu_rows(kRows);
}  // namespace ortolan::ops::microsoft
