// What GroupQueryAttention and SparseAttention share: packed inputs, rotary embedding, and a cache with room to spare.
#pragma once

#include "cpu/attention/row_codes.h"

namespace ortolan::cpu {

/** The attributes that both have, checked. */
struct GroupedAttributes {
  explicit GroupedAttributes(const Node& node);
  int64_t heads, kv_heads;
  bool rotary, interleaved;
  float scale;
};

/** A plan with sizes, scale and the places of query, key and value: [batch, sequence, heads * size] each, or all in
    the query's rows where there is no key. plan.keys is the number of new rows: as many as there are queries, or 0
   where key and value have none, since the past has all that the queries see. */
AttentionPlan grouped_plan(const KernelContext& context, const GroupedAttributes& attributes);

/** How many rows of the past count for each batch entry, and its length with the new rows: [batch] each. */
struct GroupedLengths {
  std::span<int64_t> past, total;
};

/** Checks lengths against the rows there are: every entry has `total` rows with the new ones, of at most `most`. In the
    first run of a sequence (`first`), nothing is past, and a length may be less than the new rows, which are padded. */
GroupedLengths grouped_lengths(KernelContext& context, const Tensor& lengths, int64_t extra, int64_t sequence,
                               int64_t most, bool first, const char* name);

/** Turns queries and keys by their positions, into scratch memory. `positions`: [batch][sequence]. */
void turn(KernelContext& context, AttentionPlan& plan, const GroupedAttributes& attributes, const Tensor* cosines,
          const Tensor* sines, const int64_t* positions);

/** How past (inputs 3 and 4) and new rows are joined in outputs 1 and 2, or in scratch memory. */
struct GroupedCache {
  int64_t capacity = 0;  // of present, in rows
  int64_t keys = 0;      // rows that the plan reads
  /** Where not all rows fit present: how many it takes, the last ones of each entry; the joined rows, `keys` of them at
      most, then lie in scratch memory. Else empty. */
  std::span<const int64_t> kept;
  RowCodes codes[2];  // of keys and values, where past and present hold codes
};

/** Joins them; the plan then reads keys and values there. */
void join_grouped_cache(KernelContext& context, AttentionPlan& plan, const GroupedLengths& lengths,
                        const GroupedCache& cache);

}  // namespace ortolan::cpu
