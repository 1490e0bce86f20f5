// Geometry of convolutions, checked against the shapes of a run.
#include "cpu/convolution/convolution_geometry.h"

namespace ortolan::cpu {
namespace {

void check_rank(const Shape& w) {
  require(w.rank() >= 3 && w.rank() <= kMaxSpatial + 2, ErrorCode::kNotImplemented, "weights of shape ", w, " make ",
          w.rank() < 2 ? 0 : w.rank() - 2, " spatial dimensions; this operator takes 1 to 3");
}

std::vector<int64_t> kernel_of(const Shape& w) { return {w.begin() + 2, w.end()}; }

/** Everything but channels and pads, aligned to the last of the three dimensions. */
void set_window(kernels::ConvGeometry& g, const ops::WindowAttributes& window) {
  size_t first = kMaxSpatial - window.kernel.size();
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    g.kernel[first + i] = window.kernel[i];
    g.stride[first + i] = window.strides[i];
    g.dilation[first + i] = window.dilations[i];
  }
}

void set_sizes(kernels::ConvGeometry& g, const Shape& x, const Shape& y) {
  size_t first = kMaxSpatial + 2 - x.rank();
  for (size_t i = 2; i < x.rank(); ++i) {
    g.in[first + i - 2] = x[i];
    g.out[first + i - 2] = y[i];
  }
}

}  // namespace

ConvolutionAttributes::ConvolutionAttributes(const KernelInfo& info, size_t weights, bool any_rank)
    : node_(&info.node()), group_(info.node().int_or("group", 1)) {
  require(group_ > 0, ErrorCode::kInvalidGraph, "group is ", group_, "; it must be positive");
  const SymbolicShape& shape = info.input_type(weights).shape;
  if (!shape.has_rank() || !shape.fully_known()) return;
  if (any_rank && shape.rank() > kMaxSpatial + 2) return;
  weights_ = shape.concrete();
  check_rank(weights_);
  std::optional<ops::WindowAttributes> fresh;
  window_ = window_for(weights_, fresh);
}

const ops::WindowAttributes& ConvolutionAttributes::window_for(const Shape& w,
                                                               std::optional<ops::WindowAttributes>& fresh) const {
  if (window_ && w == weights_) return *window_;
  check_rank(w);
  std::vector<int64_t> kernel = kernel_of(w);
  const std::vector<int64_t>& named = node_->ints("kernel_shape");
  require(named.empty() || named == kernel, ErrorCode::kInvalidArgument, "kernel_shape ",
          Shape(named.begin(), named.end()), " differs from the weights' shape ", w);
  return fresh.emplace(ops::window_attributes(*node_, kernel.size(), kernel));
}

kernels::ConvGeometry ConvolutionAttributes::weight_geometry(const Shape& w) const {
  std::optional<ops::WindowAttributes> fresh;
  return weight_geometry(w, window_for(w, fresh));
}

kernels::ConvGeometry ConvolutionAttributes::weight_geometry(const Shape& w,
                                                             const ops::WindowAttributes& window) const {
  check_rank(w);
  require(w[0] % group_ == 0, ErrorCode::kInvalidArgument, "the weights ", w, " have ", w[0],
          " output channels, not a multiple of group ", group_);
  kernels::ConvGeometry g;
  g.groups = group_;
  g.out_channels = w[0];
  g.in_channels = checked_mul(w[1], group_);
  set_window(g, window);
  return g;
}

kernels::ConvGeometry ConvolutionAttributes::geometry(const Shape& x, const Shape& w, const Shape& y) const {
  std::optional<ops::WindowAttributes> fresh;
  const ops::WindowAttributes& window = window_for(w, fresh);
  kernels::ConvGeometry g = weight_geometry(w, window);
  require(x.rank() == w.rank() && x[1] == g.in_channels, ErrorCode::kInvalidArgument, "input ", x,
          " does not fit weights ", w, " with group ", group_, "; they need rank ", w.rank(), " and ", g.in_channels,
          " channels");
  g.batch = x[0];
  set_sizes(g, x, y);
  std::vector<int64_t> pads = window.pads_for(std::span<const int64_t>(x.data() + 2, x.rank() - 2));
  for (size_t i = 2; i < x.rank(); ++i) g.pad_begin[kMaxSpatial + i - x.rank()] = pads[i - 2];
  return g;
}

int64_t output_positions(const KernelInfo& info, size_t first) {
  const SymbolicShape& shape = info.output_type(0).shape;
  if (shape.rank() < 3) return 0;
  Dim positions = 1;
  for (size_t i = 0; i < shape.rank() - 2; ++i) positions = multiply(positions, shape[first + i]);
  return positions.known() ? positions.value() : 0;
}

void ConvForm::append_to(std::string& text) const {
  const kernels::ConvGeometry& g = geometry;
  const kernels::ConvMethod method = kernels::conv_method(g, packing);
  base::append(text, join(g.groups, " groups of ", g.in_channels, " to ", g.out_channels, " channels, kernel ",
                          Shape(g.kernel, g.kernel + 3), " strides ", Shape(g.stride, g.stride + 3), " dilations ",
                          Shape(g.dilation, g.dilation + 3), " slices ", method.slices, " winograd ", method.winograd));
}

std::string window_text(const Shape& weights) {
  std::string text;
  for (size_t i = 2; i < weights.rank(); ++i) text += join(i == 2 ? "" : "x", weights[i]);
  return text;
}

kernels::ConvGeometry transposed_geometry(const ops::ConvTransposeAttributes& attributes, const Shape& x,
                                          const Shape& w, const Shape& y) {
  check_rank(w);
  require(x.rank() == w.rank() && x[1] == w[0] && w[0] % attributes.group == 0, ErrorCode::kInvalidArgument, "input ",
          x, " does not fit weights ", w, " with group ", attributes.group,
          "; the weights' first dimension must be the input's channels, a multiple of group");
  kernels::ConvGeometry g;
  g.batch = x[0];
  g.groups = attributes.group;
  g.in_channels = w[0];
  g.out_channels = checked_mul(w[1], attributes.group);
  set_window(g, attributes.window);
  set_sizes(g, x, y);
  for (size_t i = 2; i < x.rank(); ++i) {
    g.pad_begin[kMaxSpatial + i - x.rank()] = attributes.extent(i - 2, x[i]).pad_begin;
  }
  return g;
}

}  // namespace ortolan::cpu
