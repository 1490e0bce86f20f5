// MultiHeadAttention and DecoderMaskedMultiHeadAttention: attention of heads that a node before has projected, with a
// cache of keys and values. They differ in the order of their inputs; the second has one query.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

Dim divide(Dim size, int64_t heads, const char* what) {
  if (!size.known()) return {};
  require(size.value() % heads == 0, ErrorCode::kInvalidArgument, what, " of ", size.value(),
          " elements does not split into ", heads, " heads");
  return size.value() / heads;
}

struct Heads {
  Dim batch, sequence, key_sequence, size, value_size;
};

/** What the ranks of query, key and value say; see the operators' documentation. `packed_rows`: a query of rank 3
    without a key holds all three. */
Heads heads_of(const InferContext& context, int64_t heads, bool packed_rows) {
  Heads h;
  if (!context.has_shape(0)) return h;
  const SymbolicShape& q = context.shape(0);
  h.batch = q[0], h.sequence = q[1];
  if (!context.has_input(1)) {
    require(q.rank() == 5 || packed_rows, ErrorCode::kInvalidGraph, "the query has shape ", q,
            "; without a key it needs rank 5, [batch,sequence,heads,3,size]");
    h.key_sequence = h.sequence;
    h.size = h.value_size = q.rank() == 5 ? q[4] : divide(q[2], 3 * heads, "a packed row");
    return h;
  }
  require(q.rank() == 3, ErrorCode::kInvalidGraph, "the query has shape ", q, "; beside a key it needs rank 3");
  h.size = divide(q[2], heads, "the query");
  if (!context.has_shape(1)) return h;
  const SymbolicShape& k = context.shape(1);
  h.key_sequence = k[k.rank() == 4 ? 2 : 1];
  if (k.rank() == 5) h.value_size = h.size;
  if (!context.has_shape(2)) return h;
  const SymbolicShape& v = context.shape(2);
  h.value_size = v.rank() == 4 ? v[3] : divide(v[2], heads, "the value");
  return h;
}

void set_outputs(InferContext& context, const Heads& h, int64_t heads, size_t past, bool share) {
  ElementType type = context.element(0);
  context.set_output(0, type, DimVector{h.batch, h.sequence, multiply(h.value_size, heads)});
  Dim before = !context.has_input(past) ? Dim(0) : context.has_shape(past) ? context.shape(past)[2] : Dim();
  Dim total = add(before, h.key_sequence), capacity = share && context.has_input(past) ? before : total;
  context.set_output(1, type, DimVector{h.batch, heads, capacity, h.size});
  context.set_output(2, type, DimVector{h.batch, heads, capacity, h.value_size});
  if (share && context.has_input(past)) {
    auto given = context.int64s(past + 2);
    total = given && given->size() == 1 && given->front() >= 0 ? add(Dim(given->front()), h.key_sequence) : Dim();
  }
  context.set_output(3, type, DimVector{h.batch, heads, h.sequence, total});
}

int64_t checked_heads(const InferContext& context) {
  int64_t heads = context.node().int_of("num_heads");
  require(heads > 0 && heads <= INT32_MAX, ErrorCode::kInvalidGraph, "num_heads is ", heads, "; it must be positive");
  return heads;
}

void multi_head_attention(InferContext& context) {
  int64_t heads = checked_heads(context);
  context.require_rank(0, 3, 5);
  context.require_rank(1, 3, 5);
  context.require_rank(2, 3, 4);
  for (size_t i = 6; i < 8; ++i) context.require_rank(i, 4, 4);
  set_outputs(context, heads_of(context, heads, false), heads, 6, context.has_input(8));
}

void decoder_masked_attention(InferContext& context) {
  int64_t heads = checked_heads(context);
  context.require_rank(0, 3, 3);
  context.require_rank(1, 3, 4);
  context.require_rank(2, 3, 4);
  for (size_t i = 5; i < 7; ++i) context.require_rank(i, 4, 4);
  bool share = context.node().int_or("past_present_share_buffer", 0) != 0;
  set_outputs(context, heads_of(context, heads, true), heads, 5, share);
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft",
     "MultiHeadAttention",
     1,
     kLatest,
     {1, 10},
     {1, 4},
     multi_head_attention,
     {{0, kFloatTypes, 'T'}, {1, kFloatTypes, 'T'}, {2, kFloatTypes, 'T'}, {4, ElementType::kInt32}}},
    {"com.microsoft",
     "DecoderMaskedMultiHeadAttention",
     1,
     kLatest,
     {1, 11},
     {1, 4},
     decoder_masked_attention,
     {{0, kFloatTypes, 'T'}, {1, kFloatTypes, 'T'}, {2, kFloatTypes, 'T'}, {3, ElementType::kInt32}}},
};

}  // namespace

extern const SchemaTable multi_head_attention_rows;
constinit const SchemaTable multi_head_attention_rows(kRows);

}  // namespace ortolan::ops::microsoft
