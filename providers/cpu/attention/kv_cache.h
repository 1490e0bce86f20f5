// Keys and values of earlier runs joined with those of this one, as attention operators hand them on.
#pragma once

#include "cpu/attention/attention_core.h"

namespace ortolan::cpu {

/** One join, for keys or for values, of elements of `fresh.type`: for each batch entry and head the first `past_rows`
    rows of `past`, then `fresh_rows` rows, into `present`. All are [batch, heads, rows, size], but for `fresh`, whose
    strides are given. */
struct CacheJoin {
  int64_t batch = 0, heads = 0, size = 0;
  const void* past = nullptr;  // [batch, heads, past_capacity, size], NULL without a past; may be `present`, where only
                               // the fresh rows are written if the capacities are the same
  int64_t past_capacity = 0, past_rows = 0;
  const int64_t* past_rows_of = nullptr;  // of each batch entry, where they differ
  HeadRows fresh;
  int64_t fresh_rows = 0;
  void* present = nullptr;  // [batch, heads, capacity, size]
  int64_t capacity = 0;     // at least past rows + fresh_rows, and past_capacity where `present` is `past`
  bool clear_rest = false;  // zeros after them, unless `present` is `past`
  bool keep_rest = false;   // after them the rows of `past`, which has the same capacity
};
void join_cache(ThreadPool& threads, const CacheJoin& join);

}  // namespace ortolan::cpu
