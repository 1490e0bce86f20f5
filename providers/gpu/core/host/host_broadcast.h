// Two operands of shape arithmetic side by side.
#pragma once

#include "gpu/core/graph/graph.h"

namespace ortolan::gpu {

/** The shape of two operands together, and where an element of it lies in each. */
struct Broadcast {
  Shape shape;
  /** Throws kInvalid with the node's name. */
  Broadcast(const Node& node, const Shape& a, const Shape& b);
  /** The place in an operand of shape `part` of that element of the result. */
  int64_t place(const Shape& part, int64_t element) const;

 private:
  int64_t at(const Shape& part, size_t i) const;
};

}  // namespace ortolan::gpu
