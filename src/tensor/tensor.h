// A tensor: element type, shape and a block of memory that it owns, shares or borrows.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensor/allocator.h"
#include "tensor/element_type.h"
#include "tensor/shape.h"

namespace ortolan::tensor {

/** Dense and contiguous, rows last. Copies share the memory. An empty (default) tensor has type kUndefined. */
class Tensor {
 public:
  Tensor() = default;
  /** Allocates; numbers are uninitialised, strings empty. Throws on overflow. */
  Tensor(ElementType type, Shape shape, const std::shared_ptr<Allocator>& allocator = cpu_allocator());
  /** Borrows `data`, or keeps it alive through `owner`. `memory` must outlive the tensor. */
  Tensor(ElementType type, Shape shape, void* data, std::shared_ptr<void> owner = nullptr,
         const MemoryInfo& memory = cpu_allocator()->info())
      : type_(type), shape_(std::move(shape)), data_(data), owner_(std::move(owner)), memory_(&memory) {}

  ElementType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  size_t rank() const { return shape_.rank(); }
  int64_t element_count() const { return shape_.element_count(); }
  size_t byte_count() const { return bytes_for(type_, element_count()); }
  bool defined() const { return type_ != ElementType::kUndefined; }
  const MemoryInfo& memory() const { return *memory_; }
  const std::shared_ptr<void>& owner() const { return owner_; }

  const void* raw() const { return data_; }
  void* mutable_raw() { return data_; }
  /** The elements as T; the type must match (checked). */
  template <class T>
  const T* data() const {
    check_type(kTypeOf<T>);
    return static_cast<const T*>(data_);
  }
  template <class T>
  T* mutable_data() {
    check_type(kTypeOf<T>);
    return static_cast<T*>(data_);
  }
  template <class T>
  std::span<const T> span() const {
    return {data<T>(), static_cast<size_t>(element_count())};
  }
  template <class T>
  std::span<T> mutable_span() {
    return {mutable_data<T>(), static_cast<size_t>(element_count())};
  }

  /** The same memory seen with another shape of equal element count (checked). */
  Tensor reshaped(Shape shape) const;

 private:
  void check_type(ElementType wanted) const {
    if (type_ != wanted) [[unlikely]]
      refuse(wanted);
  }
  [[noreturn]] void refuse(ElementType wanted) const;

  ElementType type_ = ElementType::kUndefined;
  Shape shape_;
  void* data_ = nullptr;
  std::shared_ptr<void> owner_;
  const MemoryInfo* memory_ = &cpu_allocator()->info();
};

/** True when `data` may be read as elements of `type`. */
inline bool is_aligned(ElementType type, const void* data) {
  size_t alignment = is_packed(type) ? 1 : static_cast<size_t>(bits_of(type)) / 8;
  return reinterpret_cast<uintptr_t>(data) % (alignment < alignof(double) ? alignment : alignof(double)) == 0;
}
/** A deep copy on the CPU. */
Tensor clone(const Tensor& tensor, const std::shared_ptr<Allocator>& allocator = cpu_allocator());
/** Copies elements between CPU tensors of equal type and element count. */
void copy_elements(const Tensor& from, Tensor& to);
/** A CPU tensor of int32 or int64 read as int64 values; throws for other types. */
std::vector<int64_t> to_int64s(const Tensor& tensor);
/** A rank-0 tensor holding `value`. */
template <class T>
Tensor scalar(T value) {
  Tensor result(kTypeOf<T>, Shape{});
  *result.mutable_data<T>() = std::move(value);
  return result;
}
/** A rank-1 tensor holding `values`. */
template <class T>
Tensor vector_tensor(std::span<const T> values) {
  Tensor result(kTypeOf<T>, Shape{static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), result.mutable_data<T>());
  return result;
}

/** Element `index` of a packed (4-bit or 2-bit) buffer, sign-extended for the signed types; float4 gives its code. */
int unpack_element(ElementType type, const void* data, int64_t index);
void pack_element(ElementType type, void* data, int64_t index, int code);

}  // namespace ortolan::tensor
