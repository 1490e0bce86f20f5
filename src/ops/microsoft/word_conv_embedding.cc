// WordConvEmbedding: a vector for each word, from a convolution over the embeddings of its characters, tanh, and the
// maximum over the word. Inputs: characters [words, length], W [filters, 1, window, size], B [filters], C [characters,
// size]; the attributes repeat sizes that the shapes give.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void require_size(const InferContext& context, const char* attribute, size_t input, size_t axis) {
  int64_t named = context.node().int_or(attribute, -1);
  if (named == -1 || !context.has_shape(input) || !context.shape(input)[axis].known()) return;
  int64_t size = context.shape(input)[axis].value();
  require(named == size, ErrorCode::kInvalidArgument, attribute, " is ", named, " but input ", input, " has shape ",
          context.shape(input), ", which says ", size);
}

void word_conv_embedding(InferContext& context) {
  context.require_rank(0, 2, 2);
  context.require_rank(1, 4, 4);
  context.require_rank(2, 1, 1);
  context.require_rank(3, 2, 2);
  require_size(context, "embedding_size", 1, 0);
  require_size(context, "conv_window_size", 1, 2);
  require_size(context, "char_embedding_size", 3, 1);
  DimVector dims{context.has_shape(0) ? context.shape(0)[0] : Dim(),
                 context.has_shape(1) ? context.shape(1)[0] : Dim()};
  context.set_output(0, context.element(1), dims);
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft",
     "WordConvEmbedding",
     1,
     kLatest,
     4,
     1,
     word_conv_embedding,
     {{0, ElementType::kInt32}, {kTheRest, kHalfTypes | ElementType::kFloat, 'T'}}},
};

}  // namespace

extern const SchemaTable word_conv_embedding_rows;
const SchemaTable word_conv_embedding_rows(kRows);
}  // namespace ortolan::ops::microsoft
