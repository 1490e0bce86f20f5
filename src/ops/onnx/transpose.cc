// Transpose permutes the dimensions: output dimension i is the input's perm[i]; reversed by default.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void transpose_rule(InferContext& context) {
  const SymbolicShape& input = context.shape(0);
  const std::vector<int64_t>& perm = context.node().ints("perm");
  if (!input.has_rank()) {
    context.set_output(0, context.element(0), perm.empty() ? SymbolicShape{} : SymbolicShape::of_rank(perm.size()));
    return;
  }
  size_t rank = input.rank();
  DimVector dims;
  if (perm.empty()) {
    for (size_t i = rank; i-- > 0;) dims.push_back(input[i]);
  } else {
    require(perm.size() == rank, ErrorCode::kInvalidGraph, "perm has ", perm.size(),
            " entries, but the input has shape ", input);
    checked_axes(perm, rank);
    for (int64_t axis : perm) dims.push_back(input[checked_axis(axis, rank)]);
  }
  context.set_output(0, context.element(0), dims);
}

constexpr SchemaRow kRows[] = {
    {"", "Transpose", 1, kLatest, 1, 1, transpose_rule, {{0, kAllTypes}}},
};

}  // namespace

extern const SchemaTable transpose_rows;
const SchemaTable transpose_rows(kRows);

}  // namespace ortolan::ops::onnx
