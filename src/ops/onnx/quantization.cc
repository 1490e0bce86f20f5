// QuantizeLinear, DequantizeLinear (opset 10 one scale, 13 one for each slice of an axis, 21 one for each block; the
// result's type is the zero point's, or attribute output_dtype's) and DynamicQuantizeLinear.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

constexpr TypeSet kQuantized =
    ElementType::kInt8 | ElementType::kUInt8 | ElementType::kInt16 | ElementType::kUInt16 | kFloat8Types | kPackedTypes;
constexpr TypeSet kScales = kHalfTypes | ElementType::kFloat | ElementType::kFloat8E8M0 | ElementType::kInt32;

/** Attribute output_dtype, kUndefined when absent or 0. */
ElementType named_type(const Node& node, TypeSet allowed) {
  int64_t type = node.int_or("output_dtype", 0);
  if (type == 0) return ElementType::kUndefined;
  bool known = type > 0 && type < kElementTypeCount && allowed.contains(static_cast<ElementType>(type));
  require(known, ErrorCode::kInvalidGraph, "output_dtype ", type, " is not a type that this operator gives: ", allowed);
  return static_cast<ElementType>(type);
}

/** Checks that scale and zero point agree in shape, and that the scale fits the input. */
void check_scale(const InferContext& context) {
  if (!context.has_shape(0) || !context.has_shape(1)) return;
  const SymbolicShape& x = context.shape(0);
  const SymbolicShape& scale = context.shape(1);
  int64_t block = context.node().int_or("block_size", 0);
  require(block >= 0, ErrorCode::kInvalidGraph, "block_size is ", block, "; it must not be negative");
  if (scale.rank() == 0 || scale.element_count().is(1)) return;
  if (block == 0)
    require(scale.rank() == 1, ErrorCode::kInvalidArgument, "the scale has shape ", scale,
            "; without block_size it needs rank 0 or 1");
  size_t axis = checked_axis(context.node().int_or("axis", 1), x.rank());
  if (block > 0) {
    require(scale.rank() == x.rank(), ErrorCode::kInvalidArgument, "the scale has shape ", scale,
            "; with block_size it needs the rank of the input ", x);
    return;
  }
  require(!scale[0].known() || !x[axis].known() || scale[0].value() == x[axis].value(), ErrorCode::kInvalidArgument,
          "the scale has ", scale[0].known() ? scale[0].value() : 0, " values for axis ", axis, " of input ", x);
}

void quantize(InferContext& context) {
  check_scale(context);
  ElementType named = named_type(context.node(), kQuantized);
  ElementType type = context.has_input(2) ? context.element(2) : named;
  require(named == ElementType::kUndefined || type == ElementType::kUndefined || named == type,
          ErrorCode::kInvalidGraph, "output_dtype is ", name_of(named), " but the zero point is ", name_of(type));
  if (!context.has_input(2) && type == ElementType::kUndefined) type = ElementType::kUInt8;
  context.set_output(0, type, context.shape(0));
}

void dequantize(InferContext& context) {
  check_scale(context);
  bool of_scale = context.opset() >= 19 || !context.node().domain.empty();
  ElementType type = of_scale ? context.element(1) : ElementType::kFloat;
  ElementType named = named_type(context.node(), kFloatTypes);
  if (named != ElementType::kUndefined) type = named;
  if (type == ElementType::kFloat8E8M0) type = ElementType::kFloat;
  context.set_output(0, type, context.shape(0));
}

void dynamic_quantize(InferContext& context) {
  context.set_output(0, ElementType::kUInt8, context.shape(0));
  context.set_output(1, ElementType::kFloat, Shape{});
  context.set_output(2, ElementType::kUInt8, Shape{});
}

constexpr SchemaRow kRows[] = {
    {"",
     "QuantizeLinear",
     10,
     kLatest,
     {2, 3},
     1,
     quantize,
     {{0, kHalfTypes | ElementType::kFloat | ElementType::kInt32}, {1, kScales}, {2, kQuantized}}},
    {"",
     "DequantizeLinear",
     10,
     kLatest,
     {2, 3},
     1,
     dequantize,
     {{0, kQuantized | ElementType::kInt32, 'Q'}, {1, kScales}, {2, kQuantized | ElementType::kInt32, 'Q'}}},
    {"com.microsoft",
     "QuantizeLinear",
     1,
     kLatest,
     {2, 3},
     1,
     quantize,
     {{0, kHalfTypes | ElementType::kFloat}, {1, kHalfTypes | ElementType::kFloat}, {2, kQuantized}}},
    {"com.microsoft",
     "DequantizeLinear",
     1,
     kLatest,
     {2, 3},
     1,
     dequantize,
     {{0, kQuantized | ElementType::kInt32, 'Q'},
      {1, kHalfTypes | ElementType::kFloat},
      {2, kQuantized | ElementType::kInt32, 'Q'}}},
    {"", "DynamicQuantizeLinear", 11, kLatest, 1, 3, dynamic_quantize, {{0, ElementType::kFloat}}},
};

}  // namespace

extern const SchemaTable quantization_rows;
const SchemaTable quantization_rows(kRows);
}  // namespace ortolan::ops::onnx
