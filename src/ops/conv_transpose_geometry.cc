// The sizes of a transposed convolution, from output_shape or auto_pad or pads, in this order.
#include "ops/conv_transpose_geometry.h"

namespace ortolan::ops {
namespace {

/** The size before anything is cut off. */
int64_t full_size(const ConvTransposeAttributes& attributes, size_t i, int64_t input) {
  const WindowAttributes& w = attributes.window;
  int64_t reach = checked_add(checked_mul(w.kernel[i] - 1, w.dilations[i]), int64_t{1});
  int64_t last = checked_mul(w.strides[i], std::max<int64_t>(input - 1, 0));
  return checked_add(checked_add(last, reach), attributes.output_padding[i]);
}

}  // namespace

TransposedExtent ConvTransposeAttributes::extent(size_t i, Dim input) const {
  bool same = window.auto_pad == "SAME_UPPER" || window.auto_pad == "SAME_LOWER";
  Dim wanted = !output_shape.empty() ? Dim(output_shape[i]) : same ? multiply(input, window.strides[i]) : Dim();
  if (!input.known()) return {wanted, 0};
  int64_t full = full_size(*this, i, input.value());
  if (same && wanted.known() && full < wanted.value()) return {full, 0};  // pads are never negative
  if (!wanted.known()) {
    int64_t end = checked_add(window.pads[i], window.pads[i + window.kernel.size()]);
    bool valid = window.auto_pad == "VALID";
    int64_t size = valid ? full : full - end;
    require(size >= 0, ErrorCode::kInvalidArgument, "pads ", end, " of spatial dimension ", i,
            " cut away more than its size ", full, "; use smaller pads");
    return {size, valid ? 0 : window.pads[i]};
  }
  int64_t total = std::max<int64_t>(full - wanted.value(), 0);
  return {wanted, window.auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2};
}

ConvTransposeAttributes conv_transpose_attributes(const Node& node, size_t spatial, std::span<const int64_t> kernel) {
  ConvTransposeAttributes result;
  result.window = window_attributes(node, spatial, kernel);
  result.group = node.int_or("group", 1);
  require(result.group > 0, ErrorCode::kInvalidGraph, "group is ", result.group, "; it must be positive");
  result.output_padding = node.ints("output_padding");
  if (result.output_padding.empty()) result.output_padding.assign(spatial, 0);
  require(result.output_padding.size() == spatial, ErrorCode::kInvalidGraph, "output_padding has ",
          result.output_padding.size(), " values for ", spatial, " spatial dimensions");
  for (int64_t padding : result.output_padding) {
    require(padding >= 0 && padding <= INT32_MAX, ErrorCode::kInvalidGraph, "output_padding ", padding,
            " must not be negative");
  }
  result.output_shape = node.ints("output_shape");
  if (result.output_shape.size() == spatial + 2) {
    result.output_shape.erase(result.output_shape.begin(), result.output_shape.begin() + 2);
  }
  require(result.output_shape.empty() || result.output_shape.size() == spatial, ErrorCode::kInvalidGraph,
          "output_shape has ", result.output_shape.size(), " values for ", spatial, " spatial dimensions");
  for (int64_t size : result.output_shape) {
    require(size >= 0, ErrorCode::kInvalidGraph, "output_shape holds ", size, "; sizes must not be negative");
  }
  return result;
}

void set_pads(ConvTransposeAttributes& attributes, std::vector<int64_t> pads) {
  size_t count = 2 * attributes.window.kernel.size();
  require(pads.size() == count, ErrorCode::kInvalidArgument, "Pads has ", pads.size(), " values; it needs ", count);
  for (int64_t pad : pads) {
    require(pad >= 0 && pad <= INT32_MAX, ErrorCode::kInvalidArgument, "Pads holds ", pad,
            "; pads must not be negative");
  }
  attributes.window.pads = std::move(pads);
}

}  // namespace ortolan::ops
