// Copies between two buffers that are walked with different strides: what transposing, slicing, joining and repeating
// come down to.
#pragma once

#include "runtime/kernels/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

/** Dimension i has sizes[i] steps, each from[i] elements on in the source and to[i] in the target. Strides may be 0 or
    negative in the source; target elements must not overlap. */
struct StridedWalk {
  Dims sizes, from, to;
  void add(int64_t size, int64_t from_stride, int64_t to_stride) {
    sizes.push_back(size);
    from.push_back(from_stride);
    to.push_back(to_stride);
  }
};

/** The distance in elements between neighbours along each dimension of a contiguous tensor. */
Dims row_strides(const Shape& shape);
/** Copies sizes[0] * sizes[1] * … elements of that type. Not for packed types. The pool is used above a size. */
void strided_copy(ThreadPool& threads, ElementType type, StridedWalk walk, const void* from, void* to);
/** As the function of two arguments does, by several threads where that is worth it. */
void copy_elements(ThreadPool& threads, const Tensor& from, Tensor& to);
/** The address `offset` elements after `data`; not for packed types. */
const void* element_at(ElementType type, const void* data, int64_t offset);
void* element_at(ElementType type, void* data, int64_t offset);

/** Elements as things to move: one type for each size, and strings. */
struct alignas(8) Bytes16 {
  uint64_t words[2];
};
/** Calls body(TypeTag<E>{}) with E the type that stands for elements of that size when they are only moved. */
template <class Body>
decltype(auto) dispatch_moved(ElementType type, Body&& body) {
  if (type == ElementType::kString) return body(TypeTag<std::string>{});
  switch (is_packed(type) ? 0 : bits_of(type)) {
    case 8:
      return body(TypeTag<uint8_t>{});
    case 16:
      return body(TypeTag<uint16_t>{});
    case 32:
      return body(TypeTag<uint32_t>{});
    case 64:
      return body(TypeTag<uint64_t>{});
    case 128:
      return body(TypeTag<Bytes16>{});
    default:
      fail(ErrorCode::kNotImplemented, "elements of type ", name_of(type), " cannot be moved one by one here");
  }
}

/** A packed tensor as one of int8 with an element a byte, and back: `wide` must have as many elements as `packed`. */
Tensor widened(const Tensor& packed);
void pack_into(const Tensor& wide, Tensor& packed);

}  // namespace ortolan::cpu
