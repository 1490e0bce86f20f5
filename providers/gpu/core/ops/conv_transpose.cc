// ConvTranspose: weights times image gives what each tap spreads, and each place then gathers what falls on it.
#include <algorithm>

#include "gpu/core/convolution/window.h"
#include "gpu/core/operators.h"
#include "gpu/core/products/product.h"

namespace ortolan::gpu {
namespace {

/** An attribute for each spatial dimension, for the last of three. */
Triple triple_of(const Lowering& l, const char* name, size_t spatial, int64_t fallback) {
  std::vector<int64_t> values = l.node().integers(name);
  if (values.size() > spatial) values.erase(values.begin(), values.end() - static_cast<int64_t>(spatial));
  if (!values.empty() && values.size() != spatial) {
    l.fail(std::string(name) + " has " + std::to_string(values.size()) + " values for " + std::to_string(spatial) +
           " spatial dimensions");
  }
  for (int64_t value : values) {
    if (value < 0 || value > INT32_MAX) l.fail(std::string(name) + " holds " + std::to_string(value));
  }
  Triple result = {fallback, fallback, fallback};
  std::copy(values.begin(), values.end(), result.end() - static_cast<int64_t>(values.size()));
  return result;
}

/** The size along an axis before anything is cut off. */
int64_t full_size(const Window& w, int axis, int64_t padding) {
  return w.stride[axis] * std::max<int64_t>(w.in[axis] - 1, 0) + (w.kernel[axis] - 1) * w.dilation[axis] + 1 + padding;
}

/** Sets the size and the pad before it from output_shape, else auto_pad, else pads. */
void set_extent(const Lowering& l, Window& w, int axis, int64_t padding, int64_t wanted) {
  std::string mode = l.node().text("auto_pad", "NOTSET");
  bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  int64_t full = full_size(w, axis, padding);
  if (wanted < 0 && same) wanted = w.in[axis] * w.stride[axis];
  if (wanted < 0 || (same && full < wanted)) {
    bool cuts = wanted < 0 && mode != "VALID";
    w.begin[axis] = cuts ? w.begin[axis] : 0;
    w.out[axis] = full - w.begin[axis] - (cuts ? w.end[axis] : 0);
  } else {
    int64_t total = std::max<int64_t>(full - wanted, 0);
    w.begin[axis] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.out[axis] = wanted;
  }
  if (w.out[axis] < 0) l.fail("pads cut away more than the size " + std::to_string(full));
  int64_t reached = w.begin[axis] + w.out[axis] + (w.kernel[axis] - 1) * w.dilation[axis];
  if (reached > INT32_MAX) l.fail("its places reach " + std::to_string(reached) + ", beyond what kernels count, 2^31");
}

Window transposed_window(const Lowering& l) {
  const Shape& weights = l.shape(1);
  if (weights.size() < 3 || weights.size() != l.shape(0).size()) {
    l.fail("the weights' rank " + std::to_string(weights.size()) + " differs from the input's or is below 3");
  }
  Window w = window_attributes(l, Shape(weights.begin() + 2, weights.end()));
  size_t spatial = weights.size() - 2;
  Triple padding = triple_of(l, "output_padding", spatial, 0), wanted = triple_of(l, "output_shape", spatial, -1);
  for (int axis = 3 - static_cast<int>(spatial); axis < 3; axis++) {
    set_extent(l, w, axis, padding[axis], wanted[axis]);
  }
  return w;
}

int64_t checked_group(const Lowering& l) {
  const Shape &x = l.shape(0), &w = l.shape(1);
  int64_t group = l.node().integer("group", 1);
  if (group < 1 || w[0] != x[1] || w[0] % group != 0) {
    l.fail(std::to_string(x[1]) + " channels in " + std::to_string(group) + " groups do not fit weights for " +
           std::to_string(w[0]));
  }
  if (l.has(2) && l.count(2) != w[1] * group) l.fail("the bias has " + std::to_string(l.count(2)) + " values");
  return group;
}

/** [image, out channel, tap, in place]: what each element of the input gives to each tap. */
Memory spread_taps(Lowering& l, const Window& w, int64_t group, int64_t group_rows) {
  Product product;
  product.outer = w.images;
  product.inner = group;
  product.m = group_rows * w.taps();
  product.n = w.in_size();
  product.k = w.channels / group;
  product.a.input = 1;
  product.a.type = l.type(1);
  product.a.row = 1;
  product.a.column = product.m;
  product.a.inner = product.k * product.m;
  product.b.input = 0;
  product.b.type = l.type(0);
  product.b.row = product.n;
  product.b.column = 1;
  product.b.inner = product.k * product.n;
  product.b.outer = w.channels * product.n;
  int64_t count = element_count({w.images, group, product.m, product.n});
  product.c = l.scratch(static_cast<size_t>(count) * sizeof(float));
  multiply(l, product);
  return product.c;
}

void lower(Lowering& l) {
  Window w = transposed_window(l);
  int64_t group = checked_group(l), channels = l.shape(1)[1] * group;
  Shape shape = output_shape(l, w, channels);
  Memory y = l.output(0, shape);
  if (element_count(shape) == 0) return;
  Memory taps = spread_taps(l, w, group, l.shape(1)[1]);
  l.call("gather_taps")
      .group(l.traits().kind == DeviceClass::kWide ? 16 : 64)
      .rounds(w.rounds())
      .constant("BIAS", l.has(2))
      .constant("HALF", l.type(0) == ElementType::kFloat16)
      .read(taps)
      .read(l.has(2) ? l.input(2) : taps)
      .write(y)
      .params(element_count(shape), channels, fields(w.in), fields(w.out), fields(w.kernel), fields(w.stride),
              fields(w.dilation), fields(w.begin))
      .run_items(element_count(shape));
}

std::string refuse(const Candidate& candidate) {
  for (const char* name : {"output_padding", "output_shape"}) {
    if (std::string reason = refuse_beyond(candidate.node(), name); !reason.empty()) return reason;
  }
  return refuse_window(candidate);
}

constexpr Operator kRows[] = {
    {"", "ConvTranspose", 1, kNewest, refuse, lower},
};

}  // namespace

std::span<const Operator> conv_transpose_operators() { return kRows; }

}  // namespace ortolan::gpu
