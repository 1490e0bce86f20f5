// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

Tensor packed(ElementType type, Shape shape, const std::vector<int>& codes) {
  Tensor tensor(type, std::move(shape));
  for (size_t i = 0; i < codes.size(); ++i) pack_element(type, tensor.mutable_raw(), static_cast<int64_t>(i), codes[i]);
  return tensor;
}

std::vector<int> codes_of(const Tensor& tensor) {
  std::vector<int> codes;
  for (int64_t i = 0; i < tensor.element_count(); ++i) codes.push_back(unpack_element(tensor.type(), tensor.raw(), i));
  return codes;
}

TEST(QuantizeLinear, RoundsToEvenAndSaturates) {
  std::vector<float> x = {0, 1, 3, -1, 2, 1000, -1000, 5};
  auto node = [&](int opset) { return OpTest("QuantizeLinear", opset).input<float>({8}, x).input<float>({}, {2}); };
  EXPECT_TRUE(equal<uint8_t>(node(10).run_tensor(), {8}, {0, 0, 2, 0, 1, 255, 0, 2}));
  EXPECT_TRUE(equal<int8_t>(node(13).input<int8_t>({}, {1}).run_tensor(), {8}, {1, 1, 3, 1, 2, 127, -128, 3}));
  EXPECT_TRUE(equal<int16_t>(node(21).input<int16_t>({}, {-1}).run_tensor(), {8}, {-1, -1, 1, -1, 0, 499, -501, 1}));
  EXPECT_TRUE(equal<uint16_t>(node(21).set("output_dtype", 4).run_tensor(), {8}, {0, 0, 2, 0, 1, 500, 0, 2}));
  Tensor four = node(21).input(packed(ElementType::kInt4, {}, {1})).run_tensor();
  EXPECT_EQ(codes_of(four), (std::vector<int>{1, 1, 3, 1, 2, 7, -8, 3}));
  Tensor unsigned_four = node(21).input(packed(ElementType::kUInt4, {}, {0})).run_tensor();
  EXPECT_EQ(codes_of(unsigned_four), (std::vector<int>{0, 0, 2, 0, 1, 15, 0, 2}));
}

TEST(QuantizeLinear, AxisAndBlocks) {
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  Tensor by_axis = OpTest("QuantizeLinear", 13)
                       .input<float>({2, 3, 2}, x)
                       .input<float>({3}, {1, 2, 4})
                       .input<uint8_t>({3}, {0, 10, 20})
                       .set("axis", -2)
                       .run_tensor();
  EXPECT_TRUE(equal<uint8_t>(by_axis, {2, 3, 2}, {1, 2, 12, 12, 21, 22, 7, 8, 14, 15, 23, 23}));
  Tensor by_block = OpTest("QuantizeLinear", 21)
                        .input<float>({3, 4}, x)
                        .input<float>({2, 4}, {1, 1, 1, 1, 2, 2, 2, 5})
                        .set("axis", 0)
                        .set("block_size", 2)
                        .run_tensor();
  EXPECT_TRUE(equal<uint8_t>(by_block, {3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 4, 5, 6, 2}));
}

TEST(QuantizeLinear, Float8) {
  std::vector<float> x = {0, 1, -2.1f, 1e9f};
  auto run = [&](int64_t saturate) {
    return OpTest("QuantizeLinear", 19)
        .input<float>({4}, x)
        .input<float>({}, {1})
        .input<Float8E4M3FN>({}, {Float8E4M3FN()})
        .set("saturate", saturate)
        .run_tensor();
  };
  std::vector<float> values;
  Tensor tight = run(1);
  for (Float8E4M3FN v : tight.span<Float8E4M3FN>()) values.push_back(static_cast<float>(v));
  EXPECT_EQ(values, (std::vector<float>{0, 1, -2, 448}));
  Tensor loose = run(0);
  EXPECT_TRUE(std::isnan(static_cast<float>(loose.data<Float8E4M3FN>()[3])));
}

TEST(DequantizeLinear, EveryType) {
  auto run = []<class T>(TypeTag<T>) {
    OpTest test("DequantizeLinear", 21);
    test.input(tensor_of<T>({3}, {T(1), T(2), T(5)})).input(tensor_of<float>({}, {0.5f}));
    return test.input(tensor_of<T>({}, {T(2)})).run_tensor();
  };
  EXPECT_TRUE(near(run(TypeTag<uint8_t>{}), {3}, {-0.5, 0, 1.5}));
  EXPECT_TRUE(near(run(TypeTag<int8_t>{}), {3}, {-0.5, 0, 1.5}));
  EXPECT_TRUE(near(run(TypeTag<uint16_t>{}), {3}, {-0.5, 0, 1.5}));
  EXPECT_TRUE(near(run(TypeTag<int16_t>{}), {3}, {-0.5, 0, 1.5}));
  EXPECT_TRUE(near(run(TypeTag<int32_t>{}), {3}, {-0.5, 0, 1.5}));
  Tensor four = OpTest("DequantizeLinear", 21)
                    .input(packed(ElementType::kInt4, {3}, {-8, 7, 1}))
                    .input<Half>({}, {Half(0.5f)})
                    .input(packed(ElementType::kInt4, {}, {1}))
                    .run_tensor();
  EXPECT_EQ(four.type(), ElementType::kFloat16);
  EXPECT_TRUE(near(four, {3}, {-4.5, 3, 0}));
  Tensor rows = OpTest("DequantizeLinear", 13)
                    .input<int8_t>({2, 2}, {1, 2, 3, 4})
                    .input<float>({2}, {1, 10})
                    .set("axis", 0)
                    .run_tensor();
  EXPECT_TRUE(near(rows, {2, 2}, {1, 2, 30, 40}));
  EXPECT_TRUE(
      near(OpTest("DequantizeLinear", 13).input<int8_t>({0, 2}, {}).input<float>({}, {1}).run_tensor(), {0, 2}, {}));
}

TEST(DequantizeLinear, Errors) {
  auto error = [](Shape scale, int64_t axis, int64_t block) {
    return OpTest("DequantizeLinear", 21)
        .input<int8_t>({2, 3}, {1, 2, 3, 4, 5, 6})
        .input(random_tensor<float>(scale, 1))
        .set("axis", axis)
        .set("block_size", block)
        .error();
  };
  EXPECT_NE(error({4}, 1, 0).find("4"), std::string::npos);
  EXPECT_NE(error({2}, 2, 0).find("axis 2 is outside"), std::string::npos);
  EXPECT_NE(error({2, 3}, 1, 2).find("block_size 2"), std::string::npos);
  EXPECT_NE(error({2, 3}, 1, -1).find("block_size is -1"), std::string::npos);
}

TEST(DynamicQuantizeLinear, RangesBeyondFloatsHaveAScale) {
  auto results = OpTest("DynamicQuantizeLinear", 11).input<float>({3}, {3e38f, -1e38f, 0}).run(3);
  EXPECT_TRUE(near(results[1].tensor(), {}, {4e38 / 255}, 1e-6));
  EXPECT_TRUE(equal<uint8_t>(results[0].tensor(), {3}, {255, 0, 64}));
}

TEST(DynamicQuantizeLinear, RoundsTheZeroPoint) {
  auto results = OpTest("DynamicQuantizeLinear", 11).input<float>({3}, {-1, 1.64f, 0}).run(3);  // 96.59 of 255
  EXPECT_TRUE(equal<uint8_t>(results[2].tensor(), {}, {97}));
  EXPECT_TRUE(equal<uint8_t>(results[0].tensor(), {3}, {0, 255, 97}));
}

TEST(DequantizeLinear, LastBlockMayBeShort) {
  OpTest test = OpTest("DequantizeLinear", 21).set("axis", 0).set("block_size", 2);
  test.input<uint8_t>({5}, {1, 2, 3, 4, 5}).input<float>({3}, {1, 10, 100});
  EXPECT_TRUE(near(test.run_tensor(), {5}, {1, 2, 30, 40, 500}));
}

TEST(DynamicQuantizeLinear, RangeIncludesZero) {
  auto results = OpTest("DynamicQuantizeLinear", 11).input<float>({4}, {0, 2, -3, 1.5f}).run(3);
  double scale = 5.0 / 255, zero = std::nearbyint(3 / scale);
  EXPECT_TRUE(near(results[1].tensor(), {}, {scale}));
  EXPECT_TRUE(near(results[2].tensor(), {}, {zero}));
  auto y = doubles(results[0].tensor());
  const double x[] = {0, 2, -3, 1.5};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(y[i], std::clamp(std::nearbyint(x[i] / scale) + zero, 0.0, 255.0), 1);
  auto positive = OpTest("DynamicQuantizeLinear", 11).input<float>({2}, {1, 255}).run(3);
  EXPECT_TRUE(equal<uint8_t>(positive[0].tensor(), {2}, {1, 255}));
}

}  // namespace
}  // namespace ortolan::test
