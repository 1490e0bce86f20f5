// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear against double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gpu/single_node.h"

namespace ortolan::gpu::test {
namespace {

struct Range {
  ElementType type;
  double low, high;
};
constexpr Range kRanges[] = {{ElementType::kUint8, 0, 255},
                             {ElementType::kInt8, -128, 127},
                             {ElementType::kUint16, 0, 65535},
                             {ElementType::kInt16, -32768, 32767}};

int64_t quantized(double x, double scale, int64_t zero, const Range& range) {
  return static_cast<int64_t>(std::clamp(std::nearbyint(x / scale) + static_cast<double>(zero), range.low, range.high));
}

class Quantization : public testing::TestWithParam<NamedDevice> {
 protected:
  Device& device() { return *GetParam().device; }
};

TEST_P(Quantization, OneScaleOfEveryType) {
  Tensor x = floats({3, 23}, random_floats({69}, 1, -200, 200).floats());
  for (const Range& range : kRanges) {
    for (int64_t zero : {0, 3}) {
      SCOPED_TRACE(type_name(range.type));
      Tensor codes =
          run_node(device(), {"QuantizeLinear"}, {{x}, {floats({}, {0.5f})}, {integers({}, {zero}, range.type)}})[0];
      std::vector<int64_t> wanted;
      for (float v : x.floats()) wanted.push_back(quantized(v, 0.5, zero, range));
      EXPECT_EQ(codes.type, range.type);
      EXPECT_EQ(codes.integers(), wanted);
      std::vector<float> back;
      for (int64_t code : wanted) back.push_back(static_cast<float>(code - zero) * 0.5f);
      Tensor y = run_node(device(), {"DequantizeLinear"},
                          {{codes}, {floats({}, {0.5f})}, {integers({}, {zero}, range.type)}})[0];
      expect_near(y, floats({3, 23}, back), 0, 0);
    }
  }
}

TEST_P(Quantization, TiesGoToEvenAndLimitsHold) {
  Tensor x = floats({7}, {0.5f, 1.5f, -0.5f, 2.5f, INFINITY, -INFINITY, 1e30f});
  Tensor codes = run_node(device(), {"QuantizeLinear", {}, 10}, {{x}, {floats({}, {1})}})[0];
  EXPECT_EQ(codes.integers(), (std::vector<int64_t>{0, 2, 0, 2, 255, 0, 255}));
}

TEST_P(Quantization, AScaleForEachSlice) {
  Tensor x = random_floats({2, 3, 5}, 2, -20, 20);
  std::vector<float> scale = {0.1f, 0.5f, 2}, values = x.floats();
  std::vector<int64_t> zero = {-3, 0, 7}, wanted;
  std::vector<float> back;
  for (size_t i = 0; i < values.size(); i++) {
    size_t c = i / 5 % 3;
    wanted.push_back(quantized(values[i], scale[c], zero[c], kRanges[1]));
    back.push_back(static_cast<float>(wanted.back() - zero[c]) * scale[c]);
  }
  std::vector<NodeInput> inputs = {{x}, {floats({3}, scale)}, {integers({3}, zero, ElementType::kInt8)}};
  TestNode node{"QuantizeLinear", {{"axis", int64_t{-2}}}, 13};
  inputs[0] = {run_node(device(), node, inputs)[0]};
  EXPECT_EQ(inputs[0].tensor.integers(), wanted);
  node.op = "DequantizeLinear";
  expect_near(run_node(device(), node, inputs)[0], floats(x.shape, back), 0, 0);
}

TEST_P(Quantization, AScaleForEachBlock) {
  Tensor x = integers({1, 5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, ElementType::kInt8);
  Tensor scale = floats({1, 3, 2}, {1, 10, 100, 1000, 0.5f, 0.25f});
  TestNode node{"DequantizeLinear", {{"axis", int64_t{1}}, {"block_size", int64_t{2}}}};
  expect_near(run_node(device(), node, {{x}, {scale}})[0],
              floats({1, 5, 2}, {1, 20, 3, 40, 500, 6000, 700, 8000, 4.5f, 2.5f}), 0, 0);
}

TEST_P(Quantization, Int32AndFloat16) {
  Tensor sums = integers({3}, {-100000, 0, 7}, ElementType::kInt32), half = floats({}, {0.5f}, ElementType::kFloat16);
  expect_near(run_node(device(), {"DequantizeLinear"}, {{sums}, {floats({}, {0.25f})}})[0],
              floats({3}, {-25000, 0, 1.75f}));
  Tensor x = floats({2}, {1.5f, -2}, ElementType::kFloat16);
  Tensor codes = run_node(device(), {"QuantizeLinear"}, {{x}, {half}, {integers({}, {0}, ElementType::kInt8)}})[0];
  EXPECT_EQ(codes.integers(), (std::vector<int64_t>{3, -4}));
  expect_near(run_node(device(), {"DequantizeLinear"}, {{codes}, {half}})[0], x);
}

TEST_P(Quantization, DynamicScales) {
  for (const std::vector<float>& values :
       std::vector<std::vector<float>>{{-1, 0.5f, 3}, {2, 5}, {-4, -1}, {0, 0}, {}}) {
    Tensor x = floats({static_cast<int64_t>(values.size())}, values);
    double low = 0, high = 0;
    for (float v : values) low = std::min<double>(low, v), high = std::max<double>(high, v);
    double scale = low == high ? 1 : (high - low) / 255;
    int64_t zero = quantized(-low, scale, 0, kRanges[0]);
    auto actual = run_node(device(), {"DynamicQuantizeLinear"}, {{x}}, 3);
    expect_near(actual[1], floats({}, {static_cast<float>(scale)}));
    EXPECT_EQ(actual[2].integers(), std::vector<int64_t>{zero});
    std::vector<int64_t> wanted;
    for (float v : values) wanted.push_back(quantized(v, static_cast<float>(scale), zero, kRanges[0]));
    EXPECT_EQ(actual[0].integers(), wanted);
  }
}

TEST_P(Quantization, RefusalsAndErrors) {
  Tensor x = floats({2}, {1, 2}), three = floats({3}, {1, 1, 1});
  EXPECT_EQ(refusal_of(device(), {"QuantizeLinear", {{"output_dtype", int64_t{21}}}}, {{x}, {floats({}, {1})}}),
            "the result is another type; 8 and 16 bits are taken");
  try {
    run_node(device(), {"QuantizeLinear", {{"axis", int64_t{0}}}}, {{x}, {three}});
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "node 'n' (QuantizeLinear): the scale's shape does not fit axis 0 of the input");
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Quantization, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
