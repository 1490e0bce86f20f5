// Slices of equal shape collected one by one into a tensor.
#include "cpu/stacked_slices.h"

#include "cpu/strided_copy.h"

namespace ortolan::cpu {
namespace {

Shape stacked_shape(int64_t count, const Shape& slice) {
  Shape shape{count};
  shape.append(slice.begin(), slice.end());
  return shape;
}

void require_whole_bytes(ElementType type) {
  require(!is_packed(type), ErrorCode::kNotImplemented, "tensors of ", name_of(type),
          " cannot be stacked or sliced by a loop");
}

}  // namespace

void StackedSlices::grow(int64_t slices, int64_t max_bytes) {
  Shape shape = stacked_shape(slices, slice_);
  size_t bytes = bytes_for(buffer_.type(), shape.element_count());
  require(bytes <= static_cast<size_t>(max_bytes), ErrorCode::kInvalidArgument, "collecting ", slices,
          " slices of shape ", slice_, " needs ", bytes, " bytes, above the limit of ", max_bytes, " for one tensor");
  Tensor larger(buffer_.type(), shape);
  if (count_ > 0) {
    Tensor filled(larger.type(), stacked_shape(count_, slice_), larger.mutable_raw());
    copy_elements(Tensor(buffer_.type(), filled.shape(), buffer_.mutable_raw()), filled);
  }
  buffer_ = std::move(larger);
}

void StackedSlices::append(const Tensor& slice, int64_t max_bytes) {
  if (count_ == 0) {
    require_whole_bytes(slice.type());
    slice_ = slice.shape();
    buffer_ = Tensor(slice.type(), stacked_shape(0, slice_));
  }
  require(slice.type() == buffer_.type() && slice.shape() == slice_, ErrorCode::kInvalidArgument,
          "a scan output has shape ", slice.shape(), " and type ", name_of(slice.type()), " in iteration ", count_,
          ", but ", slice_, " and ", name_of(buffer_.type()), " before; all iterations must agree");
  if (count_ == buffer_.shape()[0]) {
    int64_t limit = std::max<int64_t>(max_bytes / 2, 1);
    bool doubles = static_cast<int64_t>(buffer_.byte_count()) < limit;
    grow(count_ + std::max<int64_t>(1, doubles ? count_ : count_ / 4), max_bytes);
  }
  if (slice.element_count() > 0) {
    int64_t offset = count_ * slice.element_count();
    Tensor place(slice.type(), slice_, element_at(slice.type(), buffer_.mutable_raw(), offset));
    copy_elements(slice, place);
  }
  ++count_;
}

Tensor StackedSlices::finish(const TypeInfo& type, const std::shared_ptr<Allocator>& allocator) {
  if (count_ == 0) {
    Shape shape{0};
    for (size_t i = 1; type.shape.has_rank() && i < type.shape.rank(); ++i) {
      shape.push_back(type.shape[i].known() ? type.shape[i].value() : 0);
    }
    return Tensor(type.element == ElementType::kUndefined ? ElementType::kFloat : type.element, shape, allocator);
  }
  Tensor result(buffer_.type(), stacked_shape(count_, slice_), allocator);
  copy_elements(Tensor(buffer_.type(), result.shape(), buffer_.mutable_raw()), result);
  buffer_ = {};
  count_ = 0;
  return result;
}

Tensor with_axis_moved(KernelContext& context, const Tensor& tensor, size_t from, size_t to) {
  if (from == to) return tensor;
  Dims strides = row_strides(tensor.shape());
  Shape shape = tensor.shape();
  for (Dims* list : {static_cast<Dims*>(&shape), &strides}) {
    int64_t moved = (*list)[from];
    list->erase(list->begin() + from);
    list->insert(list->begin() + to, moved);
  }
  Tensor result(tensor.type(), shape, context.services().allocator);
  Dims to_strides = row_strides(shape);
  StridedWalk walk;
  for (size_t i = 0; i < shape.rank(); ++i) walk.add(shape[i], strides[i], to_strides[i]);
  strided_copy(context.threads(), tensor.type(), walk, tensor.raw(), result.mutable_raw());
  return result;
}

Tensor slice_at(const Tensor& tensor, int64_t index) {
  require_whole_bytes(tensor.type());
  Shape shape(tensor.shape().begin() + 1, tensor.shape().end());
  auto* data = const_cast<void*>(tensor.raw());
  if (int64_t size = shape.element_count()) data = element_at(tensor.type(), data, index * size);
  return Tensor(tensor.type(), shape, data, tensor.owner(), tensor.memory());
}

}  // namespace ortolan::cpu
