// The vector functions of two float arguments as loops of elementwise kernels.
#pragma once

#include "cpu/elements/elementwise_binary.h"
#include "cpu/kernels/elementwise/vector_f32.h"

namespace ortolan::cpu {

/** The loops of a vector function. Each element's result is the same in any span. Those of kPow compute powers to a
    scalar that is 2, 3, 1, 1/2 or -1 by products, roots or division. Lives for ever. */
const BinaryLoops& float_loops(kernels::BinaryOp op);

}  // namespace ortolan::cpu
