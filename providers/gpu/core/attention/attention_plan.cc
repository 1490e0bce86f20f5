// Launches of rotate_rows.k and the kernels of attention.
#include "gpu/core/attention/attention_plan.h"

#include <algorithm>
#include <cmath>

#include "gpu/core/elements/row_items.h"

namespace ortolan::gpu {
namespace {

constexpr int64_t kFarthest = 1 << 29;  // a window's end; sums of two do not overflow

bool is_half(const Lowering& l) { return l.type(0) == ElementType::kFloat16; }

/** What the two forms of a launch have in common, up to the result. */
KernelCall start_rotation(Lowering& l, const FreshRows& f, Memory past) {
  const Rotary& r = f.rotary;
  KernelCall call = l.call("rotate_rows");
  call.row_group(f.size).constant("HALF", is_half(l)).constant("LENGTHS", f.past.given);
  call.constant("FIRST", f.past.first).constant("POSITIONS", r.positions).constant("INTERLEAVED", r.interleaved);
  call.constant("BIAS", f.bias.has_value());
  Memory x = f.from.memory;
  bool turns = r.pairs > 0, has_ids = r.positions == Rotary::kIds || r.positions == Rotary::kFirstId;
  call.read(x).read(past).read(turns ? r.cosine : x).read(turns ? r.sine : x).read(has_ids ? r.ids : x);
  call.read(f.past.given ? f.past.lengths : x).read(f.bias.value_or(x));
  return call;
}

/** Says what the launch does where lengths or positions from tensors are wrong. */
ErrorBit rotation_error(Lowering& l, const FreshRows& f) {
  bool checked = f.past.given || (f.rotary.pairs > 0 && f.rotary.positions != Rotary::kRow);
  if (!checked) return {l.scratch(4), 0};
  return l.error("a length of a sequence is outside of the cache, or a position of the " +
                 std::to_string(f.rotary.length) + " rows of cos_cache");
}

void finish_rotation(Lowering& l, KernelCall& call, const FreshRows& f, int64_t past_capacity, const HeadRows& to,
                     int64_t rows, int64_t launched) {
  ErrorBit error = rotation_error(l, f);
  call.write(to.memory).write(error.word);
  call.params(f.heads, rows, f.size, f.rotary.pairs, f.rows, f.past.rows, past_capacity, f.bias_first, f.from.from,
              f.from.batch, f.from.row, f.from.head, to.batch, to.row, to.head, f.rotary.length, error.bit);
  call.run(f.size == 0 ? 0 : launched, f.heads, f.batch);
}

void add_plan_params(KernelCall& call, const AttentionPlan& p) {
  call.params(p.keys, p.heads / p.kv_heads, p.size, p.value_size, p.scale, p.softcap, p.first,
              std::min(p.left, kFarthest), std::min(p.right, kFarthest));
  for (const HeadRows* rows : {&p.q, &p.k, &p.v}) call.params(rows->from, rows->batch, rows->row, rows->head);
  call.params(p.bias_batch, p.bias_head, p.bias_row, p.bias_columns, p.mask_batch, p.mask_row, p.mask_head, p.masked);
}

}  // namespace

bool attends_in_vectors(const Lowering& l, const AttentionPlan& p) {
  int64_t lanes = l.traits().vector_width, most = 16 * lanes;
  bool fits = p.size % lanes == 0 && p.value_size % lanes == 0 && p.size <= most && p.value_size <= most;
  return l.traits().kind == DeviceClass::kWide && !is_half(l) && fits && p.size > 0;
}

HeadRows rows_by_head(Memory memory, int64_t heads, int64_t rows, int64_t size) {
  return {memory, 0, heads * rows * size, size, rows * size};
}

HeadRows rows_by_position(Memory memory, int64_t heads, int64_t rows, int64_t size) {
  return {memory, 0, rows * heads * size, heads * size, size};
}

void rotate_rows(Lowering& l, const FreshRows& fresh, const HeadRows& to) {
  KernelCall call = start_rotation(l, fresh, fresh.from.memory);
  finish_rotation(l, call, fresh, fresh.past.rows, to, fresh.rows, fresh.rows);
}

void join_rows(Lowering& l, const FreshRows& fresh, std::optional<Memory> past, int64_t past_capacity, Memory to,
               int64_t capacity) {
  KernelCall call = start_rotation(l, fresh, past.value_or(fresh.from.memory));
  call.constant("JOIN", 1);
  HeadRows rows = rows_by_head(to, fresh.heads, capacity, fresh.size);
  finish_rotation(l, call, fresh, past_capacity, rows, capacity, capacity);
}

void append_rows(Lowering& l, const FreshRows& fresh, Memory to, int64_t capacity) {
  KernelCall call = start_rotation(l, fresh, fresh.from.memory);
  call.constant("JOIN", 2);
  HeadRows rows = rows_by_head(to, fresh.heads, capacity, fresh.size);
  finish_rotation(l, call, fresh, capacity, rows, capacity, fresh.rows);
}

void take_bias(Lowering& l, AttentionPlan& p, size_t i) {
  const Shape& shape = l.shape(i);
  int64_t sizes[4] = {1, 1, 1, 1}, wanted[4] = {p.batch, p.heads, p.queries, p.keys};
  bool fits = shape.size() <= 4;
  for (size_t d = 0; fits && d < shape.size(); d++) sizes[4 - shape.size() + d] = shape[d];
  for (size_t d = 0; d < 3; d++) fits = fits && (sizes[d] == 1 || sizes[d] == wanted[d]);
  if (!fits || sizes[3] > std::max<int64_t>(p.keys, 1))
    l.fail("input " + std::to_string(i) + " does not broadcast to the scores of " + std::to_string(p.queries) +
           " queries and " + std::to_string(p.keys) + " keys");
  p.bias = l.type(i) == ElementType::kBool ? AttentionPlan::kTruths : AttentionPlan::kFloats;
  p.bias_memory = l.input(i);
  p.bias_columns = sizes[3];
  p.bias_row = sizes[2] == 1 ? 0 : sizes[3];
  p.bias_head = sizes[1] == 1 ? 0 : sizes[2] * sizes[3];
  p.bias_batch = sizes[0] == 1 ? 0 : sizes[1] * sizes[2] * sizes[3];
}

void attend(Lowering& l, const AttentionPlan& p, Memory y, bool by_head) {
  bool wide = attends_in_vectors(l, p);
  int lanes = wide ? l.traits().vector_width : 64;
  KernelCall call = l.call(wide ? "attention_wide" : "attention");
  call.rounds((p.keys / lanes + 1) * (p.size + (p.value_size / lanes + 1) * (lanes + 1)));
  call.group(wide ? 1 : lanes).constant("HALF", is_half(l)).constant("BIAS", p.bias);
  call.constant("BIAS_STEP", !p.bias_repeats).constant("MASK", p.mask).constant("LENGTHS", p.lengths);
  call.constant("FIRST", p.starts_at_zero).constant("BY_HEAD", by_head);
  call.constant("STANDS", p.stands_where_true).constant("EMPTY_IS_NAN", p.empty_is_nan);
  call.constant("VALUES", static_cast<int>(std::max<int64_t>((p.value_size + lanes - 1) / lanes, 1)));
  if (wide) call.constant("SIZES", static_cast<int>(p.size / lanes));
  call.read(p.q.memory).read(p.k.memory).read(p.v.memory);
  call.read(p.bias == AttentionPlan::kNoBias ? p.q.memory : p.bias_memory);
  call.read(p.mask == AttentionPlan::kNoMask ? p.q.memory : p.mask_memory);
  call.read(p.lengths == AttentionPlan::kAll ? p.q.memory : p.lengths_memory).write(y);
  add_plan_params(call, p);
  call.run(p.value_size == 0 ? 0 : p.queries, p.heads, p.batch);
}

float attention_scale(const Node& node, int64_t size, bool zero_counts) {
  float given = node.number("scale", 0);
  if (given != 0 || (zero_counts && node.has_attribute("scale"))) return given;
  return static_cast<float>(1 / std::sqrt(static_cast<double>(std::max<int64_t>(size, 1))));
}

}  // namespace ortolan::gpu
