// Products with weights of a few bits, all A times a K x N matrix: MatMulNBits (2, 4 or 8 bits, a scale a block),
// MatMulBnb4 (4-bit floating formats, a largest magnitude a block), MatMulFpQ4 (one blob of blocks and their scales).
#include "ops/infer_context.h"

namespace ortolan::ops::microsoft {
namespace {

/** Output 0: A with K, its last dimension, replaced by N. */
void product(InferContext& context, Dim k, Dim n) {
  context.require_rank(0, 1, SIZE_MAX);
  if (!context.has_shape(0)) return context.set_output(0, context.element(0), {});
  DimVector dims = context.shape(0).dims();
  require(!k.known() || !dims.back().known() || dims.back().value() == k.value(), ErrorCode::kInvalidArgument,
          "A has shape ", context.shape(0), "; its last dimension must be K, ", k.known() ? k.value() : 0);
  dims.back() = n;
  context.set_output(0, context.element(0), dims);
}

int64_t positive(const Node& node, const char* name) {
  int64_t value = node.int_of(name);
  require(value > 0, ErrorCode::kInvalidGraph, name, " is ", value, "; it must be positive");
  return value;
}

void nbits(InferContext& context) { product(context, positive(context.node(), "K"), positive(context.node(), "N")); }

void bnb4(InferContext& context) {
  int64_t k = positive(context.node(), "K"), n = positive(context.node(), "N");
  context.node().int_or("transB", 1) != 0 ? product(context, k, n) : product(context, n, k);
}

void fpq4(InferContext& context) {
  Dim k, n;
  if (auto shape = context.int64s(2)) {
    require(shape->size() == 2 && (*shape)[0] > 0 && (*shape)[1] > 0, ErrorCode::kInvalidArgument,
            "B_shape must hold two positive dimensions, K and N");
    k = (*shape)[0], n = (*shape)[1];
  }
  product(context, k, n);
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft",
     "MatMulNBits",
     1,
     kLatest,
     {3, 6},
     1,
     nbits,
     {{1, ElementType::kUInt8},
      {3, kFloat32AndHalf | ElementType::kUInt8},
      {4, ElementType::kInt32},
      {kTheRest, kFloat32AndHalf, 'T'}}},
    {"com.microsoft",
     "MatMulBnb4",
     1,
     kLatest,
     3,
     1,
     bnb4,
     {{1, ElementType::kUInt8}, {kTheRest, kFloat32AndHalf, 'T'}}},
    {"com.microsoft",
     "MatMulFpQ4",
     1,
     kLatest,
     3,
     1,
     fpq4,
     {{1, ElementType::kUInt8}, {2, ElementType::kInt64}, {kTheRest, kFloat32AndHalf, 'T'}}},
};

}  // namespace

extern const SchemaTable narrow_products_rows;
const SchemaTable narrow_products_rows(kRows);
}  // namespace ortolan::ops::microsoft
