// Products of fp32 blocks from tiles of bfloat16 slices.
#define ORTOLAN_ISA amx
#include <initializer_list>

#include "cpu/kernels/products/split_f32_kernels.h"
#include "cpu/kernels/products/split_slices_body.h"
#include "cpu/kernels/products/split_sweep_body.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

// Tiles 0 to 3 are the sums of the upper and lower halves of the rows, each with both halves of the columns; 4 and 5
// are slices of the rows, 6 and 7 of the columns.
constexpr TileShapes shapes(int64_t rows) {
  const int upper = static_cast<int>(rows < kTileHeight ? rows : kTileHeight), lower = static_cast<int>(rows) - upper;
  TileShapes s;
  for (int tile : {0, 1, 4}) s.set(tile, upper, kTileRowBytes);
  for (int tile : {2, 3, 5}) s.set(tile, lower, kTileRowBytes);
  for (int tile : {6, 7}) s.set(tile, kTileHeight, kTileRowBytes);
  return s;
}

// Two vectors: a row of a block.
struct RowOfBlock {
  Vf v[2];
};

ORTOLAN_INLINE RowOfBlock load_row(const float* p, __mmask16 first, __mmask16 second) {
  return {load_lanes(p, first), load_lanes(p + kLanes, second)};
}

// sums * 2^(-row_exponent - exponents)
ORTOLAN_INLINE void unscale(RowOfBlock& x, float row_exponent, const float* exponents) {
  for (int h = 0; h < 2; ++h) x.v[h] = scale2(x.v[h], -set1(row_exponent) - load(exponents + h * kLanes));
}

ORTOLAN_INLINE void add(RowOfBlock& x, const RowOfBlock& y) {
  for (int h = 0; h < 2; ++h) x.v[h] += y.v[h];
}

// Where an activation follows, the row stays among the sums.
ORTOLAN_INLINE void finish_row(const SplitSequence& q, int64_t row, __mmask16 first, __mmask16 second, bool stays) {
  const GemmFinish& f = q.pending.finish;
  float* c = f.c + row * f.ldc;
  RowOfBlock x = load_row(q.sums + row * kSplitColumns, 0xffff, 0xffff);
  if (q.scaled) unscale(x, q.row_exponents[row], q.column_exponents);
  if (f.alpha != 1) {
    for (Vf& v : x.v) v *= set1(f.alpha);
  }
  if (f.c_scale != 0) {
    const RowOfBlock before = load_row(c, first, second);
    for (int h = 0; h < 2; ++h) x.v[h] = fma(before.v[h], set1(f.c_scale), x.v[h]);
  }
  if (f.column_bias != nullptr) add(x, load_row(f.column_bias, first, second));
  if (f.row_bias != nullptr) add(x, {{set1(f.row_bias[row]), set1(f.row_bias[row])}});
  if (f.shift != 0) add(x, {{set1(f.shift), set1(f.shift)}});
  if (f.residual != nullptr) add(x, load_row(f.residual + row * f.residual_stride, first, second));
  if (f.clamp) {
    for (Vf& v : x.v) v = vmin(set1(f.high), vmax(set1(f.low), v));
  }
  if (stays) {
    for (int h = 0; h < 2; ++h) store(q.sums + row * kSplitColumns + h * kLanes, x.v[h]);
    return;
  }
  _mm512_mask_storeu_ps(c, first, (__m512)x.v[0]);
  _mm512_mask_storeu_ps(c + kLanes, second, (__m512)x.v[1]);
}

__attribute__((noinline)) void finish_rows(SplitSequence& q, int64_t count) {
  const SplitBlock& block = q.pending;
  const GemmFinish& f = block.finish;
  const __mmask16 first = lanes_up_to(f.columns), second = lanes_up_to(f.columns - kLanes);
  const int64_t end = least(f.rows, q.finished_rows + count);
  for (int64_t row = q.finished_rows; row < end; ++row) finish_row(q, row, first, second, block.activate != nullptr);
  for (int64_t row = q.finished_rows; row < end && block.activate != nullptr; ++row) {
    block.activate(q.sums + row * kSplitColumns, f.c + row * f.ldc, f.columns, block.p0, block.p1);
  }
  q.finished_rows = end;
}

void finish(SplitSequence& q) { finish_rows(q, kSplitRows); }

// What is done between tile products, so that its instructions run beside them.
struct Meanwhile {
  SplitSequence& q;
  const GemmFinish& coming;  // of the block whose tiles are multiplied
  int64_t rows;              // to be finished with each k-step
  int64_t near_rows = 0;     // of the coming ones that have been fetched
  int64_t lines = 0;         // of each stream, to be fetched with two tile products
  SplitPrefetch streams = q.prefetch;

  Meanwhile(SplitSequence& sequence, const SplitBlock& block)
      : q(sequence),
        coming(block.finish),
        rows(most(2, (sequence.pending.finish.rows + block.steps - 1) / block.steps)) {}

  __attribute__((always_inline)) void begin_step(int64_t fetches) {
    if (q.finished_rows < q.pending.finish.rows) finish_rows(q, rows);
    if (near_rows < coming.rows) fetch_rows();
    for (int64_t i = 0; i < q.ahead_bytes; i += 64) __builtin_prefetch(q.ahead + i, 0, 2);
    q.ahead += q.ahead_bytes;
    lines = streams.lines > 0 ? streams.at_once : 0;
    streams.lines -= lines * fetches;
  }
  __attribute__((always_inline)) void fetch(int stream) {
    for (int64_t i = 0; i < lines; ++i, streams.at[stream] += streams.step[stream]) {
      __builtin_prefetch(streams.at[stream], 0, 2);
    }
  }
  // What finishing the block will read and write.
  __attribute__((always_inline)) void fetch_rows() {
    for (const int64_t end = near_rows + rows; near_rows < end; ++near_rows) {
      const float* c = coming.c + near_rows * coming.ldc;
      prefetch(c);
      prefetch(c + kLanes);
      if (coming.residual == nullptr) continue;
      const float* residual = coming.residual + near_rows * coming.residual_stride;
      prefetch(residual);
      prefetch(residual + kLanes);
    }
  }
  __attribute__((always_inline)) void end_product() {}
};

struct StepsOfBlock {
  const char* left;
  const char* b;
  int64_t count;
  int64_t step_bytes;  // of b

  __attribute__((always_inline)) RightTiles right(int64_t i) const {
    return {b + i * step_bytes, kSliceBytes, kTileBytes, kTileRowBytes};
  }
};

template <int kSlices, int kKept, bool kTall, bool kWide>
void multiply_tiles(SplitSequence& q, const SplitBlock& block) {
  Meanwhile meanwhile(q, block);
  const StepsOfBlock steps = {static_cast<const char*>(block.a), static_cast<const char*>(block.b), block.steps,
                              kKept * kSliceBytes};
  sum_slices<kSlices, kTall, kWide, kKept>(steps, meanwhile);
  q.prefetch = meanwhile.streams;
  finish(q);
  store_sums<kTall ? 2 : 1, kWide ? 2 : 1>(q.sums, kSplitColumns);
}

template <int kSlices, int kKept>
void multiply_kept(SplitSequence& q, const SplitBlock& block) {
  const bool tall = block.finish.rows > kTileHeight, wide = block.finish.columns > kLanes;
  if (tall && wide) return multiply_tiles<kSlices, kKept, true, true>(q, block);
  if (tall) return multiply_tiles<kSlices, kKept, true, false>(q, block);
  if (wide) return multiply_tiles<kSlices, kKept, false, true>(q, block);
  multiply_tiles<kSlices, kKept, false, false>(q, block);
}

template <int kSlices>
void multiply_slices_of(SplitSequence& q, const SplitBlock& block) {
  const int kept = slices_kept(block.b_element, kSlices);
  if (kept == kSlices) return multiply_kept<kSlices, kSlices>(q, block);
  if constexpr (kSlices == 3) {
    if (kept == 2) return multiply_kept<kSlices, 2>(q, block);
  }
  multiply_kept<kSlices, 1>(q, block);
}

// The element of a row that lies `at` bytes into its highest slice: the sum of its slices, which is exact.
float whole_element(const char* slices, int count, int64_t at) {
  float sum = 0;
  for (int s = count - 1; s >= 0; --s) {
    uint16_t upper;
    __builtin_memcpy(&upper, slices + s * kSliceBytes + at, sizeof upper);
    sum += __builtin_bit_cast(float, static_cast<uint32_t>(upper) << 16);
  }
  return sum;
}

// The same for 16 columns; of their pairs the first (0) or the second element.
Vf whole_elements(const char* slices, int count, int64_t at, int second) {
  Vf sum = {};
  for (int s = count - 1; s >= 0; --s) {
    const Vi pairs = (Vi)_mm512_load_si512(slices + s * kSliceBytes + at);
    sum += from_bits(second != 0 ? pairs & kUpperHalf : pairs << 16);
  }
  return sum;
}

// The sums of one row in fp32 arithmetic.
RowOfBlock plain_sums(const SplitBlock& block, int64_t row) {
  RowOfBlock sums = {};
  const bool wide = block.finish.columns > kLanes;
  const int kept = slices_kept(block.b_element, block.slices);
  for (int64_t k = 0; k < block.steps * kSplitStep; ++k) {
    const int64_t step = k / kSplitStep * kSliceBytes, in_step = k % kSplitStep;
    const char* a = static_cast<const char*>(block.a) + step * block.slices;
    const char* b = static_cast<const char*>(block.b) + step * kept;
    const Vf x = set1(whole_element(a, block.slices, row * kTileRowBytes + in_step * 2));
    for (int h = 0; h < (wide ? 2 : 1); ++h) {
      const int64_t at = h * kTileBytes + in_step / 2 * kTileRowBytes;
      sums.v[h] = fma(x, whole_elements(b, kept, at, in_step % 2), sums.v[h]);
    }
  }
  return sums;
}

// Sums with Inf or NaN among their terms, which are not what their slices' products add up to.
__attribute__((noinline)) void replace_odd_sums(const SplitBlock& block, float* sums) {
  for (int64_t row = 0; row < block.finish.rows; ++row) {
    const uint32_t columns = (block.a_range->odd >> row & 1) != 0 ? UINT32_MAX : block.b_range->odd;
    if (columns == 0) continue;
    const RowOfBlock x = plain_sums(block, row);
    for (int h = 0; h < 2; ++h) {
      _mm512_mask_storeu_ps(sums + row * kSplitColumns + h * kLanes, static_cast<__mmask16>(columns >> (16 * h)),
                            (__m512)x.v[h]);
    }
  }
}

void multiply(SplitSequence& q, const SplitBlock& block) {
  const int64_t rows = block.finish.rows;
  const bool own_shapes = rows % kTileHeight != 0;
  if (own_shapes) tile_configure(shapes(rows));
  if (block.slices == 1) multiply_slices_of<1>(q, block);
  if (block.slices == 2) multiply_slices_of<2>(q, block);
  if (block.slices == 3) multiply_slices_of<3>(q, block);
  if (own_shapes) tile_configure(kWholeTiles);
  if ((block.a_range->odd | block.b_range->odd) != 0) replace_odd_sums(block, q.sums);
  set_pending(q, block);
}

}  // namespace

extern const SplitF32Kernels kSplitF32;
const SplitF32Kernels kSplitF32 = {
    begin_whole_tiles, end_tiles, split_rows, split_columns, multiply, finish, {"amx bf16", "amx bf16x3", "amx bf16x6"},
    kAmxCosts};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
