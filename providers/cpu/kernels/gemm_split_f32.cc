// fp32 products on tiles of bfloat16 slices: which products gain by it, and how their blocks are shared among threads.
#include <algorithm>

#include "base/run_scope.h"
#include "base/thread_pool.h"
#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/gemm_f32_product.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/lengths.h"
#include "cpu/kernels/split_f32_kernels.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kMostRows = 1024;   // of A that stay split while panels of B pass over them
constexpr int64_t kFewestRows = 128;  // the same where threads could have less
constexpr int64_t kSumsBytes = kSplitRows * kSplitColumns * sizeof(float);
constexpr double kSplitGrainFlops = 2e6;  // work worth a thread

// Nanoseconds of one core with AMX: a product of tiles and all else of a block, splitting an element of A and of B (the
// latter beside tile products), and a multiplication and addition in plain arithmetic.
constexpr double kTileNs = 6.6, kBlockNs = 200, kSplitANs = 0.25, kSplitBNs = 0.13, kPlainNs = 0.0111;

bool gains(int64_t m, int64_t n, int64_t k, int slices) {
  if (m < kSplitRows || n < kSplitColumns || k < 2 * kSplitStep) return false;
  const double rows = static_cast<double>(m), columns = static_cast<double>(n), depth = static_cast<double>(k);
  // A half that is missing takes half the time.
  const double blocks = static_cast<double>(divide_up(m, kSplitRows / 2) * divide_up(n, kSplitColumns / 2)) / 4;
  const double tiles = 4 * static_cast<double>(split_steps(k) * split_products(slices, slices));
  const double sums = blocks * (tiles * kTileNs + static_cast<double>(divide_up(k, kSplitLongest)) * kBlockNs);
  const double splits = depth * (rows * kSplitANs + columns * kSplitBNs);
  return sums + splits < 0.9 * rows * columns * depth * kPlainNs;
}

// Rows [row, row + rows) and k in [first, first + k), whose tiles lie block after block.
struct SplitBand {
  int64_t row, rows, first, k;
  char* tiles;
  SplitRange* ranges;

  int64_t blocks() const { return divide_up(rows, kSplitRows); }
};

class SplitGemm {
 public:
  SplitGemm(const GemmProduct& p, int slices)
      : p_(p), slices_(slices), kernels_(*kernels().split_f32), panels_(p.n, p.kernels) {}

  void multiply(base::ThreadPool* pool) const {
    const int degree = threads(pool);
    if (degree == 1 || columns() < 2 * degree || p_.m >= 2 * degree * kFewestRows) {
      multiply_bands(pool, degree);
    } else {
      multiply_together(pool, degree);
    }
  }

 private:
  int threads(base::ThreadPool* pool) const {
    if (pool == nullptr || base::ThreadPool::inside_loop()) return 1;
    const double flops = 2.0 * static_cast<double>(p_.m) * static_cast<double>(p_.n) * static_cast<double>(p_.k);
    return static_cast<int>(std::clamp(flops / kSplitGrainFlops, 1.0, static_cast<double>(pool->degree())));
  }
  int64_t columns() const { return divide_up(p_.n, kSplitColumns); }  // blocks of them
  int64_t block_bytes(int64_t k) const { return split_bytes(slices_, k); }
  int kept() const { return slices_kept(p_.b.element, slices_); }

  // Rows whose tiles leave room in the second-level cache, nearly the same for each band, and whole blocks.
  int64_t rows_at_once(int64_t bands_wanted) const {
    const int64_t room = base::cpu_features().l2_bytes / 8 * 5 / block_bytes(std::min(p_.k, kSplitLongest));
    const int64_t most = std::clamp(room * kSplitRows, kFewestRows, kMostRows);
    const int64_t bands = std::max(divide_up(p_.m, most), bands_wanted);
    return divide_up(divide_up(p_.m, bands), kSplitRows) * kSplitRows;
  }

  // Calls f with each band of these rows, its tiles still to be written.
  template <class F>
  void for_each_part(int64_t row, int64_t rows, F f) const {
    const int64_t blocks = divide_up(rows, kSplitRows), tiles = blocks * block_bytes(std::min(p_.k, kSplitLongest));
    char* space = thread_scratch<char>(Scratch::kSplitA, tiles + blocks * static_cast<int64_t>(sizeof(SplitRange)));
    SplitBand band{row, rows, 0, 0, space, reinterpret_cast<SplitRange*>(space + tiles)};
    for (; band.first < p_.k; band.first += band.k) {
      band.k = std::min(kSplitLongest, p_.k - band.first);
      f(band);
    }
  }

  // Each thread has bands of its own.
  void multiply_bands(base::ThreadPool* pool, int degree) const {
    const int64_t rows = rows_at_once(degree == 1 ? 1 : 2 * degree);
    const int64_t bands = divide_up(p_.m, rows);
    base::parallel_for(pool, bands, divide_up(bands, 2 * degree), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin * rows; row < std::min(end * rows, p_.m); row += rows) {
        for_each_part(row, std::min(rows, p_.m - row), [&](const SplitBand& band) {
          for (int64_t i = 0; i < band.blocks(); ++i) split_block(band, i);
          multiply_panels(band, 0, columns());
        });
      }
    });
  }

  // The threads share the tiles of A, and each has panels of B.
  void multiply_together(base::ThreadPool* pool, int degree) const {
    const int64_t rows = rows_at_once(1);
    for (int64_t row = 0; row < p_.m; row += rows) {
      for_each_part(row, std::min(rows, p_.m - row), [&](const SplitBand& band) {
        base::parallel_for(pool, band.blocks(), 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) split_block(band, i);
        });
        base::parallel_for(pool, columns(), divide_up(columns(), 4 * degree),
                           [&](int64_t begin, int64_t end) { multiply_panels(band, begin, end); });
      });
    }
  }

  void split_block(const SplitBand& band, int64_t i) const {
    const int64_t row = band.row + i * kSplitRows;
    const RowSource source{p_.a.data + row * p_.a.stride + band.first, p_.a.stride,
                           std::min(kSplitRows, band.row + band.rows - row), band.k};
    kernels_.split_rows(slices_, source, band.tiles + i * block_bytes(band.k), &band.ranges[i]);
  }

  // Where 16 columns lie, from row `first` on.
  void find_half(int64_t column, int64_t first, ColumnSource& source, int half) const {
    const GemmRight& b = p_.b;
    if (b.form == GemmRightForm::kPacked) {
      const int64_t panel = panels_.panel_of(column), start = panels_.first_column(panel), width = panels_.width(panel);
      const int64_t at = start * p_.k + first * width + (column - start);
      source.element = b.element;
      source.half[half] = b.element == PackedElement::kFloat ? static_cast<const void*>(b.data + at) : b.shorts + at;
      source.step[half] = width;
    } else {
      source.half[half] = b.data + first * b.stride + column;
      source.step[half] = b.stride;
    }
  }

  // Whether columns lie as rows, or nowhere yet.
  bool writes_columns() const { return p_.b.form == GemmRightForm::kColumns || p_.b.form == GemmRightForm::kWritten; }

  void write_columns(const SplitBand& band, int64_t column, int64_t count, float* to) const {
    if (p_.b.form == GemmRightForm::kWritten) {
      return p_.b.columns->write(column, count, band.first, band.k, to, kSplitColumns);
    }
    p_.kernels.pack_panel_transposed(p_.b.data + column * p_.b.stride + band.first, p_.b.stride, band.k, count,
                                     kSplitColumns, to);
  }

  // `written`: room for them.
  ColumnSource columns_of(const SplitBand& band, int64_t panel, float* written) const {
    const int64_t column = panel * kSplitColumns;
    ColumnSource source{{}, {}, band.k, std::min(kSplitColumns, p_.n - column)};
    if (writes_columns()) {
      write_columns(band, column, source.columns, written);
      return {{written, written + 16}, {kSplitColumns, kSplitColumns}, band.k, source.columns};
    }
    find_half(column, band.first, source, 0);
    if (source.columns > 16) find_half(column + 16, band.first, source, 1);
    return source;
  }

  SplitPrefetch prefetch_of(const SplitBand& band, int64_t panel, int64_t at_once) const {
    SplitPrefetch streams;
    if (writes_columns()) return streams;
    const ColumnSource source = columns_of(band, panel, nullptr);
    const int last = source.columns > 16;
    for (int i = 0; i < 2; ++i) {
      streams.at[i] = static_cast<const char*>(source.half[i * last]);
      streams.step[i] = source.step[i * last] * (source.element == PackedElement::kFloat ? 4 : 2);
    }
    streams.lines = band.k;
    streams.at_once = at_once;
    return streams;
  }

  SplitBlock block_of(const SplitBand& band, int64_t panel, int64_t i) const {
    const int64_t row = band.row + i * kSplitRows, column = panel * kSplitColumns;
    SplitBlock block{slices_, split_steps(band.k), band.tiles + i * block_bytes(band.k), &band.ranges[i]};
    block.b_element = p_.b.element;
    GemmFinish& finish = block.finish;
    finish.c = p_.c + row * p_.ldc + column;
    finish.ldc = p_.ldc;
    finish.rows = std::min(kSplitRows, band.row + band.rows - row);
    finish.columns = std::min(kSplitColumns, p_.n - column);
    finish.alpha = p_.epilogue.alpha;
    finish.c_scale = band.first == 0 ? p_.epilogue.beta : 1;
    if (band.first + band.k < p_.k) return block;
    set_finish(p_.epilogue, row, column, finish);
    const Activation& activation = p_.epilogue.activation;
    if (is_clamp(activation.op)) return block;
    block.activate = kernels().vector->unary[static_cast<int>(activation.op)];
    block.p0 = activation.p0;
    block.p1 = activation.p1;
    return block;
  }

  // All blocks of the band and panels [begin, end). The next panel is split while the tiles of one are multiplied.
  void multiply_panels(const SplitBand& band, int64_t begin, int64_t end) const {
    const int64_t bytes = block_bytes(band.k), written = writes_columns() ? band.k * 128 : 0;
    char* space = thread_scratch<char>(Scratch::kSplitB, 2 * bytes + kSumsBytes + written);
    float* columns = reinterpret_cast<float*>(space + 2 * bytes + kSumsBytes);
    SplitSequence sequence{reinterpret_cast<float*>(space + 2 * bytes)};
    SplitRange ranges[2];
    const int64_t steps = band.blocks() * split_steps(band.k), products = steps * split_products(slices_, kept());
    const auto split_of = [&](int64_t panel) {
      return ColumnSplit(columns_of(band, panel, columns), slices_, space + panel % 2 * bytes, &ranges[panel % 2]);
    };
    const SplitScope tiles(kernels_);
    ColumnSplit split = split_of(begin);
    for (int64_t panel = begin; panel < end; ++panel) {
      kernels_.split_columns(split, INT64_MAX);
      if (panel + 1 < end) {
        split = split_of(panel + 1);
        sequence.next = &split;
        sequence.units_at_once = divide_up(split.units, products);
        if (panel + 2 < end) sequence.prefetch = prefetch_of(band, panel + 2, divide_up(band.k, 2 * products));
      }
      for (int64_t i = 0; i < band.blocks(); ++i) {
        SplitBlock block = block_of(band, panel, i);
        block.b = space + panel % 2 * bytes;
        block.b_range = &ranges[panel % 2];
        kernels_.multiply(sequence, block);
      }
      sequence.next = nullptr;
    }
    kernels_.finish(sequence);
  }

  const GemmProduct& p_;
  const int slices_;
  const SplitF32Kernels& kernels_;
  const PanelSplit panels_;
};

}  // namespace

int split_slices() noexcept {
  if (kernels().split_f32 == nullptr) return 0;
  switch (base::fp32_precision()) {
    case base::Fp32Precision::kX6:
      return 3;
    case base::Fp32Precision::kX3:
      return 2;
    case base::Fp32Precision::kBf16:
      return 1;
    case base::Fp32Precision::kExact:
      break;
  }
  return 0;
}

int gemm_slices(int64_t m, int64_t n, int64_t k) noexcept {
  const int slices = split_slices();
  return slices != 0 && gains(m, n, k, slices) ? slices : 0;
}

const char* gemm_isa(int64_t m, int64_t n, int64_t k) noexcept {
  constexpr const char* kTiles[] = {"amx bf16", "amx bf16x3", "amx bf16x6"};
  const int slices = gemm_slices(m, n, k);
  return slices != 0 ? kTiles[slices - 1] : base::isa_name(kernels().gemm_f32->isa);
}

bool multiply_split(base::ThreadPool* pool, const GemmProduct& product) {
  if (kernels().gemm_f32 != &product.kernels || product.b.form == GemmRightForm::kInPlace) return false;
  const int slices = gemm_slices(product.m, product.n, product.k);
  if (slices == 0) return false;
  multiply_on_tiles(pool, product, slices);
  return true;
}

void multiply_on_tiles(base::ThreadPool* pool, const GemmProduct& product, int slices) {
  SplitGemm(product, slices).multiply(pool);
}

}  // namespace ortolan::cpu::kernels
