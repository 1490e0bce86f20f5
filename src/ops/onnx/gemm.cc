// Gemm: alpha * op(A) * op(B) + beta * C. Before opset 7 C needs the attribute `broadcast` to be smaller than the
// result, from 11 on C may be left out.
#include "ops/product_rules.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

constexpr TypeSet kGemmTypes =
    kFloatTypes | ElementType::kInt32 | ElementType::kInt64 | ElementType::kUInt32 | ElementType::kUInt64;

/** Checks that C spreads to [rows, columns] without making it larger. */
void check_addend(const InferContext& context, Dim rows, Dim columns) {
  if (!context.has_shape(2)) return;
  const SymbolicShape& c = context.shape(2);
  if (c.element_count().is(1)) return;
  require(c.rank() <= 2, ErrorCode::kInvalidArgument, "C has shape ", c, "; give it rank 2 or less");
  const Dim target[] = {rows, columns};
  for (size_t i = 0; i < c.rank(); ++i) {
    Dim wanted = target[2 - c.rank() + i];
    bool fits = !c[i].known() || c[i].is(1) || !wanted.known() || c[i].value() == wanted.value();
    require(fits, ErrorCode::kInvalidArgument, "C has shape ", c, ", which does not broadcast to the result ",
            SymbolicShape(DimVector{rows, columns}), "; make its dimensions equal to the result's, or 1");
  }
}

constexpr SchemaRow kRows[] = {
    {"", "Gemm", 1, 10, 3, 1, gemm_rule, {{kTheRest, kGemmTypes, 'T'}}},
    {"", "Gemm", 11, kLatest, {2, 3}, 1, gemm_rule, {{kTheRest, kGemmTypes, 'T'}}},
};

}  // namespace

extern const SchemaTable gemm_rows;
const SchemaTable gemm_rows(kRows);
}  // namespace ortolan::ops::onnx

void ortolan::ops::gemm_rule(InferContext& context) {
  context.require_rank(0, 2, 2);
  context.require_rank(1, 2, 2);
  if (!context.has_shape(0) || !context.has_shape(1)) {
    context.set_output(0, context.element(0), SymbolicShape::of_rank(2));
    return;
  }
  bool trans_a = context.node().int_or("transA", 0) != 0;
  bool trans_b = context.node().int_or("transB", 0) != 0;
  const SymbolicShape& a = context.shape(0);
  const SymbolicShape& b = context.shape(1);
  Dim k_a = a[trans_a ? 0 : 1], k_b = b[trans_b ? 1 : 0];
  require(!k_a.known() || !k_b.known() || k_a.value() == k_b.value(), ErrorCode::kInvalidArgument,
          "the matrices do not fit: A is ", a, trans_a ? " transposed" : "", ", B is ", b, trans_b ? " transposed" : "",
          "; their inner dimensions must be equal");
  Dim rows = a[trans_a ? 1 : 0], columns = b[trans_b ? 0 : 1];
  onnx::check_addend(context, rows, columns);
  context.set_output(0, context.element(0), DimVector{rows, columns});
}
