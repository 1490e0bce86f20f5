// Gather picks slices along one axis, GatherElements single elements along one axis, GatherND slices by index tuples
// (with batch_dims from opset 12; com.microsoft has it too).
#include "ops/element_dims.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

/** The picked elements of a known list: how Shape → Gather gives one dimension. */
void gather_content(InferContext& context) {
  if (context.shape(0).rank() != 1 || context.shape(1).rank() > 1) return;
  auto content = element_dims(context, 0);
  if (!content || context.shape(1).element_count().value() > kMaxRank) return;
  auto indices = context.int64s(1);
  if (!indices) return;
  DimVector picked;
  auto size = static_cast<int64_t>(content->size());
  for (int64_t index : *indices) {
    if (index < -size || index >= size) return;  // the kernel says so with the values at hand
    picked.push_back((*content)[index < 0 ? index + size : index]);
  }
  context.set_content(0, picked);
}

void gather_rule(InferContext& context) {
  const SymbolicShape& data = context.shape(0);
  const SymbolicShape& indices = context.shape(1);
  if (!data.has_rank()) return context.set_output(0, context.element(0), {});
  context.require_rank(0, 1, kMaxRank);
  size_t axis = checked_axis(context.node().int_or("axis", 0), data.rank());
  if (!indices.has_rank()) return context.set_output(0, context.element(0), {});
  DimVector dims(data.dims().begin(), data.dims().begin() + axis);
  dims.append(indices.dims().begin(), indices.dims().end());
  dims.append(data.dims().begin() + axis + 1, data.dims().end());
  context.set_output(0, context.element(0), dims);
  gather_content(context);
}

void gather_elements_rule(InferContext& context) {
  context.set_output(0, context.element(0), context.shape(1));
  if (!context.has_shape(0) || !context.has_shape(1)) return;
  context.require_rank(0, 1, kMaxRank);
  checked_axis(context.node().int_or("axis", 0), context.shape(0).rank());
  require(context.shape(0).rank() == context.shape(1).rank(), ErrorCode::kInvalidGraph, "data has shape ",
          context.shape(0), " and indices have shape ", context.shape(1), "; both must have the same rank");
}

void gather_nd_rule(InferContext& context) {
  const SymbolicShape& data = context.shape(0);
  const SymbolicShape& indices = context.shape(1);
  int64_t batch = context.node().int_or("batch_dims", 0);
  context.require_rank(0, 1, kMaxRank);
  context.require_rank(1, 1, kMaxRank);
  if (!data.has_rank() || !indices.has_rank()) return context.set_output(0, context.element(0), {});
  auto rank = static_cast<int64_t>(data.rank());
  auto index_rank = static_cast<int64_t>(indices.rank());
  require(batch >= 0 && batch < std::min(rank, index_rank), ErrorCode::kInvalidGraph, "batch_dims ", batch,
          " must not be negative and must be below the ranks of data ", data, " and indices ", indices);
  for (int64_t i = 0; i < batch; ++i) {
    require(!data[i].known() || !indices[i].known() || data[i] == indices[i], ErrorCode::kInvalidArgument,
            "batch dimension ", i, " differs between data ", data, " and indices ", indices);
  }
  Dim tuple = indices[indices.rank() - 1];
  if (!tuple.known()) return context.set_output(0, context.element(0), {});
  require(tuple.value() >= 1 && tuple.value() <= rank - batch, ErrorCode::kInvalidArgument, "index tuples have ",
          tuple.value(), " entries for data of shape ", data, " with batch_dims ", batch);
  DimVector dims(indices.dims().begin(), indices.dims().end() - 1);
  dims.append(data.dims().begin() + batch + tuple.value(), data.dims().end());
  context.set_output(0, context.element(0), dims);
}

constexpr SchemaRow kRows[] = {
    {"", "Gather", 1, kLatest, 2, 1, gather_rule, {{0, kAllTypes}, {1, kIndexTypes}}},
    {"", "GatherElements", 11, kLatest, 2, 1, gather_elements_rule, {{0, kAllTypes}, {1, kIndexTypes}}},
    {"", "GatherND", 11, kLatest, 2, 1, gather_nd_rule, {{0, kAllTypes}, {1, ElementType::kInt64}}},
    {"com.microsoft", "GatherND", 1, kLatest, 2, 1, gather_nd_rule, {{0, kAllTypes}, {1, kIndexTypes}}},
};

}  // namespace

extern const SchemaTable gather_rows;
const SchemaTable gather_rows(kRows);

}  // namespace ortolan::ops::onnx
