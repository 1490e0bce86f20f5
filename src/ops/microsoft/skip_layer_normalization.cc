// Layer normalisation after a sum: SkipLayerNormalization and its RMS form, EmbedLayerNormalization; and the plain RMS
// form, SimplifiedLayerNormalization, which lives in the default domain.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

/** Outputs 1 and 2 are moments of the rows, output 3 the sum before normalisation. */
void skip_layer_normalization(InferContext& context) {
  context.require_rank(0, 2, 3);
  context.set_output_like(0, 0);
  SymbolicShape moments = context.shape(0);
  if (moments.has_rank()) moments[moments.rank() - 1] = 1;
  context.set_output(1, ElementType::kFloat, moments);
  context.set_output(2, ElementType::kFloat, moments);
  context.set_output(3, context.element(0), context.shape(0));
}

/** The result has scale's type. */
void simplified_layer_normalization(InferContext& context) {
  context.set_output(0, context.element(1), context.shape(0));
  SymbolicShape shape = context.shape(0);
  if (shape.has_rank()) {
    size_t axis = checked_axis(context.node().int_or("axis", -1), shape.rank());
    for (size_t i = axis; i < shape.rank(); ++i) shape[i] = 1;
  }
  context.set_output(1, ElementType::kFloat, shape);
}

/** Inputs 1, 4, 7 and 8 may be left out. */
void embed_layer_normalization(InferContext& context) {
  for (size_t i : {2, 3, 5, 6}) {
    require(context.has_input(i), ErrorCode::kInvalidGraph, "required input ", i, " is left out; connect it");
  }
  context.require_rank(0, 2, 2);
  for (size_t i : {2, 3}) context.require_rank(i, 2, 2);
  Dim batch, sequence, hidden = context.has_shape(2) ? context.shape(2)[1] : Dim();
  if (context.has_shape(0)) batch = context.shape(0)[0], sequence = context.shape(0)[1];
  context.set_output(0, context.element(2), DimVector{batch, sequence, hidden});
  context.set_output(1, ElementType::kInt32, DimVector{batch});
  context.set_output(2, context.element(2), DimVector{batch, sequence, hidden});
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft",
     "SkipLayerNormalization",
     1,
     kLatest,
     {3, 5},
     {1, 4},
     skip_layer_normalization,
     {{kTheRest, kFloatTypes, 'T'}}},
    {"com.microsoft",
     "SkipSimplifiedLayerNormalization",
     1,
     kLatest,
     {3, 4},
     {1, 4},
     skip_layer_normalization,
     {{kTheRest, kFloatTypes, 'T'}}},
    {"com.microsoft",
     "EmbedLayerNormalization",
     1,
     kLatest,
     {1, 9},
     {1, 3},
     embed_layer_normalization,
     {{0, ElementType::kInt32},
      {1, ElementType::kInt32},
      {7, ElementType::kInt32},
      {8, ElementType::kInt32},
      {kTheRest, kFloatTypes, 'T'}}},
    {"",
     "SimplifiedLayerNormalization",
     1,
     kLatest,
     2,
     {1, 2},
     simplified_layer_normalization,
     {{kTheRest, kFloatTypes}}},
};

}  // namespace

extern const SchemaTable skip_layer_normalization_rows;
const SchemaTable skip_layer_normalization_rows(kRows);
}  // namespace ortolan::ops::microsoft
