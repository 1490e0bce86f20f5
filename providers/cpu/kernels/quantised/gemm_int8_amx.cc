// The integer product in AMX tiles. A panel of B is its right operand as it lies there: 16 groups are a tile's rows.
#define ORTOLAN_ISA amx
#include "cpu/kernels/quantised/gemm_int8_finish.h"
#include "cpu/kernels/vectors/tile_bytes.h"

namespace ortolan::cpu::kernels::avx512vnni {
extern const GemmInt8Kernels kGemmInt8;
}

namespace ortolan::cpu::kernels::amx {
namespace {

constexpr int kBlockRows = 2 * kTileHeight, kBlockColumns = 2 * kTileHeight;

// Rows of sums on their way to C, a few at a time while the next block's sums are made.
struct Pending {
  const int32_t* sums = nullptr;
  int64_t row = 0, end = 0;  // of C

  void finish(const Int8Block& g, int64_t count) {
    for (const int64_t stop = least(end, row + count); row < stop; ++row, sums += kBlockColumns) {
      float* y = as_floats(g.c) + row * g.ldc;
      for (int64_t column = 0; column < g.columns; column += kLanes) finish_vector(g, y, column);
      if (g.activation != nullptr) g.activation(y, y, g.columns, g.p0, g.p1);
    }
  }

 private:
  void finish_vector(const Int8Block& g, float* y, int64_t column) const {
    const int64_t columns = g.columns - column;
    const Vi sum = load(sums + column);
    Vf v = from_bits(sum);
    if (g.scale != nullptr) {
      v = finished(g, sum, load_columns(g.scale + column, columns), bias_of(g, column), row, column);
    }
    store_columns(y + column, columns, v);
  }
};

// Rows that are finished after the block whose sums are made; what that reads and writes is fetched meanwhile.
struct Coming {
  int64_t row, end;  // of C

  void fetch(const Int8Block& g, int64_t count) {
    for (const int64_t stop = least(end, row + count); row < stop; ++row) {
      fetch_row(as_floats(g.c) + row * g.ldc);
      if (g.residual != nullptr) fetch_row(g.residual + row * g.residual_stride);
    }
  }

 private:
  static void fetch_row(const float* p) {
    for (int i = 0; i < kBlockColumns / kLanes; ++i) __builtin_prefetch(p + i * kLanes, 0, 3);
  }
};

// What all blocks of rows of a panel share.
struct Panel {
  const Int8Block& g;
  TileFetch fetch;
  Pending pending;
  int64_t steps = g.groups / kTileHeight;
  int buffer = 0;
  alignas(64) int32_t start[kBlockColumns];
  alignas(64) int32_t sums[2][kBlockRows * kBlockColumns];

  Panel(const Int8Block& g, int wide)
      : g(g), fetch(g.next, g.next_bytes, (g.rows + kTileHeight - 1) / kTileHeight * wide * (g.groups / kTileHeight)) {
    for (int64_t i = 0; i < kBlockColumns; ++i) start[i] = g.start != nullptr && i < g.columns ? g.start[i] : 0;
  }
};

template <int kHigh, int kWide>
ORTOLAN_INLINE void start_sums(const int32_t* start) {
  tile_load<0>(start, 0);
  if constexpr (kWide == 2) tile_load<1>(start + kTileHeight, 0);
  if constexpr (kHigh == 2) tile_load<2>(start, 0);
  if constexpr (kHigh == 2 && kWide == 2) tile_load<3>(start + kTileHeight, 0);
}

// Sums of the 16 rows from `row` on and, where kHigh is 2, of the 16 from row + second on. Of these rows those from
// `fresh` on have not been there yet.
template <bool kSigned, int kHigh, int kWide>
void sum_tiles(Panel& p, int64_t row, int64_t second, int64_t fresh, int64_t rows) {
  const Int8Block& g = p.g;
  const uint8_t *a = g.a + row * g.a_stride, *b = reinterpret_cast<const uint8_t*>(g.b);
  const int64_t share = (p.pending.end - p.pending.row + p.steps - 1) / most(p.steps, 1);
  if (g.start == nullptr) {
    zero_sums<kHigh, kWide>();
  } else {
    start_sums<kHigh, kWide>(p.start);
  }
  Coming coming = {row + fresh, row + rows};
  const int64_t near = (rows + p.steps - 1) / most(p.steps, 1);
  for (int64_t s = 0; s < p.steps; ++s, a += kTileRowBytes, b += kWide * kTileBytes) {
    add_words<kSigned, true, kHigh, kWide>(a, g.a_stride, second * g.a_stride, b, kWide * kTileRowBytes, p.fetch);
    p.pending.finish(g, share);
    coming.fetch(g, near);
  }
  p.pending.finish(g, kBlockRows);
  int32_t* sums = p.sums[p.buffer];
  store_sums<kHigh, kWide>(sums, kBlockColumns, second);
  p.pending = {sums + fresh * kBlockColumns, row + fresh, row + rows};
  p.buffer ^= 1;
}

constexpr TileShapes low_tiles(int height) {
  TileShapes shapes;
  shapes.set(0, height, kTileRowBytes).set(1, height, kTileRowBytes).set(kLeftTile, height, kTileRowBytes);
  return shapes.set(kRightTile, kTileHeight, kTileRowBytes).set(kRightTile + 1, kTileHeight, kTileRowBytes);
}

template <bool kSigned, int kWide>
void sum_panel(const Int8Block& g) {
  Panel p(g, kWide);
  int64_t row = 0;
  for (; row + kTileHeight < g.rows; row += kBlockRows) {
    const int64_t rows = least(kBlockRows, g.rows - row);
    sum_tiles<kSigned, 2, kWide>(p, row, rows - kTileHeight, 0, rows);
  }
  if (g.rows < kTileHeight) {
    tile_configure(low_tiles(static_cast<int>(g.rows)));
    sum_tiles<kSigned, 1, kWide>(p, 0, 0, 0, g.rows);
    tile_configure(kWholeTiles);
  } else if (row < g.rows) {
    const int64_t first = g.rows - kTileHeight;
    sum_tiles<kSigned, 1, kWide>(p, first, 0, row - first, kTileHeight);
  }
  p.pending.finish(g, kBlockRows);
}

template <bool kSigned>
void sum_any_panel(int vectors, const Int8Block& g) {
  if (vectors == 1) return sum_panel<kSigned, 1>(g);
  sum_panel<kSigned, 2>(g);
}

void block(int vectors, const Int8Block& g) {
  if (g.a_signed) return sum_any_panel<true>(vectors, g);
  sum_any_panel<false>(vectors, g);
}

void to_floats(const Int8Block& g) { avx512vnni::kGemmInt8.to_floats(g); }

void pack_group(const uint8_t* const* rows, int64_t columns, bool is_signed, bool flip, int32_t* to, int32_t* sums) {
  avx512vnni::kGemmInt8.pack_group(rows, columns, is_signed, flip, to, sums);
}

void pack_rows(int vectors, const PanelRows& panel, int32_t* to, int32_t* sums) {
  avx512vnni::kGemmInt8.pack_rows(vectors, panel, to, sums);
}

void correct_row(int32_t* c, int64_t columns, int32_t a_zero, const int32_t* adjusted, int32_t row_sum,
                 const int32_t* b_zero) {
  avx512vnni::kGemmInt8.correct_row(c, columns, a_zero, adjusted, row_sum, b_zero);
}

}  // namespace

extern const GemmInt8Kernels kGemmInt8;
const GemmInt8Kernels kGemmInt8 = {
    .isa = base::IsaLevel::kAmx,
    .lanes = kTileHeight,
    .max_vectors = 2,
    .tile_rows = kBlockRows,
    .group = 4,
    .block = block,
    .to_floats = to_floats,
    .pack_group = pack_group,
    .pack_rows = pack_rows,
    .correct_row = correct_row,
    .filled = kTileHeight,
    .a_signs = true,
    .activates = true,
    .begin = begin_whole_tiles,
    .end = end_tiles,
    .vectors = &avx512vnni::kGemmInt8,
};

}  // namespace ortolan::cpu::kernels::amx
