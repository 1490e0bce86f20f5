// CDist: distances between the rows of two matrices, by attribute metric. Inverse: of each square matrix in the last
// two dimensions.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void cdist(InferContext& context) {
  Dim rows[2], sizes[2];
  for (size_t i = 0; i < 2; ++i) {
    context.require_rank(i, 2, 2);
    if (!context.has_shape(i)) continue;
    rows[i] = context.shape(i)[0];
    sizes[i] = context.shape(i)[1];
  }
  require(!sizes[0].known() || !sizes[1].known() || sizes[0] == sizes[1], ErrorCode::kInvalidArgument,
          "rows of shapes ", context.shape(0), " and ", context.shape(1), " have different lengths");
  context.set_output(0, context.element(0), DimVector{rows[0], rows[1]});
}

void inverse(InferContext& context) {
  context.require_rank(0, 2, SIZE_MAX);
  if (context.has_shape(0)) {
    const SymbolicShape& x = context.shape(0);
    Dim rows = x[x.rank() - 2], columns = x[x.rank() - 1];
    require(!rows.known() || !columns.known() || rows == columns, ErrorCode::kInvalidArgument, "matrices of shape ", x,
            " have no inverse; they must be square");
  }
  context.set_output_like(0, 0);
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft", "CDist", 1, kLatest, 2, 1, cdist, {{kTheRest, kFloat32And64, 'T'}}},
    {"com.microsoft", "Inverse", 1, kLatest, 1, 1, inverse, {{0, kFloatTypes}}},
};

}  // namespace

extern const SchemaTable matrices_rows;
const SchemaTable matrices_rows(kRows);

}  // namespace ortolan::ops::microsoft
