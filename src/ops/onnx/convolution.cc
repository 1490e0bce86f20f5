// Convolutions: Conv, ConvInteger, QLinearConv, DeformConv, ConvTranspose and com.microsoft's form of it whose pads are
// an input. Versions differ in types only.
#include <algorithm>

#include "ops/conv_transpose_geometry.h"
#include "ops/product_rules.h"

namespace ortolan::ops::onnx {
namespace {

/** The spatial part of the weights' shape, where known. */
std::optional<std::vector<int64_t>> kernel_of(const SymbolicShape& weights) {
  std::vector<int64_t> kernel;
  for (size_t i = 2; i < weights.rank(); ++i) {
    if (!weights[i].known()) return std::nullopt;
    kernel.push_back(weights[i].value());
  }
  return kernel;
}

/** The kernel's size: attribute kernel_shape, which must agree with the weights, or the weights' own. */
std::optional<std::vector<int64_t>> checked_kernel(const InferContext& context, size_t weights, size_t spatial) {
  const std::vector<int64_t>& named = context.node().ints("kernel_shape");
  std::optional<std::vector<int64_t>> kernel;
  if (context.has_shape(weights)) kernel = kernel_of(context.shape(weights));
  if (named.empty()) return kernel;
  require(!kernel || *kernel == named, ErrorCode::kInvalidGraph, "kernel_shape ",
          SymbolicShape(Shape(named.begin(), named.end())), " differs from the weights' shape ",
          context.has_shape(weights) ? context.shape(weights) : SymbolicShape(), "; leave the attribute out");
  require(named.size() == spatial, ErrorCode::kInvalidGraph, "kernel_shape has ", named.size(), " values for ", spatial,
          " spatial dimensions");
  return named;
}

/** Checks ranks; gives the number of spatial dimensions, or nothing when neither rank is known. */
std::optional<size_t> spatial_rank(const InferContext& context, const SymbolicShape& x, size_t weights) {
  context.require_rank(0, 3, SIZE_MAX);
  context.require_rank(weights, 3, SIZE_MAX);
  bool known_x = x.has_rank(), known_w = context.has_shape(weights);
  if (!known_x && !known_w) return std::nullopt;
  size_t rank = known_x ? x.rank() : context.shape(weights).rank();
  require(!known_x || !known_w || context.shape(weights).rank() == rank, ErrorCode::kInvalidArgument, "input is ", x,
          " but the weights are ", context.shape(weights), "; their ranks must be equal");
  return rank - 2;
}

int64_t checked_group(const Node& node) {
  int64_t group = node.int_or("group", 1);
  require(group > 0, ErrorCode::kInvalidGraph, "group is ", group, "; it must be positive");
  return group;
}

void check_channels(const InferContext& context, const SymbolicShape& x, size_t weights, int64_t group) {
  if (!context.has_shape(weights)) return;
  const SymbolicShape& w = context.shape(weights);
  require(!w[0].known() || w[0].value() % group == 0, ErrorCode::kInvalidArgument, "the weights ", w, " have ",
          w[0].known() ? w[0].value() : 0, " output channels, not a multiple of group ", group);
  if (!x.has_rank() || !w[1].known() || !x[1].known()) return;
  int64_t channels = x[1].value();
  require(checked_mul(w[1].value(), group) == channels, ErrorCode::kInvalidArgument, "input ", x, " has ", channels,
          " channels but weights ", w, " with group ", group, " need ", w[1].value() * group);
}

void check_bias(const InferContext& context, size_t bias, Dim channels) {
  if (!context.has_shape(bias)) return;
  context.require_rank(bias, 1, 1);
  Dim size = context.shape(bias)[0];
  require(!size.known() || !channels.known() || size.value() == channels.value(), ErrorCode::kInvalidArgument,
          "the bias has ", size.known() ? size.value() : 0, " values for ", channels.known() ? channels.value() : 0,
          " output channels");
}

/** For an input of shape `x` (channels second), the node's input 0. */
SymbolicShape conv_shape(const InferContext& context, const SymbolicShape& x, size_t weights, size_t bias) {
  int64_t group = checked_group(context.node());
  std::optional<size_t> spatial = spatial_rank(context, x, weights);
  if (!spatial) return {};
  check_channels(context, x, weights, group);
  DimVector dims(*spatial + 2, Dim());
  if (x.has_rank()) dims[0] = x[0];
  if (context.has_shape(weights)) dims[1] = context.shape(weights)[0];
  check_bias(context, bias, dims[1]);
  auto kernel = checked_kernel(context, weights, *spatial);
  if (!kernel || !x.has_rank()) return dims;
  WindowAttributes window = window_attributes(context.node(), *spatial, *kernel);
  for (size_t i = 0; i < *spatial; ++i) dims[i + 2] = window.output_size(i, x[i + 2]);
  return dims;
}

void conv_integer(InferContext& context) {
  context.set_output(0, ElementType::kInt32, conv_shape(context, context.shape(0), 1, SIZE_MAX));
}

void qlinear_conv(InferContext& context) {
  context.set_output(0, context.element(7), conv_shape(context, context.shape(0), 3, 8));
}

/** com.microsoft's form has attribute channels_last for X and Y; weights stay [out, in/group, kernel…]. */
void qlinear_conv_any_layout(InferContext& context) {
  if (context.node().int_or("channels_last", 0) == 0) return qlinear_conv(context);
  SymbolicShape x = context.shape(0);
  if (x.has_rank() && x.rank() > 1) {
    DimVector dims = x.dims();
    std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
    x = SymbolicShape(dims);
  }
  SymbolicShape y = conv_shape(context, x, 3, 8);
  if (y.has_rank()) {
    DimVector dims = y.dims();
    std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
    y = SymbolicShape(dims);
  }
  context.set_output(0, context.element(7), y);
}

void check_transposed_channels(const InferContext& context, int64_t group) {
  if (!context.has_shape(0) || !context.has_shape(1)) return;
  Dim channels = context.shape(0)[1], rows = context.shape(1)[0];
  if (!channels.known() || !rows.known()) return;
  require(channels.value() == rows.value() && rows.value() % group == 0, ErrorCode::kInvalidArgument, "input ",
          context.shape(0), " does not fit weights ", context.shape(1), " with group ", group,
          "; the weights' first dimension must be the input's channels, a multiple of group");
}

/** The attributes, with pads from the input that may hold them (SIZE_MAX: none); nothing where that is not known. */
std::optional<ConvTransposeAttributes> transposed_attributes(const InferContext& context, size_t spatial,
                                                             size_t pads_input) {
  auto kernel = checked_kernel(context, 1, spatial);
  if (!kernel) return std::nullopt;
  ConvTransposeAttributes attributes = conv_transpose_attributes(context.node(), spatial, *kernel);
  if (!context.has_input(pads_input)) return attributes;
  auto pads = context.int64s(pads_input);
  if (!pads) return std::nullopt;
  set_pads(attributes, *pads);
  return attributes;
}

void transposed_rule(InferContext& context, size_t pads, size_t bias) {
  int64_t group = checked_group(context.node());
  std::optional<size_t> spatial = spatial_rank(context, context.shape(0), 1);
  if (!spatial) return context.set_output(0, context.element(0), {});
  check_transposed_channels(context, group);
  DimVector dims(*spatial + 2, Dim());
  if (context.has_shape(0)) dims[0] = context.shape(0)[0];
  if (context.has_shape(1)) dims[1] = multiply(context.shape(1)[1], group);
  check_bias(context, bias, dims[1]);
  if (auto attributes = transposed_attributes(context, *spatial, pads)) {
    for (size_t i = 0; i < *spatial; ++i) {
      dims[i + 2] = attributes->extent(i, context.has_shape(0) ? context.shape(0)[i + 2] : Dim()).size;
    }
  }
  context.set_output(0, context.element(0), dims);
}

void conv_transpose(InferContext& context) { transposed_rule(context, SIZE_MAX, 2); }
void conv_transpose_dynamic(InferContext& context) { transposed_rule(context, 2, 3); }

/** An input that has `channels` values for each position of the result. */
void check_positions(const InferContext& context, size_t i, const char* what, int64_t channels,
                     const SymbolicShape& y) {
  if (!context.has_shape(i)) return;
  context.require_rank(i, y.rank(), y.rank());
  const SymbolicShape& shape = context.shape(i);
  for (size_t d = 0; d < y.rank(); ++d) {
    Dim wanted = d == 1 ? Dim(channels) : y[d];
    require(!shape[d].known() || !wanted.known() || shape[d].value() == wanted.value(), ErrorCode::kInvalidArgument,
            what, " has shape ", shape, "; dimension ", d, " must be ", wanted.known() ? wanted.value() : 0);
  }
}

void deform_conv(InferContext& context) {
  SymbolicShape y = conv_shape(context, context.shape(0), 1, 3);
  context.set_output(0, context.element(0), y);
  int64_t groups = context.node().int_or("offset_group", 1);
  require(groups > 0, ErrorCode::kInvalidGraph, "offset_group is ", groups, "; it must be positive");
  Dim channels = context.has_shape(0) ? context.shape(0)[1] : Dim();
  require(!channels.known() || channels.value() % groups == 0, ErrorCode::kInvalidArgument, "input ", context.shape(0),
          " has ", channels.known() ? channels.value() : 0, " channels, not a multiple of offset_group ", groups);
  auto kernel = y.has_rank() ? checked_kernel(context, 1, y.rank() - 2) : std::nullopt;
  if (!kernel) return;
  int64_t taps = checked_mul(checked_size(*kernel), groups);
  check_positions(context, 2, "offset", checked_mul(taps, static_cast<int64_t>(kernel->size())), y);
  check_positions(context, 4, "mask", taps, y);
}

constexpr SchemaRow kRows[] = {
    {"", "DeformConv", 19, kLatest, {3, 5}, 1, deform_conv, {{kTheRest, kFloatTypes, 'T'}}},
    {"", "Conv", 1, kLatest, {2, 3}, 1, conv_rule, {{kTheRest, kFloatTypes, 'T'}}},
    {"", "ConvTranspose", 1, kLatest, {2, 3}, 1, conv_transpose, {{kTheRest, kFloatTypes, 'T'}}},
    {"com.microsoft",
     "ConvTransposeWithDynamicPads",
     1,
     kLatest,
     {2, 4},
     1,
     conv_transpose_dynamic,
     {{2, ElementType::kInt64}, {0, kFloatTypes, 'T'}, {1, kFloatTypes, 'T'}, {3, kFloatTypes, 'T'}}},
    {"",
     "ConvInteger",
     10,
     kLatest,
     {2, 4},
     1,
     conv_integer,
     {{0, kByteTypes, 'A'}, {1, kByteTypes, 'B'}, {2, kByteTypes, 'A'}, {3, kByteTypes, 'B'}}},
    {"",
     "QLinearConv",
     10,
     kLatest,
     {8, 9},
     1,
     qlinear_conv,
     {{0, kByteTypes, 'A'}, {2, kByteTypes, 'A'}, {3, kByteTypes, 'B'}, {5, kByteTypes, 'B'}, {7, kByteTypes}}},
    {"com.microsoft",
     "QLinearConv",
     1,
     kLatest,
     {8, 9},
     1,
     qlinear_conv_any_layout,
     {{0, kByteTypes, 'A'}, {2, kByteTypes, 'A'}, {3, kByteTypes, 'B'}, {5, kByteTypes, 'B'}, {7, kByteTypes}}},
};

}  // namespace

extern const SchemaTable convolution_rows;
const SchemaTable convolution_rows(kRows);
}  // namespace ortolan::ops::onnx

void ortolan::ops::conv_rule(InferContext& context) {
  context.set_output(0, context.element(0), onnx::conv_shape(context, context.shape(0), 1, 2));
}
