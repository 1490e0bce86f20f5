// com.microsoft.RotaryEmbedding: as the standard operator, with positions before the caches; one position is an offset.
// MRotaryEmbedding has three positions a token (time, height, width), each for a section of the caches' columns.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void rotary_embedding(InferContext& context) {
  context.require_rank(0, 3, 4);
  context.require_rank(1, 0, 2);
  context.require_rank(2, 2, 2);
  context.require_rank(3, 2, 2);
  const Node& node = context.node();
  require(node.int_or("num_heads", 0) > 0 || node.int_or("rotary_embedding_dim", 0) == 0, ErrorCode::kInvalidGraph,
          "rotary_embedding_dim is set, num_heads is not; give both");
  context.set_output(0, context.element(0), context.shape(0));
}

void mrotary_embedding(InferContext& context) {
  context.require_rank(0, 3, 4);
  context.require_rank(1, 3, 3);
  context.require_rank(2, 2, 2);
  context.require_rank(3, 2, 2);
  context.set_output(0, context.element(0), context.shape(0));
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft",
     "MRotaryEmbedding",
     1,
     kLatest,
     4,
     1,
     mrotary_embedding,
     {{1, ElementType::kInt64}, {kTheRest, kFloatTypes, 'T'}}},
    {"com.microsoft",
     "RotaryEmbedding",
     1,
     kLatest,
     4,
     1,
     rotary_embedding,
     {{1, ElementType::kInt64}, {kTheRest, kFloatTypes, 'T'}}},
};

}  // namespace

extern const SchemaTable rotary_embedding_rows;
constinit const SchemaTable rotary_embedding_rows(kRows);

}  // namespace ortolan::ops::microsoft
