// Windows by their definition.
#include "gpu/window_reference.h"

namespace ortolan::gpu::test {

Shape WindowCase::out() const {
  Shape result;
  for (size_t i = 0; i < in.size(); i++) {
    int64_t room = in[i] + begin_of(i) + end_of(i) - reach(i);
    int64_t windows = (ceil ? room + stride_of(i) - 1 : room) / stride_of(i) + 1;
    if (ceil && windows > 1 && (windows - 1) * stride_of(i) >= in[i] + begin_of(i)) windows--;
    result.push_back(windows);
  }
  return result;
}

std::map<std::string, Attribute, std::less<>> WindowCase::attributes() const {
  std::map<std::string, Attribute, std::less<>> result = {{"kernel_shape", kernel}};
  if (!stride.empty()) result["strides"] = stride;
  if (!dilation.empty()) result["dilations"] = dilation;
  if (ceil) result["ceil_mode"] = int64_t{1};
  if (!begin.empty()) {
    Shape pads = begin;
    pads.insert(pads.end(), end.begin(), end.end());
    result["pads"] = pads;
  }
  return result;
}

Shape with_planes(int64_t images, int64_t channels, const Shape& spatial) {
  Shape shape = {images, channels};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  return shape;
}

void for_each_place(const Shape& shape, const std::function<void(const Shape& place, int64_t index)>& body) {
  Shape place(shape.size());
  for (int64_t index = 0; index < element_count(shape); index++) {
    int64_t rest = index;
    for (size_t i = shape.size(); i-- > 0; rest /= shape[i]) place[i] = rest % shape[i];
    body(place, index);
  }
}

int64_t element_at(const WindowCase& window, const Shape& place, const Shape& tap) {
  int64_t element = 0;
  bool inside = true, behind = false;
  for (size_t i = 0; i < place.size(); i++) {
    int64_t at = place[i] * window.stride_of(i) + tap[i] * window.dilation_of(i) - window.begin_of(i);
    inside &= at >= 0 && at < window.in[i];
    behind |= at >= window.in[i] + window.end_of(i);
    element = element * window.in[i] + at;
  }
  return inside ? element : behind ? -2 : -1;
}

Tensor convolution(const WindowCase& window, int64_t group, const Tensor& x, const Tensor& weights,
                   const Tensor* bias) {
  int64_t images = x.shape[0], channels = weights.shape[1], rows = weights.shape[0];
  int64_t in = element_count(window.in), taps = element_count(window.kernel);
  std::vector<float> image = x.floats(), w = weights.floats(), offset, y;
  if (bias != nullptr) offset = bias->floats();
  for (int64_t plane = 0; plane < images * rows; plane++) {
    int64_t row = plane % rows;
    int64_t first = (plane / rows * group + row / (rows / group)) * channels;
    for_each_place(window.out(), [&](const Shape& place, int64_t) {
      double sum = bias != nullptr ? offset[row] : 0;
      for_each_place(window.kernel, [&](const Shape& tap, int64_t t) {
        int64_t element = element_at(window, place, tap);
        if (element < 0) return;
        for (int64_t c = 0; c < channels; c++) {
          sum += double{image[(first + c) * in + element]} * w[(row * channels + c) * taps + t];
        }
      });
      y.push_back(static_cast<float>(sum));
    });
  }
  return floats(with_planes(images, rows, window.out()), y);
}

}  // namespace ortolan::gpu::test
