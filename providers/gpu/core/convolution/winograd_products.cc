// Transforms of weights, and the stacked products.
#include "gpu/core/convolution/winograd_products.h"

#include <algorithm>

namespace ortolan::gpu {
namespace {

/** Weights of one place of some rows, which are transformed together. */
constexpr int64_t kLanes = 8;
using Lanes = std::array<double, kLanes>;

/** A row of G applied to three values `step` apart. */
void apply_g(const std::array<double, 3>& row, const Lanes* g, int step, Lanes& to) {
  const auto [a, b, c] = row;
  for (int64_t lane = 0; lane < kLanes; lane++) to[lane] = a * g[0][lane] + b * g[step][lane] + c * g[2 * step][lane];
}

/** to[place * stride + row] = G g G^T of rows whose 3 x 3 weights begin `distance` apart. */
void transform_rows(const WinogradForm& form, const float* weights, int64_t distance, int64_t rows, float* to,
                    int64_t stride) {
  std::array<Lanes, 9> g = {};
  std::array<Lanes, 18> half;  // G g
  for (int64_t row = 0; row < rows; row++) {
    for (int64_t tap = 0; tap < 9; tap++) g[tap][row] = weights[row * distance + tap];
  }
  for (int i = 0; i < form.side; i++) {
    for (int j = 0; j < 3; j++) apply_g(form.g[i], &g[j], 3, half[i * 3 + j]);
  }
  for (int place = 0; place < form.places(); place++) {
    Lanes value;
    apply_g(form.g[place % form.side], &half[place / form.side * 3], 1, value);
    for (int64_t row = 0; row < rows; row++) to[place * stride + row] = static_cast<float>(value[row]);
  }
}

/** to[place][tile of rows][channel][row]. What is behind the last row is left. */
void transform(const WinogradForm& form, const HostTensor& weights, int64_t height, float* to) {
  std::vector<float> g = weights.floats();
  int64_t rows = weights.shape[0], channels = weights.shape[1], together = std::min(height, kLanes);
  int64_t matrix = round_up(rows, height) * channels;
  for (int64_t row = 0; row < rows; row += together) {
    for (int64_t channel = 0; channel < channels; channel++) {
      int64_t at = (row / height * channels + channel) * height + row % height;
      transform_rows(form, g.data() + (row * channels + channel) * 9, channels * 9, std::min(together, rows - row),
                     to + at, matrix);
    }
  }
}

}  // namespace

Memory packed_weights(Lowering& l, const WinogradForm& form, int64_t height) {
  ElementType type = l.type(1);
  std::string layout = "winograd of side " + std::to_string(form.side) + " of " + std::string(type_name(type));
  for (int64_t size : {l.shape(1)[0], l.shape(1)[1], height}) layout += ' ' + std::to_string(size);
  size_t bytes = static_cast<size_t>(form.places() * round_up(l.shape(1)[0], height) * l.shape(1)[1]) * sizeof(float);
  return l.packed(1,
                  {layout, bytes, [&](std::span<const std::byte> from, std::span<std::byte> to) {
                     transform(form, {type, l.shape(1), {from, nullptr}}, height, reinterpret_cast<float*>(to.data()));
                   }});
}

void multiply_places(Lowering& l, const PlaceProducts& p, Memory weights, Memory image, Memory to) {
  Product product;
  product.m = l.shape(1)[0];
  product.n = p.tiles;
  product.k = p.channels;
  product.inner = p.form.places();
  product.outer = p.images;
  int64_t height = panel_height(l.traits(), product.m);
  product.a.memory = weights;
  product.a.row = product.k;
  product.a.inner = round_up(product.m, height) * product.k;
  product.a_is_packed = true;
  product.b.memory = image;
  product.b.row = p.width;
  product.b.column = 1;
  product.b.inner = p.place_size();
  product.b.outer = p.form.places() * product.b.inner;
  product.b_is_packed = true;
  product.c = to;
  multiply(l, product);
}

}  // namespace ortolan::gpu
