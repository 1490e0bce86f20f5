// GridSample takes an image's values at the points of a grid; AffineGrid makes such a grid from affine maps.
#include "ops/element_dims.h"

namespace ortolan::ops::onnx {
namespace {

constexpr int64_t kMostSpatial = 6;

void grid_sample_rule(InferContext& context) {
  context.require_rank(0, 3, kMostSpatial + 2);
  const SymbolicShape& input = context.shape(0);
  const SymbolicShape& grid = context.shape(1);
  if (!input.has_rank() || !grid.has_rank()) return context.set_output(0, context.element(0), {});
  size_t rank = input.rank();
  context.require_rank(1, rank, rank);
  Dim points = grid[rank - 1];
  require(!points.known() || points.is(static_cast<int64_t>(rank) - 2), ErrorCode::kInvalidArgument,
          "the grid's last dimension is ", points.known() ? points.value() : 0, "; it must be ", rank - 2,
          ", the number of the input's spatial dimensions");
  require(!input[0].known() || !grid[0].known() || input[0] == grid[0], ErrorCode::kInvalidArgument,
          "the input of shape ", input, " and the grid of shape ", grid, " must have the same batch");
  DimVector dims{input[0].known() ? input[0] : grid[0], input[1]};
  dims.append(grid.dims().begin() + 1, grid.dims().end() - 1);
  context.set_output(0, context.element(0), dims);
}

void affine_grid_rule(InferContext& context) {
  context.require_rank(0, 3, 3);
  if (auto values = context.int64s(1)) {
    for (int64_t size : *values) require(size >= 0, ErrorCode::kInvalidArgument, "the size ", size, " is negative");
  }
  auto size = element_dims(context, 1);
  if (!size) return context.set_output(0, context.element(0), {});
  require(size->size() == 4 || size->size() == 5, ErrorCode::kInvalidArgument, "size has ", size->size(),
          " entries; it must have 4 or 5");
  auto spatial = static_cast<int64_t>(size->size()) - 2;
  const SymbolicShape& theta = context.shape(0);
  if (theta.has_rank()) {
    bool fits = (!theta[0].known() || !(*size)[0].known() || theta[0] == (*size)[0]) &&
                (!theta[1].known() || theta[1].is(spatial)) && (!theta[2].known() || theta[2].is(spatial + 1));
    require(fits, ErrorCode::kInvalidArgument, "theta has shape ", theta, "; size ", SymbolicShape(*size), " needs [N,",
            spatial, ",", spatial + 1, "]");
  }
  DimVector dims{(*size)[0]};
  dims.append(size->begin() + 2, size->end());
  dims.push_back(spatial);
  context.set_output(0, context.element(0), dims);
}

constexpr SchemaRow kRows[] = {
    {"", "GridSample", 16, kLatest, 2, 1, grid_sample_rule, {{0, kAllTypes}, {1, kFloatTypes}}},
    {"com.microsoft", "GridSample", 1, kLatest, 2, 1, grid_sample_rule, {{0, kAllTypes}, {1, kFloatTypes}}},
    {"", "AffineGrid", 20, kLatest, 2, 1, affine_grid_rule, {{0, kFloatTypes}, {1, ElementType::kInt64}}},
};

}  // namespace

extern const SchemaTable grid_sample_rows;
const SchemaTable grid_sample_rows(kRows);

}  // namespace ortolan::ops::onnx
