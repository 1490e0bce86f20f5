// Quantised tensors of random bytes, and the judgement of results against real values.
#pragma once

#include "op_test.h"

namespace ortolan::test {

/** A tensor of random bytes that stand for scale * (byte - zero). */
template <class T>
struct RandomBytes {
  RandomBytes(Shape shape, uint32_t seed, float scale = 0.03125f, int zero = 3)
      : bytes(kTypeOf<T>, std::move(shape)), scale(scale), zero(static_cast<T>(zero)) {
    std::mt19937 generator(seed);
    for (T& byte : bytes.template mutable_span<T>()) byte = static_cast<T>(generator());
  }
  double value(int64_t i) const { return double{scale} * (bytes.template data<T>()[i] - zero); }
  int64_t count() const { return bytes.element_count(); }
  const Shape& shape() const { return bytes.shape(); }
  /** Appends the tensor, its scale and its zero point as inputs. */
  void add_to(OpTest& test) const {
    test.input(bytes).template input<float>({}, {scale}).template input<T>({}, {zero});
  }

  Tensor bytes;
  float scale;
  T zero;
};

/** Every byte is what `expected` / scale + zero rounds to; either neighbour will do within 0.001 of the middle. */
template <class T>
::testing::AssertionResult codes_near(const Tensor& actual, const Shape& shape, const std::vector<double>& expected,
                                      double scale, int zero) {
  if (actual.type() != kTypeOf<T> || actual.shape() != shape) {
    return ::testing::AssertionFailure() << "type " << name_of(actual.type()) << ", shape " << join(actual.shape());
  }
  if (actual.element_count() != std::ssize(expected)) {
    return ::testing::AssertionFailure() << actual.element_count() << " elements, expected " << expected.size();
  }
  for (int64_t i = 0; i < actual.element_count(); ++i) {
    double low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    double wanted = std::clamp(expected[i] / scale + zero, low, high);
    double code = actual.data<T>()[i];
    if (std::abs(code - wanted) > 0.501) {
      return ::testing::AssertionFailure() << "element " << i << " is " << code << ", not " << wanted;
    }
  }
  return ::testing::AssertionSuccess();
}

template <class T>
class OnBytes : public ::testing::Test {};
using ByteTypes = ::testing::Types<int8_t, uint8_t>;

}  // namespace ortolan::test
