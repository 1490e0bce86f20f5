// Inputs of grouped attention: packed rows, lengths, rotary embedding, caches.
#include "cpu/attention/grouped_attention.h"

#include <cmath>
#include <cstring>

#include "cpu/attention/kv_cache.h"
#include "cpu/attention/rotary.h"

namespace ortolan::cpu {
namespace {

void require_past(const AttentionPlan& p, const RowCodes& codes, const Tensor& past, size_t input, int64_t rows) {
  Shape wanted{p.batch, p.kv_heads, rows, codes.bits != 0 ? codes.row_bytes() : p.head};
  ElementType type = codes.bits != 0 ? codes.type() : p.k.type;
  require(past.shape() == wanted && past.type() == type, ErrorCode::kInvalidArgument, "input ", input, " holds ",
          name_of(past.type()), " of shape ", past.shape(), "; it needs ", name_of(type), " of shape ", wanted);
}

void* scratch_rows(KernelContext& context, const CacheJoin& join, int64_t rows) {
  int64_t count = checked_mul(checked_mul(join.batch * join.heads, rows), join.size);
  return context.scratch<char>(checked_mul<int64_t>(count, bits_of(join.fresh.type) / 8)).data();
}

/** Present takes the last rows of each entry, and zeros behind them. */
void keep_last(const CacheJoin& join, const GroupedLengths& lengths, const GroupedCache& cache, void* present) {
  const int64_t row = join.size * (bits_of(join.fresh.type) / 8);
  for (int64_t n = 0; n < join.batch * join.heads; ++n) {
    const int64_t b = n / join.heads, kept = cache.kept[b], first = lengths.total[b] - kept;
    char* to = static_cast<char*>(present) + n * cache.capacity * row;
    std::memcpy(to, static_cast<const char*>(join.present) + (n * join.capacity + first) * row, kept * row);
    std::memset(to + kept * row, 0, (cache.capacity - kept) * row);
  }
}

HeadRows join_part(KernelContext& context, const AttentionPlan& p, const GroupedLengths& lengths,
                   const GroupedCache& cache, bool values) {
  const Tensor* past = context.input_if(values ? 4 : 3);
  const RowCodes& codes = cache.codes[values];
  const bool apart = !cache.kept.empty();
  CacheJoin join{p.batch, p.kv_heads, codes.bits != 0 ? codes.row_bytes() : p.head};
  join.fresh = values ? p.v : p.k;
  if (codes.bits != 0) join.fresh = quantize_rows(context, codes, join.fresh, p.batch, p.keys);
  join.fresh_rows = p.keys;
  join.past_rows_of = lengths.past.data();
  if (past) join.past = past->raw(), join.past_capacity = past->shape()[2];
  join.capacity = apart ? cache.keys : cache.capacity;
  join.clear_rest = true;
  size_t output = values ? 2 : 1;
  void* present = context.has_output(output) ? context.output(output).mutable_raw() : nullptr;
  join.present = present && !apart ? present : scratch_rows(context, join, join.capacity);
  join_cache(context.threads(), join);
  if (present && apart) keep_last(join, lengths, cache, present);
  HeadRows joined = rows_by_head(join.present, join.fresh.type, p.kv_heads, join.capacity, join.size);
  return codes.bits != 0 ? dequantize_rows(context, codes, joined, p.batch, cache.keys) : joined;
}

HeadRows turned(KernelContext& context, const AttentionPlan& p, const HeadRows& rows, int64_t heads,
                const RotaryCaches& caches, int64_t pairs, bool interleaved, const int64_t* positions) {
  RotaryGeometry g;
  g.batch = p.batch, g.sequence = p.queries, g.heads = heads, g.head_size = p.head, g.pairs = pairs;
  g.interleaved = interleaved;
  int64_t count = p.batch * p.queries * heads * p.head;
  char* to = context.scratch<char>(checked_mul<int64_t>(count, bits_of(rows.type) / 8)).data();
  HeadRows result = rows_by_position(to, rows.type, heads, p.queries, p.head);
  g.from = {rows.batch, rows.row, rows.head}, g.to = {result.batch, result.row, result.head};
  rotate(&context.threads(), g, caches, positions, rows.type, rows.data, to);
  return result;
}

}  // namespace

GroupedAttributes::GroupedAttributes(const Node& node)
    : heads(node.int_of("num_heads")),
      kv_heads(node.int_of("kv_num_heads")),
      rotary(node.int_or("do_rotary", 0) != 0),
      interleaved(node.int_or("rotary_interleaved", 0) != 0),
      scale(node.float_or("scale", 0)) {}

AttentionPlan grouped_plan(const KernelContext& context, const GroupedAttributes& a) {
  const Tensor &query = context.input(0), *key = context.input_if(1), *value = context.input_if(2);
  const Shape& q = query.shape();
  AttentionPlan p;
  p.batch = q[0], p.queries = p.keys = q[1], p.heads = a.heads, p.kv_heads = a.kv_heads;
  int64_t in_row = a.heads + (key ? 0 : 2 * a.kv_heads);
  require(q.rank() == 3 && q[2] % in_row == 0 && !key == !value, ErrorCode::kInvalidArgument, "the query has shape ", q,
          "; it needs [batch,sequence,", in_row, "*size]");
  p.head = p.value_head = q[2] / in_row;
  auto part = [&](const Tensor& from, int64_t head) {
    char* data = static_cast<char*>(const_cast<void*>(from.raw())) + head * p.head * bits_of(from.type()) / 8;
    return HeadRows{data, from.type(), from.shape().count_from(1), p.head, from.shape()[2]};
  };
  p.q = part(query, 0);
  if (key) {
    if (key->rank() == 3 && key->shape()[1] == 0) p.keys = 0;
    Shape wanted{q[0], p.keys, a.kv_heads * p.head};
    require(key->shape() == wanted && value->shape() == wanted, ErrorCode::kInvalidArgument,
            "key and value have shapes ", key->shape(), " and ", value->shape(), "; beside a query of shape ", q,
            " they need ", wanted);
    p.k = part(*key, 0), p.v = part(*value, 0);
  } else {
    p.k = part(query, a.heads), p.v = part(query, a.heads + a.kv_heads);
  }
  p.scale = a.scale != 0 ? a.scale : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(p.head, 1)));
  p.in_double = query.type() == ElementType::kDouble;
  return p;
}

GroupedLengths grouped_lengths(KernelContext& context, const Tensor& lengths, int64_t extra, int64_t sequence,
                               int64_t most, bool first, const char* name) {
  int64_t batch = context.input(0).shape()[0];
  require(lengths.element_count() == batch, ErrorCode::kInvalidArgument, name, " has shape ", lengths.shape(),
          "; it needs [", batch, "]");
  const int32_t* given = lengths.data<int32_t>();
  GroupedLengths result{context.scratch<int64_t>(batch), context.scratch<int64_t>(batch)};
  for (int64_t b = 0; b < batch; ++b) {
    int64_t total = given[b] + extra, least = first ? 0 : sequence;
    require(total >= least && total <= most, ErrorCode::kInvalidArgument, name, " holds ", given[b],
            ", which makes a sequence of ", total, " keys; it must have ", least, " to ", most);
    result.total[b] = total;
    result.past[b] = first ? 0 : total - sequence;
  }
  return result;
}

void turn(KernelContext& context, AttentionPlan& p, const GroupedAttributes& a, const Tensor* cosines,
          const Tensor* sines, const int64_t* positions) {
  require(cosines && sines, ErrorCode::kInvalidArgument, "cos_cache and sin_cache must be given where do_rotary is 1");
  bool fits = cosines->rank() == 2 && sines->shape() == cosines->shape() && sines->type() == cosines->type() &&
              kFloatTypes.contains(cosines->type()) && 2 * cosines->shape()[1] <= p.head;
  require(fits, ErrorCode::kInvalidArgument, "cos_cache and sin_cache have shapes ", cosines->shape(), " and ",
          sines->shape(), "; they need the same [length,size] with size at most ", p.head / 2);
  RotaryCaches caches{cosines->raw(), sines->raw(), cosines->type(), cosines->shape()[0]};
  int64_t pairs = cosines->shape()[1];
  p.q = turned(context, p, p.q, p.heads, caches, pairs, a.interleaved, positions);
  if (p.keys > 0) p.k = turned(context, p, p.k, p.kv_heads, caches, pairs, a.interleaved, positions);
}

void join_grouped_cache(KernelContext& context, AttentionPlan& p, const GroupedLengths& lengths,
                        const GroupedCache& cache) {
  for (size_t i : {size_t{3}, size_t{4}}) {
    if (const Tensor* past = context.input_if(i)) {
      require_past(p, cache.codes[i - 3], *past, i, context.input(3).shape()[2]);
    }
  }
  HeadRows keys = join_part(context, p, lengths, cache, false);
  p.v = join_part(context, p, lengths, cache, true);
  p.k = keys, p.keys = cache.keys;
}

}  // namespace ortolan::cpu
