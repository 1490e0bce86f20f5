// Products in parts, where a launch cannot see all of an operand or of the result.
#pragma once

#include "gpu/core/products/product.h"

namespace ortolan::gpu {

/** Columns or rows that panels of an operand may have beyond its own. */
int64_t most_panel(const DeviceTraits& traits);

/** The product as parts whose operands and results a launch can see, each with its parts of their memory: itself, where
 * it is one. Throws kInvalid where the sums alone are too long. */
std::vector<Product> parts_of(Lowering& l, const Product& product);
/** Whether products whose sums have k terms can be made in parts, whatever else they are. */
bool comes_in_parts(const DeviceTraits& traits, int64_t k);

}  // namespace ortolan::gpu
