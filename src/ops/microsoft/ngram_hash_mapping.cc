// NGramHashMapping: hashes of the n-grams that end at each token, of 2 up to max_ngram_size tokens, n_head_per_ngram of
// each. past_ids holds the tokens before, present_ids the ones that the next call needs.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void ngram_hash_mapping(InferContext& context) {
  int64_t most = context.node().int_of("max_ngram_size"), heads = context.node().int_of("n_head_per_ngram");
  context.node().int_of("pad_id");
  require(most >= 2 && heads >= 1, ErrorCode::kInvalidGraph, "max_ngram_size is ", most, " and n_head_per_ngram ",
          heads, "; they must be at least 2 and 1");
  context.require_rank(0, 2, 2);
  context.require_rank(1, 1, 1);
  context.require_rank(2, 1, 1);
  context.require_rank(3, 2, 2);
  Dim batch, tokens;
  if (context.has_shape(0)) batch = context.shape(0)[0], tokens = context.shape(0)[1];
  context.set_output(0, context.element(0), DimVector{batch, tokens, Dim(checked_mul(most - 1, heads))});
  context.set_output(1, context.element(0), DimVector{batch, Dim(most - 1)});
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft",
     "NGramHashMapping",
     1,
     kLatest,
     {3, 4},
     {1, 2},
     ngram_hash_mapping,
     {{kTheRest, kIndexTypes, 'T'}}},
};

}  // namespace

extern const SchemaTable ngram_hash_mapping_rows;
constinit const SchemaTable ngram_hash_mapping_rows(kRows);
}  // namespace ortolan::ops::microsoft
