// Transforms of weights, image and result around the products.
#include "gpu/core/convolution/winograd.h"

#include <algorithm>

#include "gpu/core/convolution/winograd_products.h"

namespace ortolan::gpu {
namespace {

constexpr int64_t kFewChannels = 16;         // below, the transforms cost more than they save
constexpr int64_t kPlaces = 36;              // of a transformed tile
constexpr int64_t kRooms[] = {8192, 32768};  // floats an item may have
constexpr int64_t kManyTiles = 64;           // for which weights that are no constant are worth a transform
constexpr double kTransforms = 1.6;          // the cost of a transformed product to that of a plain one
constexpr int64_t kBand = int64_t{4} << 20;  // bytes between launches that the caches may hold

/** Some rows of tiles of 4 x 4 outputs, of each plane. */
struct Tiles {
  int64_t first, rows, w;  // the first row, tiles of a row
  int64_t width;           // tiles of a panel of the products
  int64_t count() const { return rows * w; }
  int64_t panels() const { return divide_up(count(), width); }
};

Tiles tiles_of(const DeviceTraits& traits, const Window& w, int64_t first, int64_t rows) {
  Tiles tiles{first, std::min(rows, divide_up(w.out[1], 4) - first), divide_up(w.out[2], 4), 0};
  tiles.width = panel_width(traits, tiles.count());
  return tiles;
}

/** How an item of a transform goes through tiles: its room in floats, a part of the room, what it makes. */
struct Strips {
  int64_t room = 0, phase = 0;
  int64_t size = 0;  // tiles, or rows of tiles; 0: it cannot make any
};

/** Room for the input's transform: a line by halves, 24 phases of rows of tiles with a vector behind, a vector. */
int64_t half_line(const DeviceTraits& traits, const Tiles& tiles) {
  return 2 * round_up(tiles.w, traits.vector_width) + 2;
}

Strips input_strips(const DeviceTraits& traits, const Tiles& tiles) {
  for (int64_t room : kRooms) {
    int64_t phase = (room - 2 * half_line(traits, tiles) - traits.vector_width) / 24, width = traits.vector_width;
    int64_t rows = (phase - width) / tiles.w;
    if (rows > tiles.rows) return {room, phase, round_up(tiles.count(), width)};
    int64_t whole = ((rows - 2) * tiles.w + 1) / width * width;
    if (rows > 2 && whole > 0) return {room, phase, whole};
  }
  return {};
}

/** Room for the result's transform: four phases of rows of tiles with a vector of tiles behind. */
Strips output_strips(const DeviceTraits& traits, const Tiles& tiles) {
  int64_t phase = kRooms[0] / 4, rows = (phase - 4 * int64_t{traits.vector_width}) / (4 * tiles.w);
  return {kRooms[0], phase, std::min(rows, tiles.rows)};
}

/** The same of weights that are no constant. */
Memory transform_given_weights(Lowering& l, int64_t height) {
  int64_t rows = l.shape(1)[0], channels = l.shape(1)[1], place = round_up(rows, height) * channels;
  Memory x = l.input(1), to = l.scratch(static_cast<size_t>(kPlaces * place) * sizeof(float));
  KernelCall call = l.call("winograd_weights");
  call.group(16).constant("HEIGHT", static_cast<int>(height)).constant("HALF", l.type(1) == ElementType::kFloat16);
  call.read(x).write(to).params(rows, channels, place).run_items(rows * channels);
  return to;
}

PlaceProducts products_of(const Window& w, const Tiles& tiles) {
  return {kWinogradLarge, w.images, w.channels, tiles.count(), tiles.width};
}

void transform_image(Lowering& l, const Window& w, const Tiles& tiles, Memory to) {
  Strips strips = input_strips(l.traits(), tiles);
  int64_t pieces = divide_up(tiles.count(), strips.size);
  KernelCall call = l.call("winograd_input");
  call.group(1).constant("ROOM", static_cast<int>(strips.room)).constant("W", static_cast<int>(tiles.width));
  call.constant("HALF", l.type(0) == ElementType::kFloat16).read(l.input(0)).write(to);
  call.params(w.channels, w.in[1], w.in[2], w.begin[1] - 4 * tiles.first, w.begin[2], tiles.w, tiles.count());
  call.params(products_of(w, tiles).place_size(), pieces, strips.size, half_line(l.traits(), tiles), strips.phase);
  call.run(w.images * w.channels * pieces);
}

/** Floats of [image][place][channel][tile], with a vector behind. */
int64_t result_size(const Lowering& l, const Window& w, const Tiles& tiles) {
  return element_count({w.images, kPlaces, l.shape(1)[0], tiles.count()}) + l.traits().vector_width;
}

void transform_result(Lowering& l, const Window& w, const Tiles& tiles, const Finish& finish, Memory from, Memory y) {
  Strips strips = output_strips(l.traits(), tiles);
  int64_t channels = l.shape(1)[0], pieces = divide_up(tiles.rows, strips.size);
  KernelCall call = l.call("winograd_output");
  call.group(1).constant("ROOM", static_cast<int>(strips.room)).constant("ADDEND", finish.addend.has_value());
  call.constant("RESIDUAL", finish.residual.has_value()).constant("HALF", l.type(0) == ElementType::kFloat16);
  add_step_constants(call, finish);
  call.read(from).read(finish.addend.value_or(from)).read(finish.residual.value_or(from)).write(y);
  call.params(channels, tiles.first, tiles.w, tiles.count(), w.out[1], w.out[2], pieces, strips.size, strips.phase);
  call.params(finish.low, finish.high);
  add_step_numbers(call, finish);
  call.run(w.images * channels * pieces);
}

/** The rows of tiles in parts: what passes between a part's launches stays in the caches. */
std::vector<Tiles> bands_of(const Lowering& l, const Window& w) {
  int64_t row = element_count({w.images, kPlaces, w.channels + l.shape(1)[0], divide_up(w.out[2], 4)}) * 4;
  int64_t rows = divide_up(w.out[1], 4), count = divide_up(rows, std::max<int64_t>(1, kBand / row));
  std::vector<Tiles> bands;
  for (int64_t first = 0; first < rows; first += divide_up(rows, count)) {
    bands.push_back(tiles_of(l.traits(), w, first, divide_up(rows, count)));
  }
  return bands;
}

}  // namespace

bool fits_winograd(const Lowering& l, const Window& w, int64_t group) {
  bool form = group == 1 && w.in[0] == 1 && w.out[0] == 1 && w.kernel == Triple{1, 3, 3} && w.begin[0] == 0 &&
              w.stride == Triple{1, 1, 1} && w.dilation == Triple{1, 1, 1};
  if (!form || l.traits().kind != DeviceClass::kWide) return false;
  const DeviceTraits& traits = l.traits();
  Tiles tiles = tiles_of(traits, w, 0, w.out[1]);
  if (!l.is_constant(1) && tiles.count() < kManyTiles) return false;
  if (input_strips(traits, tiles).size == 0 || output_strips(traits, tiles).size == 0) return false;
  double products = static_cast<double>(kPlaces * tiles.panels() * tiles.width);
  double plain = static_cast<double>(9 * round_up(w.out[1] * (w.out[2] + 2), traits.vector_width));
  return std::min(w.channels, l.shape(1)[0]) >= kFewChannels && products * kTransforms < plain;
}

void convolve_winograd(Lowering& l, const Window& w, const Finish& finish, Memory y) {
  std::vector<Tiles> bands = bands_of(l, w);
  int64_t image = 0, result = 0;
  for (const Tiles& tiles : {bands.front(), bands.back()}) {
    image = std::max(image, products_of(w, tiles).image_size());
    result = std::max(result, result_size(l, w, tiles));
  }
  Memory from = l.scratch(static_cast<size_t>(image) * sizeof(float));
  Memory to = l.scratch(static_cast<size_t>(result) * sizeof(float));
  int64_t height = panel_height(l.traits(), l.shape(1)[0]);
  Memory weights = l.is_constant(1) ? packed_weights(l, kWinogradLarge, height) : transform_given_weights(l, height);
  for (const Tiles& tiles : bands) {
    transform_image(l, w, tiles, from);
    multiply_places(l, products_of(w, tiles), weights, from, to);
    transform_result(l, w, tiles, finish, to, y);
  }
}

}  // namespace ortolan::gpu
