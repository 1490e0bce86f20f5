// GatherBlockQuantized: Gather from integers of 4 bits (or of `bits` bits packed in uint8, along the last dimension)
// that share a scale, and a zero point, in blocks along quantize_axis; the result is made floats.
#include "ops/infer_context.h"

namespace ortolan::ops::microsoft {
namespace {

/** Elements in one of data's. */
int64_t elements_in(const InferContext& context) {
  int64_t bits = context.node().int_or("bits", 4);
  if (context.element(0) != ElementType::kUInt8) return 1;
  require(bits == 2 || bits == 4 || bits == 8, ErrorCode::kInvalidGraph, "bits is ", bits, "; it must be 2, 4 or 8");
  return 8 / bits;
}

void gather_block_quantized(InferContext& context) {
  context.require_rank(0, 1, SIZE_MAX);
  if (!context.has_shape(0) || !context.has_shape(1)) return context.set_output(0, context.element(2), {});
  DimVector data = context.shape(0).dims();
  size_t axis = checked_axis(context.node().int_or("gather_axis", 0), data.size());
  int64_t packed = elements_in(context);
  require(packed == 1 || axis + 1 < data.size(), ErrorCode::kInvalidGraph, "gather_axis ", axis, " of shape ",
          context.shape(0), " is the last one, which is packed; gather along another");
  data.back() = multiply(data.back(), packed);
  DimVector dims(data.begin(), data.begin() + axis);
  for (Dim dim : context.shape(1).dims()) dims.push_back(dim);
  for (size_t i = axis + 1; i < data.size(); ++i) dims.push_back(data[i]);
  context.set_output(0, context.element(2), dims);
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft",
     "GatherBlockQuantized",
     1,
     kLatest,
     {3, 4},
     1,
     gather_block_quantized,
     {{0, ElementType::kInt4 | ElementType::kUInt4 | ElementType::kUInt8, 'D'},
      {1, ElementType::kInt32 | ElementType::kInt64},
      {2, kHalfTypes | ElementType::kFloat},
      {3, ElementType::kInt4 | ElementType::kUInt4 | ElementType::kUInt8, 'D'}}},
};

}  // namespace

extern const SchemaTable gather_block_quantized_rows;
const SchemaTable gather_block_quantized_rows(kRows);
}  // namespace ortolan::ops::microsoft
