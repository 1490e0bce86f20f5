// Operands of products as panels: [stack][panel][k][width], where a tile of the product reads one line after another.
#pragma once

#include "gpu/core/products/product.h"

namespace ortolan::gpu {

/** B in panels of `width` columns, with its distances: a constant once for all, anything else by a launch. */
Matrix panels_of_columns(Lowering& l, const Product& product, int64_t width);
/** A, a constant, in panels of `height` rows, with its distances and a vector behind that may be read. */
Matrix panels_of_rows(Lowering& l, const Product& product, int64_t height);

/** The same with memory of which nothing is written, for measuring. */
Matrix blank_panels_of_columns(Lowering& l, const Product& product, int64_t width);
Matrix blank_panels_of_rows(Lowering& l, const Product& product, int64_t height);

}  // namespace ortolan::gpu
