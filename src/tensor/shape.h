// The concrete shape of a tensor.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/checked.h"
#include "base/inlined_vector.h"

namespace ortolan::tensor {
using namespace base;

/** The highest rank of a tensor; more is a broken model. */
inline constexpr int64_t kMaxRank = 64;

using Dims = InlinedVector<int64_t, 6>;

/** Dimensions, outermost first, in elements. Rank 0 is a scalar of one element. */
class Shape : public Dims {
 public:
  using Dims::Dims;
  Shape() = default;
  Shape(const Dims& dims) : Dims(dims) {}

  size_t rank() const { return size(); }
  /** The number of elements; throws on overflow or a negative dimension. */
  int64_t element_count() const { return checked_size(*this); }
  /** The product of the dimensions in [first, last). */
  int64_t count_between(size_t first, size_t last) const {
    return checked_size(std::span<const int64_t>(data() + first, last - first));
  }
  int64_t count_from(size_t first) const { return count_between(first, rank()); }
  int64_t count_to(size_t last) const { return count_between(0, last); }

  /** "[2,3]". */
  void append_to(std::string& out) const {
    out += '[';
    for (size_t i = 0; i < size(); ++i) {
      if (i) out += ',';
      base::append(out, (*this)[i]);
    }
    out += ']';
  }
};

/** `axis` made non-negative; throws unless it lies in [-rank, rank - 1]. */
inline size_t checked_axis(int64_t axis, size_t rank, const char* what = "axis") {
  auto r = static_cast<int64_t>(rank);
  require(axis >= -r && axis < r, ErrorCode::kInvalidArgument, what, " ", axis, " is outside [", -r, ", ", r - 1,
          "] for rank ", r, "; set it within the rank");
  return static_cast<size_t>(axis < 0 ? axis + r : axis);
}

/** The shape that `a` and `b` broadcast to by numpy's rule; throws where dimensions differ and neither is 1. */
Shape broadcast(const Shape& a, const Shape& b);

}  // namespace ortolan::tensor
