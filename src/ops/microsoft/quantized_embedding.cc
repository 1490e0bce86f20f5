// QEmbedLayerNormalization: EmbedLayerNormalization over tables, scale and shift of bytes, each with a scale and zero
// point of its own. Inputs 1, 4, 7, 10 and 15 may be left out.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void qembed_layer_normalization(InferContext& context) {
  for (size_t i : {2, 3, 5, 6, 8, 9, 11, 12, 13, 14, 16, 17}) {
    require(context.has_input(i), ErrorCode::kInvalidGraph, "required input ", i, " is left out; connect it");
  }
  context.require_rank(0, 2, 2);
  for (size_t i : {2, 3}) context.require_rank(i, 2, 2);
  Dim batch, sequence, hidden = context.has_shape(2) ? context.shape(2)[1] : Dim();
  if (context.has_shape(0)) batch = context.shape(0)[0], sequence = context.shape(0)[1];
  context.set_output(0, ElementType::kFloat, DimVector{batch, sequence, hidden});
  context.set_output(1, ElementType::kInt32, DimVector{batch});
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft",
     "QEmbedLayerNormalization",
     1,
     kLatest,
     {1, 18},
     {1, 2},
     qembed_layer_normalization,
     {{0, ElementType::kInt32},
      {1, ElementType::kInt32},
      {7, ElementType::kInt32},
      {kTheRest, kByteTypes | ElementType::kFloat}}},
};

}  // namespace

extern const SchemaTable quantized_embedding_rows;
const SchemaTable quantized_embedding_rows(kRows);
}  // namespace ortolan::ops::microsoft
