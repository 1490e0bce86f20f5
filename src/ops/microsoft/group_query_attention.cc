// GroupQueryAttention and SparseAttention: causal attention of grouped heads with a cache of keys and values that is
// as long as the caller wants; the second sees only the blocks of keys that a sparse layout names.
#include <algorithm>

#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

struct GroupedHeads {
  int64_t heads, kv_heads;
};

GroupedHeads heads_of(const InferContext& context) {
  GroupedHeads g{context.node().int_of("num_heads"), context.node().int_of("kv_num_heads")};
  bool fits = g.heads > 0 && g.kv_heads > 0 && g.heads % g.kv_heads == 0 && g.heads <= INT32_MAX;
  require(fits, ErrorCode::kInvalidGraph, "num_heads is ", g.heads, " and kv_num_heads is ", g.kv_heads,
          "; both must be positive, the first a multiple of the second");
  return g;
}

/** Elements of a head: a row of the query holds its heads, or without a key those of key and value too. */
Dim head_size(const InferContext& context, const GroupedHeads& g) {
  if (!context.has_shape(0) || !context.shape(0)[2].known()) return {};
  int64_t row = context.shape(0)[2].value(), heads = g.heads + (context.has_input(1) ? 0 : 2 * g.kv_heads);
  require(row % heads == 0, ErrorCode::kInvalidArgument, "a query row of ", row, " elements does not split into ",
          heads, " heads");
  return row / heads;
}

void require_ranks(const InferContext& context) {
  for (size_t i = 0; i < 3; ++i) context.require_rank(i, 3, 3);
  for (size_t i = 3; i < 5; ++i) context.require_rank(i, 4, 4);
  require(context.has_input(1) == context.has_input(2) && context.has_input(3) == context.has_input(4),
          ErrorCode::kInvalidGraph, "key and value must be given together, and past_key and past_value too");
}

/** Inputs [first, last] that must be there; some before them may be left out. */
void require_inputs(const InferContext& context, size_t first, size_t last) {
  for (size_t i = first; i <= last; ++i) {
    require(context.has_input(i), ErrorCode::kInvalidGraph, "required input ", i, " is left out; connect it");
  }
}

Dim dim(const InferContext& context, size_t input, size_t i) {
  return context.has_shape(input) ? context.shape(input)[i] : Dim();
}

/** total_sequence_length, which bounds nothing by itself: there are no more rows than those of past and present. */
Dim total_length(const InferContext& context, Dim past, Dim sequence) {
  auto given = context.int64s(6);
  if (!given) return {};
  require(given->size() == 1, ErrorCode::kInvalidArgument, "total_sequence_length has ", given->size(),
          " elements; it must have one");
  int64_t total = given->front(), most = past.known() && sequence.known() ? add(past, sequence).value() : INT64_MAX;
  require(total >= 0 && total <= most, ErrorCode::kInvalidArgument, "total_sequence_length is ", total, ", but ", most,
          " rows are all that past_key and the query have");
  return total;
}

void group_query_attention(InferContext& context) {
  GroupedHeads g = heads_of(context);
  require_ranks(context);
  require_inputs(context, 5, 6);
  Dim size = head_size(context, g), batch = dim(context, 0, 0), sequence = dim(context, 0, 1);
  context.set_output(0, context.element(0), DimVector{batch, sequence, multiply(size, g.heads)});
  const bool slides = context.node().int_or("sliding_window_cache", 0) != 0;
  Dim past = context.has_input(3) ? dim(context, 3, 2) : Dim(0), rows;
  Dim total = total_length(context, slides ? Dim() : past, sequence);
  if (total.known() && past.known()) rows = std::max(total.value(), past.value());
  if (slides) rows = past;
  Dim cached = context.has_input(3) ? dim(context, 3, 3) : size;
  ElementType cache = context.has_input(3) ? context.element(3) : context.element(0);
  context.set_output(1, cache, DimVector{batch, g.kv_heads, rows, cached});
  context.set_output(2, cache, DimVector{batch, g.kv_heads, rows, cached});
  context.set_output(3, context.element(0), DimVector{batch, g.heads, sequence, total});
}

void sparse_attention(InferContext& context) {
  GroupedHeads g = heads_of(context);
  require_ranks(context);
  require_inputs(context, 3, 8);
  int64_t block = context.node().int_of("sparse_block_size");
  require(block > 0 && block <= INT32_MAX, ErrorCode::kInvalidGraph, "sparse_block_size is ", block,
          "; it must be positive");
  for (size_t i = 5; i < 7; ++i) context.require_rank(i, 2, 2);
  Dim size = head_size(context, g);
  context.set_output(0, context.element(0), DimVector{dim(context, 0, 0), dim(context, 0, 1), multiply(size, g.heads)});
  context.set_output(1, context.element(3), context.shape(3));
  context.set_output(2, context.element(4), context.shape(4));
}

constexpr TypeSet kCacheTypes = kFloatTypes | ElementType::kInt8 | ElementType::kUInt8 | ElementType::kFloat8E4M3FN;

constexpr SchemaRow kRows[] = {
    {"com.microsoft",
     "GroupQueryAttention",
     1,
     kLatest,
     {1, 16},
     {1, 4},
     group_query_attention,
     {{0, kFloatTypes, 'T'},
      {1, kFloatTypes, 'T'},
      {2, kFloatTypes, 'T'},
      {3, kCacheTypes, 'C'},
      {4, kCacheTypes, 'C'},
      {5, ElementType::kInt32},
      {6, ElementType::kInt32},
      {9, ElementType::kInt64}}},
    {"com.microsoft",
     "SparseAttention",
     1,
     kLatest,
     {1, 11},
     {1, 3},
     sparse_attention,
     {{0, kFloatTypes, 'T'},
      {1, kFloatTypes, 'T'},
      {2, kFloatTypes, 'T'},
      {3, kFloatTypes, 'T'},
      {4, kFloatTypes, 'T'},
      {5, ElementType::kInt32},
      {6, ElementType::kInt32},
      {7, ElementType::kInt32},
      {8, ElementType::kInt32}}},
};

}  // namespace

extern const SchemaTable group_query_attention_rows;
constinit const SchemaTable group_query_attention_rows(kRows);

}  // namespace ortolan::ops::microsoft
