// What attention operators become after their inputs are sorted: rows of heads, and the launches on them.
#pragma once

#include "gpu/core/lowering.h"

namespace ortolan::gpu {

/** Rows of one matrix a head, each row's elements side by side; distances in elements of the type of input 0. */
struct HeadRows {
  Memory memory;
  int64_t from = 0, batch = 0, row = 0, head = 0;
};
/** Rows of [batch, heads, rows, size]. */
HeadRows rows_by_head(Memory memory, int64_t heads, int64_t rows, int64_t size);
/** Rows of [batch, rows, heads * size]. */
HeadRows rows_by_position(Memory memory, int64_t heads, int64_t rows, int64_t size);

/** Where positions come from, and the caches of the angles, [length, pairs]. */
struct Rotary {
  enum Positions { kRow, kIds, kFirstId, kPast };  // as rotate_rows.k numbers them
  int64_t pairs = 0;
  bool interleaved = false;
  Positions positions = kRow;
  Memory cosine, sine, ids;
  int64_t length = 0;
};

/** The rows of a sequence's past, for one batch entry or each. */
struct PastLengths {
  Memory lengths;      // int32, one less than the rows with the new ones
  bool given = false;  // else all have `rows`
  bool first = false;  // the entries have no past, whatever the lengths are
  int64_t rows = 0;
};

/** New rows of heads on their way to where attention reads them. */
struct FreshRows {
  HeadRows from;
  int64_t batch, heads, rows, size;
  Rotary rotary;
  PastLengths past;
  std::optional<Memory> bias;  // of all heads
  int64_t bias_first = 0;
};

/** Turns them, into rows of the shape of `to`. */
void rotate_rows(Lowering& l, const FreshRows& fresh, const HeadRows& to);
/** Joins past rows, `past_capacity` for each head, and fresh ones in `to`, [batch, heads, capacity, size]. */
void join_rows(Lowering& l, const FreshRows& fresh, std::optional<Memory> past, int64_t past_capacity, Memory to,
               int64_t capacity);

/** Puts fresh rows behind those that `to`, [batch, heads, capacity, size], has already. */
void append_rows(Lowering& l, const FreshRows& fresh, Memory to, int64_t capacity);

struct AttentionPlan {
  int64_t batch = 0, heads = 0, kv_heads = 0, queries = 0, keys = 0, size = 0, value_size = 0;
  HeadRows q, k, v;
  float scale = 1, softcap = 0;
  int64_t first = 0;              // where query 0 stands
  int64_t left = -1, right = -1;  // keys that a query sees beside its own; -1: all

  enum Bias { kNoBias, kFloats, kTruths };
  enum Mask { kNoMask, kNumbers, kLengths, kNewNumbers, kLengthsAndStarts, kEntries, kChosenFirst, kChosenLast };
  enum Lengths { kAll, kLessOne, kWhole };
  Bias bias = kNoBias;
  Mask mask = kNoMask;
  Lengths lengths = kAll;  // of the keys
  Memory bias_memory, mask_memory, lengths_memory;
  bool starts_at_zero = false;  // with lengths: the queries stand from 0 on, else at the end of the keys
  bool bias_repeats = false;    // a row of the bias has one element for all keys
  int64_t bias_batch = 0, bias_head = 0, bias_row = 0, bias_columns = 0;
  int64_t mask_batch = 0, mask_row = 0, mask_head = 0;
  float masked = 0;               // what is added to scores that the mask leaves out; if chosen, what stands for them
  bool stands_where_true = true;  // if chosen: before the bias or after it, by truths, [batch, heads, queries, keys]
  bool empty_is_nan = false;      // results of queries that see no key, or all with scores of -infinity; else 0
};

/** Whether keys and queries go by vectors, on devices that have an item a group. */
bool attends_in_vectors(const Lowering& l, const AttentionPlan& plan);

/** Sets the bias from input i, which broadcasts to [batch, heads, queries, keys]. */
void take_bias(Lowering& l, AttentionPlan& plan, size_t i);

/** The rows of y, [batch, queries, heads, value_size] or, by head, [batch, heads, queries, value_size]. */
void attend(Lowering& l, const AttentionPlan& plan, Memory y, bool by_head);

/** The scale attribute, or one over the root of the size. */
float attention_scale(const Node& node, int64_t size, bool zero_counts);

}  // namespace ortolan::gpu
