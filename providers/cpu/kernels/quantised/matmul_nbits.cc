// Products with narrow weights: the choice of kernel for a shape, and the sharing of work among threads.
#include "cpu/kernels/quantised/matmul_nbits.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "base/cpu_features.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/products/gemm_f32_kernels.h"
#include "cpu/kernels/products/gemm_f32_product.h"
#include "cpu/kernels/quantised/matmul_nbits_product.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/vectors/lengths.h"
#include "cpu/kernels/vectors/unaligned.h"

namespace ortolan::cpu::kernels {
namespace {
constexpr int64_t kSlice = 256;          // rows of B that are made floats at a time
constexpr int64_t kMostByteBlock = 256;  // sums of a block of bytes fit 16 bits

// Of A, for tiles, and elements of a block. For 16 columns of a block of 32 elements vectors take some 5.5 cycles a
// row, while tiles take some 60 for up to 16 rows: to unpack the weights, to multiply, and to load, scale and add 16
// rows of sums. Half a block takes tiles nearly as long, and vectors half as long.
constexpr int64_t kFewestTileRows = 16, kShortestTileBlock = 32;

constexpr double kWeightNs = 0.05;  // its product with an element, unpacking it among them

/** Calls body(first panel, how many) for all panels, `most` at a time. */
template <class Body>
void for_panels(base::ThreadPool* pool, const NBitsMatrix& b, int64_t most, int64_t rows, Body&& body) {
  const int64_t panels = divide_up(b.n, b.kernels->lanes), tasks = divide_up(panels, most);
  const double task_ns = static_cast<double>(most * b.kernels->lanes * (b.k + 1) * rows) * kWeightNs;
  base::parallel_for(pool, tasks, least_items(task_ns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i * most, static_cast<int>(std::min(most, panels - i * most)));
  });
}

/** Rows of A, of so many bytes, that stay in the second-level cache, but enough of them to be worth unpacking B. */
int64_t rows_at_once(int64_t m, int64_t row_bytes) {
  const int64_t fits = base::cpu_features().l2_bytes / 2 / row_bytes;
  const int64_t rows = std::clamp<int64_t>(fits / 16 * 16, 128, 512);
  return divide_up(divide_up(m, divide_up(m, rows)), kNBitsTileRows) * kNBitsTileRows;
}

/** Calls body(first row, how many) for all rows of A, so many at a time. */
template <class Body>
void for_bands(int64_t m, int64_t row_bytes, Body&& body) {
  const int64_t band = rows_at_once(m, row_bytes);
  for (int64_t row = 0; row < m; row += band) body(row, std::min(band, m - row));
}

/** False, and nothing done, where a block of the row has no finite sum, of which zeros would take a multiple. */
bool multiply_row(base::ThreadPool* pool, const float* a, const NBitsMatrix& b, float* c, const float* bias) {
  const int64_t blocks = b.blocks(), wide = wide_nbits(b.k);
  const Scratch<float> space(blocks + wide);
  float* const sums = space.data() + wide;
  if (wide != b.k) {
    float* const copy = space.data();
    std::copy_n(a, b.k, copy);
    std::fill(copy + b.k, copy + wide, 0.0f);
    a = copy;
  }
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t end = std::min(b.k, (i + 1) * b.block);
    float sum = 0;
    for (int64_t k = i * b.block; k < end; ++k) sum += a[k];
    if (!std::isfinite(sum)) return false;
    sums[i] = sum;
  }
  const NBitsPanels panels = panels_of(b);
  for_panels(pool, b, b.kernels->row_panels, 1, [&](int64_t panel, int count) {
    b.kernels->multiply_row(panels, panel, count, a, sums, result_at(b, panel, c, 0, bias));
  });
  return true;
}

bool suits_tiles(int64_t m, int64_t block) { return m >= kFewestTileRows && block >= kShortestTileBlock; }

// Tiles that multiply bytes, or nullptr.
const NBitsTileKernels* tiles_for(int64_t m, const NBitsMatrix& b) {
  return suits_tiles(m, b.block) && b.kernels == kernels().nbits ? kernels().nbits_tiles : nullptr;
}

/** Rows of A as bytes: as multiply_bytes takes them, or as tiles do. */
template <class Rows>
struct QuantizedRows {
  Rows rows;
  Scratch<int8_t> bytes;
  Scratch<float> values;  // scales, and what else there is of blocks
};

/** Sets `misfits` where there are rows that do not fit. */
QuantizedRows<NBitsBytes> quantize_rows(base::ThreadPool* pool, int64_t m, const float* a, int64_t lda,
                                        const NBitsMatrix& b, std::atomic<bool>& misfits) {
  const int64_t blocks = b.blocks(), wide = wide_nbits(b.k);
  Scratch<int8_t> bytes_space(m * wide);
  Scratch<float> values(3 * m * blocks);
  int8_t* const bytes = bytes_space.data();
  float* const scales = values.data();
  int32_t* start = reinterpret_cast<int32_t*>(scales + m * blocks);
  int32_t* less_sum = start + m * blocks;
  const int32_t middle = 1 << (b.bits - 1);
  const double row_ns = static_cast<double>(wide) * kQuantizeNs;
  base::parallel_for(pool, m, least_items(row_ns), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t at = r * blocks;
      if (!b.kernels->quantize_row(a + r * lda, b.k, wide, b.block, bytes + r * wide, scales + at, start + at)) {
        misfits = true;
      }
      for (int64_t i = at; i < at + blocks; ++i) {
        less_sum[i] = -start[i] & 0xffff;
        start[i] *= -middle;
      }
    }
  });
  return {{bytes, wide, scales, start, less_sum}, std::move(bytes_space), std::move(values)};
}

// 16 rows of A, of which `rows` exist; the values of each block go 16 apart. False where one of them does not fit.
bool quantize_tile(int64_t rows, const float* a, int64_t lda, const NBitsMatrix& b, int64_t stride, int8_t* bytes,
                   float* scales, float* less_sums) {
  const int64_t blocks = b.blocks(), wide = wide_nbits(b.k);
  const Scratch<float> of_row(2 * blocks);
  float* const row_scales = of_row.data();
  int32_t* row_sums = reinterpret_cast<int32_t*>(row_scales + blocks);
  std::fill_n(scales, blocks * kNBitsTileRows, 0.0f);
  std::fill_n(less_sums, blocks * kNBitsTileRows, 0.0f);
  bool fits = true;
  for (int64_t r = 0; r < rows; ++r) {
    fits &= b.kernels->quantize_row(a + r * lda, b.k, wide, b.block, bytes + r * stride, row_scales, row_sums);
    std::fill(bytes + r * stride + wide, bytes + (r + 1) * stride, int8_t{0});
    for (int64_t i = 0; i < blocks; ++i) {
      scales[i * kNBitsTileRows + r] = row_scales[i];
      less_sums[i * kNBitsTileRows + r] = static_cast<float>(-row_sums[i]);
    }
  }
  std::fill(bytes + rows * stride, bytes + kNBitsTileRows * stride, int8_t{0});
  return fits;
}

// The same for tiles. Rows are an odd number of cache lines apart, so that those of a tile are in different sets.
QuantizedRows<NBitsTileRows> quantize_tiles(base::ThreadPool* pool, int64_t m, const float* a, int64_t lda,
                                            const NBitsMatrix& b, std::atomic<bool>& misfits) {
  const int64_t stride = divide_up(wide_nbits(b.k) + kNBitsTileStep - kNBitsUnit, 64) * 64 | 64;
  const int64_t tiles = divide_up(m, kNBitsTileRows), values = b.blocks() * kNBitsTileRows;
  Scratch<int8_t> bytes_space(tiles * kNBitsTileRows * stride);
  Scratch<float> values_space(2 * tiles * values);
  int8_t* const bytes = bytes_space.data();
  float *const scales = values_space.data(), *const less_sums = scales + tiles * values;
  const double tile_ns = static_cast<double>(kNBitsTileRows * stride) * kQuantizeNs;
  base::parallel_for(pool, tiles, least_items(tile_ns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i * kNBitsTileRows;
      if (!quantize_tile(std::min(kNBitsTileRows, m - row), a + row * lda, lda, b, stride, bytes + row * stride,
                         scales + i * values, less_sums + i * values)) {
        misfits = true;
      }
    }
  });
  return {{bytes, stride, scales, less_sums}, std::move(bytes_space), std::move(values_space)};
}

void multiply_bytes_on_tiles(base::ThreadPool* pool, int64_t m, const float* a, int64_t lda, const NBitsMatrix& b,
                             float* c, int64_t ldc, const float* bias, const NBitsTileKernels& tiles,
                             std::atomic<bool>& misfits) {
  const auto quantized = quantize_tiles(pool, m, a, lda, b, misfits);
  const NBitsPanels panels = panels_of(b);
  for_panels(pool, b, kNBitsTilePanels, m, [&](int64_t panel, int count) {
    const Scratch<char> scratch(nbits_tile_scratch(m));
    tiles.multiply(panels, panel, count, quantized.rows, m, result_at(b, panel, c, ldc, bias), scratch.data());
  });
}

/** False where rows do not fit: C's are not their products. */
bool multiply_bytes(base::ThreadPool* pool, int64_t m, const float* a, int64_t lda, const NBitsMatrix& b, float* c,
                    int64_t ldc, const float* bias) {
  std::atomic<bool> misfits = false;
  if (const NBitsTileKernels* tiles = tiles_for(m, b); tiles != nullptr) {
    for_bands(m, b.k, [&](int64_t row, int64_t rows) {
      multiply_bytes_on_tiles(pool, rows, a + row * lda, lda, b, c + row * ldc, ldc, bias, *tiles, misfits);
    });
    return !misfits;
  }
  const auto quantized = quantize_rows(pool, m, a, lda, b, misfits);
  const NBitsPanels panels = panels_of(b);
  const NBitsKernels& kernels = *b.kernels;
  for_panels(pool, b, m == 1 ? kernels.row_panels : kernels.byte_panels, m, [&](int64_t panel, int count) {
    kernels.multiply_bytes(panels, panel, count, quantized.rows, m, result_at(b, panel, c, ldc, bias));
  });
  return !misfits;
}

/** Rows [row, row + rows) of C for `count` panels: a slice of B becomes floats at a time, which all rows then use. */
void multiply_floats(const NBitsMatrix& b, const NBitsPanels& panels, int64_t panel, int count, const float* a,
                     int64_t lda, int64_t rows, const NBitsResult& to) {
  const GemmF32Kernels& gemm = of_plain_vectors(*kernels().gemm_f32);
  const int64_t width = int64_t{count} * gemm.lanes;
  const Scratch<float> space(kSlice * width + 4096);
  float* const slice = space.data();
  GemmBlock g;
  g.lda = lda, g.b = slice, g.b_step = width, g.c = to.c, g.ldc = to.ldc;
  g.rows = rows, g.columns = std::min(width, to.columns);
  for (int64_t k = 0; k < b.k; k += kSlice) {
    g.k = std::min(kSlice, b.k - k);
    for (int i = 0; i < count; ++i) {
      b.kernels->dequantize(panels, panel + i, k, g.k, slice + i * gemm.lanes, width);
    }
    g.a = a + k;
    if (k + g.k == b.k) g.column_bias = to.bias;
    gemm.block(count, g);
    g.c_scale = 1;
  }
}

// B's columns as floats, for products on tiles.
class FloatColumns final : public GemmColumns {
 public:
  explicit FloatColumns(const NBitsMatrix& b) : b_(b), panels_(panels_of(b)) {}
  void write(int64_t column, int64_t columns, int64_t first, int64_t k, float* rows, int64_t step) const override {
    const int64_t lanes = b_.kernels->lanes;
    for (int64_t at = 0; at < columns; at += lanes) {
      b_.kernels->dequantize(panels_, (column + at) / lanes, first, k, rows + at, step);
    }
  }

 private:
  const NBitsMatrix& b_;
  const NBitsPanels panels_;
};

bool multiply_on_float_tiles(base::ThreadPool* pool, int64_t m, const float* a, int64_t lda, const NBitsMatrix& b,
                             float* c, int64_t ldc, const float* bias) {
  const FloatColumns columns(b);
  Epilogue epilogue;
  epilogue.bias_kind = bias != nullptr ? BiasKind::kColumn : BiasKind::kNone;
  epilogue.bias = bias;
  GemmRight right;
  right.form = GemmRightForm::kWritten;
  right.columns = &columns;
  return multiply_split(pool, {m, b.n, b.k, {a, lda}, right, c, ldc, epilogue, *kernels().gemm_f32}, m);
}

void multiply_many(base::ThreadPool* pool, int64_t m, const float* a, int64_t lda, const NBitsMatrix& b, float* c,
                   int64_t ldc, const float* bias) {
  if (multiply_in_slices(pool, m, a, lda, b, c, ldc, bias)) return;
  if (multiply_on_float_tiles(pool, m, a, lda, b, c, ldc, bias)) return;
  multiply_in_vectors(pool, m, a, lda, b, c, ldc, bias);
}

bool row_fits_bytes(const float* row, const NBitsMatrix& b) {
  for (int64_t first = 0; first < b.k; first += b.block) {
    int32_t most = 0;
    for (int64_t k = first; k < std::min(b.k, first + b.block); ++k) {
      most = std::max(most, std::bit_cast<int32_t>(read_unaligned(row + k)) & INT32_MAX);
    }
    if (!fits_bytes(most)) return false;
  }
  return true;
}

void multiply_misfits(base::ThreadPool* pool, int64_t m, const float* a, int64_t lda, const NBitsMatrix& b, float* c,
                      int64_t ldc, const float* bias) {
  for (int64_t r = 0; r < m; ++r) {
    if (!row_fits_bytes(a + r * lda, b)) multiply_many(pool, 1, a + r * lda, lda, b, c + r * ldc, ldc, bias);
  }
}

void fill_rows(int64_t m, int64_t n, float* c, int64_t ldc, const float* bias) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c[i * ldc + j] = bias != nullptr ? bias[j] : 0;
  }
}

}  // namespace

NBitsPanels panels_of(const NBitsMatrix& b) {
  NBitsPanels p;
  p.bits = b.bits;
  p.words = b.words->as<int32_t>();
  p.groups = wide_nbits(b.k) * b.bits / 32;
  p.scales = b.scales.as<float>();
  p.zeros = b.zeros.as<int8_t>();
  p.zero_values = b.zero_values.as<float>();
  p.blocks = b.blocks();
  p.block = b.block;
  p.table = b.table, p.has_table = b.has_table;
  return p;
}

NBitsResult result_at(const NBitsMatrix& b, int64_t panel, float* c, int64_t ldc, const float* bias) {
  const int64_t column = panel * b.kernels->lanes;
  return {c + column, ldc, b.n - column, bias != nullptr ? bias + column : nullptr};
}

void multiply_in_vectors(base::ThreadPool* pool, int64_t m, const float* a, int64_t lda, const NBitsMatrix& b, float* c,
                         int64_t ldc, const float* bias) {
  const NBitsPanels panels = panels_of(b);
  for_bands(m, 4 * b.k, [&](int64_t row, int64_t rows) {
    for_panels(pool, b, of_plain_vectors(*kernels().gemm_f32).max_vectors, rows, [&](int64_t panel, int count) {
      multiply_floats(b, panels, panel, count, a + row * lda, lda, rows, result_at(b, panel, c + row * ldc, ldc, bias));
    });
  });
}

bool can_multiply_bytes(const NBitsMatrix& b) {
  return b.kernels->multiply_bytes != nullptr && !b.has_table && b.zero_values.bytes() == 0 &&
         b.block <= kMostByteBlock;
}

void matmul_nbits(base::ThreadPool* pool, int64_t m, const float* a, int64_t lda, const NBitsMatrix& b, float* c,
                  int64_t ldc, const float* bias, bool bytes) {
  if (m == 0 || b.n == 0) return;
  if (b.k == 0) return fill_rows(m, b.n, c, ldc, bias);
  if (bytes && can_multiply_bytes(b)) {
    if (!multiply_bytes(pool, m, a, lda, b, c, ldc, bias)) multiply_misfits(pool, m, a, lda, b, c, ldc, bias);
    return;
  }
  if (m == 1 && multiply_row(pool, a, b, c, bias)) return;
  multiply_many(pool, m, a, lda, b, c, ldc, bias);
}

const char* nbits_isa(int64_t m, int64_t n, int64_t k, int64_t block, bool bytes) noexcept {
  const KernelTable& table = kernels();
  if (bytes && suits_tiles(m, block) && table.nbits_tiles != nullptr) return base::isa_name(table.isa);
  return bytes || m == 1 ? base::isa_name(table.nbits->isa) : gemm_isa(m, n, k);
}

}  // namespace ortolan::cpu::kernels
