// Tensors of counted elements, and where a move puts them.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "nd_index.h"
#include "op_test.h"

namespace ortolan::test {

inline Tensor int64s(const std::vector<int64_t>& values) {
  return tensor_of<int64_t>(Shape{static_cast<int64_t>(values.size())}, values);
}

/** 0, 1, 2, … in that type. */
template <class T>
Tensor counted(Shape shape) {
  Tensor tensor(kTypeOf<T>, shape);
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    if constexpr (std::is_same_v<T, std::string>) {
      tensor.mutable_data<T>()[i] = std::to_string(i);
    } else if constexpr (std::is_constructible_v<T, float>) {
      tensor.mutable_data<T>()[i] = T(static_cast<float>(i));
    }
  }
  return tensor;
}

/** output[index] = input[from(index)] for all positions. */
template <class T, class From>
Tensor moved(const Tensor& input, Shape shape, From&& from) {
  Tensor result(kTypeOf<T>, shape);
  for_each_index(shape, [&](const Index& index) {
    result.mutable_data<T>()[flat(shape, index)] = input.data<T>()[flat(input.shape(), from(index))];
  });
  return result;
}

}  // namespace ortolan::test
