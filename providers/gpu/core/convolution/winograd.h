// Convolutions of 3 x 3 by Winograd's F(4x4, 3x3): 4 times fewer products, in 36 stacked matrix products.
#pragma once

#include "gpu/core/convolution/window.h"
#include "gpu/core/products/product.h"

namespace ortolan::gpu {

/** Whether it pays: weights of a single group, enough channels and tiles, a device of wide vectors. */
bool fits_winograd(const Lowering& l, const Window& window, int64_t group);
/** Input 0 with weights 1; of `finish`, bias (its addend), residual and clip. */
void convolve_winograd(Lowering& l, const Window& window, const Finish& finish, Memory y);

}  // namespace ortolan::gpu
