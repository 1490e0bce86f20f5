// Rotary position embedding of all heads at one position after the other.
#include "cpu/attention/rotary.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"

namespace ortolan::cpu {
namespace {

void turn_row(const RotaryGeometry& g, const float* cosine, const float* sine, const float* x, float* y) {
  (g.interleaved ? kernels::rotate_pairs : kernels::rotate_halves)(x, cosine, sine, g.pairs, y);
}

void turn_row(const RotaryGeometry& g, const double* cosine, const double* sine, const double* x, double* y) {
  int64_t step = g.interleaved ? 2 : 1, other = g.interleaved ? 1 : g.pairs;
  for (int64_t i = 0; i < g.pairs; ++i) {
    double a = x[i * step], b = x[i * step + other];
    y[i * step] = a * cosine[i] - b * sine[i];
    y[i * step + other] = b * cosine[i] + a * sine[i];
  }
}

/** Rows of `pairs` elements of a cache as C; converts one row at a time where it holds another type. */
template <class C>
class CacheRows {
 public:
  CacheRows(const void* data, ElementType type, int64_t pairs)
      : data_(static_cast<const char*>(data)), type_(type), pairs_(pairs), row_(type == kTypeOf<C> ? 0 : pairs) {}
  const C* row(int64_t index) {
    const char* from = data_ + index * pairs_ * bits_of(type_) / 8;
    if (type_ == kTypeOf<C>) return reinterpret_cast<const C*>(from);
    convert_floats(nullptr, from, type_, row_.data(), kTypeOf<C>, pairs_);
    return row_.data();
  }

 private:
  const char* data_;
  ElementType type_;
  int64_t pairs_;
  std::vector<C> row_;
};

/** The positions [begin, end) of [batch][sequence]. */
template <class C>
void rotate_positions(const RotaryGeometry& g, const RotaryCaches& caches, const int64_t* rows, ElementType type,
                      const char* x, char* y, int64_t begin, int64_t end) {
  CacheRows<C> cosines(caches.cosine, caches.type, g.pairs), sines(caches.sine, caches.type, g.pairs);
  int64_t size = bits_of(type) / 8, turned = 2 * g.pairs;
  std::vector<C> wide(type == kTypeOf<C> ? 0 : turned);
  for (int64_t position = begin; position < end; ++position) {
    const C *cosine = cosines.row(rows[position]), *sine = sines.row(rows[position]);
    int64_t b = position / g.sequence, s = position % g.sequence;
    const char* from = x + (b * g.from.batch + s * g.from.sequence) * size;
    char* to = y + (b * g.to.batch + s * g.to.sequence) * size;
    for (int64_t h = 0; h < g.heads; ++h, from += g.from.head * size, to += g.to.head * size) {
      if (type == kTypeOf<C>) {
        turn_row(g, cosine, sine, reinterpret_cast<const C*>(from), reinterpret_cast<C*>(to));
      } else {
        convert_floats(nullptr, from, type, wide.data(), kTypeOf<C>, turned);
        turn_row(g, cosine, sine, wide.data(), wide.data());
        convert_floats(nullptr, wide.data(), kTypeOf<C>, to, type, turned);
      }
      if (turned < g.head_size && from != to) {
        std::memcpy(to + turned * size, from + turned * size, static_cast<size_t>((g.head_size - turned) * size));
      }
    }
  }
}

}  // namespace

RotaryGeometry rotary_geometry(const Shape& x, int64_t heads, int64_t pairs, bool interleaved) {
  require(x.rank() == 3 || x.rank() == 4, ErrorCode::kInvalidArgument, "the input has shape ", x,
          "; it needs rank 3 or 4");
  RotaryGeometry g;
  g.pairs = pairs;
  g.interleaved = interleaved;
  g.batch = x[0];
  if (x.rank() == 4) {
    g.heads = x[1], g.sequence = x[2], g.head_size = x[3];
    g.from = {x[1] * x[2] * x[3], x[3], x[2] * x[3]};
  } else {
    require(heads > 0 && x[2] % heads == 0, ErrorCode::kInvalidArgument, "rows of ", x[2],
            " elements do not split into ", heads, " heads; set num_heads to a divisor");
    g.heads = heads, g.sequence = x[1], g.head_size = x[2] / heads;
    g.from = {x[1] * x[2], x[2], g.head_size};
  }
  g.to = g.from;
  require(pairs >= 0 && 2 * pairs <= g.head_size, ErrorCode::kInvalidArgument, "caches of ", pairs, " columns turn ",
          2 * pairs, " elements, but a head of input ", x, " has ", g.head_size);
  return g;
}

void rotate(ThreadPool* pool, const RotaryGeometry& g, const RotaryCaches& caches, const int64_t* rows,
            ElementType type, const void* x, void* y) {
  int64_t positions = g.batch * g.sequence, work = g.heads * g.head_size;
  if (positions * work == 0) return;
  for (int64_t i = 0; i < positions; ++i) {
    require(rows[i] >= 0 && rows[i] < caches.rows, ErrorCode::kInvalidArgument, "position ", rows[i],
            " lies outside the ", caches.rows, " rows of cos_cache; positions must be within it");
  }
  const int64_t least = kernels::least_rows(work, kernels::kActivationNs);
  base::parallel_for(pool, positions, least, [&](int64_t begin, int64_t end) {
    auto* rotate_range = type == ElementType::kDouble ? rotate_positions<double> : rotate_positions<float>;
    rotate_range(g, caches, rows, type, static_cast<const char*>(x), static_cast<char*>(y), begin, end);
  });
}

void rotate_by_position(KernelContext& context, const RotaryGeometry& g, int64_t first_position,
                        std::initializer_list<float*> parts) {
  auto cosines = context.scratch<float>(checked_mul(g.sequence, g.pairs)),
       sines = context.scratch<float>(cosines.size());
  for (int64_t n = 0; n < g.sequence * g.pairs; ++n) {
    double turns = std::pow(10000.0, -static_cast<double>(n % g.pairs) / static_cast<double>(g.pairs));
    double angle = static_cast<double>(first_position + n / g.pairs) * turns;
    cosines[n] = static_cast<float>(std::cos(angle)), sines[n] = static_cast<float>(std::sin(angle));
  }
  auto rows = context.scratch<int64_t>(checked_mul(g.batch, g.sequence));
  for (size_t n = 0; n < rows.size(); ++n) rows[n] = static_cast<int64_t>(n) % g.sequence;
  RotaryCaches caches{cosines.data(), sines.data(), ElementType::kFloat, g.sequence};
  for (float* part : parts) rotate(&context.threads(), g, caches, rows.data(), ElementType::kFloat, part, part);
}

}  // namespace ortolan::cpu
