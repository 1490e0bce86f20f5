// Geometry of pools, checked against the shapes of a run.
#include "cpu/convolution/pool_geometry.h"

#include "cpu/convolution/convolution_geometry.h"

namespace ortolan::cpu {

ops::WindowAttributes pool_window(const Node& node, bool any_rank) {
  const std::vector<int64_t>& kernel = node.ints("kernel_shape");
  require(kernel.size() >= 1 && (any_rank || kernel.size() <= kMaxSpatial), ErrorCode::kNotImplemented,
          "kernel_shape has ", kernel.size(), " values; this operator takes 1 to 3");
  return ops::window_attributes(node, kernel.size(), kernel);
}

kernels::PoolGeometry pool_geometry(const ops::WindowAttributes& window, const Shape& x, const Shape& y,
                                    bool channels_last) {
  size_t spatial = window.kernel.size(), first = kMaxSpatial - spatial, at = channels_last ? 1 : 2;
  require(x.rank() == spatial + 2, ErrorCode::kInvalidArgument, "input ", x, " has not ", spatial,
          " spatial dimensions");
  std::vector<int64_t> pads = window.pads_for(std::span<const int64_t>(x.data() + at, spatial));
  kernels::PoolGeometry g;
  g.planes = x.count_to(at);
  for (size_t i = 0; i < spatial; ++i) {
    g.in[first + i] = x[i + at];
    g.out[first + i] = y[i + at];
    g.kernel[first + i] = window.kernel[i];
    g.stride[first + i] = window.strides[i];
    g.dilation[first + i] = window.dilations[i];
    g.pad_begin[first + i] = pads[i];
    g.pad_end[first + i] = pads[i + spatial];
  }
  return g;
}

}  // namespace ortolan::cpu
