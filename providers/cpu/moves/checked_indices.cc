// Index tensors checked against the dimension that they point into.
#include "cpu/moves/checked_indices.h"

#include "base/threads/polled_loop.h"

namespace ortolan::cpu {
namespace {

template <class I>
void normalise(std::span<const I> indices, std::span<int64_t> result, int64_t dim) {
  base::polled_loop(std::ssize(indices), [from = indices.data(), to = result.data(), dim](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = checked_index(from[i], i, dim);
  });
}

template <class I>
void tuple_offsets(std::span<const I> indices, std::span<const int64_t> dims, std::span<const int64_t> strides,
                   std::span<int64_t> result) {
  const int64_t width = std::ssize(dims);
  base::polled_loop(
      std::ssize(result),
      [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          int64_t offset = 0;
          for (int64_t j = 0; j < width; ++j) {
            offset += checked_index(indices[i * width + j], i, dims[j]) * strides[j];
          }
          result[i] = offset;
        }
      },
      width + 1);
}

}  // namespace

void fail_index(int64_t index, int64_t position, int64_t dim) {
  fail(ErrorCode::kInvalidArgument, "index ", index, " at position ", position, " is outside [", -dim, ", ", dim - 1,
       "]; indices must lie within the dimension they point into");
}

std::span<const int64_t> checked_indices(KernelContext& context, const Tensor& indices, int64_t dim) {
  auto result = context.scratch<int64_t>(indices.element_count());
  if (indices.type() == ElementType::kInt32) {
    normalise(indices.span<int32_t>(), result, dim);
  } else {
    normalise(indices.span<int64_t>(), result, dim);
  }
  return result;
}

std::span<const int64_t> checked_offsets(KernelContext& context, const Tensor& tuples, std::span<const int64_t> dims,
                                         std::span<const int64_t> strides) {
  auto result = context.scratch<int64_t>(tuples.shape().count_to(tuples.rank() - 1));
  if (tuples.type() == ElementType::kInt32) {
    tuple_offsets(tuples.span<int32_t>(), dims, strides, result);
  } else {
    tuple_offsets(tuples.span<int64_t>(), dims, strides, result);
  }
  return result;
}

int64_t only_int64(const Tensor& tensor, const char* what) {
  require(tensor.element_count() == 1, ErrorCode::kInvalidArgument, what, " has shape ", tensor.shape(),
          "; it must hold one element");
  return to_int64s(tensor)[0];
}

void require_within(const Shape& indices, const Shape& data, size_t axis) {
  require(indices.rank() == data.rank(), ErrorCode::kInvalidArgument, "indices have shape ", indices,
          " and data has shape ", data, "; both must have the same rank");
  for (size_t i = 0; i < data.rank(); ++i) {
    require(i == axis || indices[i] <= data[i], ErrorCode::kInvalidArgument, "dimension ", i, " of indices ", indices,
            " is larger than that of data ", data);
  }
}

}  // namespace ortolan::cpu
