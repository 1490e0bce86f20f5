// Joins of key and value caches, a head at a time.
#include "cpu/attention/kv_cache.h"

#include <cstring>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"

namespace ortolan::cpu {
namespace {

void join_head(const CacheJoin& j, int64_t batch, int64_t head) {
  int64_t element = bits_of(j.fresh.type) / 8, row = j.size * element, index = batch * j.heads + head;
  int64_t past_rows = j.past_rows_of ? j.past_rows_of[batch] : j.past_rows;
  char* to = static_cast<char*>(j.present) + index * j.capacity * row;
  if (j.past && j.past != j.present && past_rows > 0) {
    std::memcpy(to, static_cast<const char*>(j.past) + index * j.past_capacity * row, past_rows * row);
  }
  to += past_rows * row;
  const char* from = static_cast<const char*>(j.fresh.data) + (batch * j.fresh.batch + head * j.fresh.head) * element;
  if (j.fresh.row == j.size && j.fresh_rows > 0) std::memcpy(to, from, j.fresh_rows * row);
  for (int64_t i = 0; j.fresh.row != j.size && i < j.fresh_rows; ++i) {
    std::memcpy(to + i * row, from + i * j.fresh.row * element, row);
  }
  int64_t rest = j.capacity - past_rows - j.fresh_rows;
  if (j.keep_rest && j.past != j.present && rest > 0) {
    int64_t first = index * j.past_capacity + past_rows + j.fresh_rows;
    std::memcpy(to + j.fresh_rows * row, static_cast<const char*>(j.past) + first * row, rest * row);
  }
  if (j.clear_rest && j.past != j.present && rest > 0) std::memset(to + j.fresh_rows * row, 0, rest * row);
}

/** Whether heads begin at other places in `present` than in `past`, which is the same memory. */
bool moves_within(const CacheJoin& j) { return j.past && j.past == j.present && j.past_capacity != j.capacity; }

/** The rows of `past` to where they are in `present`: the last head first, since heads only move up. */
void move_heads(const CacheJoin& j) {
  int64_t row = j.size * bits_of(j.fresh.type) / 8;
  auto* memory = static_cast<char*>(j.present);
  for (int64_t i = j.batch * j.heads; i-- > 0;) {
    int64_t rows = j.past_rows_of ? j.past_rows_of[i / j.heads] : j.past_rows;
    std::memmove(memory + i * j.capacity * row, memory + i * j.past_capacity * row, rows * row);
  }
}

}  // namespace

void join_cache(ThreadPool& threads, const CacheJoin& j) {
  if (j.batch * j.heads == 0 || j.capacity * j.size == 0) return;
  if (moves_within(j)) move_heads(j);
  int64_t written = j.past == j.present ? std::max<int64_t>(j.fresh_rows, 1) : j.capacity;
  const int64_t bytes = written * j.size * bits_of(j.fresh.type) / 8;
  const int64_t least = kernels::least_rows(bytes, kernels::kMovedByteNs);
  threads.parallel_for(j.batch * j.heads, least, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) join_head(j, i / j.heads, i % j.heads);
  });
}

}  // namespace ortolan::cpu
