// Transforms of small planes around the products.
#include "gpu/core/convolution/winograd_small.h"

#include "gpu/core/convolution/winograd_products.h"

namespace ortolan::gpu {
namespace {

constexpr int64_t kRoom = 1024;       // floats an item of a transform has
constexpr int64_t kFewChannels = 64;  // below, the transforms cost more than they save
constexpr double kTransforms = 1.3;   // the cost of a transformed product to that of a plain one

/** Tiles of 2 x 2 outputs of each plane. */
struct SmallTiles {
  int64_t h, w;
  explicit SmallTiles(const Window& window) : h((window.out[1] + 1) / 2), w((window.out[2] + 1) / 2) {}
  int64_t count() const { return h * w; }
  int64_t lines() const { return 2 * h + 2; }  // of the padded plane
  int64_t pitch() const { return 2 * w + 2; }
};

PlaceProducts products_of(const DeviceTraits& traits, const Window& w) {
  int64_t tiles = SmallTiles(w).count();
  return {kWinogradSmall, w.images, w.channels, tiles, panel_width(traits, tiles)};
}

void transform_image(Lowering& l, const Window& w, const PlaceProducts& products, Memory to) {
  SmallTiles tiles(w);
  KernelCall call = l.call("winograd_small_input");
  call.group(1).constant("W", static_cast<int>(products.width)).constant("ROOM", static_cast<int>(kRoom));
  call.constant("HALF", l.type(0) == ElementType::kFloat16).read(l.input(0)).write(to);
  call.params(w.channels, w.in[1], w.in[2], w.begin[1], w.begin[2], tiles.w, tiles.count(), tiles.pitch());
  call.params(tiles.lines(), products.panels(), products.place_size()).run(w.images * w.channels);
}

void transform_result(Lowering& l, const Window& w, const Finish& finish, Memory from, Memory y) {
  SmallTiles tiles(w);
  int64_t channels = l.shape(1)[0];
  KernelCall call = l.call("winograd_small_output");
  call.group(1).constant("ROOM", static_cast<int>(kRoom)).constant("ADDEND", finish.addend.has_value());
  call.constant("RESIDUAL", finish.residual.has_value()).constant("HALF", l.type(0) == ElementType::kFloat16);
  add_step_constants(call, finish);
  call.read(from).read(finish.addend.value_or(from)).read(finish.residual.value_or(from)).write(y);
  call.params(channels, tiles.w, tiles.count(), w.out[1], w.out[2], finish.low, finish.high);
  add_step_numbers(call, finish);
  call.run(w.images * channels);
}

}  // namespace

bool fits_winograd_small(const Lowering& l, const Window& w, int64_t group) {
  bool form = group == 1 && w.in[0] == 1 && w.out[0] == 1 && w.kernel == Triple{1, 3, 3} && w.begin[0] == 0 &&
              w.stride == Triple{1, 1, 1} && w.dilation == Triple{1, 1, 1};
  if (!form || l.traits().kind != DeviceClass::kWide || !l.is_constant(1)) return false;
  SmallTiles tiles(w);
  if (tiles.lines() * tiles.pitch() > kRoom || std::min(w.channels, l.shape(1)[0]) < kFewChannels) return false;
  PlaceProducts products = products_of(l.traits(), w);
  double cost = static_cast<double>(kWinogradSmall.places() * products.panels() * products.width);
  return cost * kTransforms < 9.0 * l.traits().vector_width * columns_cost(l.traits(), w.out_size());
}

void convolve_winograd_small(Lowering& l, const Window& w, const Finish& finish, Memory y) {
  const DeviceTraits& traits = l.traits();
  PlaceProducts products = products_of(traits, w);
  int64_t channels = l.shape(1)[0];
  int64_t results = w.images * kWinogradSmall.places() * channels * products.tiles + traits.vector_width;
  Memory image = l.scratch(static_cast<size_t>(products.image_size()) * sizeof(float));
  Memory result = l.scratch(static_cast<size_t>(results) * sizeof(float));
  transform_image(l, w, products, image);
  multiply_places(l, products, packed_weights(l, kWinogradSmall, panel_height(traits, channels)), image, result);
  transform_result(l, w, finish, result, y);
}

}  // namespace ortolan::gpu
