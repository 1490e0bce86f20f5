// What convolutions by Winograd's transforms share: weights, and the products of what was transformed.
#pragma once

#include <array>

#include "gpu/core/products/product.h"

namespace ortolan::gpu {

/** A transform of 3 x 3 weights, F(r x r, 3 x 3) with r = side - 2: G g G^T. */
struct WinogradForm {
  int side;
  std::array<std::array<double, 3>, 6> g;  // `side` rows
  int places() const { return side * side; }
};

/** Places +-2/3, +-4/3, 0 and infinity. */
inline constexpr WinogradForm kWinogradLarge = {6,
                                                {{{64.0 / 81, 0, 0},
                                                  {-128.0 / 243, -32.0 / 81, -8.0 / 27},
                                                  {-128.0 / 243, 32.0 / 81, -8.0 / 27},
                                                  {32.0 / 243, 16.0 / 81, 8.0 / 27},
                                                  {32.0 / 243, -16.0 / 81, 8.0 / 27},
                                                  {0, 0, 1}}}};
/** Places +-1, 0 and infinity. */
inline constexpr WinogradForm kWinogradSmall = {4, {{{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}}}};

/** Weights 1, a constant, as [place][tile of `height` rows][channel][row]. */
Memory packed_weights(Lowering& l, const WinogradForm& form, int64_t height);

/** Products of a transformed image [image][place][panel][channel][tile of the panel]. */
struct PlaceProducts {
  const WinogradForm& form;
  int64_t images, channels;
  int64_t tiles, width;  // tiles in all, of a panel
  int64_t panels() const { return (tiles + width - 1) / width; }
  /** Floats from one place of the image to the next: apart for the caches. */
  int64_t place_size() const { return panels() * channels * width + 16; }
  int64_t image_size() const { return images * form.places() * place_size(); }
};

/** to[image][place][row of weights][tile]. */
void multiply_places(Lowering& l, const PlaceProducts& products, Memory weights, Memory image, Memory to);

}  // namespace ortolan::gpu
