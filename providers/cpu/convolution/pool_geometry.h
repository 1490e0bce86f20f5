// From a pooling node's attributes and shapes to the geometry that the kernels take.
#pragma once

#include "cpu/kernels/convolution/pooling.h"
#include "ops/shape_rules.h"
#include "runtime/kernels/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

/** The window of a pooling node, of 1 to 3 spatial dimensions or, with `any_rank`, more, for which there is no
   geometry; throws for attributes that can never be right. */
ops::WindowAttributes pool_window(const Node& node, bool any_rank = false);

/** Geometry of a run. `planes` counts images and channels together or, with channels last ([N, spatial…, C]), images
    only. Throws where the rank of x does not fit. */
kernels::PoolGeometry pool_geometry(const ops::WindowAttributes& window, const Shape& x, const Shape& y,
                                    bool channels_last = false);

}  // namespace ortolan::cpu
