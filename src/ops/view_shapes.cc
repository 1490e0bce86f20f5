// The shapes that Reshape, Squeeze and Unsqueeze give a tensor's memory.
#include "ops/view_shapes.h"

#include "ops/element_dims.h"

namespace ortolan::ops {

Shape reshaped(const Shape& input, std::span<const int64_t> target, bool allow_zero) {
  require(target.size() <= static_cast<size_t>(kMaxRank), ErrorCode::kInvalidArgument, "the wanted shape has rank ",
          target.size(), "; ranks up to ", kMaxRank, " are supported");
  Shape shape;
  std::optional<size_t> open;
  int64_t rest = 1;
  for (size_t i = 0; i < target.size(); ++i) {
    int64_t dim = target[i];
    if (dim == 0 && !allow_zero) {
      require(i < input.rank(), ErrorCode::kInvalidArgument, "dimension ", i,
              " of the wanted shape is 0, which copies the input's, but the input has shape ", input);
      dim = input[i];
    }
    require(dim >= -1, ErrorCode::kInvalidArgument, "dimension ", i, " of the wanted shape is ", dim,
            "; it must be -1 or not negative");
    require(dim != -1 || !open, ErrorCode::kInvalidArgument, "the wanted shape has more than one -1");
    if (dim == -1) open = i;
    if (dim != -1) rest = checked_mul(rest, dim);
    shape.push_back(dim);
  }
  int64_t count = input.element_count();
  if (open) {
    require(rest > 0 && count % rest == 0, ErrorCode::kInvalidArgument, "the input of shape ", input, " has ", count,
            " elements, which do not fill the wanted shape ", Shape(Dims(target)));
    shape[*open] = count / rest;
    rest = count;
  }
  require(rest == count, ErrorCode::kInvalidArgument, "the input of shape ", input, " has ", count,
          " elements, but the wanted shape ", Shape(Dims(target)), " has ", rest);
  return shape;
}

Shape squeezed(const Shape& input, std::optional<std::span<const int64_t>> axes) {
  Shape shape;
  if (!axes) {
    for (int64_t dim : input) {
      if (dim != 1) shape.push_back(dim);
    }
    return shape;
  }
  uint64_t gone = 0;
  for (int64_t axis : *axes) {
    size_t position = checked_axis(axis, input.rank());
    require(input[position] == 1, ErrorCode::kInvalidArgument, "dimension ", position, " of the input of shape ", input,
            " is ", input[position], ", and only dimensions of 1 can be squeezed");
    gone |= uint64_t{1} << (position & 63);
  }
  for (size_t i = 0; i < input.rank(); ++i) {
    if (!(gone >> (i & 63) & 1)) shape.push_back(input[i]);
  }
  return shape;
}

Shape unsqueezed(const Shape& input, std::span<const int64_t> axes) {
  size_t rank = input.rank() + axes.size();
  require(rank <= static_cast<size_t>(kMaxRank), ErrorCode::kInvalidArgument, "the result would have rank ", rank,
          "; ranks up to ", kMaxRank, " are supported");
  uint64_t added = 0;
  for (int64_t axis : axes) {
    uint64_t bit = uint64_t{1} << checked_axis(axis, rank);
    require(!(added & bit), ErrorCode::kInvalidArgument, "axis ", axis, " is given twice");
    added |= bit;
  }
  Shape shape;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) shape.push_back(added >> i & 1 ? 1 : input[next++]);
  return shape;
}

}  // namespace ortolan::ops
