// com.microsoft.GroupQueryAttention: causal attention of grouped heads with a cache of keys and values that is as long
// as the caller wants, and rotary embedding inside. Where past and present are the same memory, new rows are added to
// it and nothing else moves.
#include <algorithm>

#include "gpu/core/attention/attention_plan.h"
#include "gpu/core/operators.h"

namespace ortolan::gpu {
namespace {

enum Input : size_t { kKey = 1, kValue, kPastKey, kPastValue, kLengths, kTotal, kCosines, kSines, kIds, kBias, kSink };

std::string refuse_attributes(const Node& node) {
  if (node.integer("sliding_window_cache", 0) != 0)
    return "sliding_window_cache is set; caches that do not slide are taken";
  if (node.integer("smooth_softmax", 0) == 1) return "smooth_softmax is set; the plain softmax is taken";
  if (node.integer("kv_cache_bit_width", 0) != 0) return "its cache holds codes of few bits; floats are taken";
  if (node.has_output(3)) return "its scores are an output";
  int64_t heads = node.integer("num_heads", 0), kv_heads = node.integer("kv_num_heads", 0);
  bool fits = heads > 0 && kv_heads > 0 && heads % kv_heads == 0;
  return fits ? "" : "num_heads is no multiple of kv_num_heads";
}

std::string refuse(const Candidate& candidate) {
  std::string refusal = refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kFloat16});
  if (refusal.empty()) refusal = refuse_attributes(candidate.node());
  for (size_t i : {kPastKey, kPastValue, kCosines, kSines, kBias}) {
    if (refusal.empty() && candidate.has(i)) refusal = refuse_unless(candidate, i, {candidate.type(0)});
  }
  for (size_t i : {kLengths, kTotal}) {
    if (refusal.empty() && candidate.has(i)) refusal = refuse_unless(candidate, i, {ElementType::kInt32});
  }
  if (refusal.empty() && candidate.has(kIds)) refusal = refuse_unless(candidate, kIds, {ElementType::kInt64});
  if (!refusal.empty()) return refusal;
  for (size_t i = kSink; i < candidate.node().inputs.size(); i++) {
    if (candidate.has(i)) return "input " + std::to_string(i) + " (a sink, a scale or a norm) is given";
  }
  return "";
}

bool knows_total(const Node&, size_t i) { return i == kTotal; }

class GroupedAttention {
 public:
  explicit GroupedAttention(Lowering& l) : l_(l) {}

  void lower() {
    take_sizes();
    take_lengths();
    take_rotary();
    join();
    rotate_queries();
    p_.scale = attention_scale(l_.node(), p_.size, false);
    p_.softcap = l_.node().number("softcap", 0);
    if (l_.node().integer("causal", 1) != 0) p_.right = 0;
    int64_t window = l_.node().integer("local_window_size", -1);
    if (window > 0) p_.left = window - 1;
    if (l_.has(kBias)) take_bias(l_, p_, kBias);
    Memory y = l_.output(0, {p_.batch, p_.queries, p_.heads * p_.size});
    attend(l_, p_, y, false);
  }

 private:
  /** Heads lie in rows of the query; without a key those of keys and values follow. */
  void take_sizes() {
    const Shape& q = l_.shape(0);
    p_.heads = l_.node().integer("num_heads", 0), p_.kv_heads = l_.node().integer("kv_num_heads", 0);
    int64_t in_row = p_.heads + (l_.has(kKey) ? 0 : 2 * p_.kv_heads);
    if (q.size() != 3 || q[2] % in_row != 0)
      l_.fail("the query needs [batch, sequence, " + std::to_string(in_row) + " * size]");
    p_.batch = q[0], p_.queries = fresh_ = q[1], p_.size = p_.value_size = q[2] / in_row;
    Memory query = l_.input(0);
    auto part = [&](Memory memory, int64_t head, int64_t heads, int64_t rows) {
      return HeadRows{memory, head * p_.size, rows * heads * p_.size, heads * p_.size, p_.size};
    };
    p_.q = part(query, 0, in_row, p_.queries);
    p_.k = part(query, p_.heads, in_row, p_.queries);
    p_.v = part(query, p_.heads + p_.kv_heads, in_row, p_.queries);
    if (!l_.has(kKey)) return;
    Shape wanted = {p_.batch, l_.shape(kKey).size() == 3 && l_.shape(kKey)[1] == 0 ? 0 : p_.queries,
                    p_.kv_heads * p_.size};
    if (l_.shape(kKey) != wanted || l_.shape(kValue) != wanted) l_.fail("key and value do not fit the query");
    fresh_ = wanted[1];
    p_.k = part(l_.input(kKey), 0, p_.kv_heads, fresh_);
    p_.v = part(l_.input(kValue), 0, p_.kv_heads, fresh_);
  }

  void take_lengths() {
    past_capacity_ = l_.has(kPastKey) ? l_.shape(kPastKey)[2] : 0;
    Shape wanted = {p_.batch, p_.kv_heads, past_capacity_, p_.size};
    for (size_t i : {kPastKey, kPastValue}) {
      if (l_.has(kPastKey) && l_.shape(i) != wanted) l_.fail("input " + std::to_string(i) + " does not fit the query");
    }
    if (l_.count(kLengths) != p_.batch) l_.fail("seqlens_k has no length for each batch entry");
    std::vector<int64_t> total = l_.integers(kTotal);
    bool fits = total.size() == 1 && total[0] >= p_.queries && total[0] <= past_capacity_ + fresh_;
    if (!fits) l_.fail("total_sequence_length does not fit the past and the query");
    p_.keys = total[0];
    past_.lengths = p_.lengths_memory = l_.input(kLengths);
    past_.given = true;
    past_.first = p_.starts_at_zero = p_.keys == p_.queries && fresh_ == p_.queries;
    past_.rows = past_capacity_;
    p_.lengths = AttentionPlan::kLessOne;
    if (total[0] > p_.queries && total[0] <= past_capacity_) take_any_length();
  }

  /** The lengths alone say how many rows count, so that the same launches do until the cache is full. */
  void take_any_length() {
    p_.keys = past_capacity_;
    l_.good_for(kTotal, p_.queries + 1, past_capacity_);
  }

  void take_rotary() {
    if (l_.node().integer("do_rotary", 0) == 0) return;
    if (!l_.has(kCosines) || !l_.has(kSines)) l_.fail("do_rotary is set, cos_cache or sin_cache is missing");
    const Shape& cache = l_.shape(kCosines);
    if (cache.size() != 2 || cache != l_.shape(kSines) || 2 * cache[1] > p_.size)
      l_.fail("cos_cache and sin_cache do not fit heads of " + std::to_string(p_.size));
    rotary_.pairs = cache[1], rotary_.length = cache[0];
    rotary_.interleaved = l_.node().integer("rotary_interleaved", 0) != 0;
    rotary_.cosine = l_.input(kCosines), rotary_.sine = l_.input(kSines);
    rotary_.positions = Rotary::kPast;
    if (!l_.has(kIds)) return;
    // The first run of a sequence takes its start alone from them.
    rotary_.positions = past_.first ? Rotary::kFirstId : Rotary::kIds;
    if (l_.count(kIds) != p_.batch * p_.queries) l_.fail("position_ids has no position for each token");
    rotary_.ids = l_.input(kIds);
  }

  void join() {
    int64_t capacity = std::max(p_.keys, past_capacity_);
    Shape shape = {p_.batch, p_.kv_heads, capacity, p_.size};
    size_t bytes = static_cast<size_t>(element_count(shape)) * element_bytes(l_.type(0));
    for (size_t i : {kKey, kValue}) {
      HeadRows& rows = i == kKey ? p_.k : p_.v;
      FreshRows fresh{rows, p_.batch, p_.kv_heads, fresh_, p_.size, i == kKey ? rotary_ : Rotary{}, past_, {}, 0};
      bool stays = l_.has(kPastKey) && capacity == past_capacity_ && l_.node().has_output(i);
      bool in_place = stays && l_.overwrites(i + 2, i);
      Memory present = l_.node().has_output(i) ? l_.output(i, shape) : l_.scratch(bytes);
      if (in_place) {
        append_rows(l_, fresh, present, capacity);
      } else {
        std::optional<Memory> past;
        if (l_.has(kPastKey)) past = l_.input(i + 2);
        join_rows(l_, fresh, past, past_capacity_, present, capacity);
      }
      rows = rows_by_head(present, p_.kv_heads, capacity, p_.size);
    }
  }

  void rotate_queries() {
    if (rotary_.pairs == 0) return;
    FreshRows fresh{p_.q, p_.batch, p_.heads, p_.queries, p_.size, rotary_, past_, {}, 0};
    size_t bytes = static_cast<size_t>(p_.batch * p_.queries * p_.heads * p_.size) * element_bytes(l_.type(0));
    HeadRows to = rows_by_position(l_.scratch(bytes), p_.heads, p_.queries, p_.size);
    gpu::rotate_rows(l_, fresh, to);
    p_.q = to;
  }

  Lowering& l_;
  AttentionPlan p_;
  PastLengths past_;
  Rotary rotary_;
  int64_t fresh_ = 0, past_capacity_ = 0;
};

constexpr Operator kRows[] = {{"com.microsoft", "GroupQueryAttention", 1, kNewest, refuse,
                               [](Lowering& l) { GroupedAttention(l).lower(); }, knows_total}};

}  // namespace

std::span<const Operator> group_query_attention_operators() { return kRows; }

}  // namespace ortolan::gpu
