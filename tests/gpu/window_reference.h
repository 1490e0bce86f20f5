// Windows over images, place by place in double: what convolutions and pools are tested against.
#pragma once

#include <functional>

#include "gpu/single_node.h"

namespace ortolan::gpu::test {

/** Geometry of three spatial dimensions; sizes and steps that are left out are 1, pads 0. */
struct WindowCase {
  Shape in, kernel, stride = {}, dilation = {}, begin = {}, end = {};
  bool ceil = false;

  size_t spatial() const { return in.size(); }
  int64_t stride_of(size_t i) const { return stride.empty() ? 1 : stride[i]; }
  int64_t dilation_of(size_t i) const { return dilation.empty() ? 1 : dilation[i]; }
  int64_t begin_of(size_t i) const { return begin.empty() ? 0 : begin[i]; }
  int64_t end_of(size_t i) const { return end.empty() ? 0 : end[i]; }
  int64_t reach(size_t i) const { return (kernel[i] - 1) * dilation_of(i) + 1; }
  Shape out() const;
  /** kernel_shape, strides, dilations and pads, where they are given. */
  std::map<std::string, Attribute, std::less<>> attributes() const;
};

/** [images, channels, ...]. */
Shape with_planes(int64_t images, int64_t channels, const Shape& spatial);

/** Calls body(place, taps) for each place of a shape. */
void for_each_place(const Shape& shape, const std::function<void(const Shape& place, int64_t index)>& body);

/** The element of the input that a tap meets; -1 in the padding, -2 behind the padding. */
int64_t element_at(const WindowCase& window, const Shape& place, const Shape& tap);

/** A convolution with weights [out, in / group, kernel...]. */
Tensor convolution(const WindowCase& window, int64_t group, const Tensor& x, const Tensor& weights, const Tensor* bias);

}  // namespace ortolan::gpu::test
