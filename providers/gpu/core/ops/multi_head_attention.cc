// com.microsoft.MultiHeadAttention: attention of heads that a node before has projected, with a cache that grows.
#include <algorithm>

#include "gpu/core/attention/attention_plan.h"
#include "gpu/core/operators.h"

namespace ortolan::gpu {
namespace {

enum Input : size_t { kQuery, kKey, kValue, kProjectionBias, kMask, kBias, kPastKey, kPastValue, kPastLength, kBeams };

std::string refuse(const Candidate& candidate) {
  std::string refusal = refuse_unless(candidate, kQuery, {ElementType::kFloat, ElementType::kFloat16});
  for (size_t i : {kKey, kValue, kProjectionBias, kBias, kPastKey, kPastValue}) {
    if (refusal.empty() && candidate.has(i)) refusal = refuse_unless(candidate, i, {candidate.type(kQuery)});
  }
  if (!refusal.empty()) return refusal;
  if (candidate.has(kPastLength) || candidate.has(kBeams))
    return "its cache is shared with the past; one that grows is taken";
  if (candidate.node().has_output(3)) return "its scores are an output";
  if (candidate.node().integer("num_heads", 0) <= 0) return "num_heads is not positive";
  bool odd_mask = candidate.has(kMask) && (candidate.rank(kMask) < 1 || candidate.rank(kMask) > 3);
  return odd_mask ? "its mask is not known to have rank 1 to 3" : "";
}

/** Rows within an input [batch, rows, ...]: heads `head` elements apart from element `from` on. */
HeadRows part_of(Lowering& l, size_t i, int64_t head, int64_t from) {
  const Shape& shape = l.shape(i);
  int64_t row = element_count(shape, 2, shape.size());
  return {l.input(i), from, shape[1] * row, row, head};
}

class HeadsAttention {
 public:
  explicit HeadsAttention(Lowering& l) : l_(l) {}

  void lower() {
    p_.heads = p_.kv_heads = l_.node().integer("num_heads", 0);
    take_inputs();
    int64_t past = past_rows();
    use(kQuery, p_.q, 0);
    use(kKey, p_.k, past);
    use(kValue, p_.v, past);
    p_.first = past;
    p_.keys += past;
    p_.scale = attention_scale(l_.node(), p_.size, false);
    if (l_.node().integer("unidirectional", 0) != 0) p_.right = 0;
    if (l_.has(kMask)) take_mask();
    if (l_.has(kBias)) {
      if (l_.shape(kBias).size() != 4 || l_.shape(kBias)[3] != p_.keys) l_.fail("attention_bias does not fit the keys");
      take_bias(l_, p_, kBias);
    }
    attend(l_, p_, l_.output(0, {p_.batch, p_.queries, p_.heads * p_.value_size}), false);
  }

 private:
  void take_inputs() {
    const Shape& q = l_.shape(kQuery);
    if (!l_.has(kKey)) return take_packed(q);
    if (q.size() != 3 || q[2] % p_.heads != 0)
      l_.fail("the query does not split into " + std::to_string(p_.heads) + " heads");
    p_.batch = q[0], p_.queries = q[1], p_.size = q[2] / p_.heads;
    p_.q = part_of(l_, kQuery, p_.size, 0);
    const Shape& k = l_.shape(kKey);
    if (k.size() == 5) return take_packed_key(k);
    if (!l_.has(kValue)) l_.fail("the key needs a value");
    by_head_ = k.size() == 4;
    take_key_and_value(k, l_.shape(kValue));
  }

  /** [batch, sequence, heads, 3, size]. */
  void take_packed(const Shape& q) {
    if (q.size() != 5 || q[2] != p_.heads || q[3] != 3) l_.fail("the query needs [batch, sequence, heads, 3, size]");
    p_.batch = q[0], p_.queries = p_.keys = q[1], p_.size = p_.value_size = q[4];
    p_.q = part_of(l_, kQuery, 3 * p_.size, 0);
    p_.k = part_of(l_, kQuery, 3 * p_.size, p_.size);
    p_.v = part_of(l_, kQuery, 3 * p_.size, 2 * p_.size);
  }
  /** [batch, sequence, heads, 2, size]. */
  void take_packed_key(const Shape& k) {
    p_.keys = k[1], p_.value_size = p_.size;
    if (k != Shape{p_.batch, p_.keys, p_.heads, 2, p_.size} || l_.has(kValue))
      l_.fail("the packed key does not fit the query");
    p_.k = part_of(l_, kKey, 2 * p_.size, 0);
    p_.v = part_of(l_, kKey, 2 * p_.size, p_.size);
  }
  void take_key_and_value(const Shape& k, const Shape& v) {
    bool fits = k.size() == v.size() && (by_head_ || (k.size() == 3 && v[2] % p_.heads == 0));
    if (!fits) l_.fail("key and value do not fit the query");
    p_.keys = k[by_head_ ? 2 : 1];
    p_.value_size = by_head_ ? v[3] : v[2] / p_.heads;
    Shape key = {p_.batch, p_.keys, p_.heads * p_.size}, value = {p_.batch, p_.keys, p_.heads * p_.value_size};
    if (by_head_) key = {p_.batch, p_.heads, p_.keys, p_.size}, value = {p_.batch, p_.heads, p_.keys, p_.value_size};
    if (k != key || v != value) l_.fail("key and value do not fit the query");
    p_.k = by_head_ ? rows_by_head(l_.input(kKey), p_.heads, p_.keys, p_.size) : part_of(l_, kKey, p_.size, 0);
    p_.v = by_head_ ? rows_by_head(l_.input(kValue), p_.heads, p_.keys, p_.value_size)
                    : part_of(l_, kValue, p_.value_size, 0);
  }

  int64_t past_rows() const {
    if (!l_.has(kPastKey)) return 0;
    const Shape &k = l_.shape(kPastKey), &v = l_.shape(kPastValue);
    bool fits = k.size() == 4 && k == Shape{p_.batch, p_.heads, k[2], p_.size} &&
                v == Shape{p_.batch, p_.heads, k[2], p_.value_size};
    if (!fits) l_.fail("past_key and past_value do not fit the query");
    return k[2];
  }

  /** Adds the projection's bias, and puts the past before keys and values. */
  void use(size_t i, HeadRows& rows, int64_t past) {
    int64_t size = i == kValue ? p_.value_size : p_.size, count = i == kQuery ? p_.queries : p_.keys;
    bool has_bias = l_.has(kProjectionBias) && (i == kQuery || !by_head_);
    bool is_output = i != kQuery && l_.node().has_output(i);
    if (!has_bias && past == 0 && !is_output) return;
    FreshRows fresh{rows, p_.batch, p_.heads, count, size, {}, {}, {}, static_cast<int64_t>(i) * p_.heads * p_.size};
    fresh.past.rows = past;
    if (has_bias) {
      if (l_.count(kProjectionBias) < fresh.bias_first + p_.heads * size) l_.fail("the bias is too short");
      fresh.bias = l_.input(kProjectionBias);
    }
    Shape shape = {p_.batch, p_.heads, past + count, size};
    size_t bytes = static_cast<size_t>(element_count(shape)) * element_bytes(l_.type(0));
    Memory to = is_output ? l_.output(i, shape) : l_.scratch(bytes);
    std::optional<Memory> before;
    if (past > 0) before = l_.input(i == kKey ? kPastKey : kPastValue);
    join_rows(l_, fresh, before, past, to, past + count);
    rows = rows_by_head(to, p_.heads, past + count, size);
  }

  void take_mask() {
    const Shape& m = l_.shape(kMask);
    p_.mask_memory = l_.input(kMask);
    p_.masked = l_.node().number("mask_filter_value", -10000.0f);
    p_.mask_batch = m.size() == 1 ? 0 : element_count(m, 1, m.size());
    if (m == Shape{p_.batch} || m == Shape{3 * p_.batch + 2}) {
      p_.mask = AttentionPlan::kLengths;
    } else if (m == Shape{2 * p_.batch}) {
      p_.mask = AttentionPlan::kLengthsAndStarts;
    } else if (m == Shape{p_.batch, p_.keys} || m == Shape{p_.batch, p_.queries, p_.keys}) {
      p_.mask = AttentionPlan::kNumbers;
      p_.mask_row = m.size() == 3 ? p_.keys : 0;
    } else if (m == Shape{p_.batch, 1}) {
      p_.mask = AttentionPlan::kEntries;
    } else if (m == Shape{p_.batch, p_.keys - p_.first}) {
      p_.mask = AttentionPlan::kNewNumbers;
    } else {
      l_.fail("key_padding_mask does not fit the query and the keys");
    }
  }

  Lowering& l_;
  AttentionPlan p_;
  bool by_head_ = false;
};

constexpr Operator kRows[] = {
    {"com.microsoft", "MultiHeadAttention", 1, kNewest, refuse, [](Lowering& l) { HeadsAttention(l).lower(); }}};

}  // namespace

std::span<const Operator> multi_head_attention_operators() { return kRows; }

}  // namespace ortolan::gpu
