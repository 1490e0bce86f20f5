// RotaryEmbedding turns pairs of each head's elements by angles that depend on the position in the sequence.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void rotary_embedding(InferContext& context) {
  context.require_rank(0, 3, 4);
  bool positions = context.has_input(3);
  context.require_rank(1, positions ? 2 : 3, positions ? 2 : 3);
  context.require_rank(2, positions ? 2 : 3, positions ? 2 : 3);
  context.require_rank(3, 2, 2);
  const Node& node = context.node();
  require(node.int_or("num_heads", 0) > 0 || !context.has_shape(0) || context.shape(0).rank() != 3,
          ErrorCode::kInvalidGraph, "an input of rank 3 needs attribute num_heads; set it to the number of heads");
  context.set_output(0, context.element(0), context.shape(0));
}

constexpr SchemaRow kRows[] = {
    {"",
     "RotaryEmbedding",
     23,
     kLatest,
     {3, 4},
     1,
     rotary_embedding,
     {{3, ElementType::kInt64}, {kTheRest, kHalfTypes | ElementType::kFloat, 'T'}}},
};

}  // namespace

extern const SchemaTable rotary_embedding_rows;
constinit const SchemaTable rotary_embedding_rows(kRows);

}  // namespace ortolan::ops::onnx
