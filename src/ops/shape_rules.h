// Shape rules that many operators share.
#pragma once

#include "ops/infer_context.h"

namespace ortolan::ops {

/** Output 0 has type and shape of input 0. */
void same_as_first_input(InferContext& context);
/** Output 0 has the shape that all inputs broadcast to (numpy's rule) and the element type of input 0. Also serves the
    opsets 1 to 6, where attribute `broadcast` with `axis` aligned input 1 to a part of input 0: the shape is input 0's.
 */
void broadcast_inputs(InferContext& context);
/** As broadcast_inputs, but the result is bool. */
void broadcast_to_bool(InferContext& context);

/** The shape two shapes broadcast to; unknown dimensions where that is not sure. Throws when they never can. */
SymbolicShape broadcast(const SymbolicShape& a, const SymbolicShape& b);
/** What both shapes agree on; used where two branches meet. Without rank when the ranks differ. */
SymbolicShape common(const SymbolicShape& a, const SymbolicShape& b);
/** What both types agree on. */
TypeInfo common(const TypeInfo& a, const TypeInfo& b);
/** The size of one spatial dimension of a convolution or pooling window. `pad` is the sum of both pads; the effective
    kernel is (kernel - 1) * dilation + 1. Throws when a size, stride or dilation is not positive. */
Dim window_output(Dim input, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad, bool ceil_mode);

/** The geometry attributes of convolutions and pools, checked: kernel_shape, strides, dilations, pads (begin… end…),
    auto_pad, for `spatial` dimensions. */
struct WindowAttributes {
  std::vector<int64_t> kernel, strides, dilations, pads;
  std::string_view auto_pad;
  bool ceil_mode = false;
  /** Pads for `input` sizes after auto_pad is applied: begin…, end…. */
  std::vector<int64_t> pads_for(std::span<const int64_t> input) const;
  /** The output size of spatial dimension i. */
  Dim output_size(size_t i, Dim input) const;
};
/** Reads them; `kernel` is used where the node has no kernel_shape. Throws with the attribute's name and length. */
WindowAttributes window_attributes(const Node& node, size_t spatial, std::span<const int64_t> kernel = {});

/** The axes of a reduction, squeeze or the like made non-negative, sorted; throws on duplicates or out of range. */
std::vector<size_t> checked_axes(std::span<const int64_t> axes, size_t rank);

}  // namespace ortolan::ops
