// Trilu: keeps the upper or lower triangle of matrices, the rest becomes zero. Input k moves the diagonal.
// com.microsoft has the same operator.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void trilu_shape(InferContext& context) {
  context.require_rank(0, 2, SIZE_MAX);
  context.set_output_like(0, 0);
}

constexpr SchemaRow kRows[] = {
    {"", "Trilu", 14, kLatest, {1, 2}, 1, trilu_shape, {{0, kAllTypes, 'T'}, {1, ElementType::kInt64}}},
    {"com.microsoft", "Trilu", 1, kLatest, {1, 2}, 1, trilu_shape, {{0, kAllTypes, 'T'}, {1, ElementType::kInt64}}}};

}  // namespace

extern const SchemaTable trilu_rows;
constinit const SchemaTable trilu_rows(kRows);

}  // namespace ortolan::ops::onnx
