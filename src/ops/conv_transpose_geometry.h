// The sizes of a transposed convolution, shared by its shape rules and kernels.
#pragma once

#include "ops/shape_rules.h"

namespace ortolan::ops {

/** One spatial dimension: the result's size, and what is cut from its front. */
struct TransposedExtent {
  Dim size;
  int64_t pad_begin = 0;
};

/** The attributes of a ConvTranspose node, checked. */
struct ConvTransposeAttributes {
  WindowAttributes window;
  std::vector<int64_t> output_padding, output_shape;
  int64_t group = 1;
  /** Spatial dimension i for an input of that size; pad_begin is only right where `input` is known. */
  TransposedExtent extent(size_t i, Dim input) const;
};
/** Reads them; `kernel` is used where the node has no kernel_shape. Throws with the attribute's name and values. */
ConvTransposeAttributes conv_transpose_attributes(const Node& node, size_t spatial,
                                                  std::span<const int64_t> kernel = {});
/** Takes pads that came as an input (begin… end…) in place of the attribute's; throws for a wrong number or size. */
void set_pads(ConvTransposeAttributes& attributes, std::vector<int64_t> pads);

}  // namespace ortolan::ops
