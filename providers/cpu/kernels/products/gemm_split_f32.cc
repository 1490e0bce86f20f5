// fp32 products on tiles of bfloat16 slices: which products gain by it, and how their blocks are shared among threads.
#include <algorithm>

#include "base/cpu_features.h"
#include "base/threads/run_scope.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/products/gemm_f32_product.h"
#include "cpu/kernels/products/gemm_split_division.h"
#include "cpu/kernels/products/split_f32_kernels.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kSumsBytes = kSplitRows * kSplitColumns * sizeof(float);

// Rows [row, row + rows) and k in [first, first + k), whose tiles lie block after block.
struct SplitBand {
  int64_t row, rows, first, k;
  char* tiles;
  SplitRange* ranges;

  int64_t blocks() const { return divide_up(rows, kSplitRows); }
};

// The tiles of panels [begin, end) of B, one after the other.
struct SplitPanels {
  int64_t begin, end;
  char* tiles;
  SplitRange* ranges;
};

class SplitGemm {
 public:
  SplitGemm(const GemmProduct& p, int slices)
      : p_(p), slices_(slices), kernels_(*kernels().split_f32), panels_(p.n, p.kernels) {}

  void multiply(base::ThreadPool* pool) const {
    const SplitDivision division =
        divide_split(kernels_.costs, {p_.m, p_.n, p_.k}, slices_, threads_of(pool), base::cpu_features().l2_bytes);
    const auto multiply_bands = [&](base::ThreadPool* threads, int64_t begin, int64_t end) {
      for (int64_t row = begin * division.rows; row < std::min(end * division.rows, p_.m); row += division.rows) {
        multiply_rows(threads, division, row, std::min(division.rows, p_.m - row));
      }
    };
    const int64_t bands = divide_up(p_.m, division.rows);
    if (!division.own_rows) return multiply_bands(pool, 0, bands);
    base::parallel_for(pool, bands, 1, [&](int64_t begin, int64_t end) { multiply_bands(nullptr, begin, end); });
  }

 private:
  int64_t columns() const { return divide_up(p_.n, kSplitColumns); }  // panels
  int64_t block_bytes(int64_t k) const { return split_bytes(slices_, k); }
  int kept() const { return slices_kept(p_.b.element, slices_); }
  int64_t products(int64_t k) const { return split_steps(k) * split_products(slices_, kept()); }

  void multiply_rows(base::ThreadPool* pool, const SplitDivision& division, int64_t row, int64_t rows) const {
    const int64_t blocks = divide_up(rows, kSplitRows), shared = division.shared_panels;
    const int64_t bytes = (blocks + shared) * block_bytes(std::min(p_.k, kSplitLongest));
    const auto ranges = (blocks + shared) * static_cast<int64_t>(sizeof(SplitRange));
    const Scratch<char> space(bytes + ranges);
    SplitBand band{row, rows, 0, 0, space.data(), reinterpret_cast<SplitRange*>(space.data() + bytes)};
    for (; band.first < p_.k; band.first += band.k) {
      band.k = std::min(kSplitLongest, p_.k - band.first);
      shared > 0 ? multiply_together(pool, division, band) : multiply_alone(pool, division, band);
    }
  }

  // Each task splits the panels that it multiplies.
  void multiply_alone(base::ThreadPool* pool, const SplitDivision& division, const SplitBand& band) const {
    base::parallel_for(pool, band.blocks(), least_items(split_rows_ns(kernels_.costs, band.k)),
                       [&](int64_t begin, int64_t end) {
                         for (int64_t i = begin; i < end; ++i) split_block(band, i);
                       });
    const int64_t width = division.grid.width;
    base::parallel_for(pool, division.grid.across, 1, [&](int64_t begin, int64_t end) {
      multiply_panels(band, begin * width, std::min(end * width, columns()), division.panels_at_once);
    });
  }

  // The threads split so many panels, then multiply blocks of them.
  void multiply_together(base::ThreadPool* pool, const SplitDivision& division, const SplitBand& band) const {
    const int64_t blocks = band.blocks();
    for (int64_t begin = 0; begin < columns(); begin += division.shared_panels) {
      const SplitPanels panels{begin, std::min(begin + division.shared_panels, columns()),
                               band.tiles + blocks * block_bytes(band.k), band.ranges + blocks};
      const int64_t rows_first = begin == 0 ? blocks : 0;
      base::parallel_for(pool, rows_first + panels.end - begin, least_items(split_rows_ns(kernels_.costs, band.k)),
                         [&](int64_t from, int64_t to) {
                           for (int64_t i = from; i < to; ++i) {
                             i < rows_first ? split_block(band, i) : split_panel(band, panels, i - rows_first);
                           }
                         });
      const GridDivision& grid = division.grid;
      const int64_t across = divide_up(panels.end - begin, grid.width);
      base::parallel_for(pool, divide_up(blocks, grid.height) * across, 1, [&](int64_t from, int64_t to) {
        const SplitScope tiles(kernels_);
        const Scratch<float> sums(kSplitRows * kSplitColumns);
        SplitSequence sequence{sums.data()};
        for (int64_t task = from; task < to; ++task) {
          const int64_t i = task / across * grid.height, first = begin + task % across * grid.width;
          multiply_blocks(sequence, band, panels, {i, std::min(i + grid.height, blocks)},
                          {first, std::min(first + grid.width, panels.end)});
        }
        kernels_.finish(sequence);
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
  // Whether 16 columns may lie in several panels.
  bool is_narrow() const { return p_.b.form == GemmRightForm::kPacked && p_.kernels.lanes < kSplitColumns / 2; }

  void write_columns(const SplitBand& band, int64_t column, int64_t count, float* to) const {
    if (p_.b.form == GemmRightForm::kWritten) {
      return p_.b.columns->write(column, count, band.first, band.k, to, kSplitColumns);
    }
    p_.kernels.pack_panel_transposed(p_.b.data + column * p_.b.stride + band.first, p_.b.stride, band.k, count,
                                     kSplitColumns, to);
  }

  const char* packed_elements() const {
    return p_.b.element == PackedElement::kFloat ? reinterpret_cast<const char*>(p_.b.data)
                                                 : reinterpret_cast<const char*>(p_.b.shorts);
  }

  // Where they lie in panels that are narrower than halves, and whole vectors of four wide.
  ColumnSource fours_of(const SplitBand& band, int64_t column, int64_t count) const {
    ColumnSource source{{}, {}, band.k, count, p_.b.element};
    const int64_t bytes = p_.b.element == PackedElement::kFloat ? 4 : 2;
    for (int64_t at = column; at < column + count; at += 4) {
      const int64_t panel = panels_.panel_of(at), start = panels_.first_column(panel), width = panels_.width(panel);
      const int64_t i = (at - column) / 4;
      source.four[i] = packed_elements() + (start * p_.k + band.first * width + (at - start)) * bytes;
      source.four_step[i] = width;
    }
    return source;
  }

  // `written`: room for them.
  ColumnSource columns_of(const SplitBand& band, int64_t panel, float* written) const {
    const int64_t column = panel * kSplitColumns;
    ColumnSource source{{}, {}, band.k, std::min(kSplitColumns, p_.n - column)};
    if (writes_columns()) {
      write_columns(band, column, source.columns, written);
      return {{written, written + 16}, {kSplitColumns, kSplitColumns}, band.k, source.columns};
    }
    if (is_narrow()) return fours_of(band, column, source.columns);
    find_half(column, band.first, source, 0);
    if (source.columns > 16) find_half(column + 16, band.first, source, 1);
    return source;
  }

  SplitPrefetch prefetch_of(const SplitBand& band, int64_t panel, int64_t at_once) const {
    SplitPrefetch streams;
    if (writes_columns() || is_narrow()) return streams;
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

  void split_panel(const SplitBand& band, const SplitPanels& panels, int64_t i) const {
    const Scratch<float> written(writes_columns() ? band.k * kSplitColumns : 1);
    kernels_.split_columns(slices_, columns_of(band, panels.begin + i, written.data()),
                           panels.tiles + i * block_bytes(band.k), &panels.ranges[i]);
  }

  struct Range {
    int64_t begin, end;
  };

  void multiply_block(SplitSequence& sequence, const SplitBand& band, const SplitPanels& panels, int64_t i,
                      int64_t panel) const {
    SplitBlock block = block_of(band, panel, i);
    block.b = panels.tiles + (panel - panels.begin) * block_bytes(band.k);
    block.b_range = &panels.ranges[panel - panels.begin];
    kernels_.multiply(sequence, block);
  }

  void multiply_blocks(SplitSequence& sequence, const SplitBand& band, const SplitPanels& panels, Range rows,
                       Range columns) const {
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      for (int64_t panel = columns.begin; panel < columns.end; ++panel)
        multiply_block(sequence, band, panels, i, panel);
    }
  }

  // Fetches the tiles of a block beside the products of so many others.
  void fetch_block(SplitSequence& sequence, const SplitBand& band, int64_t i, int64_t products) const {
    const int64_t bytes = block_bytes(band.k), sweeps = slices_ > 1 ? 2 : 1;
    sequence.ahead = band.tiles + i * bytes;
    sequence.ahead_bytes = round_up(divide_up(bytes, sweeps * split_steps(band.k) * products), 64);
  }

  // All blocks of the band and panels [begin, end), `at_once` of them over each block of rows. What the next ones are
  // split from is fetched while tiles are multiplied; splitting beside products takes longer than before them.
  void multiply_panels(const SplitBand& band, int64_t begin, int64_t end, int64_t at_once) const {
    const int64_t ranges_at = kSumsBytes + at_once * block_bytes(band.k);
    const Scratch<char> space(ranges_at + at_once * static_cast<int64_t>(sizeof(SplitRange)));
    SplitSequence sequence{reinterpret_cast<float*>(space.data())};
    const int64_t blocks = band.blocks(), lines = divide_up(band.k, 2 * blocks * products(band.k));
    const SplitScope tiles(kernels_);
    for (int64_t first = begin; first < end; first += at_once) {
      const SplitPanels now{first, std::min(first + at_once, end), space.data() + kSumsBytes,
                            reinterpret_cast<SplitRange*>(space.data() + ranges_at)};
      for (int64_t i = 0; i < now.end - first; ++i) split_panel(band, now, i);
      int64_t coming = now.end, multiplied = 0;
      for (int64_t i = 0; i < blocks; ++i) {
        if (at_once > 1) fetch_block(sequence, band, (i + 1) % blocks, now.end - first);
        for (int64_t panel = first; panel < now.end; ++panel, ++multiplied) {
          const bool fetches = multiplied % blocks == 0 && coming < std::min(now.end + at_once, end);
          if (fetches) sequence.prefetch = prefetch_of(band, coming++, lines);
          multiply_block(sequence, band, now, i, panel);
        }
      }
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
  const SplitF32Kernels* tiles = kernels().split_f32;
  if (tiles == nullptr || base::fp32_precision() == base::Fp32Precision::kExact) return 0;
  const int slices = base::fp32_precision() == base::Fp32Precision::kBf16 ? 1
                     : base::fp32_precision() == base::Fp32Precision::kX3 ? 2
                                                                          : 3;
  return tiles->names[slices - 1] != nullptr ? slices : 0;
}

int gemm_slices(int64_t m, int64_t n, int64_t k) noexcept {
  const int slices = split_slices();
  return slices != 0 && gains_on_tiles(kernels().split_f32->costs, {m, n, k}, slices) ? slices : 0;
}

const char* gemm_isa(int64_t m, int64_t n, int64_t k) noexcept {
  const int slices = gemm_slices(m, n, k);
  return slices != 0 ? kernels().split_f32->names[slices - 1] : base::isa_name(kernels().gemm_f32->isa);
}

bool multiply_split(base::ThreadPool* pool, const GemmProduct& product, int64_t all_rows) {
  if (kernels().gemm_f32 != &product.kernels || product.b.form == GemmRightForm::kInPlace) return false;
  const int slices = gemm_slices(all_rows, product.n, product.k);
  if (slices == 0) return false;
  multiply_on_tiles(pool, product, slices);
  return true;
}

void multiply_on_tiles(base::ThreadPool* pool, const GemmProduct& product, int slices) {
  SplitGemm(product, slices).multiply(pool);
}

}  // namespace ortolan::cpu::kernels
