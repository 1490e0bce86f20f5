// Tests of comparing expected with given values.
#include "common/compare_values.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ortolan::tools {
namespace {

Value floats(std::vector<double> numbers) {
  Value value = make_tensor(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, {int64_t(numbers.size())});
  for (size_t i = 0; i < numbers.size(); ++i) set_number(value.type, value.bytes.data(), i, numbers[i]);
  return value;
}

Value integers(std::vector<double> numbers) {
  Value value = make_tensor(ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, {int64_t(numbers.size())});
  for (size_t i = 0; i < numbers.size(); ++i) set_number(value.type, value.bytes.data(), i, numbers[i]);
  return value;
}

Value map_of(Value keys, Value values) {
  Value value;
  value.kind = Value::Kind::kMap;
  value.items = {std::move(keys), std::move(values)};
  return value;
}

TEST(Difference, FloatsWithinTolerance) {
  EXPECT_EQ(difference(floats({1, -2}), floats({1.0009, -2.0019}), {}), "");
  EXPECT_EQ(difference(floats({0}), floats({0.9e-5}), {}), "");
  EXPECT_EQ(difference(floats({1, 2}), floats({1, 2.01}), {}),
            "1 of 2 numbers are off, most at element 1: 2.01, expected 2");
}

TEST(Difference, SpecialNumbersMustBeTheSame) {
  EXPECT_EQ(difference(floats({NAN, INFINITY}), floats({NAN, INFINITY}), {}), "");
  EXPECT_NE(difference(floats({INFINITY}), floats({-INFINITY}), {}), "");
  EXPECT_NE(difference(floats({NAN}), floats({0}), {}), "");
  EXPECT_NE(difference(floats({1}), floats({NAN}), {}), "");
  EXPECT_NE(difference(floats({3e38}), floats({INFINITY}), {}), "");
}

TEST(Difference, ShareOfElementsMayMiss) {
  Tolerance tolerance{1e-3, 1e-5, 0.5};
  EXPECT_EQ(difference(floats({1, 2}), floats({1, 9}), tolerance), "");
  EXPECT_NE(difference(floats({1, 2}), floats({8, 9}), tolerance), "");
}

TEST(Difference, IntegersAndStringsAreExact) {
  EXPECT_EQ(difference(integers({5}), integers({5}), {}), "");
  EXPECT_EQ(difference(integers({5, 1000000}), integers({5, 1000001}), {}),
            "1 of 2 integers differ, first at element 1: 1000001, expected 1000000");
  Value a = make_tensor(ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, {1}), b = a;
  b.strings[0] = "x";
  EXPECT_EQ(difference(a, b, {}), "string 0 is 'x', expected ''");
}

TEST(Difference, TypesAndShapesCount) {
  EXPECT_EQ(difference(floats({1}), integers({1}), {}), "is int64[1], expected float32[1]");
  EXPECT_EQ(difference(floats({}), floats({1}), {}), "is float32[1], expected float32[0]");
  Value scalar = make_tensor(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, {});
  EXPECT_EQ(difference(scalar, floats({0}), {}), "is float32[1], expected float32[]");
  EXPECT_EQ(difference(Value{}, floats({0}), {}), "is a tensor, expected a none");
}

TEST(Difference, MapsHaveNoOrder) {
  Value a = map_of(integers({1, 2}), floats({10, 20})), b = map_of(integers({2, 1}), floats({20, 10}));
  EXPECT_EQ(difference(a, b, {}), "");
  b.items[1] = floats({10, 20});
  EXPECT_NE(difference(a, b, {}), "");
}

TEST(Distance, GreatestAbsoluteAndRelative) {
  Distance found = distance(floats({1, 4}), floats({1.5, -8}));
  EXPECT_EQ(found.absolute, 12);
  EXPECT_EQ(found.relative, 1.5);
  EXPECT_FALSE(distance(floats({1}), floats({1, 2})).comparable);
  EXPECT_EQ(distance(integers({1, 2}), integers({1, 3})).mismatches, 1u);
}

}  // namespace
}  // namespace ortolan::tools
