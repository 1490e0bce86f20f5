// Products by the device's library (`ProductLibrary`) instead of our kernels.
#pragma once

#include "gpu/core/products/product.h"

namespace ortolan::gpu {

/** Launches the product by the library and gives true; false where our kernels are to make it. A library does nothing
 * to its results but to add them to what is there: a product that is clipped or has steps stays ours, as does one that
 * the library does not suit unless it is to make all that it can. `own_time` measures our kernels; not asked where
 * nothing is tuned. */
bool multiply_by_library(Lowering& l, const Product& product, const std::function<int64_t()>& own_time);

}  // namespace ortolan::gpu
