// GatherBlockQuantized against elements taken one by one.
#include "op_test.h"

namespace ortolan::test {
namespace {

OpTest node() { return OpTest("GatherBlockQuantized", 1, "com.microsoft"); }

struct Case {
  ElementType type;
  int bits;
  Shape shape;  // in elements
  int64_t gather_axis, quantize_axis, block;
  bool zeros;
};

/** Random bits in a tensor of that type; `shape` in elements, of which several may share one of uint8. */
Tensor random_bits(ElementType type, int bits, Shape shape, uint32_t seed) {
  if (type == ElementType::kUInt8) shape[shape.rank() - 1] = (shape.back() * bits + 7) / 8;
  Tensor tensor(type, shape);
  std::mt19937 generator(seed);
  auto* bytes = static_cast<uint8_t*>(tensor.mutable_raw());
  for (size_t i = 0; i < bytes_for(type, tensor.element_count()); ++i) bytes[i] = static_cast<uint8_t>(generator());
  return tensor;
}

int64_t element(const Tensor& tensor, int bits, int64_t row, int64_t i) {
  auto* bytes = static_cast<const uint8_t*>(tensor.raw());
  int64_t bit = i * bits;  // int4 and uint4 lie side by side, and uint8 in rows of whole bytes
  if (tensor.type() == ElementType::kUInt8) bit = i / row * tensor.shape().back() * 8 + i % row * bits;
  int64_t q = bytes[bit / 8] >> (bit % 8) & ((1 << bits) - 1);
  return tensor.type() == ElementType::kInt4 && q > 7 ? q - 16 : q;
}

void check(const Case& c, uint32_t seed) {
  size_t rank = c.shape.rank(),
         axis =
             static_cast<size_t>(c.quantize_axis < 0 ? c.quantize_axis + static_cast<int64_t>(rank) : c.quantize_axis);
  size_t gathered = static_cast<size_t>(c.gather_axis < 0 ? c.gather_axis + static_cast<int64_t>(rank) : c.gather_axis);
  Shape blocks = c.shape;
  blocks[axis] = (blocks[axis] + c.block - 1) / c.block;
  Tensor data = random_bits(c.type, c.bits, c.shape, seed), zeros = random_bits(c.type, c.bits, blocks, seed + 1);
  Tensor scales = random_tensor<float>(blocks, seed + 2);
  int64_t length = c.shape[gathered];
  Tensor indices = random_tensor<int64_t>({2, 3}, seed + 3, static_cast<double>(-length), static_cast<double>(length));
  std::vector<double> all, expected;
  int64_t inner = c.shape.count_from(axis + 1), quantized = c.shape[axis];
  for (int64_t i = 0; i < c.shape.element_count(); ++i) {
    int64_t scale = (i / inner / quantized * blocks[axis] + i / inner % quantized / c.block) * inner + i % inner;
    int64_t zero = c.type == ElementType::kUInt8 ? 1 << (c.bits - 1) : 0;
    if (c.zeros) zero = element(zeros, c.bits, blocks.back(), scale);
    all.push_back(static_cast<double>(element(data, c.bits, c.shape.back(), i) - zero) * doubles(scales)[scale]);
  }
  int64_t outer = c.shape.count_to(gathered), row = c.shape.count_from(gathered + 1);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t index : indices.span<int64_t>()) {
      int64_t at = (o * length + (index < 0 ? index + length : index)) * row;
      expected.insert(expected.end(), all.begin() + at, all.begin() + at + row);
    }
  }
  Shape shape(c.shape.begin(), c.shape.begin() + gathered);
  shape.push_back(2), shape.push_back(3);
  for (size_t i = gathered + 1; i < rank; ++i) shape.push_back(c.shape[i]);
  OpTest test = node();
  test.set("gather_axis", c.gather_axis).set("quantize_axis", c.quantize_axis).set("block_size", c.block);
  if (c.type == ElementType::kUInt8) test.set("bits", c.bits);
  test.input(data).input(indices).input(scales);
  if (c.zeros) test.input(zeros);
  EXPECT_TRUE(near(test.run_tensor(), shape, expected)) << name_of(c.type) << " " << c.bits << " bits, rank " << rank;
}

TEST(GatherBlockQuantized, EveryTypeAndAxis) {
  using enum ElementType;
  uint32_t seed = test_seed();
  for (bool zeros : {false, true}) {
    check({kUInt8, 4, {7, 64}, 0, 1, 16, zeros}, seed);
    check({kUInt8, 4, {5, 3, 48}, 0, -1, 16, zeros}, seed + 10);
    check({kUInt8, 2, {5, 80}, 0, 1, 16, zeros}, seed + 20);
    check({kUInt8, 8, {6, 33}, 0, 1, 16, zeros}, seed + 30);
    check({kUInt8, 8, {6, 20, 5}, 2, 1, 16, zeros}, seed + 40);
    for (ElementType type : {kInt4, kUInt4}) {
      check({type, 4, {7, 64}, 0, 1, 32, zeros}, seed + 50);
      check({type, 4, {5, 3, 21}, 1, 2, 16, zeros}, seed + 60);
      check({type, 4, {35, 3, 5}, -1, 0, 16, zeros}, seed + 70);
      check({type, 4, {3, 40, 7}, 1, 1, 16, zeros}, seed + 80);
    }
  }
}

TEST(GatherBlockQuantized, HalfAndEmpty) {
  Tensor data = random_bits(ElementType::kUInt8, 4, {3, 32}, 1);
  Tensor scales = random_tensor<float>({3, 2}, 2), narrow(ElementType::kFloat16, {3, 2});
  for (int i = 0; i < 6; ++i) narrow.mutable_data<Half>()[i] = Half(scales.data<float>()[i]);
  auto run = [&](const Tensor& s, Shape shape, const std::vector<int32_t>& indices) {
    return node().set("block_size", 16).input(data).input<int32_t>(shape, indices).input(s).run_tensor();
  };
  EXPECT_TRUE(near(run(narrow, {2}, {2, -3}), {2, 32}, doubles(run(scales, {2}, {2, -3})), 5e-3));
  EXPECT_TRUE(near(run(scales, {}, {1}), {32}, doubles(run(scales, {1}, {1}))));
  EXPECT_EQ(run(scales, {0}, {}).shape(), (Shape{0, 32}));
}

TEST(GatherBlockQuantized, Errors) {
  auto error = [](int64_t block, int64_t bits, Shape scales, int32_t index, int64_t axis, int64_t quantized) {
    OpTest test = node();
    test.set("block_size", block).set("bits", bits).set("gather_axis", axis).set("quantize_axis", quantized);
    return test.input(random_bits(ElementType::kUInt8, 4, {3, 32}, 1))
        .input<int32_t>({1}, {index})
        .input(random_tensor<float>(scales, 1))
        .error();
  };
  EXPECT_EQ(error(16, 4, {3, 2}, 0, 0, 1), "");
  EXPECT_NE(error(16, 4, {3, 2}, 3, 0, 1).find("3"), std::string::npos);
  for (int32_t index : {3, -4, INT32_MIN, INT32_MAX})
    EXPECT_NE(error(16, 4, {3, 2}, index, 0, 1).find("at position 0 is outside [-3, 2]; indices must lie within the"),
              std::string::npos);
  EXPECT_NE(error(8, 4, {3, 4}, 0, 0, 1).find("block_size is 8"), std::string::npos);
  EXPECT_NE(error(0, 4, {3, 4}, 0, 0, 1).find("block_size is 0"), std::string::npos);
  EXPECT_NE(error(16, 3, {3, 2}, 0, 0, 1).find("bits is 3"), std::string::npos);
  EXPECT_NE(error(16, 4, {3, 3}, 0, 0, 1).find("need [3,2]"), std::string::npos);
  EXPECT_NE(error(16, 4, {3, 2}, 0, 1, 1).find("is the last one"), std::string::npos);
  EXPECT_NE(error(16, 4, {3, 2}, 0, 0, 0).find("must be the last one"), std::string::npos);
  EXPECT_NE(error(16, 4, {3, 2}, 0, 2, 1).find("axis 2 is outside [-2, 1] for rank 2"), std::string::npos);
  EXPECT_NE(error(16, 4, {3, 2}, 0, 0, INT64_MIN).find("axis -9223372036854775808 is outside [-2, 1] for rank 2"),
            std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
