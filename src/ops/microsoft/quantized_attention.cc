// QAttention: Attention whose input and weights are bytes. Inputs 5 (mask), 6 and 7 (zero points), 8 (past) may be left
// out; weights have a scale and a zero point for all, or one a column.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void qattention(InferContext& context) {
  context.require_rank(0, 3, 3);
  context.require_rank(1, 2, 2);
  context.require_rank(8, 5, 5);
  int64_t heads = context.node().int_of("num_heads");
  require(heads > 0, ErrorCode::kInvalidGraph, "num_heads is ", heads, "; it must be positive");
  Dim batch, sequence, size;
  if (context.has_shape(0)) batch = context.shape(0)[0], sequence = context.shape(0)[1];
  if (context.has_shape(1) && context.shape(1)[1].known()) {
    int64_t columns = context.shape(1)[1].value();
    require(columns % 3 == 0 && columns / 3 % heads == 0, ErrorCode::kInvalidArgument, "the weights have ", columns,
            " columns; it must be a multiple of 3 * num_heads, which is 3 * ", heads);
    size = columns / 3;
  }
  ElementType type = context.element(3);
  context.set_output(0, type, DimVector{batch, sequence, size});
  Dim past = !context.has_input(8) ? Dim(0) : context.has_shape(8) ? context.shape(8)[3] : Dim();
  Dim head = size.known() ? Dim(size.value() / heads) : Dim();
  context.set_output(1, type, DimVector{2, batch, heads, add(past, sequence), head});
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft",
     "QAttention",
     1,
     kLatest,
     {5, 9},
     {1, 2},
     qattention,
     {{0, kByteTypes}, {1, kByteTypes}, {5, ElementType::kInt32}, {kTheRest, kByteTypes | kFloat32AndHalf}}},
};

}  // namespace

extern const SchemaTable quantized_attention_rows;
const SchemaTable quantized_attention_rows(kRows);
}  // namespace ortolan::ops::microsoft
