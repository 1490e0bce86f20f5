// Products with narrow weights in AMX tiles: a part of a few panels becomes bytes, which all rows of A then use.
#define ORTOLAN_ISA amx
#include <initializer_list>

#include "cpu/kernels/quantised/matmul_nbits_finish.h"
#include "cpu/kernels/vectors/tile_bytes.h"

namespace ortolan::cpu::kernels::amx {
namespace {

constexpr int64_t kSums = kTileHeight * kTileHeight;
constexpr int64_t kRing = 4, kLag = 2;  // blocks whose sums are kept; how far finishing them is behind
static_assert(kLag < kRing && (kRing & (kRing - 1)) == 0 && kLanes == kTileHeight);

// The longest row of a tile that blocks are a multiple of.
int step_of(int64_t block) {
  for (int step : {64, 48, 32}) {
    if (block % step == 0) return step;
  }
  return 16;
}

TileShapes shapes(int step) {
  TileShapes s;
  s.set(0, kTileHeight, kTileRowBytes).set(kLeftTile, kTileHeight, step);
  return s.set(kRightTile, step / 4, kTileRowBytes);
}

// What is taken from the bytes of a block of a panel, the same four times for each column.
template <int kBits>
ORTOLAN_INLINE Vi zero_bytes(const NBitsPanels& b, int64_t at) {
  if (kBits == 8) return Vi{};
  return (zero_offsets(b, at) + (1 << (kBits - 1))) * 0x01010101;
}

// Blocks [first, end) of a panel: elements less their zeros, but for those of 8 bits, which are less 128.
template <int kBits>
void unpack(const NBitsPanels& b, int64_t panel, int64_t first, int64_t end, int8_t* to) {
  const int64_t in_block = b.block * kBits / 32;
  const int32_t* words = b.words + panel * b.groups * kLanes;
  for (int64_t block = first; block < end; ++block) {
    const __m512i zero = (__m512i)zero_bytes<kBits>(b, panel * b.blocks + block);
    const int64_t last = least(b.groups, (block + 1) * in_block);
    for (int64_t group = block * in_block; group < last; ++group) {
      const Vi word = load(words + group * kLanes);
      if constexpr (kBits == 8) {
        store(reinterpret_cast<int32_t*>(to), word ^ static_cast<int32_t>(0x80808080u));
        to += kTileRowBytes;
        continue;
      }
      const Vi mask = set1i(kBits == 2 ? 0x03030303 : 0x0f0f0f0f);
#pragma GCC unroll 4
      for (int i = 0; i < 8 / kBits; ++i, to += kTileRowBytes) {
        _mm512_store_si512(to, _mm512_sub_epi8((__m512i)((word >> (kBits * i)) & mask), zero));
      }
    }
  }
}

void unpack_any(const NBitsPanels& b, int64_t panel, int64_t first, int64_t end, int8_t* to) {
  if (b.bits == 2) return unpack<2>(b, panel, first, end, to);
  if (b.bits == 4) return unpack<4>(b, panel, first, end, to);
  unpack<8>(b, panel, first, end, to);
}

// 16 rows of A by `blocks` blocks of one panel.
struct Unit {
  const uint8_t* left;  // the first block of A's rows
  int64_t left_stride;
  const int8_t* right;            // of the panel
  const float *scales, *factors;  // of the panel's columns; of the rows
  const int8_t* zeros;            // of the columns
  const float* sums;              // of the rows, negative
  int64_t blocks, block, step;
  int64_t steps, last_steps;  // of a block, and of the last one
  bool adds;                  // to totals
};

ORTOLAN_INLINE void multiply_block(const Unit& u, int64_t block, TileFetch& fetch, int32_t* sums) {
  const int64_t steps = block == u.blocks - 1 ? u.last_steps : u.steps;
  const uint8_t* left = u.left + block * u.block;
  const int8_t* right = u.right + block * u.block * kLanes;
  zero_sums<1, 1>();
  for (int64_t i = 0; i < steps; ++i, left += u.step, right += u.step * kLanes) {
    add_words<true, true, 1, 1>(left, u.left_stride, 0, right, kTileRowBytes, fetch);
  }
  store_sums<1, 1>(sums, kTileHeight);
}

template <bool kZeros>
ORTOLAN_INLINE void finish_block(const Unit& u, int64_t block, const int32_t* sums, Vf (&total)[kTileHeight]) {
  const int64_t at = block * kLanes;
  const float* factors = u.factors + at;
  const Vf scale = load(u.scales + at);
  const Vf zero = kZeros ? to_float(lane_bytes(u.zeros + at)) : Vf{};
#pragma GCC unroll 16
  for (int r = 0; r < kTileHeight; ++r) {
    Vf sum = to_float(load(sums + r * kTileHeight));
    if (kZeros) sum = fma(zero, set1(u.sums[at + r]), sum);
    total[r] = fma(sum * set1(factors[r]), scale, total[r]);
  }
}

template <bool kZeros>
void multiply_unit(const Unit& u, TileFetch& fetch, float* totals) {
  alignas(64) int32_t sums[kRing][kSums];
  Vf total[kTileHeight] = {};
  if (u.adds) {
#pragma GCC unroll 16
    for (int r = 0; r < kTileHeight; ++r) total[r] = load(totals + r * kLanes);
  }
  for (int64_t block = 0; block < u.blocks + kLag; ++block) {
    if (block < u.blocks) multiply_block(u, block, fetch, sums[block & (kRing - 1)]);
    const int64_t done = block - kLag;
    if (done >= 0) finish_block<kZeros>(u, done, sums[done & (kRing - 1)], total);
  }
#pragma GCC unroll 16
  for (int r = 0; r < kTileHeight; ++r) store(totals + r * kLanes, total[r]);
}

void store_rows(int64_t row, int64_t rows, const float* totals, const NBitsResult& result, int64_t column) {
  for (int64_t r = 0; r < least(kTileHeight, rows - row); ++r) {
    store_result(result, row + r, column, load(totals + r * kLanes));
  }
}

// Some panels of B, and the scratch space.
struct Panels {
  const NBitsPanels& b;
  int64_t first;
  int count;
  int8_t* bytes;  // of a part, panel after panel
  float* totals;  // of 16 rows, panel after panel

  int8_t* bytes_of(int panel) const { return bytes + panel * kNBitsTilePart * kLanes; }
  float* totals_of(int64_t row, int panel) const { return totals + (row * count + panel * kTileHeight) * kLanes; }

  // Fetches what a panel's next part is unpacked from.
  TileFetch fetch(int panel, int64_t block, int64_t blocks, int64_t times) const {
    const int64_t groups = b.block * b.bits / 32, at = block * groups;
    const int32_t* words = b.words + ((first + panel) * b.groups + at) * kLanes;
    return {panel < count ? words : nullptr, least(b.groups - at, blocks * groups) * kTileRowBytes, times};
  }
};

// Blocks [first, end) of a panel for the rows from `row` on.
Unit unit_of(const Panels& p, const NBitsTileRows& a, int panel, int64_t row, int64_t first, int64_t end) {
  const NBitsPanels& b = p.b;
  const int64_t step = step_of(b.block), depth = b.groups * 32 / b.bits;
  const int64_t in_rows = (row * b.blocks + first * kTileHeight), in_panel = (p.first + panel) * b.blocks + first;
  Unit u;
  u.left = reinterpret_cast<const uint8_t*>(a.bytes) + row * a.stride + first * b.block;
  u.left_stride = a.stride;
  u.right = p.bytes_of(panel);
  u.scales = b.scales + in_panel * kLanes;
  u.factors = a.scales + in_rows;
  u.zeros = b.zeros + (b.zeros != nullptr ? in_panel * kLanes : 0);
  u.sums = a.less_sums + in_rows;
  u.blocks = end - first;
  u.block = b.block;
  u.step = step;
  u.steps = b.block / step;
  u.last_steps = (least(depth, end * b.block) - (end - 1) * b.block + step - 1) / step;
  u.adds = first > 0;
  return u;
}

template <bool kZeros>
void multiply_panels(const Panels& p, const NBitsTileRows& a, int64_t rows, const NBitsResult& result) {
  const NBitsPanels& b = p.b;
  const int64_t in_part = kNBitsTilePart / b.block, step = step_of(b.block);
  const TileScope tiles(shapes(static_cast<int>(step)));
  for (int64_t first = 0; first < b.blocks; first += in_part) {
    const int64_t end = least(first + in_part, b.blocks);
    for (int i = 0; i < p.count; ++i) unpack_any(b, p.first + i, first, end, p.bytes_of(i));
    const int64_t times = (rows + kTileHeight - 1) / kTileHeight * (end - first) * (b.block / step);
    const int64_t next = end < b.blocks ? in_part : 0;
    TileFetch fetches[kNBitsTilePanels] = {p.fetch(0, end, next, times), p.fetch(1, end, next, times)};
    for (int64_t row = 0; row < rows; row += kTileHeight) {
      for (int i = 0; i < p.count; ++i) {
        multiply_unit<kZeros>(unit_of(p, a, i, row, first, end), fetches[i], p.totals_of(row, i));
        if (end == b.blocks) store_rows(row, rows, p.totals_of(row, i), result, i * kLanes);
      }
    }
  }
}

void multiply(const NBitsPanels& b, int64_t panel, int panels, const NBitsTileRows& a, int64_t rows,
              const NBitsResult& result, void* scratch) {
  auto* bytes = static_cast<int8_t*>(scratch);
  const Panels p = {b, panel, panels, bytes, reinterpret_cast<float*>(bytes + kNBitsTileBytes)};
  if (b.bits == 8 && b.zeros != nullptr) return multiply_panels<true>(p, a, rows, result);
  multiply_panels<false>(p, a, rows, result);
}

}  // namespace

extern const NBitsTileKernels kNBitsTiles;
const NBitsTileKernels kNBitsTiles = {multiply};

}  // namespace ortolan::cpu::kernels::amx
