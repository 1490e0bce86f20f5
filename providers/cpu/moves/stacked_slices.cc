// Slices of equal shape collected one by one into a tensor.
#include "cpu/moves/stacked_slices.h"

#include "base/threads/polled_loop.h"
#include "cpu/moves/strided_copy.h"
#include "runtime/providers/devices.h"

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

/** copy_elements() from a tensor that ends: strings are handed over. */
void move_elements(Tensor& from, Tensor& to) {
  if (from.type() != ElementType::kString) return copy_elements(from, to);
  std::string *texts = from.mutable_data<std::string>(), *places = to.mutable_data<std::string>();
  base::polled_loop(from.element_count(),
                    [&](int64_t begin, int64_t end) { std::move(texts + begin, texts + end, places + begin); });
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
    Tensor before(buffer_.type(), filled.shape(), buffer_.mutable_raw());
    move_elements(before, filled);
  }
  buffer_ = std::move(larger);
}

void StackedSlices::append(const Tensor& slice, int64_t max_bytes) {
  if (count_ == 0) {
    require_whole_bytes(slice.type());
    slice_ = slice.shape();
    buffer_ = Tensor(slice.type(), stacked_shape(0, slice_));
    kept_.clear();
  }
  require(slice.type() == buffer_.type() && slice.shape() == slice_, ErrorCode::kInvalidArgument,
          "a scan output has shape ", slice.shape(), " and type ", name_of(slice.type()), " in iteration ", count_,
          ", but ", slice_, " and ", name_of(buffer_.type()), " before; all iterations must agree");
  if (!slice.memory().on_cpu()) return keep(slice, max_bytes);
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

void StackedSlices::keep(const Tensor& slice, int64_t max_bytes) {
  size_t bytes = checked_mul(slice.byte_count(), static_cast<size_t>(count_ + 1));
  require(bytes <= static_cast<size_t>(max_bytes), ErrorCode::kInvalidArgument, "collecting ", count_ + 1,
          " slices of shape ", slice_, " needs ", bytes, " bytes, above the limit of ", max_bytes, " for one tensor");
  kept_.emplace_back(slice);
  ++count_;
}

Tensor StackedSlices::join_kept(KernelContext& context, const SliceOperations* operations) {
  const MemoryInfo& memory = kept_[0].tensor().memory();
  Tensor result = new_tensor(context, &memory, buffer_.type(), stacked_shape(count_, slice_));
  bool joined = operations != nullptr && operations->concat(context, kept_, result);
  for (size_t i = 0; !joined && i < kept_.size(); ++i) {
    base::check_terminate();
    Tensor place = slice_at(result, static_cast<int64_t>(i));
    copy_anywhere(context, kept_[i].tensor(), place);
  }
  kept_.clear();
  return result;
}

Tensor StackedSlices::finish(const TypeInfo& type, KernelContext& context, const MemoryInfo* memory,
                             const SliceOperations* operations) {
  if (count_ == 0) {
    Shape shape{0};
    for (size_t i = 1; type.shape.has_rank() && i < type.shape.rank(); ++i) {
      shape.push_back(type.shape[i].known() ? type.shape[i].value() : 0);
    }
    return new_tensor(context, memory, type.element == ElementType::kUndefined ? ElementType::kFloat : type.element,
                      shape);
  }
  Tensor result;
  if (kept_.empty()) {
    result = Tensor(buffer_.type(), stacked_shape(count_, slice_), context.services().allocator);
    Tensor filled(buffer_.type(), result.shape(), buffer_.mutable_raw());
    move_elements(filled, result);
  } else {
    result = join_kept(context, operations);
  }
  buffer_ = {};
  count_ = 0;
  return result;
}

Tensor new_tensor(KernelContext& context, const MemoryInfo* memory, ElementType type, const Shape& shape) {
  const RunServices& services = context.services();
  if (memory == nullptr || memory->on_cpu()) return Tensor(type, shape, services.allocator);
  return services.devices->make(*memory, type, shape, services.streams);
}

void copy_anywhere(KernelContext& context, const Tensor& from, Tensor& to) {
  const RunServices& services = context.services();
  if (services.devices == nullptr) return copy_elements(from, to);
  services.devices->copy(from, to, services.streams);
}

Tensor on_host(const KernelContext& context, const Tensor& tensor) {
  if (tensor.memory().on_cpu()) return tensor;
  const RunServices& services = context.services();
  return services.devices->copied(tensor, cpu_allocator()->info(), services.streams);
}

namespace {

/** with_axis_moved where the CPU cannot reach the elements. */
Tensor axis_moved_on_device(KernelContext& context, const Tensor& tensor, size_t from, size_t to,
                            const SliceOperations* operations) {
  std::vector<size_t> permutation(tensor.rank());
  for (size_t i = 0; i < permutation.size(); ++i) permutation[i] = i;
  permutation.erase(permutation.begin() + static_cast<ptrdiff_t>(from));
  permutation.insert(permutation.begin() + static_cast<ptrdiff_t>(to), from);
  Shape shape;
  for (size_t dim : permutation) shape.push_back(tensor.shape()[dim]);
  Value result(new_tensor(context, &tensor.memory(), tensor.type(), shape));
  if (operations == nullptr || !operations->transpose(context, permutation, Value(tensor), result)) {
    Tensor moved = with_axis_moved(context, on_host(context, tensor), from, to, nullptr);
    copy_anywhere(context, moved, result.tensor());
  }
  return result.tensor();
}

}  // namespace

Tensor with_axis_moved(KernelContext& context, const Tensor& tensor, size_t from, size_t to,
                       const SliceOperations* operations) {
  if (from == to) return tensor;
  if (!tensor.memory().on_cpu()) return axis_moved_on_device(context, tensor, from, to, operations);
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
