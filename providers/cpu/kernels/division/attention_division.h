// How attention is cut into items that threads take: a pure function of its shape alone, because results depend on it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {

struct AttentionShape {
  int64_t batch, heads, kv_heads, queries, keys, head, value_head;
  bool in_place;  // keys and values are read where they lie
  bool whole;     // all scores of a query are wanted at once
};

/** Items of `heads` x `queries` rows that share their keys, `key_tile` of which are taken at a time, and of the keys of
    part `splits`. */
struct AttentionCut {
  int64_t heads, queries, key_tile;
  int64_t head_steps, query_steps, splits;

  int64_t rows() const { return heads * queries; }
  int64_t items(int64_t batch) const { return batch * head_steps * query_steps; }
};

/** What a row of queries takes. */
inline double attention_row_ns(const AttentionShape& s) {
  constexpr double kScoreNs = 0.5;  // what becomes of a score between both products
  return static_cast<double>(s.keys) * (static_cast<double>(s.head + s.value_head) * multiply_ns(8) + kScoreNs);
}

/** Queries of one head that are taken together where there are many: so many that packing their keys costs little, but
    no more than leave items for many threads, if these are worth one. */
inline int64_t attention_queries(const AttentionShape& s) {
  constexpr int64_t kMost = 256, kStep = 32, kItems = 128, kScores = 1 << 18;
  const int64_t worth = static_cast<int64_t>(kGoodTaskNs / std::max(attention_row_ns(s), 1.0)) + 1;
  const int64_t shared = divide_up(s.batch * s.heads * s.queries, kItems);
  const int64_t rows = std::min(kMost, round_up(std::max(worth, shared), kStep));
  return s.whole ? std::clamp<int64_t>(kScores / std::max<int64_t>(s.keys, 1), 1, rows) : rows;
}

inline AttentionCut cut_attention(const AttentionShape& s) {
  constexpr int64_t kFewRows = 64;        // queries of a group that are taken together
  constexpr int64_t kKeyTile = 512;       // keys whose scores are computed at a time
  constexpr int64_t kWideKeyTile = 2048;  // the same for few queries whose keys are read where they lie
  constexpr int64_t kSplitKeys = 1024;    // keys worth an item of their own where there are few items
  constexpr int64_t kManyItems = 16, kMostSplits = 16;
  const int64_t group = s.heads / s.kv_heads, keys = std::max<int64_t>(s.keys, 1);
  const bool few = s.queries * group <= kFewRows;
  AttentionCut c{few ? group : 1, s.queries, few && s.in_place ? kWideKeyTile : kKeyTile, 0, 0, 1};
  if (!few) c.queries = std::min(s.queries, attention_queries(s));
  c.key_tile = s.whole ? keys : std::min(c.key_tile, keys);
  c.head_steps = s.heads / c.heads;
  c.query_steps = divide_up(s.queries, c.queries);
  if (few && !s.whole && c.items(s.batch) < kManyItems) {
    c.splits = std::clamp<int64_t>(s.keys / kSplitKeys, 1, kMostSplits);
  }
  return c;
}

}  // namespace ortolan::cpu::kernels
