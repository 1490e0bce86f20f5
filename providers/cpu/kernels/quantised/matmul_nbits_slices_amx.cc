// Products of bfloat16 slices with narrow weights in tiles: a part of two panels becomes bfloat16, which all rows then
// use; sums of each block are scaled while the tiles of the next ones are multiplied.
#define ORTOLAN_ISA amx
#include <initializer_list>

#include "cpu/kernels/products/split_sweep_body.h"
#include "cpu/kernels/quantised/matmul_nbits_finish.h"

namespace ortolan::cpu::kernels::amx {
namespace {

constexpr int64_t kSliceSums = kSplitRows * kSplitColumns;
constexpr int64_t kSliceRing = 3, kSliceLag = 2;  // blocks whose sums are kept; how far scaling them is behind
static_assert(kNBitsSliceScratch >= split_bytes(1, kSplitLongest) + (kSliceRing + 1) * kSliceSums * 4);

// The bfloat16 of i - 16, for i from 0 to 31.
__m512i whole_numbers() {
  alignas(64) uint16_t values[32];
  for (int i = 0; i < 32; ++i) {
    values[i] = static_cast<uint16_t>(__builtin_bit_cast(uint32_t, static_cast<float>(i - 16)) >> 16);
  }
  return _mm512_load_si512(values);
}

// 16 less the zeros of a block's columns, in both halves of each lane.
template <int kBits>
ORTOLAN_INLINE Vi offsets_of(const NBitsPanels& b, int64_t at) {
  const Vi offset = (16 - (1 << (kBits - 1))) - zero_offsets(b, at);
  return (offset & 0xffff) | (offset << 16);
}

// Elements [first, first + k) of a panel less their zeros, as one half of the tiles; what K is filled up with is zero.
template <int kBits>
void unpack_slices(const NBitsPanels& b, int64_t panel, int64_t first, int64_t k, char* to) {
  constexpr int64_t kSize = 32 / kBits;
  const int32_t* words = b.words + panel * b.groups * kLanes;
  const __m512i numbers = whole_numbers(),
                lower = _mm512_broadcast_i32x4(_mm_setr_epi8(0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1)),
                upper = _mm512_add_epi8(lower, _mm512_set1_epi16(2));
  const Vi mask = set1i(kBits == 2 ? 0x03030303 : 0x0f0f0f0f);
  const int64_t in_block = b.block / kSize, end = least(b.groups, (first + k + kSize - 1) / kSize);
  Vi offsets = {};
  int64_t row = 0;  // of the tiles, two elements each
  const auto place = [&] { return to + row / kTileHeight * kSliceBytes + row % kTileHeight * kTileRowBytes; };
  for (int64_t group = first / kSize; group < end; ++group) {
    if (group % in_block == 0) offsets = offsets_of<kBits>(b, panel * b.blocks + group / in_block);
    const Vi word = load(words + group * kLanes);
#pragma GCC unroll 4
    for (int part = 0; part < 8 / kBits; ++part, row += 2) {
      const __m512i codes = (__m512i)((word >> (kBits * part)) & mask);
      const __m512i pair = _mm512_add_epi16(_mm512_shuffle_epi8(codes, lower), (__m512i)offsets);
      const __m512i next = _mm512_add_epi16(_mm512_shuffle_epi8(codes, upper), (__m512i)offsets);
      _mm512_store_si512(place(), _mm512_permutexvar_epi16(pair, numbers));
      _mm512_store_si512(place() + kTileRowBytes, _mm512_permutexvar_epi16(next, numbers));
    }
  }
  for (; row < split_steps(k) * kTileHeight; ++row) _mm512_store_si512(place(), _mm512_setzero_si512());
}

// Adds the sums of a block, times the scales of its columns, to the totals: some rows with each product of tiles.
struct ScaledSums {
  const float* sums = nullptr;
  float* totals = nullptr;
  Vf scales[2] = {};
  int64_t row = 0, rows = 0, at_once = 0;

  __attribute__((always_inline)) void begin_step(int64_t) {}
  __attribute__((always_inline)) void fetch(int) {}
  __attribute__((always_inline)) void end_product() { add(at_once); }
  __attribute__((always_inline)) void add(int64_t count) {
    for (const int64_t end = least(rows, row + count); row < end; ++row) {
      for (int h = 0; h < 2; ++h) {
        const int64_t at = row * kSplitColumns + h * kLanes;
        store(totals + at, fma(load(sums + at), scales[h], load(totals + at)));
      }
    }
  }
};

struct SliceSteps {
  const char* left;
  const char* b;
  int64_t count;

  __attribute__((always_inline)) RightTiles right(int64_t i) const {
    return {b + i * kSliceBytes, kSliceBytes, kTileBytes, kTileRowBytes};
  }
};

// Two panels, or the last one alone, from element `first` of K on.
struct Part {
  const NBitsPanels& b;
  int64_t panel;
  int panels;
  int64_t first, k;
  const char* right;
  float *sums, *totals;

  int64_t blocks() const { return (k + b.block - 1) / b.block; }
  void scales(int64_t block, Vf (&to)[2]) const {
    for (int h = 0; h < panels; ++h) {
      to[h] = load(b.scales + ((panel + h) * b.blocks + first / b.block + block) * kLanes);
    }
  }
};

template <bool kTall, bool kWide>
void sum_blocks(const Part& p, const char* left, int64_t rows) {
  const int64_t in_block = p.b.block / kSplitStep, steps = split_steps(p.k), blocks = p.blocks();
  __builtin_memset(p.totals, 0, kSliceSums * sizeof(float));
  const auto scaled = [&](int64_t block, int64_t products) {
    ScaledSums s;
    if (block < 0) return s;
    s.sums = p.sums + block % kSliceRing * kSliceSums;
    s.totals = p.totals;
    p.scales(block, s.scales);
    s.rows = rows;
    s.at_once = (rows + products - 1) / products;
    return s;
  };
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t step = block * in_block, count = least(in_block, steps - step);
    ScaledSums before = scaled(block - kSliceLag, split_products(3, 1) * count);
    const SliceSteps s{left + step * 3 * kSliceBytes, p.right + step * kSliceBytes, count};
    sum_slices<3, kTall, kWide, 1>(s, before);
    before.add(rows);
    store_sums<kTall ? 2 : 1, kWide ? 2 : 1>(p.sums + block % kSliceRing * kSliceSums, kSplitColumns);
  }
  for (int64_t block = most(0, blocks - kSliceLag); block < blocks; ++block) scaled(block, 1).add(rows);
}

void sum_any_blocks(const Part& p, const char* left, int64_t rows) {
  const bool tall = rows > kTileHeight, wide = p.panels == 2;
  if (tall && wide) return sum_blocks<true, true>(p, left, rows);
  if (tall) return sum_blocks<true, false>(p, left, rows);
  if (wide) return sum_blocks<false, true>(p, left, rows);
  sum_blocks<false, false>(p, left, rows);
}

// Adds the totals of rows [row, row + rows) to the result, or begins it.
void store_totals(const Part& p, const SplitRange& range, int64_t row, int64_t rows, const NBitsResult& result) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int h = 0; h < p.panels; ++h) {
      Vf x = load(p.totals + r * kSplitColumns + h * kLanes);
      if (range.scaled) x = scale2(x, -set1(range.exponents[r]));
      const int64_t columns = result.columns - h * kLanes;
      const float* c = result.c + (row + r) * result.ldc + h * kLanes;
      if (p.first > 0 && columns > 0) x += columns < kLanes ? load_n(c, columns) : load(c);
      store_result(result, row + r, h * kLanes, x);
    }
  }
}

void multiply(const NBitsPanels& b, int64_t panel, int panels, const NBitsSlicedRows& a, const NBitsResult& result,
              void* scratch) {
  char* right = static_cast<char*>(scratch);
  auto* sums = reinterpret_cast<float*>(right + split_bytes(1, kSplitLongest));
  const Part part{b, panel, panels, a.first, a.k, right, sums, sums + kSliceRing * kSliceSums};
  for (int h = 0; h < panels; ++h) {
    const auto unpack_bits = b.bits == 2 ? unpack_slices<2> : unpack_slices<4>;
    unpack_bits(b, panel + h, a.first, a.k, right + h * kTileBytes);
  }
  const TileScope tiles(kWholeTiles);
  for (int64_t row = 0; row < a.rows; row += kSplitRows) {
    const int64_t rows = least(kSplitRows, a.rows - row), i = row / kSplitRows;
    sum_any_blocks(part, a.tiles + i * a.block_bytes, rows);
    store_totals(part, a.ranges[i], row, rows, result);
  }
}

}  // namespace

extern const NBitsSliceKernels kNBitsSlices;
const NBitsSliceKernels kNBitsSlices = {multiply};

}  // namespace ortolan::cpu::kernels::amx
