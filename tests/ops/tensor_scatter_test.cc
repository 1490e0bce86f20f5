// TensorScatter and BitCast.
#include <cstring>

#include "nd_index.h"
#include "op_test.h"

namespace ortolan::test {
namespace {

template <class T>
Tensor numbered(const Shape& shape, int first) {
  Tensor tensor(kTypeOf<T>, shape);
  for (T& value : tensor.mutable_span<T>()) {
    if constexpr (std::is_same_v<T, std::string>) {
      value = std::to_string(first++);
    } else {
      value = static_cast<T>(static_cast<float>(first++ % 100));
    }
  }
  return tensor;
}

template <class T>
void expect_written(const Shape& cache, int64_t length, int64_t axis, std::vector<int64_t> indices, const char* mode) {
  size_t at = checked_axis(axis, cache.rank());
  Shape fresh = cache;
  fresh[at] = length;
  Tensor past = numbered<T>(cache, 1), update = numbered<T>(fresh, 50), expected = clone(past);
  for_each_index(fresh, [&](const Index& index) {
    Index to = index;
    if (!indices.empty()) to[at] = (indices[static_cast<size_t>(index[0])] + index[at]) % cache[at];
    expected.mutable_data<T>()[flat(cache, to)] = update.data<T>()[flat(fresh, index)];
  });
  OpTest test("TensorScatter", 24);
  test.input(past).input(update).set("mode", mode);
  if (axis != -2) test.set("axis", axis);
  if (!indices.empty()) test.input<int64_t>({static_cast<int64_t>(indices.size())}, indices);
  EXPECT_TRUE(same_value(test.run_tensor(), expected)) << mode << axis;
}

TEST(TensorScatter, WritesEachSequenceAtItsIndex) {
  auto types = [&]<class... T>(TypeTag<T>...) {
    (expect_written<T>({2, 3, 5, 4}, 2, -2, {3, 0}, "linear"), ...);
    (expect_written<T>({2, 3, 5, 4}, 5, -2, {0, 0}, "linear"), ...);
    (expect_written<T>({2, 5, 3}, 3, 1, {4, 9}, "circular"), ...);
    (expect_written<T>({2, 5, 3}, 5, 1, {3, 1}, "circular"), ...);
    (expect_written<T>({3, 2, 4}, 2, -1, {}, "linear"), ...);
    (expect_written<T>({0, 2, 4}, 2, -1, {}, "linear"), ...);
    (expect_written<T>({2, 0, 4}, 0, 1, {0, 0}, "circular"), ...);
    (expect_written<T>({2, 4, 0}, 1, 1, {1, 2}, "circular"), ...);
  };
  types(TypeTag<float>{}, TypeTag<Half>{}, TypeTag<int8_t>{}, TypeTag<std::complex<double>>{}, TypeTag<std::string>{});
}

TEST(TensorScatter, PackedElements) {
  Tensor past(ElementType::kInt4, {1, 3, 3}), update(ElementType::kInt4, {1, 1, 3}),
      expected(ElementType::kInt4, {1, 3, 3});
  for (int i = 0; i < 9; ++i) {
    pack_element(ElementType::kInt4, past.mutable_raw(), i, i - 4);
    pack_element(ElementType::kInt4, expected.mutable_raw(), i, i >= 3 && i < 6 ? -8 : i - 4);
  }
  for (int i = 0; i < 3; ++i) pack_element(ElementType::kInt4, update.mutable_raw(), i, -8);
  Tensor y = OpTest("TensorScatter", 24).input(past).input(update).input<int64_t>({1}, {1}).run_tensor();
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(unpack_element(y.type(), y.raw(), i), unpack_element(y.type(), expected.raw(), i)) << i;
  }
}

TEST(TensorScatter, RefusesIndicesOutside) {
  auto error = [](std::vector<int64_t> indices, const char* mode) {
    return OpTest("TensorScatter", 24)
        .input(random_tensor<float>({2, 4, 2}, 1))
        .input(random_tensor<float>({2, 2, 2}, 2))
        .input<int64_t>({static_cast<int64_t>(indices.size())}, indices)
        .set("mode", mode)
        .error();
  };
  EXPECT_NE(error({0, 3}, "linear").find("write index 3 with 2 new positions is outside a cache of 4"),
            std::string::npos);
  for (int64_t bad : {int64_t{-1}, INT64_MIN}) {
    EXPECT_NE(error({0, bad}, "linear").find("write index -"), std::string::npos);
    EXPECT_NE(error({0, bad}, "circular").find("write index -"), std::string::npos);
  }
  EXPECT_NE(error({0, INT64_MAX}, "linear").find("write index 9223"), std::string::npos);
  EXPECT_EQ(error({0, INT64_MAX}, "circular"), "");
  EXPECT_NE(error({0}, "linear").find("write_indices has shape [1]"), std::string::npos);
  EXPECT_NE(error({0, 0}, "square").find("mode is 'square'"), std::string::npos);
  auto shapes = [](const Shape& past, const Shape& update, int64_t axis) {
    return OpTest("TensorScatter", 24)
        .input(random_tensor<float>(past, 1))
        .input(random_tensor<float>(update, 2))
        .set("axis", axis)
        .error();
  };
  EXPECT_NE(shapes({2, 4, 2}, {2, 5, 2}, -2).find("in dimension 1"), std::string::npos);
  EXPECT_NE(shapes({2, 4, 2}, {1, 2, 2}, -2).find("in dimension 0"), std::string::npos);
  EXPECT_NE(shapes({2, 4}, {2, 4}, -2).find("batch dimension"), std::string::npos);
  EXPECT_NE(shapes({2, 4}, {2, 4}, 2).find("axis 2 is outside"), std::string::npos);
  EXPECT_NE(shapes({2}, {2}, -2).find("axis -2 is outside"), std::string::npos);
}

TEST(BitCast, KeepsTheBits) {
  for (int from = 1; from < kElementTypeCount; ++from) {
    for (int to = 1; to < kElementTypeCount; ++to) {
      auto source = static_cast<ElementType>(from), target = static_cast<ElementType>(to);
      if (source == ElementType::kString) continue;
      Tensor x(source, {3, 3});
      auto* bytes = static_cast<uint8_t*>(x.mutable_raw());
      for (size_t i = 0; i < x.byte_count(); ++i) {
        bytes[i] = static_cast<uint8_t>(source == ElementType::kBool || target == ElementType::kBool ? i & 1 : i * 37);
      }
      OpTest test("BitCast", 26);
      test.input(x).set("to", to);
      if (target == ElementType::kString || bits_of(source) != bits_of(target)) {
        EXPECT_NE(test.error().find("type"), std::string::npos) << from << " to " << to;
        continue;
      }
      Tensor y = test.run_tensor();
      EXPECT_EQ(y.type(), target);
      EXPECT_EQ(y.shape(), x.shape());
      EXPECT_EQ(std::memcmp(y.raw(), x.raw(), x.byte_count()), 0) << from << " to " << to;
    }
  }
}

TEST(BitCast, EdgesAndErrors) {
  EXPECT_TRUE(equal<int32_t>(OpTest("BitCast", 26).input<float>({}, {1}).set("to", 6).run_tensor(), {}, {0x3f800000}));
  EXPECT_TRUE(equal<int32_t>(OpTest("BitCast", 26).input<float>({0, 2}, {}).set("to", 6).run_tensor(), {0, 2}, {}));
  EXPECT_NE(
      OpTest("BitCast", 26).input<float>({}, {1}).set("to", 11).error().find("float has 32 bits and double has 64"),
      std::string::npos);
  for (int64_t to : {int64_t{0}, int64_t{8}, int64_t{27}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    EXPECT_NE(OpTest("BitCast", 26).input<float>({}, {1}).set("to", to).error().find("attribute to is"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace ortolan::test
