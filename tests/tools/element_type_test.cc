// Tests of reading single elements as numbers.
#include "common/element_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "../thrown_text.h"
#include "common/error.h"

namespace ortolan::tools {
namespace {

double number_of(ElementType type, std::initializer_list<unsigned> bytes, size_t index = 0) {
  std::vector<std::byte> data;
  for (unsigned byte : bytes) data.push_back(std::byte(byte));
  data.resize(16);
  return number_at(type, data.data(), index);
}

TEST(ElementType, ReadsSmallFloats) {
  EXPECT_EQ(number_of(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, {0x00, 0x3c}), 1);
  EXPECT_EQ(number_of(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, {0x01, 0x00}), std::ldexp(1, -24));
  EXPECT_EQ(number_of(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, {0x00, 0xfc}), -INFINITY);
  EXPECT_EQ(number_of(ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, {0x40, 0xc0}), -3);
  EXPECT_EQ(number_of(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN, {0x7e}), 448);
  EXPECT_TRUE(std::isnan(number_of(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN, {0x7f})));
  EXPECT_EQ(number_of(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ, {0x7f}), 240);
  EXPECT_TRUE(std::isnan(number_of(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ, {0x80})));
  EXPECT_EQ(number_of(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2, {0x7b}), 57344);
  EXPECT_EQ(number_of(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0, {0x80}), 2);
}

TEST(ElementType, UnpacksFromTheLowBitsUp) {
  EXPECT_EQ(number_of(ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4, {0xe1}, 0), 1);
  EXPECT_EQ(number_of(ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4, {0xe1}, 1), 14);
  EXPECT_EQ(number_of(ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4, {0xe1}, 1), -2);
  EXPECT_EQ(number_of(ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2, {0b11100100}, 3), -1);
  EXPECT_EQ(number_of(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1, {0xf7}, 0), 6);
  EXPECT_EQ(number_of(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1, {0xf7}, 1), -6);
  EXPECT_EQ(byte_size(ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4, 3), 2u);
}

TEST(ElementType, FileNumbersDifferFromTheInterfaceWhereTheyDo) {
  EXPECT_EQ(type_of_file(24), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0);
  EXPECT_EQ(type_of_file(25), ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2);
  EXPECT_EQ(type_of_file(26), ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2);
  EXPECT_TRUE(test::throws<ToolError>("element type number 99", [] { type_of_file(99); }));
}

TEST(ElementType, StoresWhatItReads) {
  for (ElementType type : {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE,
                           ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16,
                           ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64}) {
    std::byte data[32] = {};
    set_number(type, data, 2, -3);
    EXPECT_EQ(number_at(type, data, 2), -3) << traits(type).name;
    EXPECT_EQ(number_at(type, data, 1), 0) << traits(type).name;
  }
}

}  // namespace
}  // namespace ortolan::tools
