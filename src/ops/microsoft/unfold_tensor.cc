// UnfoldTensor: windows of attribute size, step apart, along dimension dim; they stand in a new last dimension.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void unfold_tensor(InferContext& context) {
  int64_t size = context.node().int_of("size"), step = context.node().int_or("step", 1);
  require(size > 0 && step > 0, ErrorCode::kInvalidGraph, "size is ", size, " and step ", step,
          "; both must be positive");
  if (!context.has_shape(0)) return context.set_output(0, context.element(0), {});
  context.require_rank(0, 1, SIZE_MAX);
  DimVector dims = context.shape(0).dims();
  size_t axis = checked_axis(context.node().int_or("dim", -1), dims.size(), "dim");
  if (dims[axis].known()) {
    require(dims[axis].value() >= size, ErrorCode::kInvalidArgument, "dimension ", axis, " of shape ", context.shape(0),
            " is smaller than the window's size ", size);
    dims[axis] = (dims[axis].value() - size) / step + 1;
  } else {
    dims[axis] = Dim{};
  }
  dims.push_back(size);
  context.set_output(0, context.element(0), SymbolicShape(dims));
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft", "UnfoldTensor", 1, kLatest, 1, 1, unfold_tensor, {{0, kPlainTypes | ElementType::kString}}}};

}  // namespace

extern const SchemaTable unfold_tensor_rows;
const SchemaTable unfold_tensor_rows(kRows);

}  // namespace ortolan::ops::microsoft
