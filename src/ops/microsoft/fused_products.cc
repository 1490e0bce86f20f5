// Products with an activation behind them: FusedConv, FusedGemm, and FusedMatMul with transposition and a factor, also
// called TransposeMatMul and, with an activation, FusedMatMulActivation.
#include <algorithm>

#include "ops/product_rules.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

/** The dimensions of an operand with the first moved behind the stack's where `batch`, then the last two exchanged
   where `transposed`. */
DimVector operand(const SymbolicShape& shape, bool batch, bool transposed) {
  DimVector dims = shape.dims();
  if (batch && dims.size() > 2) std::rotate(dims.begin(), dims.begin() + 1, dims.end() - 1);
  if (transposed && dims.size() > 1) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return dims;
}

DimVector batch_of(const DimVector& dims) {
  return dims.size() <= 2 ? DimVector{} : DimVector(dims.begin(), dims.end() - 2);
}

void fused_matmul(InferContext& context) {
  const Node& node = context.node();
  context.require_rank(0, 1, SIZE_MAX);
  context.require_rank(1, 1, SIZE_MAX);
  if (!context.has_shape(0) || !context.has_shape(1)) return context.set_output(0, context.element(0), {});
  DimVector a = operand(context.shape(0), node.int_or("transBatchA", 0) != 0, node.int_or("transA", 0) != 0);
  DimVector b = operand(context.shape(1), node.int_or("transBatchB", 0) != 0, node.int_or("transB", 0) != 0);
  Dim inner = b.size() == 1 ? b[0] : b[b.size() - 2];
  require(!a.back().known() || !inner.known() || a.back().value() == inner.value(), ErrorCode::kInvalidArgument,
          "the matrices do not fit: ", context.shape(0), " times ", context.shape(1),
          "; their inner dimensions must be equal");
  DimVector dims = broadcast(SymbolicShape(batch_of(a)), SymbolicShape(batch_of(b))).dims();
  if (a.size() > 1) dims.push_back(a[a.size() - 2]);
  if (b.size() > 1) dims.push_back(b.back());
  context.set_output(0, context.element(0), dims);
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft", "FusedConv", 1, kLatest, {2, 4}, 1, conv_rule, {{kTheRest, kFloatTypes, 'T'}}},
    {"com.microsoft", "FusedGemm", 1, kLatest, {2, 3}, 1, gemm_rule, {{kTheRest, kFloatTypes, 'T'}}},
    {"com.microsoft", "FusedMatMul", 1, kLatest, 2, 1, fused_matmul, {{kTheRest, kFloatTypes, 'T'}}},
    {"com.microsoft", "FusedMatMulActivation", 1, kLatest, 2, 1, fused_matmul, {{kTheRest, kFloatTypes, 'T'}}},
    {"com.microsoft", "TransposeMatMul", 1, kLatest, 2, 1, fused_matmul, {{kTheRest, kFloatTypes, 'T'}}},
};

}  // namespace

extern const SchemaTable fused_products_rows;
const SchemaTable fused_products_rows(kRows);
}  // namespace ortolan::ops::microsoft
