// Attention over tiles of keys with a running maximum and sum for each query, so that scores never leave the caches.
#include "cpu/attention/attention_core.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "base/threads/run_scope.h"
#include "base/threads/thread_pool.h"
#include "cpu/attention/attention_math.h"
#include "cpu/kernels/division/attention_division.h"
#include "cpu/kernels/scratch.h"

namespace ortolan::cpu {
namespace {

using Cut = kernels::AttentionCut;

template <class C>
Cut cut(const AttentionPlan& p) {
  const bool in_place = p.k.type == kTypeOf<C> && p.v.type == kTypeOf<C>;
  return kernels::cut_attention({p.batch, p.heads, p.kv_heads, p.queries, p.keys, p.head, p.value_head, in_place,
                                 p.taken != ScoresTaken::kNothing});
}

/** The rows of one item: heads [head, head + heads) x queries [query, query + queries) of a batch entry. */
struct Item {
  int64_t batch, head, query, heads, queries, split;
  KeyRange keys;  // what any of the queries sees, of this split
  int64_t rows() const { return heads * queries; }
  int64_t head_of(int64_t row) const { return head + row / queries; }
  int64_t query_of(int64_t row) const { return query + row % queries; }
};

Item item_at(const AttentionPlan& p, const Cut& c, int64_t index) {
  Item item;
  item.split = index % c.splits;
  index /= c.splits;
  item.query = index % c.query_steps * c.queries;
  index /= c.query_steps;
  item.head = index % c.head_steps * c.heads;
  item.batch = index / c.head_steps;
  item.heads = c.heads;
  item.queries = std::min(c.queries, p.queries - item.query);
  if (p.taken != ScoresTaken::kNothing) {
    item.keys = {0, p.keys};
    return item;
  }
  KeyRange seen = {keys_seen(p, item.batch, item.query).low,
                   keys_seen(p, item.batch, item.query + item.queries - 1).high};
  int64_t step = kernels::divide_up(std::max<int64_t>(0, seen.high - seen.low), c.splits);
  int64_t first = seen.low + item.split * step;
  item.keys = {std::min(first, seen.high), std::min(first + step, seen.high)};
  return item;
}

template <class C>
struct RowsOf {
  const C* data;
  int64_t stride;
};

template <class C>
char* address(const HeadRows& rows, int64_t batch, int64_t head, int64_t row) {
  int64_t size = bits_of(rows.type) / 8;
  return static_cast<char*>(rows.data) + (batch * rows.batch + head * rows.head + row * rows.row) * size;
}

/** `count` rows of `size` elements as C: where they lie, or converted into `space`. */
template <class C>
RowsOf<C> read_rows(const HeadRows& rows, int64_t batch, int64_t head, int64_t first, int64_t count, int64_t size,
                    C* space) {
  const char* from = address<C>(rows, batch, head, first);
  if (rows.type == kTypeOf<C>) return {reinterpret_cast<const C*>(from), rows.row};
  if (rows.row == size) {
    attention_math::load(from, rows.type, count * size, space);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      attention_math::load(from + i * rows.row * bits_of(rows.type) / 8, rows.type, size, space + i * size);
    }
  }
  return {space, size};
}

/** What one thread works in. */
template <class C>
struct Space {
  C *scores, *sums, *queries, *keys, *values, *maxima, *totals;
  kernels::ValueRange range;  // of the results, where the plan asks for it
  kernels::Scratch<C> memory;

  static int64_t size(const AttentionPlan& p, const Cut& c) {
    return c.rows() * (c.key_tile + p.value_head + p.head + 2) + c.key_tile * (p.head + p.value_head) + 7 * 16;
  }
  Space(const AttentionPlan& p, const Cut& c) : memory(size(p, c)) {
    C* block = memory.data();
    auto take = [&block](int64_t count) {
      C* part = block;
      block += kernels::round_up(count, 16);
      return part;
    };
    scores = take(c.rows() * c.key_tile);
    sums = take(c.rows() * p.value_head);
    queries = take(c.rows() * p.head);
    maxima = take(c.rows());
    totals = take(c.rows());
    keys = take(c.key_tile * p.head);
    values = take(c.key_tile * p.value_head);
  }
};

template <class C>
class Tiles {
 public:
  Tiles(const AttentionPlan& plan, const Cut& c, const Item& item, Space<C>& space)
      : p_(plan), item_(item), s_(space), key_tile_(c.key_tile), kv_head_(item.head / (plan.heads / plan.kv_heads)) {}

  /** Leaves the weighted sums of values, not divided yet, with their maxima and totals in the space. */
  void run() {
    int64_t rows = item_.rows();
    std::fill_n(s_.maxima, rows, -std::numeric_limits<C>::infinity());
    std::fill_n(s_.totals, rows, C(0));
    if (item_.keys.low >= item_.keys.high) {
      std::fill_n(s_.sums, rows * p_.value_head, C(0));
      return;
    }
    RowsOf<C> queries = read_queries();
    for (int64_t first = item_.keys.low; first < item_.keys.high; first += key_tile_) {
      int64_t count = std::min(key_tile_, item_.keys.high - first);
      RowsOf<C> keys = read_rows(p_.k, item_.batch, kv_head_, first, count, p_.head, s_.keys);
      attention_math::products(rows, count, p_.head, C(p_.scale), queries.data, queries.stride, keys.data, keys.stride,
                               s_.scores);
      weigh_all(first, count);
      RowsOf<C> values = read_rows(p_.v, item_.batch, kv_head_, first, count, p_.value_head, s_.values);
      attention_math::add_weighted(rows, p_.value_head, count, s_.scores, values.data, values.stride,
                                   first > item_.keys.low, s_.sums);
    }
  }

  /** Divides and writes the results, and the probabilities where they are asked for. */
  void finish() {
    if constexpr (std::is_same_v<C, float>) {
      if (p_.out.type == ElementType::kFloat && p_.taken != ScoresTaken::kProbabilities) return finish_floats();
    }
    for (int64_t row = 0; row < item_.rows(); ++row) {
      int64_t head = item_.head_of(row), query = item_.query_of(row);
      C factor = factor_of(row);
      C* sums = s_.sums + row * p_.value_head;
      void* out = address<C>(p_.out, item_.batch, head, query);
      attention_math::save_scaled(sums, factor, p_.value_head, p_.out.type, out);
      if (range()) attention_math::include(static_cast<float*>(out), p_.value_head, *range());
      if (p_.taken != ScoresTaken::kProbabilities) continue;
      attention_math::scale(s_.scores + row * p_.keys, factor, p_.keys);
      save_scores(row, s_.scores + row * p_.keys);
    }
  }

 private:
  /** What the sums of a row are times. */
  C factor_of(int64_t row) const {
    if (s_.totals[row] == 0) return p_.keys > 0 ? C(p_.nothing) : C(0);
    return 1 / (s_.totals[row] + sink_share(item_.head_of(row), s_.maxima[row]));
  }

  kernels::ValueRange* range() const { return p_.range && p_.out.type == ElementType::kFloat ? &s_.range : nullptr; }

  void finish_floats() {
    float* factors = s_.totals;
    for (int64_t row = 0; row < item_.rows(); ++row) factors[row] = factor_of(row);
    for (int64_t i = 0; i < item_.heads; ++i) {
      int64_t row = i * item_.queries;
      auto* out = reinterpret_cast<float*>(address<C>(p_.out, item_.batch, item_.head + i, item_.query));
      attention_math::scale_rows(s_.sums + row * p_.value_head, item_.queries, p_.value_head, factors + row, out,
                                 p_.out.row, range());
    }
  }

  RowsOf<C> read_queries() {
    if (item_.heads == 1) {
      return read_rows(p_.q, item_.batch, item_.head, item_.query, item_.queries, p_.head, s_.queries);
    }
    if (item_.queries == 1 && p_.q.type == kTypeOf<C>) {
      return {reinterpret_cast<const C*>(address<C>(p_.q, item_.batch, item_.head, item_.query)), p_.q.head};
    }
    for (int64_t row = 0; row < item_.rows(); ++row) {
      attention_math::load(address<C>(p_.q, item_.batch, item_.head_of(row), item_.query_of(row)), p_.q.type, p_.head,
                           s_.queries + row * p_.head);
    }
    return {s_.queries, p_.head};
  }

  void weigh_all(int64_t first, int64_t count) {
    if constexpr (std::is_same_v<C, float>) {
      if (is_plain(first, count)) return weigh_plainly(first, count);
    }
    for (int64_t row = 0; row < item_.rows(); ++row) weigh(row, first, count);
  }

  /** True when a tile is the first, all queries see all its keys, and nothing but one bias changes their scores. */
  bool is_plain(int64_t first, int64_t count) const {
    KeyRange begin = keys_seen(p_, item_.batch, item_.query);
    KeyRange end = keys_seen(p_, item_.batch, item_.query + item_.queries - 1);
    return first == item_.keys.low && begin.low <= first && end.low <= first && begin.high >= first + count &&
           end.high >= first + count && p_.softcap == 0 && !p_.edit && p_.taken == ScoresTaken::kNothing &&
           !p_.biases[1].data && (!p_.biases[0].data || p_.biases[0].columns >= first + count);
  }

  void weigh_plainly(int64_t first, int64_t count) {
    const ScoreBias& bias = p_.biases[0];
    for (int64_t i = 0; i < item_.heads; ++i) {
      int64_t row = i * item_.queries;
      const C* added = static_cast<const C*>(bias.data);
      if (added) {
        added += item_.batch * bias.batch + (item_.head + i) * bias.head + item_.query * bias.row + first;
      }
      attention_math::weigh_rows(s_.scores + row * count, item_.queries, count, added, bias.row, s_.maxima + row,
                                 s_.totals + row);
    }
  }

  /** Makes a row of scores into weights exp(score - maximum), 0 where the query does not see the key. */
  void weigh(int64_t row, int64_t first, int64_t count) {
    int64_t head = item_.head_of(row), query = item_.query_of(row);
    C* scores = s_.scores + row * count;
    KeyRange seen = keys_seen(p_, item_.batch, query);
    int64_t low = std::clamp<int64_t>(seen.low - first, 0, count);
    int64_t high = std::clamp<int64_t>(seen.high - first, low, count);
    if (p_.taken == ScoresTaken::kScaled) save_scores(row, scores);
    if (p_.softcap != 0) {
      bool all = p_.taken == ScoresTaken::kCapped;
      attention_math::cap(scores + (all ? 0 : low), C(p_.softcap), all ? count : high - low);
    }
    if (p_.taken == ScoresTaken::kCapped) save_scores(row, scores);
    for (const ScoreBias& bias : p_.biases) add_bias(bias, head, query, first, low, high, scores);
    if constexpr (std::is_same_v<C, float>) {
      if (p_.edit) (*p_.edit)(item_.batch, head, query, first + low, {scores + low, static_cast<size_t>(high - low)});
    }
    if (p_.taken == ScoresTaken::kBiased) {
      std::fill(scores, scores + low, C(p_.unseen));
      std::fill(scores + high, scores + count, C(p_.unseen));
      save_scores(row, scores);
    }
    std::fill(scores, scores + low, C(0));
    std::fill(scores + high, scores + count, C(0));
    exponentiate(row, scores + low, high - low);
  }

  void add_bias(const ScoreBias& bias, int64_t head, int64_t query, int64_t first, int64_t low, int64_t high,
                C* scores) const {
    if (!bias.data) return;
    const C* added = static_cast<const C*>(bias.data) + item_.batch * bias.batch + head * bias.head + query * bias.row;
    int64_t end = std::clamp(bias.columns - first, low, high);
    attention_math::add(added + first + low, end - low, scores + low);
    std::fill(scores + end, scores + high, -std::numeric_limits<C>::infinity());
  }

  void exponentiate(int64_t row, C* scores, int64_t count) {
    if (count == 0) return;
    C before = s_.maxima[row], sum = attention_math::weigh(scores, count, &s_.maxima[row]);
    if (s_.maxima[row] != before && s_.totals[row] != 0) {
      C factor = std::exp(before - s_.maxima[row]);
      s_.totals[row] *= factor;
      attention_math::scale(s_.sums + row * p_.value_head, factor, p_.value_head);
    }
    s_.totals[row] += sum;
  }

  C sink_share(int64_t head, C maximum) const {
    if (p_.sinks) return std::exp(C(p_.sinks[head]) - maximum);
    return p_.zero_sink ? std::exp(-maximum) : C(0);
  }

  void save_scores(int64_t row, const C* scores) const {
    int64_t at = ((item_.batch * p_.heads + item_.head_of(row)) * p_.queries + item_.query_of(row)) * p_.keys;
    char* to = static_cast<char*>(p_.scores) + at * bits_of(p_.scores_type) / 8;
    attention_math::save(scores, p_.keys, p_.scores_type, to);
  }

  const AttentionPlan& p_;
  const Item& item_;
  Space<C>& s_;
  int64_t key_tile_, kv_head_;
};

/** What the splits of an item leave: sums, maxima and totals of each row. */
template <class C>
struct Partial {
  C* data;
  int64_t rows, size;
  C* sums(int64_t item) const { return data + item * rows * (size + 2); }
  C* maxima(int64_t item) const { return sums(item) + rows * size; }
  C* totals(int64_t item) const { return maxima(item) + rows; }

  void store(int64_t item, const Space<C>& space) const {
    std::copy_n(space.sums, rows * size, sums(item));
    std::copy_n(space.maxima, rows, maxima(item));
    std::copy_n(space.totals, rows, totals(item));
  }
  void add(int64_t item, Space<C>& space) const {
    for (int64_t row = 0; row < rows; ++row) {
      if (totals(item)[row] == 0) continue;
      C now = std::max(space.maxima[row], maxima(item)[row]);
      C old_factor = space.totals[row] == 0 ? C(0) : std::exp(space.maxima[row] - now);
      C factor = std::exp(maxima(item)[row] - now);
      space.maxima[row] = now;
      space.totals[row] = space.totals[row] * old_factor + totals(item)[row] * factor;
      attention_math::scale(space.sums + row * size, old_factor, size);
      attention_math::add_scaled(sums(item) + row * size, factor, size, space.sums + row * size);
    }
  }
};

template <class C>
void attend_in(KernelContext& context, const AttentionPlan& p) {
  std::mutex range_mutex;
  auto include = [&](const kernels::ValueRange& range) {
    if (!p.range) return;
    std::lock_guard lock(range_mutex);
    p.range->include(range);
  };
  Cut c = cut<C>(p);
  const int64_t items = c.items(p.batch);
  Partial<C> partial{nullptr, c.rows(), p.value_head};
  if (c.splits > 1) partial.data = context.scratch<C>(items * c.splits * c.rows() * (p.value_head + 2)).data();
  context.threads().parallel_for(items * c.splits, 1, [&](int64_t begin, int64_t end) {
    Space<C> space(p, c);
    for (int64_t i = begin; i < end; ++i) {
      base::check_terminate();
      Item item = item_at(p, c, i);
      Tiles<C> tiles(p, c, item, space);
      tiles.run();
      c.splits > 1 ? partial.store(i, space) : tiles.finish();
    }
    include(space.range);
  });
  for (int64_t i = 0; c.splits > 1 && i < items; ++i) {
    Space<C> space(p, c);
    Item item = item_at(p, c, i * c.splits);
    std::fill_n(space.sums, item.rows() * p.value_head, C(0));
    std::fill_n(space.totals, item.rows(), C(0));
    std::fill_n(space.maxima, item.rows(), -std::numeric_limits<C>::infinity());
    for (int64_t split = 0; split < c.splits; ++split) partial.add(i * c.splits + split, space);
    Tiles<C>(p, c, item, space).finish();
    include(space.range);
  }
}

}  // namespace

HeadRows rows_by_head(const void* data, ElementType type, int64_t heads, int64_t rows, int64_t size) {
  return {const_cast<void*>(data), type, heads * rows * size, rows * size, size};
}

HeadRows rows_by_position(const void* data, ElementType type, int64_t heads, int64_t rows, int64_t size) {
  return {const_cast<void*>(data), type, rows * heads * size, size, heads * size};
}

KeyRange keys_seen(const AttentionPlan& p, int64_t batch, int64_t query) {
  int64_t length = p.lengths ? p.lengths[batch] : p.keys;
  int64_t position = (p.positions ? p.positions[batch] : p.first_position) + query;
  int64_t high = p.right < 0 || p.right >= length - position ? length : std::max<int64_t>(0, position + p.right + 1);
  int64_t low = p.left < 0 || p.left >= position ? 0 : position - p.left;
  return {std::min(low, high), high};
}

void attend(KernelContext& context, const AttentionPlan& p) {
  int64_t rows = checked_mul(checked_mul(p.batch, p.heads), p.queries);
  if (rows == 0 || (p.value_head == 0 && p.taken == ScoresTaken::kNothing)) return;
  p.in_double ? attend_in<double>(context, p) : attend_in<float>(context, p);
}

}  // namespace ortolan::cpu
