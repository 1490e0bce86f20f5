// Conv and com.microsoft's FusedConv as products: weights times image, where row (channel, tap) of the image is the
// image itself, moved. What strides and pads demand is brought into place by one copy before.
#include <algorithm>

#include "gpu/core/convolution/plane_windows.h"
#include "gpu/core/convolution/spread_image.h"
#include "gpu/core/convolution/tap_image.h"
#include "gpu/core/convolution/window.h"
#include "gpu/core/convolution/winograd.h"
#include "gpu/core/convolution/winograd_small.h"
#include "gpu/core/operators.h"
#include "gpu/core/products/product.h"

namespace ortolan::gpu {
namespace {

constexpr double kWorthCopies = 0.9;  // of a product's columns

/** The input is what taps meet as it is. */
bool lies_together(const Window& w) {
  return w.stride == Triple{1, 1, 1} && w.begin == Triple{0, 0, 0} && w.end == Triple{0, 0, 0};
}

Spread as_it_is(const Window& w) { return {{1, 1, 1}, w.in}; }

/** Where the rows of `channels` channels begin, by channel and tap. */
std::vector<int32_t> row_offsets(const Window& w, const Spread& spread, int64_t channels) {
  std::vector<int32_t> offsets;
  Triple phase_steps = {spread.phases[1] * spread.phases[2], spread.phases[2], 1};
  Triple steps = {spread.size[1] * spread.size[2], spread.size[2], 1};
  for (int64_t channel = 0; channel < channels; channel++) {
    for (int64_t tap = 0; tap < w.taps(); tap++) {
      Triple at = {tap / (w.kernel[1] * w.kernel[2]), tap / w.kernel[2] % w.kernel[1], tap % w.kernel[2]};
      int64_t offset = channel * spread.plane_size();
      for (int axis = 0; axis < 3; axis++) {
        int64_t place = at[axis] * w.dilation[axis];
        int64_t phase = axis == 2 && spread.by_columns ? place : place % w.stride[axis];
        offset += phase * phase_steps[axis] * spread.phase_size();
        offset += (place - phase) / w.stride[axis] * steps[axis];
      }
      offsets.push_back(static_cast<int32_t>(offset));
    }
  }
  return offsets;
}

/** Places from the first to the last wanted one in a phase. */
int64_t places(const Window& w, const Spread& spread) {
  return ((w.out[0] - 1) * spread.size[1] + w.out[1] - 1) * spread.size[2] + w.out[2];
}

/** The image as the product's second operand: rows by channel and tap, columns by place. */
Matrix image_of(Lowering& l, const Window& w, const Spread& spread, bool as_is, int64_t group_channels) {
  Matrix image;
  if (as_is) {
    image.input = 0;
    image.type = l.type(0);
  } else {
    image.memory = spread_image(l, w, spread, product_slack(l.traits()));
  }
  image.row = spread.plane_size();
  image.column = 1;
  image.inner = group_channels * spread.plane_size();
  image.outer = w.channels * spread.plane_size();
  if (w.taps() > 1) image.offsets = row_offsets(w, spread, group_channels);
  return image;
}

/** Weights [out channels, channels of a group, kernel...] as they lie. */
Matrix weights_of(const Lowering& l, int64_t rows, int64_t columns) {
  Matrix weights;
  weights.input = 1;
  weights.type = l.type(1);
  weights.row = columns;
  weights.column = 1;
  weights.inner = rows * columns;
  return weights;
}

/** Whether the product can read the input itself. */
bool reads_input(const Lowering& l, const Window& w, int64_t columns) {
  if (!lies_together(w)) return false;
  if (l.traits().kind == DeviceClass::kGpu || w.taps() == 1) return true;
  return l.type(0) == ElementType::kFloat && columns >= l.traits().vector_width;
}

bool has_relu(const Lowering& l) { return l.node().text("activation", "") == "Relu"; }

/** Bias, residual and activation of groups of `rows` channels. */
Finish finish_of(Lowering& l, int64_t rows) {
  Finish finish;
  if (l.has(2)) {
    finish.addend = l.input(2);
    finish.addend_row = 1;
    finish.addend_inner = rows;
  }
  if (l.has(3)) finish.residual = l.input(3);
  if (has_relu(l)) finish.low = 0.0f;
  return finish;
}

int64_t checked_group(const Lowering& l) {
  const Shape &x = l.shape(0), &w = l.shape(1);
  int64_t group = l.node().integer("group", 1);
  if (w.size() != x.size()) l.fail("the weights' rank " + std::to_string(w.size()) + " differs from the input's");
  if (group < 1 || w[0] % group != 0 || w[1] * group != x[1]) {
    l.fail(std::to_string(x[1]) + " channels in " + std::to_string(group) + " groups do not fit weights of " +
           std::to_string(w[0]) + " x " + std::to_string(w[1]));
  }
  if (l.has(2) && l.count(2) != w[0]) l.fail("the bias has " + std::to_string(l.count(2)) + " values");
  return group;
}

/** By columns where the places between rows, which nobody wants, cost more than the copies. */
Spread fitting_spread(const Lowering& l, const Window& w) {
  Spread spread = spread_of(w), by_columns = spread_by_columns(w);
  if (l.traits().kind != DeviceClass::kWide || w.kernel[2] == 1 || w.dilation[2] != 1) return spread;
  double cost = columns_cost(l.traits(), places(w, spread));
  return columns_cost(l.traits(), places(w, by_columns)) < kWorthCopies * cost ? by_columns : spread;
}

/** How the image is brought to the product. */
struct Image {
  bool as_is;
  Spread spread;

  Image(bool as_is, const Spread& spread) : as_is(as_is), spread(spread) {}
  Image(const Lowering& l, const Window& w)
      : as_is(reads_input(l, w, places(w, as_it_is(w)))), spread(as_is ? as_it_is(w) : fitting_spread(l, w)) {}
};

/** Numbers and finish of the product. */
Product product_of(Lowering& l, const Window& w, int64_t group, const Image& image) {
  const Shape& weights = l.shape(1);
  Product product;
  product.inner = group;
  product.outer = w.images;
  product.m = weights[0] / product.inner;
  product.n = places(w, image.spread);
  product.k = weights[1] * w.taps();
  product.a = weights_of(l, product.m, product.k);
  product.b_has_slack = !image.as_is;
  product.type = l.type(0);
  if (product.n != w.out_size()) {
    const Triple& size = image.spread.size;
    product.grid = PlaceGrid{size[2], w.out[2], size[1], w.out[1], w.out_size()};
  }
  product.finish = finish_of(l, product.m);
  return product;
}

Head image_product_head(Lowering& l, const Window& w, int64_t group) {
  Image image(l, w);
  return product_head(product_of(l, w, group, image), [w, image](Lowering& l, Product product) {
    product.b = image_of(l, w, image.spread, image.as_is, l.shape(1)[1]);
    multiply(l, product);
  });
}

/** The product reads the input where it is. */
Head tap_product_head(Lowering& l, const Window& w, int64_t group) {
  Product product = product_of(l, w, group, {true, as_it_is(w)});
  product.n = w.out_size();
  product.grid.reset();
  return product_head(product, [w](Lowering& l, Product product) {
    product.b = image_by_taps(l, w, l.shape(1)[1]);
    multiply(l, product);
  });
}

/** What kernels of planes make of all channels. */
Product planes_of(Lowering& l, const Window& w) {
  Product result;
  result.m = l.shape(1)[0];
  result.n = w.out_size();
  result.outer = w.images;
  result.type = l.type(0);
  result.finish = finish_of(l, result.m);
  return result;
}

Head winograd_head(Lowering& l, const Window& w) {
  auto launch = [w](Lowering& l, const Product& product) { convolve_winograd(l, w, product.finish, product.c); };
  return product_head(planes_of(l, w), launch, adds_to_rows);
}

Head winograd_small_head(Lowering& l, const Window& w) {
  auto launch = [w](Lowering& l, const Product& product) { convolve_winograd_small(l, w, product.finish, product.c); };
  return product_head(planes_of(l, w), launch, adds_to_rows);
}

/** One channel a group, by items that go over planes. */
Head depthwise_head(Lowering& l, const Window& w) {
  auto launch = [w](Lowering& l, const Product& product) {
    run_plane_windows(l, w, {WindowOp::kWeighted, product.m, l.input(1), product.finish}, product.c);
  };
  auto fits = [](const Finish& finish) { return adds_to_rows(finish) && !finish.residual; };
  return product_head(planes_of(l, w), launch, fits);
}

void lower_conv(Lowering& l) {
  const Shape& weights = l.shape(1);
  if (weights.size() < 3) l.fail("the weights have rank " + std::to_string(weights.size()));
  Window w = window_of(l, Shape(weights.begin() + 2, weights.end()));
  int64_t group = checked_group(l);
  Shape shape = output_shape(l, w, weights[0]);
  bool by_planes = weights[1] == 1 && !l.has(3) && fits_plane_windows(l.traits(), w, WindowOp::kWeighted);
  bool taps = reads_taps(l.traits(), w) && !(lies_together(w) && w.taps() == 1);
  if (element_count(shape) == 0) {
    l.output(0, shape);
  } else {
    if (l.has(3) && l.shape(3) != shape) l.fail("Z, which is added, does not have the output's shape");
    open_output(l, 0, shape,
                by_planes                          ? depthwise_head(l, w)
                : taps                             ? tap_product_head(l, w, group)
                : fits_winograd(l, w, group)       ? winograd_head(l, w)
                : fits_winograd_small(l, w, group) ? winograd_small_head(l, w)
                                                   : image_product_head(l, w, group));
  }
}

std::string refuse_conv(const Candidate& candidate) { return refuse_window(candidate); }

std::string refuse_fused(const Candidate& candidate) {
  std::string activation = candidate.node().text("activation", "");
  if (!activation.empty() && activation != "Relu") return "its activation is " + activation + "; supported: Relu";
  return refuse_window(candidate);
}

constexpr Operator kRows[] = {
    {"", "Conv", 1, kNewest, refuse_conv, lower_conv},
    {"com.microsoft", "FusedConv", 1, kNewest, refuse_fused, lower_conv},
};

}  // namespace

std::span<const Operator> conv_operators() { return kRows; }

}  // namespace ortolan::gpu
