// ONNX's Attention: softmax of scaled products of queries and keys times values, in groups of heads, with masks and a
// cache of keys and values. Opset 24 adds lengths of the cache's filled part, 25 windows.
#include <algorithm>

#include "gpu/core/attention/attention_plan.h"
#include "gpu/core/operators.h"

namespace ortolan::gpu {
namespace {

enum Input : size_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kLengths };

std::string refuse(const Candidate& candidate) {
  std::string refusal = refuse_unless(candidate, kQuery, {ElementType::kFloat, ElementType::kFloat16});
  for (size_t i : {kKey, kValue, kPastKey, kPastValue}) {
    if (refusal.empty() && candidate.has(i)) refusal = refuse_unless(candidate, i, {candidate.type(kQuery)});
  }
  if (refusal.empty() && candidate.has(kMask))
    refusal = refuse_unless(candidate, kMask, {ElementType::kBool, candidate.type(kQuery)});
  if (!refusal.empty()) return refusal;
  const Node& node = candidate.node();
  if (node.has_output(3)) return "its scores are an output";
  if (node.integer("softmax_precision", 1) == 11) return "softmax_precision is double; float is taken";
  return candidate.rank(kQuery) < 0 ? "the query's rank is not known" : "";
}

int64_t heads_of(const Lowering& l, size_t i, const char* attribute) {
  const Shape& shape = l.shape(i);
  if (shape.size() == 4) return shape[1];
  int64_t heads = l.node().integer(attribute, 0);
  if (shape.size() != 3 || heads <= 0 || shape[2] % heads != 0)
    l.fail("input " + std::to_string(i) + " does not split into " + std::to_string(heads) + " heads");
  return heads;
}

/** Rows of an input of rank 3 or 4, and how many and how long they are. */
struct Part {
  HeadRows rows;
  int64_t heads, count, size;

  Part(Lowering& l, size_t i, const char* attribute) : heads(heads_of(l, i, attribute)) {
    const Shape& shape = l.shape(i);
    count = shape[shape.size() - 2];
    size = shape.size() == 4 ? shape[3] : shape[2] / heads;
    rows = (shape.size() == 4 ? rows_by_head : rows_by_position)(l.input(i), heads, count, size);
  }
};

AttentionPlan sizes(Lowering& l) {
  Part q(l, kQuery, "q_num_heads"), k(l, kKey, "kv_num_heads"), v(l, kValue, "kv_num_heads");
  bool fits = k.heads > 0 && q.heads % k.heads == 0 && v.heads == k.heads && v.count == k.count && q.size == k.size &&
              l.shape(kKey)[0] == l.shape(kQuery)[0] && l.shape(kValue)[0] == l.shape(kQuery)[0];
  if (!fits) l.fail("Q, K and V do not fit together in batch, heads, sequence or head size");
  AttentionPlan p;
  p.batch = l.shape(kQuery)[0], p.heads = q.heads, p.kv_heads = k.heads;
  p.queries = q.count, p.keys = k.count, p.size = q.size, p.value_size = v.size;
  p.q = q.rows, p.k = k.rows, p.v = v.rows;
  return p;
}

/** Past and new rows of input 1 or 2 as one, in the output for them where it is wanted. */
HeadRows join(Lowering& l, const AttentionPlan& p, size_t i, int64_t past_rows) {
  int64_t size = i == kKey ? p.size : p.value_size, rows = past_rows + p.keys;
  const HeadRows& from = i == kKey ? p.k : p.v;
  if (past_rows == 0 && !l.node().has_output(i)) return from;
  Shape shape = {p.batch, p.kv_heads, rows, size};
  bool has_past = l.has(i + 3);
  if (has_past && l.shape(i + 3) != Shape{p.batch, p.kv_heads, past_rows, size})
    l.fail("the past does not fit K and V");
  size_t bytes = static_cast<size_t>(element_count(shape)) * element_bytes(l.type(0));
  Memory present = l.node().has_output(i) ? l.output(i, shape) : l.scratch(bytes);
  FreshRows fresh{from, p.batch, p.kv_heads, p.keys, size, {}, {}, {}, 0};
  fresh.past.rows = past_rows;
  join_rows(l, fresh, has_past ? std::optional(l.input(i + 3)) : std::nullopt, past_rows, present, rows);
  return rows_by_head(present, p.kv_heads, rows, size);
}

void use_past(Lowering& l, AttentionPlan& p) {
  int64_t past_rows = l.has(kPastKey) && l.shape(kPastKey).size() == 4 ? l.shape(kPastKey)[2] : 0;
  HeadRows keys = join(l, p, kKey, past_rows);
  p.v = join(l, p, kValue, past_rows);
  p.k = keys;
  p.first = past_rows;
  p.keys += past_rows;
}

void use_lengths(Lowering& l, AttentionPlan& p) {
  if (!l.has(kLengths)) return;
  if (l.has(kPastKey)) l.fail("past_key and nonpad_kv_seqlen are both given; give one of them");
  if (l.shape(kLengths) != Shape{p.batch}) l.fail("nonpad_kv_seqlen has no length for each batch entry");
  p.lengths = AttentionPlan::kWhole;
  p.lengths_memory = l.input(kLengths);
}

void use_mask(Lowering& l, AttentionPlan& p) {
  if (!l.has(kMask)) return;
  take_bias(l, p, kMask);
  bool one = p.bias_columns == 1 && p.keys > 1;
  if (!one || (l.node().since_version >= 24 && !l.shape(kMask).empty())) return;
  p.bias_repeats = true;
  p.bias_columns = p.keys;
}

void lower(Lowering& l) {
  AttentionPlan p = sizes(l);
  use_past(l, p);
  use_lengths(l, p);
  use_mask(l, p);
  p.scale = attention_scale(l.node(), p.size, true);
  p.softcap = l.node().number("softcap", 0);
  if (l.node().since_version >= 25) {
    p.left = std::max<int64_t>(l.node().integer("left_window_size", -1), -1);
    p.right = std::max<int64_t>(l.node().integer("right_window_size", -1), -1);
  }
  if (l.node().integer("is_causal", 0) != 0) p.right = 0;
  bool by_head = l.shape(kQuery).size() == 4;
  Shape shape = {p.batch, p.queries, p.heads * p.value_size};
  if (by_head) shape = {p.batch, p.heads, p.queries, p.value_size};
  attend(l, p, l.output(0, shape), by_head);
}

constexpr Operator kRows[] = {{"", "Attention", 23, kNewest, refuse, lower}};

}  // namespace

std::span<const Operator> attention_operators() { return kRows; }

}  // namespace ortolan::gpu
