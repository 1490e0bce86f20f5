// ExpandDims puts a dimension of size 1 at input axis, which may lie one past the last; SampleOp copies.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void expand_dims(InferContext& context) {
  if (!context.has_shape(0)) return context.set_output(0, context.element(0), {});
  const SymbolicShape& shape = context.shape(0);
  auto axis = context.int64s(1);
  if (!axis || axis->size() != 1) {
    return context.set_output(0, context.element(0), SymbolicShape::of_rank(shape.rank() + 1));
  }
  DimVector dims = shape.dims();
  dims.insert(dims.begin() + checked_axis((*axis)[0], shape.rank() + 1), Dim(1));
  context.set_output(0, context.element(0), SymbolicShape(dims));
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft", "ExpandDims", 1, kLatest, 2, 1, expand_dims, {{0, kAllTypes}, {1, ElementType::kInt32}}},
    {"com.microsoft", "SampleOp", 1, kLatest, 1, 1, same_as_first_input, {{0, kNumericTypes}}},
};

}  // namespace

extern const SchemaTable view_rows;
const SchemaTable view_rows(kRows);

}  // namespace ortolan::ops::microsoft
