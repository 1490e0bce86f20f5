// Convolutions of 3 x 3 on small planes by Winograd's F(2x2, 3x3): 2.25 times fewer products, in 16 stacked products.
#pragma once

#include "gpu/core/convolution/window.h"
#include "gpu/core/products/product.h"

namespace ortolan::gpu {

/** Whether it pays: as fits_winograd, where that transform's larger tiles do not fill the planes. */
bool fits_winograd_small(const Lowering& l, const Window& window, int64_t group);
/** Input 0 with constant weights 1; of `finish`, bias (its addend), residual, clip and steps. */
void convolve_winograd_small(Lowering& l, const Window& window, const Finish& finish, Memory y);

}  // namespace ortolan::gpu
