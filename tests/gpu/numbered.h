// Tensors whose elements all differ, and references of operators that move elements.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "gpu/single_node.h"

namespace ortolan::gpu::test {

/** A type of each size that kernels store. */
inline constexpr ElementType kTypesBySize[] = {ElementType::kUint8, ElementType::kFloat16, ElementType::kFloat,
                                               ElementType::kInt64};

/** Elements that tell where they come from: all bytes of their number, as far as they fit. */
inline Tensor numbered(Shape shape, ElementType type) {
  size_t size = element_bytes(type);
  Tensor tensor{type, shape, std::vector<std::byte>(static_cast<size_t>(element_count(shape)) * size)};
  for (size_t i = 0; i < tensor.bytes.size() / size; i++) {
    uint64_t number = (i + 1) * 0x0100000001000101u;
    std::memcpy(tensor.bytes.data() + i * size, &number, size);
  }
  return tensor;
}

using Coordinates = std::vector<int64_t>;

inline int64_t place_of(const Shape& shape, const Coordinates& at) {
  int64_t place = 0;
  for (size_t i = 0; i < shape.size(); i++) place = place * shape[i] + at[i];
  return place;
}

inline Coordinates coordinates_of(const Shape& shape, int64_t place) {
  Coordinates at(shape.size());
  for (size_t i = shape.size(); i-- > 0; place /= shape[i]) at[i] = place % shape[i];
  return at;
}

/** The tensor whose element at c is x's at source(c), or zero where that is empty and the shape has axes. */
inline Tensor moved(const Tensor& x, const Shape& shape, const std::function<Coordinates(Coordinates)>& source) {
  size_t size = element_bytes(x.type);
  Tensor result{x.type, shape, std::vector<std::byte>(static_cast<size_t>(element_count(shape)) * size)};
  for (size_t i = 0; i < result.bytes.size() / size; i++) {
    Coordinates at = source(coordinates_of(shape, static_cast<int64_t>(i)));
    if (at.empty() && !x.shape.empty()) continue;
    std::memcpy(result.bytes.data() + i * size, x.bytes.data() + place_of(x.shape, at) * static_cast<int64_t>(size),
                size);
  }
  return result;
}

inline void expect_same(const Tensor& actual, const Tensor& wanted) {
  EXPECT_EQ(actual.type, wanted.type);
  EXPECT_EQ(actual.shape, wanted.shape);
  EXPECT_TRUE(actual.bytes == wanted.bytes);
}

/** The text of the gpu::Error that the function ends in; empty where it ends in none. */
inline std::string error_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace ortolan::gpu::test
