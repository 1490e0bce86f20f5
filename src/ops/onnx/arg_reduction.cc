// ArgMax, ArgMin: where the largest or smallest element along attribute axis is, as int64. From opset 12 on,
// select_last_index chooses the last of equal elements.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void arg_reduction_shape(InferContext& context) {
  SymbolicShape shape;
  if (context.has_shape(0)) {
    bool keep = context.node().int_or("keepdims", 1) != 0;
    size_t axis = checked_axis(context.node().int_or("axis", 0), context.shape(0).rank());
    DimVector dims;
    for (size_t i = 0; i < context.shape(0).rank(); ++i) {
      if (i != axis) dims.push_back(context.shape(0)[i]);
      if (i == axis && keep) dims.push_back(1);
    }
    shape = SymbolicShape(std::move(dims));
  }
  context.set_output(0, ElementType::kInt64, std::move(shape));
}

constexpr SchemaRow kRows[] = {
    {"", "ArgMax", 1, kLatest, 1, 1, arg_reduction_shape, {{0, kNumericTypes, 'T'}}},
    {"", "ArgMin", 1, kLatest, 1, 1, arg_reduction_shape, {{0, kNumericTypes, 'T'}}},
};

}  // namespace

extern const SchemaTable arg_reduction_rows;
constinit const SchemaTable arg_reduction_rows(kRows);

}  // namespace ortolan::ops::onnx
