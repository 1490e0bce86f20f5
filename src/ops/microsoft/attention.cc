// Attention: projects the input to queries, keys and values, and attends in several heads, over past keys too.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

/** Sizes of query, key and value rows: attribute qkv_hidden_sizes, or a third of the weights' columns each. */
Dim value_size(const InferContext& context) {
  const std::vector<int64_t>& sizes = context.node().ints("qkv_hidden_sizes");
  require(sizes.empty() || (sizes.size() == 3 && sizes[0] > 0 && sizes[1] == sizes[0] && sizes[2] > 0),
          ErrorCode::kInvalidGraph, "qkv_hidden_sizes must hold three positive sizes, those of query and key equal");
  if (!sizes.empty()) return sizes[2];
  if (!context.has_shape(1) || !context.shape(1)[1].known()) return {};
  int64_t columns = context.shape(1)[1].value();
  require(columns % 3 == 0, ErrorCode::kInvalidArgument, "the weights have ", columns,
          " columns; without qkv_hidden_sizes it must be a multiple of 3");
  return columns / 3;
}

void attention(InferContext& context) {
  context.require_rank(0, 3, 3);
  context.require_rank(1, 2, 2);
  context.require_rank(4, 5, 5);
  int64_t heads = context.node().int_of("num_heads");
  require(heads > 0, ErrorCode::kInvalidGraph, "num_heads is ", heads, "; it must be positive");
  Dim batch, sequence, size = value_size(context);
  require(!size.known() || size.value() % heads == 0, ErrorCode::kInvalidArgument, "the hidden size ",
          size.known() ? size.value() : 0, " is not a multiple of num_heads ", heads);
  if (context.has_shape(0)) batch = context.shape(0)[0], sequence = context.shape(0)[1];
  context.set_output(0, context.element(0), DimVector{batch, sequence, size});
  Dim past = !context.has_input(4) ? Dim(0) : context.has_shape(4) ? context.shape(4)[3] : Dim();
  Dim head = size.known() ? Dim(size.value() / heads) : Dim();
  bool share = context.node().int_or("past_present_share_buffer", 0) != 0 && context.has_input(4);
  context.set_output(1, context.element(0), DimVector{2, batch, heads, share ? past : add(past, sequence), head});
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft",
     "Attention",
     1,
     kLatest,
     {2, 7},
     {1, 2},
     attention,
     {{3, ElementType::kInt32}, {6, ElementType::kInt32}, {kTheRest, kFloatTypes, 'T'}}},
};

}  // namespace

extern const SchemaTable attention_rows;
const SchemaTable attention_rows(kRows);
}  // namespace ortolan::ops::microsoft
