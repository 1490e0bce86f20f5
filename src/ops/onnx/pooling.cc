// Pooling windows (MaxPool, AveragePool, LpPool), over whole planes (Global…), MaxUnpool, and com.microsoft's
// MaxpoolWithMask. Opset 10 adds ceil_mode and dilations to MaxPool and ceil_mode to AveragePool, 18 and 19 bring the
// rest; all are read where they are given.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

constexpr TypeSet kMaxPoolTypes = kFloatTypes | ElementType::kInt8 | ElementType::kUInt8;

SymbolicShape window_shape(const InferContext& context) {
  context.require_rank(0, 3, SIZE_MAX);
  const std::vector<int64_t>& kernel = context.node().ints("kernel_shape");
  require(!kernel.empty(), ErrorCode::kInvalidGraph, "attribute kernel_shape is missing; give a size per dimension");
  WindowAttributes window = window_attributes(context.node(), kernel.size(), kernel);
  if (!context.has_shape(0)) return SymbolicShape::of_rank(kernel.size() + 2);
  DimVector dims = context.shape(0).dims();
  require(dims.size() == kernel.size() + 2, ErrorCode::kInvalidArgument, "input ", context.shape(0), " has ",
          dims.size() - 2, " spatial dimensions but kernel_shape has ", kernel.size());
  for (size_t i = 0; i < kernel.size(); ++i) dims[i + 2] = window.output_size(i, dims[i + 2]);
  return dims;
}

void window_pool(InferContext& context) { context.set_output(0, context.element(0), window_shape(context)); }

void max_pool(InferContext& context) {
  SymbolicShape shape = window_shape(context);
  context.set_output(0, context.element(0), shape);
  context.set_output(1, ElementType::kInt64, shape);
}

void global_pool(InferContext& context) {
  context.require_rank(0, 2, SIZE_MAX);
  SymbolicShape shape = context.shape(0);
  for (size_t i = 2; i < shape.rank(); ++i) shape[i] = 1;
  context.set_output(0, context.element(0), shape);
}

/** (in - 1) * stride + kernel - pads; dilation does not exist here. */
Dim unpooled_size(const WindowAttributes& window, size_t i, Dim input) {
  if (!input.known()) return {};
  int64_t pads = checked_add(window.pads[i], window.pads[i + window.kernel.size()]);
  int64_t size = checked_mul(std::max<int64_t>(input.value() - 1, 0), window.strides[i]);
  size = checked_add(size, window.kernel[i]) - pads;
  require(size >= 0, ErrorCode::kInvalidArgument, "pads ", pads, " cut away all of spatial dimension ", i);
  return input.is(0) ? Dim(0) : Dim(size);
}

void max_unpool(InferContext& context) {
  context.require_rank(0, 3, SIZE_MAX);
  const std::vector<int64_t>& kernel = context.node().ints("kernel_shape");
  require(!kernel.empty(), ErrorCode::kInvalidGraph, "attribute kernel_shape is missing; give a size per dimension");
  if (context.has_input(2)) {
    std::optional<DimVector> dims = context.dims(2);
    require(!dims || !context.has_shape(0) || dims->size() == context.shape(0).rank(), ErrorCode::kInvalidArgument,
            "output_shape must have one value for each dimension of the input ", context.shape(0));
    return context.set_output(0, context.element(0), dims ? SymbolicShape(*dims) : SymbolicShape());
  }
  if (!context.has_shape(0)) return context.set_output(0, context.element(0), {});
  DimVector dims = context.shape(0).dims();
  require(dims.size() == kernel.size() + 2, ErrorCode::kInvalidArgument, "input ", context.shape(0), " has ",
          dims.size() - 2, " spatial dimensions but kernel_shape has ", kernel.size());
  WindowAttributes window = window_attributes(context.node(), kernel.size(), kernel);
  for (size_t i = 0; i < kernel.size(); ++i) dims[i + 2] = unpooled_size(window, i, dims[i + 2]);
  context.set_output(0, context.element(0), dims);
}

constexpr SchemaRow kRows[] = {
    {"", "AveragePool", 1, kLatest, 1, 1, window_pool, {{0, kFloatTypes}}},
    {"", "MaxPool", 1, 7, 1, 1, max_pool, {{0, kFloatTypes}}},
    {"", "MaxPool", 8, kLatest, 1, {1, 2}, max_pool, {{0, kMaxPoolTypes}}},
    {"", "LpPool", 1, kLatest, 1, 1, window_pool, {{0, kFloatTypes}}},
    {"com.microsoft", "MaxpoolWithMask", 1, kLatest, 2, 1, window_pool, {{0, kFloatTypes}, {1, ElementType::kInt32}}},
    {"", "GlobalAveragePool", 1, kLatest, 1, 1, global_pool, {{0, kFloatTypes}}},
    {"", "GlobalMaxPool", 1, kLatest, 1, 1, global_pool, {{0, kFloatTypes}}},
    {"", "GlobalLpPool", 1, kLatest, 1, 1, global_pool, {{0, kFloatTypes}}},
    {"",
     "MaxUnpool",
     9,
     kLatest,
     {2, 3},
     1,
     max_unpool,
     {{0, kFloatTypes}, {1, ElementType::kInt64}, {2, ElementType::kInt64}}},
};

}  // namespace

extern const SchemaTable pooling_rows;
const SchemaTable pooling_rows(kRows);
}  // namespace ortolan::ops::onnx
