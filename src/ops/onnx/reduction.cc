// Reductions over axes. The axes are an attribute at first and input 1 later: from opset 13 on for ReduceSum, from 18
// on for the others. No axes means all of them, or, with noop_with_empty_axes, none.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

/** The axes, when known; empty for "no axes given". */
std::optional<std::vector<int64_t>> known_axes(const InferContext& context) {
  if (context.has_input(1)) return context.int64s(1);
  return context.node().ints("axes");
}

/** The result of an unknown choice of axes. */
SymbolicShape of_unknown_axes(const InferContext& context, bool keep) {
  if (!context.has_shape(0)) return {};
  size_t rank = context.shape(0).rank();
  if (keep) return SymbolicShape::of_rank(rank);
  const SymbolicShape& axes = context.shape(1);
  bool counted = axes.has_rank() && axes.rank() == 1 && axes[0].known() && !axes[0].is(0);
  if (!counted) return {};
  require(static_cast<size_t>(axes[0].value()) <= rank, ErrorCode::kInvalidGraph, "input axes names ", axes[0].value(),
          " axes, but the input has rank ", rank);
  return SymbolicShape::of_rank(rank - static_cast<size_t>(axes[0].value()));
}

SymbolicShape reduced(const SymbolicShape& shape, const std::vector<int64_t>& axes, bool keep) {
  std::vector<bool> is_reduced(shape.rank(), axes.empty());
  for (size_t axis : checked_axes(axes, shape.rank())) is_reduced[axis] = true;
  DimVector dims;
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (!is_reduced[i]) {
      dims.push_back(shape[i]);
    } else if (keep) {
      dims.push_back(1);
    }
  }
  return SymbolicShape(std::move(dims));
}

void reduce_shape(InferContext& context) {
  bool keep = context.node().int_or("keepdims", 1) != 0;
  auto axes = known_axes(context);
  if (!axes) return context.set_output(0, context.element(0), of_unknown_axes(context, keep));
  if (axes->empty() && context.node().int_or("noop_with_empty_axes", 0) != 0) {
    return context.set_output(0, context.element(0), context.shape(0));
  }
  SymbolicShape shape;
  if (context.has_shape(0)) {
    shape = reduced(context.shape(0), *axes, keep);
  } else if (axes->empty() && !keep) {
    shape = SymbolicShape(DimVector{});
  }
  context.set_output(0, context.element(0), std::move(shape));
}

constexpr TypeSet kSumTypes =
    kFloatTypes | ElementType::kInt32 | ElementType::kInt64 | ElementType::kUInt32 | ElementType::kUInt64;
constexpr TypeSet kExtremeTypes = kSumTypes | ElementType::kInt8 | ElementType::kUInt8 | ElementType::kBool;

constexpr SchemaRow with_attribute(const char* name, int until, TypeSet types) {
  return {"", name, 1, until, 1, 1, reduce_shape, {{0, types, 'T'}}};
}
constexpr SchemaRow with_input(const char* name, int since, TypeSet types) {
  return {"", name, since, kLatest, {1, 2}, 1, reduce_shape, {{0, types, 'T'}, {1, ElementType::kInt64}}};
}

constexpr SchemaRow kRows[] = {
    with_attribute("ReduceSum", 12, kSumTypes),       with_input("ReduceSum", 13, kSumTypes),
    with_attribute("ReduceMean", 17, kSumTypes),      with_input("ReduceMean", 18, kSumTypes),
    with_attribute("ReduceMax", 17, kExtremeTypes),   with_input("ReduceMax", 18, kExtremeTypes),
    with_attribute("ReduceMin", 17, kExtremeTypes),   with_input("ReduceMin", 18, kExtremeTypes),
    with_attribute("ReduceProd", 17, kSumTypes),      with_input("ReduceProd", 18, kSumTypes),
    with_attribute("ReduceL1", 17, kSumTypes),        with_input("ReduceL1", 18, kSumTypes),
    with_attribute("ReduceL2", 17, kSumTypes),        with_input("ReduceL2", 18, kSumTypes),
    with_attribute("ReduceLogSum", 17, kSumTypes),    with_input("ReduceLogSum", 18, kSumTypes),
    with_attribute("ReduceLogSumExp", 17, kSumTypes), with_input("ReduceLogSumExp", 18, kSumTypes),
    with_attribute("ReduceSumSquare", 17, kSumTypes), with_input("ReduceSumSquare", 18, kSumTypes),
};

}  // namespace

extern const SchemaTable reduction_rows;
constinit const SchemaTable reduction_rows(kRows);

}  // namespace ortolan::ops::onnx
