// Det: the determinant of each square matrix in the last two dimensions.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void det_shape(InferContext& context) {
  context.require_rank(0, 2, SIZE_MAX);
  SymbolicShape shape;
  if (context.has_shape(0)) {
    const SymbolicShape& x = context.shape(0);
    Dim rows = x[x.rank() - 2], columns = x[x.rank() - 1];
    require(!rows.known() || !columns.known() || rows == columns, ErrorCode::kInvalidGraph, "matrices of ",
            rows.value(), " rows and ", columns.value(), " columns have no determinant; they must be square");
    DimVector dims;
    dims.append(x.dims().begin(), x.dims().end() - 2);
    shape = SymbolicShape(std::move(dims));
  }
  context.set_output(0, context.element(0), std::move(shape));
}

constexpr SchemaRow kRows[] = {{"", "Det", 11, kLatest, 1, 1, det_shape, {{0, kFloatTypes, 'T'}}}};

}  // namespace

extern const SchemaTable det_rows;
constinit const SchemaTable det_rows(kRows);

}  // namespace ortolan::ops::onnx
