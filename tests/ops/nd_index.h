// Walking over positions of a shape, for naive references.
#pragma once

#include <vector>

#include "tensor/shape.h"

namespace ortolan::test {

using Index = std::vector<int64_t>;

/** Calls body(index) for every position of the shape, last dimension fastest. */
template <class Body>
void for_each_index(const tensor::Shape& shape, Body&& body) {
  int64_t count = shape.element_count();
  for (int64_t n = 0; n < count; ++n) {
    Index index(shape.rank());
    int64_t rest = n;
    for (size_t i = shape.rank(); i-- > 0; rest /= shape[i]) index[i] = rest % shape[i];
    body(index);
  }
}

/** The number of a position in the order above. */
inline int64_t flat(const tensor::Shape& shape, const Index& index) {
  int64_t n = 0;
  for (size_t i = 0; i < shape.rank(); ++i) n = n * shape[i] + index[i];
  return n;
}

}  // namespace ortolan::test
