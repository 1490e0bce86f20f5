// Index tensors checked against the dimension that they point into.
#pragma once

#include "runtime/kernels/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

/** The elements of an int32 or int64 tensor, negative ones counted from the end of a dimension of size `dim`. Throws
    kInvalidArgument with index, position and limits for one outside [-dim, dim - 1]. Valid during this compute(). */
std::span<const int64_t> checked_indices(KernelContext& context, const Tensor& indices, int64_t dim);

/** Throws kInvalidArgument: `index` at `position` is outside [-dim, dim - 1]. */
[[noreturn, gnu::cold]] void fail_index(int64_t index, int64_t position, int64_t dim);

/** `index`, a negative one counted from the end of a dimension of size `dim`; throws where it is outside. */
inline int64_t checked_index(int64_t index, int64_t position, int64_t dim) {
  int64_t positive = index + (index < 0 ? dim : 0);
  if (static_cast<uint64_t>(positive) >= static_cast<uint64_t>(dim)) [[unlikely]]
    fail_index(index, position, dim);
  return positive;
}

/** Tuples of indices (the last dimension of an int32 or int64 tensor) as offsets in elements: tuple entry j points into
    dims[j], whose neighbours are strides[j] apart. Checked as above. */
std::span<const int64_t> checked_offsets(KernelContext& context, const Tensor& tuples, std::span<const int64_t> dims,
                                         std::span<const int64_t> strides);

/** The one element of an int32 or int64 tensor; throws kInvalidArgument, naming it as `what`, for any other count. */
int64_t only_int64(const Tensor& tensor, const char* what);

/** Throws unless each dimension of `indices` but `axis` is at most that of `data`, which has the same rank. */
void require_within(const Shape& indices, const Shape& data, size_t axis);

/** Calls body(line, offset) for each line along the last dimension of `shape`: its number, and the offset its first
    element has under `strides`. */
template <class Body>
void for_each_line(const Shape& shape, std::span<const int64_t> strides, int64_t begin, int64_t end, Body&& body) {
  Dims at(shape.rank());
  int64_t offset = 0, position = begin;
  size_t last = shape.rank() - 1;
  for (size_t i = last; i-- > 0; position /= shape[i]) {
    at[i] = position % shape[i];
    offset += at[i] * strides[i];
  }
  for (int64_t line = begin; line < end; ++line) {
    body(line, offset);
    for (size_t i = last; i-- > 0;) {
      offset += strides[i];
      if (++at[i] < shape[i]) break;
      offset -= strides[i] * shape[i];
      at[i] = 0;
    }
  }
}

}  // namespace ortolan::cpu
