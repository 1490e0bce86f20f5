// Operators that combine two inputs, or any number, element by element. From opset 7 (variadic: 8) on inputs broadcast
// by numpy's rule; before, attributes `broadcast` and `axis` placed input 1 within input 0. Other differences between
// versions are element types.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

constexpr SchemaRow arithmetic(const char* name, int since, TypeSet types) {
  return {"", name, since, kLatest, 2, 1, broadcast_inputs, {{0, types, 'T'}, {1, types, 'T'}}};
}
constexpr SchemaRow comparison(const char* name, int since, TypeSet types) {
  return {"", name, since, kLatest, 2, 1, broadcast_to_bool, {{0, types, 'T'}, {1, types, 'T'}}};
}
constexpr SchemaRow variadic(const char* name, TypeSet types) {
  return {"", name, 1, kLatest, {1, kVariadic}, 1, broadcast_inputs, {{0, types, 'T'}, {kTheRest, types, 'T'}}};
}

constexpr SchemaRow kRows[] = {
    arithmetic("Add", 1, kNumericTypes),
    arithmetic("Sub", 1, kNumericTypes),
    arithmetic("Mul", 1, kNumericTypes),
    arithmetic("Div", 1, kNumericTypes),
    arithmetic("Mod", 10, kNumericTypes),
    arithmetic("SwiGLU", 28, kFloatTypes),
    arithmetic("BitShift", 11, kUnsignedTypes),
    arithmetic("BitwiseAnd", 18, kIntegerTypes),
    arithmetic("BitwiseOr", 18, kIntegerTypes),
    arithmetic("BitwiseXor", 18, kIntegerTypes),
    comparison("And", 1, ElementType::kBool),
    comparison("Or", 1, ElementType::kBool),
    comparison("Xor", 1, ElementType::kBool),
    comparison("Equal", 1, kNumericTypes | ElementType::kBool | ElementType::kString),
    comparison("Greater", 1, kNumericTypes),
    comparison("GreaterOrEqual", 12, kNumericTypes),
    comparison("Less", 1, kNumericTypes),
    comparison("LessOrEqual", 12, kNumericTypes),
    variadic("Max", kNumericTypes),
    variadic("Min", kNumericTypes),
    variadic("Mean", kFloatTypes),
    variadic("Sum", kFloatTypes),
    // The exponent's type is free from opset 12 on.
    {"", "Pow", 1, 11, 2, 1, broadcast_inputs, {{0, kFloatTypes, 'T'}, {1, kFloatTypes, 'T'}}},
    {"",
     "Pow",
     12,
     kLatest,
     2,
     1,
     broadcast_inputs,
     {{0, kFloatTypes | ElementType::kInt32 | ElementType::kInt64}, {1, kNumericTypes}}},
    // The slope broadcasts to the input, never the other way.
    {"",
     "PRelu",
     1,
     kLatest,
     2,
     1,
     same_as_first_input,
     {{0, kFloatTypes | ElementType::kInt32 | ElementType::kInt64 | ElementType::kUInt32 | ElementType::kUInt64, 'T'},
      {1, kFloatTypes | ElementType::kInt32 | ElementType::kInt64 | ElementType::kUInt32 | ElementType::kUInt64, 'T'}}},
};

}  // namespace

extern const SchemaTable elementwise_binary_rows;
constinit const SchemaTable elementwise_binary_rows(kRows);

}  // namespace ortolan::ops::onnx
