// ReverseSequence reverses the first sequence_lens[b] steps of each batch entry b.
#include "ops/element_dims.h"

namespace ortolan::ops::onnx {
namespace {

void reverse_sequence_rule(InferContext& context) {
  int64_t batch = context.node().int_or("batch_axis", 1), time = context.node().int_or("time_axis", 0);
  require(batch >= 0 && batch <= 1 && time == 1 - batch, ErrorCode::kInvalidGraph, "batch_axis ", batch,
          " and time_axis ", time, " must be 0 and 1 or 1 and 0");
  context.require_rank(0, 2, kMaxRank);
  context.require_rank(1, 1, 1);
  context.set_output(0, context.element(0), context.shape(0));
}

constexpr SchemaRow kRows[] = {
    {"", "ReverseSequence", 10, kLatest, 2, 1, reverse_sequence_rule, {{0, kAllTypes}, {1, ElementType::kInt64}}},
};

}  // namespace

extern const SchemaTable reverse_sequence_rows;
const SchemaTable reverse_sequence_rows(kRows);

}  // namespace ortolan::ops::onnx
