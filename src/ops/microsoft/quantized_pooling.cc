// Pools of quantised bytes: QLinearAveragePool and QLinearGlobalAveragePool (attribute channels_last: [N, spatial…,
// C]), NhwcMaxPool, which always is so; the means of QLinearReduceMean and the sums of ReduceSumInteger.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

SymbolicShape window_shape(const InferContext& context, bool channels_last) {
  const std::vector<int64_t>& kernel = context.node().ints("kernel_shape");
  require(!kernel.empty(), ErrorCode::kInvalidGraph, "attribute kernel_shape is missing; give a size per dimension");
  WindowAttributes window = window_attributes(context.node(), kernel.size(), kernel);
  if (!context.has_shape(0)) return SymbolicShape::of_rank(kernel.size() + 2);
  DimVector dims = context.shape(0).dims();
  require(dims.size() == kernel.size() + 2, ErrorCode::kInvalidArgument, "input ", context.shape(0), " has rank ",
          dims.size(), " but kernel_shape has ", kernel.size(), " values; the rank must be 2 more");
  size_t first = channels_last ? 1 : 2;
  for (size_t i = 0; i < kernel.size(); ++i) dims[i + first] = window.output_size(i, dims[i + first]);
  return dims;
}

bool channels_last(const Node& node) { return node.int_or("channels_last", 0) != 0; }

void require_output_scale(const InferContext& context) {
  require(context.has_input(3), ErrorCode::kInvalidGraph, "required input 3, the output's scale, is left out");
}

void qlinear_average_pool(InferContext& context) {
  require_output_scale(context);
  context.set_output(0, context.element(0), window_shape(context, channels_last(context.node())));
}

void qlinear_global_average_pool(InferContext& context) {
  require_output_scale(context);
  context.require_rank(0, 2, SIZE_MAX);
  SymbolicShape shape = context.shape(0);
  size_t first = channels_last(context.node()) ? 1 : 2;
  for (size_t i = 0; shape.has_rank() && i + 2 < shape.rank(); ++i) shape[i + first] = 1;
  context.set_output(0, context.element(0), shape);
}

void nhwc_max_pool(InferContext& context) { context.set_output(0, context.element(0), window_shape(context, true)); }

SymbolicShape reduced(const InferContext& context) {
  if (!context.has_shape(0)) return {};
  const SymbolicShape& shape = context.shape(0);
  const std::vector<int64_t>& axes = context.node().ints("axes");
  bool keep = context.node().int_or("keepdims", 1) != 0;
  std::vector<bool> is_reduced(shape.rank(), axes.empty());
  for (size_t axis : checked_axes(axes, shape.rank())) is_reduced[axis] = true;
  DimVector dims;
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (!is_reduced[i] || keep) dims.push_back(is_reduced[i] ? Dim(1) : shape[i]);
  }
  return dims;
}

void qlinear_reduce_mean(InferContext& context) {
  require_output_scale(context);
  context.set_output(0, context.element(0), reduced(context));
}

void reduce_sum_integer(InferContext& context) {
  bool is_signed = context.element(0) == ElementType::kInt8;
  context.set_output(0, is_signed ? ElementType::kInt32 : ElementType::kUInt32, reduced(context));
}

constexpr SchemaRow scaled(const char* name, ShapeRule rule) {
  return {
      "com.microsoft", name, 1,    kLatest,
      {2, 5},          1,    rule, {{1, ElementType::kFloat}, {3, ElementType::kFloat}, {kTheRest, kByteTypes, 'T'}}};
}

constexpr SchemaRow kRows[] = {
    scaled("QLinearAveragePool", qlinear_average_pool),
    scaled("QLinearGlobalAveragePool", qlinear_global_average_pool),
    scaled("QLinearReduceMean", qlinear_reduce_mean),
    {"com.microsoft", "NhwcMaxPool", 1, kLatest, 1, 1, nhwc_max_pool, {{0, kByteTypes}}},
    {"com.microsoft", "ReduceSumInteger", 1, kLatest, 1, 1, reduce_sum_integer, {{0, kByteTypes}}},
};

}  // namespace

extern const SchemaTable quantized_pooling_rows;
const SchemaTable quantized_pooling_rows(kRows);
}  // namespace ortolan::ops::microsoft
