// Scaled dot-product attention in tiles: what every attention operator computes after it has sorted its inputs.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "cpu/kernels/elementwise/convert.h"
#include "runtime/kernels/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

/** Rows of one matrix a head: elements of `type` (any float type), `head` and `batch` elements from one head and batch
    entry to the next, `row` from one row to the next; a row's own elements lie side by side. */
struct HeadRows {
  void* data = nullptr;
  ElementType type = ElementType::kFloat;
  int64_t batch = 0, head = 0, row = 0;
};
/** Rows of [batch, heads, rows, size]. */
HeadRows rows_by_head(const void* data, ElementType type, int64_t heads, int64_t rows, int64_t size);
/** Rows of [batch, rows, heads * size]. */
HeadRows rows_by_position(const void* data, ElementType type, int64_t heads, int64_t rows, int64_t size);

/** Something added to the scores, as float or (where the attention is computed in double) double. A stride of 0
    broadcasts; keys from `columns` on are not seen. */
struct ScoreBias {
  const void* data = nullptr;
  int64_t batch = 0, head = 0, row = 0;
  int64_t columns = INT64_MAX;
};

/** What an extra output takes of the scores, as ai.onnx.Attention numbers it. */
enum class ScoresTaken : uint8_t { kScaled = 0, kCapped = 1, kBiased = 2, kProbabilities = 3, kNothing = 255 };

/** Sets scores of keys [first, first + scores.size()) for one query of a head: an operator's own rule. */
template <class C>
using EditScores = FunctionRef<void(int64_t batch, int64_t head, int64_t query, int64_t first, std::span<C> scores)>;

/** One attention: out = softmax(softcap(scale * q*k') + biases) * v for each query, over the keys that it sees. Query
    head h attends to key head h / (heads / kv_heads). */
struct AttentionPlan {
  int64_t batch = 0, heads = 0, kv_heads = 0, queries = 0, keys = 0, head = 0, value_head = 0;
  HeadRows q, k, v, out;
  double scale = 1, softcap = 0;  // softcap 0: none
  ScoreBias biases[2];            // those without data do not count

  /** Query i of entry b stands at position position(b) + i and sees keys [p - left, p + right] below length(b);
      negative: no limit on that side. NULL: position `first_position` and `keys` keys. */
  int64_t left = -1, right = -1, first_position = 0;
  const int64_t* positions = nullptr;
  const int64_t* lengths = nullptr;

  /** A score for a key without a value, one a head (`sinks`) or 0 for all, that takes its share of the softmax. */
  const float* sinks = nullptr;
  bool zero_sink = false;

  const EditScores<float>* edit = nullptr;
  ScoresTaken taken = ScoresTaken::kNothing;
  void* scores = nullptr;  // [batch, heads, queries, keys] of `scores_type`
  ElementType scores_type = ElementType::kFloat;
  double unseen = -std::numeric_limits<double>::infinity();  // stands for keys that a query does not see in kBiased
  double nothing = 0;                                        // the result for a query, no key of which counts
  bool in_double = false;                                    // compute in fp64, else in fp32
  kernels::ValueRange* range = nullptr;                      // comes to include results that are float
};

/** Runs it on the context's threads. A query that sees no key, or only keys of score -inf, gives plan.nothing; where
    there are no keys at all, zeros. Score matrices are never whole, unless `taken` asks for them. */
void attend(KernelContext& context, const AttentionPlan& plan);

/** Which keys a query sees: [low, high) within [0, keys]. */
struct KeyRange {
  int64_t low, high;
};
KeyRange keys_seen(const AttentionPlan& plan, int64_t batch, int64_t query);

}  // namespace ortolan::cpu
