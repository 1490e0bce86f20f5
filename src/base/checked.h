// Integer arithmetic that throws instead of wrapping: every size that comes from a model goes through it.
#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"

namespace ortolan::base {

template <class T>
T checked_add(T a, T b) {
  T sum;
  require(!__builtin_add_overflow(a, b, &sum), ErrorCode::kInvalidArgument, "the sum ", a, " + ", b,
          " overflows; the sizes in the model or its inputs are too large");
  return sum;
}

template <class T>
T checked_mul(T a, T b) {
  T product;
  require(!__builtin_mul_overflow(a, b, &product), ErrorCode::kInvalidArgument, "the product ", a, " * ", b,
          " overflows; the sizes in the model or its inputs are too large");
  return product;
}

/** Converts between integer types, throwing when the value does not fit. */
template <class To, class From>
To checked_cast(From value) {
  To result;
  require(!__builtin_add_overflow(value, From{0}, &result), ErrorCode::kInvalidArgument, "the value ", value,
          " is outside the range that is supported here");
  return result;
}

/** The product of all dimensions; throws on a negative one or on overflow. An empty span gives 1. */
inline int64_t checked_size(std::span<const int64_t> dims) {
  int64_t size = 1;
  for (int64_t dim : dims) {
    require(dim >= 0, ErrorCode::kInvalidArgument, "dimension ", dim, " is negative");
    size = checked_mul(size, dim);
  }
  return size;
}

}  // namespace ortolan::base
