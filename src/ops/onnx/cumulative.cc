// CumSum, CumProd: the sum or product of all elements up to each one along an axis, which is input 1.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void cumulative_shape(InferContext& context) {
  auto axis = context.int64s(1);
  if (axis) {
    require(axis->size() == 1, ErrorCode::kInvalidArgument, "input axis has ", axis->size(),
            " elements; give it exactly one");
    if (context.has_shape(0)) checked_axis(axis->front(), context.shape(0).rank());
  }
  context.set_output_like(0, 0);
}

constexpr TypeSet kSummedTypes =
    kFloatTypes | ElementType::kInt32 | ElementType::kInt64 | ElementType::kUInt32 | ElementType::kUInt64;

constexpr SchemaRow kRows[] = {
    {"", "CumSum", 11, kLatest, 2, 1, cumulative_shape, {{0, kSummedTypes, 'T'}, {1, kIndexTypes}}},
    {"", "CumProd", 26, kLatest, 2, 1, cumulative_shape, {{0, kSummedTypes, 'T'}, {1, kIndexTypes}}},
};

}  // namespace

extern const SchemaTable cumulative_rows;
constinit const SchemaTable cumulative_rows(kRows);

}  // namespace ortolan::ops::onnx
