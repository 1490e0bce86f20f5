// Attributes of windows: kernel_shape, strides, dilations, pads, auto_pad, ceil_mode.
#include "gpu/core/convolution/window.h"

#include <algorithm>

namespace ortolan::gpu {
namespace {

/** An attribute with a value for each spatial dimension, or its default. */
std::vector<int64_t> values_of(const Lowering& l, const char* name, size_t count, int64_t fallback, int64_t least) {
  std::vector<int64_t> values = l.node().integers(name);
  if (values.empty()) values.assign(count, fallback);
  if (values.size() != count) {
    l.fail(std::string(name) + " has " + std::to_string(values.size()) + " values; it needs " + std::to_string(count));
  }
  for (int64_t& value : values) {
    bool is_pad = least == 0;
    if (value < least || (is_pad && value > INT32_MAX)) l.fail(std::string(name) + " holds " + std::to_string(value));
    value = std::min<int64_t>(value, INT32_MAX);  // which is beyond any axis too
  }
  return values;
}

bool is_same(const std::string& mode) { return mode == "SAME_UPPER" || mode == "SAME_LOWER"; }

int64_t reach(const Window& w, int axis) { return (w.kernel[axis] - 1) * w.dilation[axis] + 1; }

/** Pads by which the window meets every stride-th element. */
void pad_same(Window& w, int axis, bool upper) {
  int64_t windows = (w.in[axis] + w.stride[axis] - 1) / w.stride[axis];
  int64_t total = std::max<int64_t>(0, (windows - 1) * w.stride[axis] + reach(w, axis) - w.in[axis]);
  w.begin[axis] = upper ? total / 2 : total - total / 2;
  w.end[axis] = total - w.begin[axis];
  w.out[axis] = windows;
}

int64_t count_windows(const Lowering& l, const Window& w, int axis, bool ceil, bool valid) {
  int64_t room = w.in[axis] + w.begin[axis] + w.end[axis] - reach(w, axis);
  if (room < 0) {
    l.fail("a window of " + std::to_string(reach(w, axis)) + " does not fit into " + std::to_string(w.in[axis]) +
           " elements with their pads");
  }
  int64_t windows = (ceil ? room + w.stride[axis] - 1 : room) / w.stride[axis] + 1;
  // A last window that would begin behind the input, in the padding, does not count.
  bool outside = windows > 1 && ceil && !valid && (windows - 1) * w.stride[axis] >= w.in[axis] + w.begin[axis];
  return outside ? windows - 1 : windows;
}

/** Spatial dimensions of input 0. */
size_t spatial_rank(const Lowering& l) {
  size_t rank = l.shape(0).size();
  if (rank < 3 || rank > 5) l.fail("the input has rank " + std::to_string(rank) + "; it must have 3 to 5");
  return rank - 2;
}

Shape kernel_of(const Lowering& l, const Shape& weights, size_t spatial) {
  Shape named = l.node().integers("kernel_shape"), kernel = named.empty() ? weights : named;
  if (kernel.size() != spatial || (!weights.empty() && kernel != weights)) {
    l.fail("kernel_shape has " + std::to_string(kernel.size()) + " values for " + std::to_string(spatial) +
           " spatial dimensions, or differs from the weights'");
  }
  for (int64_t size : kernel) {
    if (size < 1) l.fail("kernel_shape holds " + std::to_string(size));
  }
  return kernel;
}

/** Values for the last dimensions of three. */
Triple last_of_three(std::span<const int64_t> values, int64_t first) {
  Triple result = {first, first, first};
  std::copy(values.begin(), values.end(), result.end() - static_cast<int64_t>(values.size()));
  return result;
}

}  // namespace

Window window_attributes(const Lowering& l, const Shape& kernel) {
  size_t spatial = spatial_rank(l);
  const Shape& x = l.shape(0);
  std::vector<int64_t> pads = values_of(l, "pads", 2 * spatial, 0, 0);
  Window w;
  w.images = x[0];
  w.channels = x[1];
  w.in = last_of_three(std::span(x).subspan(2), 1);
  w.kernel = last_of_three(kernel_of(l, kernel, spatial), 1);
  w.stride = last_of_three(values_of(l, "strides", spatial, 1, 1), 1);
  w.dilation = last_of_three(values_of(l, "dilations", spatial, 1, 1), 1);
  w.begin = last_of_three(std::span(pads).first(spatial), 0);
  w.end = last_of_three(std::span(pads).last(spatial), 0);
  return w;
}

Window window_of(const Lowering& l, const Shape& kernel) {
  Window w = window_attributes(l, kernel);
  std::string mode = l.node().text("auto_pad", "NOTSET");
  bool valid = mode == "VALID", ceil = l.node().integer("ceil_mode", 0) != 0;
  if (valid) w.begin = w.end = {0, 0, 0};
  for (int axis = 3 - static_cast<int>(spatial_rank(l)); axis < 3; axis++) {
    if (is_same(mode)) {
      pad_same(w, axis, mode == "SAME_UPPER");
    } else {
      w.out[axis] = count_windows(l, w, axis, ceil, valid);
    }
    if (w.out[axis] <= 1) w.stride[axis] = 1;  // no second window: kernels need not step that far
  }
  return w;
}

Shape output_shape(const Lowering& l, const Window& window, int64_t channels) {
  Shape shape = {window.images, channels};
  size_t spatial = l.shape(0).size() - 2;
  shape.insert(shape.end(), window.out.end() - static_cast<int64_t>(spatial), window.out.end());
  return shape;
}

std::string refuse_beyond(const Node& node, const char* name) {
  for (int64_t value : node.integers(name)) {
    if (value > INT32_MAX) return std::string(name) + " holds " + std::to_string(value) + ", beyond what kernels count";
  }
  return {};
}

std::string refuse_window(const Candidate& candidate) {
  int rank = candidate.rank(0);
  if (rank > 5) return "input 0 has rank " + std::to_string(rank) + "; supported: 3 to 5";
  size_t named = candidate.node().integers("kernel_shape").size();
  if (named > 3) return "it has " + std::to_string(named) + " spatial dimensions; supported: 1 to 3";
  if (rank < 0 && named == 0) return "the rank of input 0 is not known";
  if (std::string reason = refuse_beyond(candidate.node(), "pads"); !reason.empty()) return reason;
  return refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kFloat16});
}

}  // namespace ortolan::gpu
