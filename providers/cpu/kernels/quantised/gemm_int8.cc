// Products of bytes: sharing among threads, zero points, requantisation.
#include "cpu/kernels/quantised/gemm_int8.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/kernels/elementwise/convert.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/quantised/gemm_int8_kernels.h"
#include "cpu/kernels/quantised/int8_division.h"
#include "cpu/kernels/scratch.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kLeastTileRows = 4;
constexpr int64_t kSlackWords = 1024;  // past a panel, for what prefetches past its end

// Row sums of a left operand that is read in place.
template <class T>
void sum_rows(base::ThreadPool* pool, const T* a, int64_t stride, int64_t rows, int64_t k, int32_t* sums) {
  const double row_ns = static_cast<double>(k) * kSumByteNs;
  base::parallel_for(pool, rows, least_items(row_ns), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int32_t total = 0;
      for (int64_t i = 0; i < k; ++i) total += a[row * stride + i];
      sums[row] = total;
    }
  });
}

// Zero points as 32-bit integers after a shift; `count` of them where per element, else one.
std::vector<int32_t> shifted(const void* zeros, bool is_signed, bool per_element, int64_t count, int32_t shift) {
  std::vector<int32_t> values(per_element ? count : 1, shift);
  if (zeros == nullptr) return values;
  for (size_t i = 0; i < values.size(); ++i) values[i] += byte_at(zeros, static_cast<int64_t>(i), is_signed);
  return values;
}

bool any_nonzero(const std::vector<int32_t>& values) {
  return std::any_of(values.begin(), values.end(), [](int32_t v) { return v != 0; });
}

int32_t wrapping_product(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}

VectorF32Kernels::Unary function_of(Activation activation) {
  return kernels().vector->unary[static_cast<int>(activation.op)];
}

void include_rows(const float* x, int64_t n, int64_t rows, int64_t stride, ValueRange& range) {
  for (int64_t i = 0; i < rows; ++i) {
    ValueRange of_row;
    min_max(x + i * stride, n, &of_row.low, &of_row.high);
    range.include(of_row);
  }
}

// y = activation(x) of a block whose rows lie side by side; a few rows at a time, so that what stores wait for goes on
// beside the next rows.
void activate(Activation activation, const Int8Block& g, float* y, int64_t ldy, ValueRange* range) {
  constexpr int64_t kRows = 8;
  auto* x = reinterpret_cast<float*>(g.c);
  if (activation.op == UnaryOp::kGelu) {
    return kernels().vector->gelu_rows(x, g.columns, g.rows, g.columns, y, ldy, range);
  }
  const auto apply = function_of(activation);
  for (int64_t row = 0; row < g.rows; row += kRows, x += kRows * g.columns, y += kRows * ldy) {
    const int64_t rows = std::min(kRows, g.rows - row);
    apply(x, x, rows * g.columns, activation.p0, activation.p1);
    if (range != nullptr) include_rows(x, rows * g.columns, 1, 0, *range);
    for (int64_t i = 0; i < rows; ++i) std::memcpy(y + i * ldy, x + i * g.columns, g.columns * sizeof(float));
  }
}

}  // namespace

void correct_block(const GemmInt8Kernels& kernels, int64_t k, const ShiftedZeros& zeros, const int32_t* row_sums,
                   const int32_t* column_sums, int64_t rows, int64_t columns, int32_t* c, int64_t ldc) {
  int32_t adjusted[kMostColumns];
  for (int64_t j = 0; j < columns; ++j) {
    adjusted[j] = static_cast<int32_t>(static_cast<uint32_t>(column_sums[j]) -
                                       static_cast<uint32_t>(k) * static_cast<uint32_t>(zeros.b[j]));
  }
  for (int64_t i = 0; i < rows; ++i) {
    kernels.correct_row(c + i * ldc, columns, zeros.a[zeros.a_per_row ? i : 0], adjusted, row_sums[i], zeros.b);
  }
}

namespace {

// Inlined by force: to the compiler, a call of a function that only prefetches does nothing.
template <class T>
__attribute__((always_inline)) inline void fetch(const T* p, int64_t count) {
  for (int64_t i = 0; i < count; i += 64 / sizeof(T)) __builtin_prefetch(p + i);
  __builtin_prefetch(p + count - 1);
}

// A panel of B: its words, and the sums of its columns.
struct Panel {
  int64_t index;
  const int32_t* words;
  const int32_t* sums;
};

// A product as its blocks see it. Sums become floats where there is an epilogue.
struct ProductInt8 {
  base::ThreadPool* pool;
  const RightInt8& b;
  const GemmInt8Kernels& packing;  // what B is packed for
  const GemmInt8Kernels& kernels;  // what multiplies: the same, or its vectors
  PanelSplit split = PanelSplit(b.n, packing);
  int64_t m;
  bool a_signed;                                        // as the kernels take it
  const int32_t *b_words = nullptr, *b_sums = nullptr;  // B's panels and the sums of its columns, once all are packed
  LeftInt8 left{};
  Scratch<uint8_t> left_space;                               // where A is packed
  Scratch<int32_t> row_sums_space, words_space, sums_space;  // and where its sums, and all of B, are made
  std::vector<int32_t> a_zeros, b_zeros;                     // after the shifts; b_zeros: one a column
  bool a_per_row = false;
  bool needs_row_sums = false;
  int32_t* c = nullptr;
  int64_t ldc = 0;
  const SumEpilogue* epilogue = nullptr;
  mutable std::mutex range_mutex;  // of epilogue->range

  ProductInt8(base::ThreadPool* pool, int64_t m, const ByteMatrix& a, const RightInt8& b,
              const GemmInt8Kernels& packing, const ZeroPoints& zero_points);
  void run();

 private:
  void set_left(const ByteMatrix& a);
  bool starts_corrected() const { return !a_per_row && !needs_row_sums; }
  bool corrects() const { return !starts_corrected() && (needs_row_sums || any_nonzero(a_zeros)); }
  double panel_ns() const { return byte_sums_ns(kernels, m, split.width(0), kernels.groups(b.k)); }
  Panel panel_of_packed(int64_t index) const;
  Panel pack(int64_t index, int32_t* space) const;
  void pack_all();
  void run_packed() const;
  void pack_and_run() const;
  Int8Block block(const Panel& panel, int64_t row, int64_t rows) const;
  __attribute__((always_inline)) void fetch_columns(const Panel& panel) const;
  void correct(const Int8Block& g, const Panel& panel, int64_t row) const;
  void multiply(const Panel& panel, int64_t row, int64_t rows, ValueRange& range) const;
  void multiply_to_floats(const Panel& panel, int64_t row, Int8Block g, ValueRange& range) const;
  void include(const ValueRange& range) const;
};

ProductInt8::ProductInt8(base::ThreadPool* pool, int64_t m, const ByteMatrix& a, const RightInt8& b,
                         const GemmInt8Kernels& packing, const ZeroPoints& zero_points)
    : pool(pool),
      b(b),
      packing(packing),
      kernels(m < kLeastTileRows ? packing.without_tiles() : packing),
      m(m),
      a_signed(kernels.signed_left || (a.is_signed && kernels.a_signs)),
      a_zeros(shifted(zero_points.a, a.is_signed, zero_points.a_per_row, m, kernels.a_shift(a.is_signed))),
      a_per_row(zero_points.a_per_row) {
  const bool b_signed = b.packed != nullptr ? b.packed->is_signed : b.bytes.is_signed;
  b_zeros = shifted(zero_points.b, b_signed, zero_points.b_per_column, b.n, -packing.b_shift(b_signed));
  needs_row_sums = any_nonzero(b_zeros);
  b_zeros.resize(split.padded(), zero_points.b_per_column ? 0 : b_zeros[0]);
  if (b.packed != nullptr) b_words = b.packed->data.as<int32_t>(), b_sums = b.packed->column_sums();
  set_left(a);
}

void ProductInt8::set_left(const ByteMatrix& a) {
  const bool in_place = kernels.group == 4 && a.is_signed == a_signed && !a.transposed &&
                        kernels.rows_together() == 1 && b.k % (4 * kernels.filled) == 0;
  if (!in_place) {
    left_space = Scratch<uint8_t>(left_bytes(kernels, m, b.k));
    left = pack_left(pool, kernels, m, b.k, a, left_space.data());
    return;
  }
  left = {static_cast<const uint8_t*>(a.data), a.stride, nullptr, 0};
  if (!needs_row_sums && !a_per_row) return;
  row_sums_space = Scratch<int32_t>(m);
  int32_t* const sums = row_sums_space.data();
  left.row_sums = sums;
  if (needs_row_sums && a_signed) {
    sum_rows(pool, static_cast<const int8_t*>(a.data), a.stride, m, b.k, sums);
  } else if (needs_row_sums) {
    sum_rows(pool, left.data, a.stride, m, b.k, sums);
  } else {
    std::fill_n(sums, m, 0);
  }
}

Panel ProductInt8::panel_of_packed(int64_t index) const {
  const int64_t column = split.first_column(index);
  return {index, b_words + column * packing.panel_groups(b.k), b_sums + column};
}

Panel ProductInt8::pack(int64_t index, int32_t* space) const {
  int32_t* sums = space + packing.groups(b.k) * packing.lanes * packing.max_vectors;
  std::fill_n(sums, kMostColumns, 0);
  pack_panel(packing, split, index, b.k, b.bytes, space, sums);
  return {index, space, sums};
}

// Asks for what a panel reads once for each column.
inline void ProductInt8::fetch_columns(const Panel& panel) const {
  const int64_t column = split.first_column(panel.index), columns = split.columns(panel.index);
  fetch(panel.sums, columns);
  if (epilogue == nullptr) return;
  if (epilogue->bias != nullptr) fetch(epilogue->bias + column, columns);
}

Int8Block ProductInt8::block(const Panel& panel, int64_t row, int64_t rows) const {
  Int8Block g{left.data + row * left.stride,
              left.stride,
              panel.words,
              c + row * ldc + split.first_column(panel.index),
              ldc,
              rows,
              split.columns(panel.index),
              kernels.groups(b.k)};
  g.a_signed = a_signed;
  if (b_words != nullptr && panel.index + 1 < split.count()) {
    const Panel next = panel_of_packed(panel.index + 1);
    g.next = next.words;
    g.next_bytes = split.width(next.index) * packing.panel_groups(b.k) * 4;
    fetch_columns(next);
  }
  return g;
}

void ProductInt8::correct(const Int8Block& g, const Panel& panel, int64_t row) const {
  correct_block(kernels, b.k,
                {a_zeros.data() + (a_per_row ? row : 0), a_per_row, b_zeros.data() + split.first_column(panel.index)},
                left.row_sums + row, panel.sums, g.rows, g.columns, g.c, g.ldc);
}

void ProductInt8::multiply(const Panel& panel, int64_t row, int64_t rows, ValueRange& range) const {
  Int8Block g = block(panel, row, rows);
  int32_t start[kMostColumns];
  if (starts_corrected() && a_zeros[0] != 0) {
    for (int64_t j = 0; j < g.columns; ++j) start[j] = wrapping_product(-a_zeros[0], panel.sums[j]);
    g.start = start;
  }
  if (epilogue != nullptr) return multiply_to_floats(panel, row, g, range);
  kernels.block(split.vectors(panel.index), g);
  if (corrects()) correct(g, panel, row);
}

void ProductInt8::multiply_to_floats(const Panel& panel, int64_t row, Int8Block g, ValueRange& range) const {
  const int64_t column = split.first_column(panel.index);
  float scales[kMostColumns];
  const SumEpilogue& e = *epilogue;
  for (int64_t j = 0; j < g.columns; ++j) scales[j] = e.scale[e.scale_per_column ? column + j : 0];
  if (e.bias != nullptr) g.bias = e.bias + column;
  if (e.residual != nullptr) g.residual = e.residual + row * e.residual_stride + column;
  g.residual_stride = e.residual_stride;
  if (!corrects()) g.scale = scales;
  // Gelu of a whole block at once takes less time than of its rows beside tile products.
  const bool active = e.activation.op != UnaryOp::kIdentity, whole = corrects() || e.activation.op == UnaryOp::kGelu;
  const bool in_block = active && kernels.activates && !whole;
  if (in_block) {
    g.activation = function_of(e.activation);
    g.p0 = e.activation.p0, g.p1 = e.activation.p1;
  }
  auto* y = reinterpret_cast<float*>(g.c);
  Scratch<int32_t> inner;
  if (active && !in_block) {
    inner = Scratch<int32_t>(g.rows * g.columns);
    g.c = inner.data();
    g.ldc = g.columns;
  }
  kernels.block(split.vectors(panel.index), g);
  if (corrects()) {
    correct(g, panel, row);
    g.scale = scales;
    kernels.to_floats(g);
  }
  ValueRange* wanted = e.range != nullptr ? &range : nullptr;
  if (active && !in_block) return activate(e.activation, g, y, ldc, wanted);
  if (wanted != nullptr) include_rows(y, g.columns, g.rows, ldc, range);
}

void ProductInt8::include(const ValueRange& range) const {
  if (epilogue == nullptr || epilogue->range == nullptr) return;
  const std::lock_guard lock(range_mutex);
  epilogue->range->include(range);
}

void ProductInt8::run() {
  if (b_words == nullptr && packs_before(m, split.count(), panel_ns(), threads_of(pool))) pack_all();
  b_words != nullptr ? run_packed() : pack_and_run();
}

void ProductInt8::pack_all() {
  const int64_t padded = split.padded();
  words_space = Scratch<int32_t>(packing.groups(b.k) * padded + kSlackWords);
  sums_space = Scratch<int32_t>(padded);
  pack_panels(pool, packing, split, b.k, b.bytes, words_space.data(), sums_space.data());
  b_words = words_space.data(), b_sums = sums_space.data();
}

void ProductInt8::run_packed() const {
  const Grid grid = byte_product_grid(kernels, m, kernels.groups(b.k), split);
  const GridDivision d = divide_grid(grid, threads_of(pool));
  const int64_t height = d.height * kernels.tile_rows, panels = split.count();
  base::parallel_for(pool, d.tasks(), least_items(task_ns(grid, d)), [&](int64_t begin, int64_t end) {
    const Int8Blocks blocks(kernels);
    ValueRange range;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / d.across * height, first = i % d.across * d.width;
      for (int64_t panel = first; panel < std::min(panels, first + d.width); ++panel) {
        multiply(panel_of_packed(panel), row, std::min(height, m - row), range);
      }
    }
    include(range);
  });
}

void ProductInt8::pack_and_run() const {
  const int64_t words_of_panel = packing.groups(b.k) * packing.lanes * packing.max_vectors;
  const double pack_ns = static_cast<double>(b.k * split.width(0)) * kPackByteNs;
  base::parallel_for(pool, split.count(), least_items(panel_ns() + pack_ns), [&](int64_t begin, int64_t end) {
    const Int8Blocks blocks(kernels);
    const Scratch<int32_t> space(words_of_panel + kMostColumns + kSlackWords);
    ValueRange range;
    for (int64_t i = begin; i < end; ++i) multiply(pack(i, space.data()), 0, m, range);
    include(range);
  });
}

// Runs what `set` completes.
template <class Set>
void multiply(base::ThreadPool* pool, int64_t m, const ByteMatrix& a, const RightInt8& b, const ZeroPoints& zero_points,
              Set set) {
  if (m == 0 || b.n == 0) return;
  const GemmInt8Kernels* chosen = b.packed != nullptr ? b.packed->kernels : b.kernels;
  ProductInt8 product(pool, m, a, b, chosen != nullptr ? *chosen : *kernels().gemm_int8, zero_points);
  set(product);
  product.run();
}

}  // namespace

void gemm_int8(base::ThreadPool* pool, int64_t m, const ByteMatrix& a, const RightInt8& b,
               const ZeroPoints& zero_points, int32_t* c, int64_t ldc) {
  multiply(pool, m, a, b, zero_points, [&](ProductInt8& product) {
    product.c = c;
    product.ldc = ldc;
  });
}

void gemm_int8_to_float(base::ThreadPool* pool, int64_t m, const ByteMatrix& a, const RightInt8& b,
                        const ZeroPoints& zero_points, const SumEpilogue& epilogue, float* y, int64_t ldy) {
  multiply(pool, m, a, b, zero_points, [&](ProductInt8& product) {
    product.c = reinterpret_cast<int32_t*>(y);
    product.ldc = ldy;
    product.epilogue = &epilogue;
  });
}

template <class T>
void requantize(base::ThreadPool* pool, int64_t m, int64_t n, const int32_t* c, int64_t ldc, const int32_t* bias,
                const float* scale, bool scale_per_column, int32_t zero_point, T* y, int64_t ldy) {
  const auto row = kernels().convert->requantize_row;
  const double row_ns = static_cast<double>(n) * kRequantizeNs;
  base::parallel_for(pool, m, least_items(row_ns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      row(c + i * ldc, n, bias, scale, scale_per_column, zero_point, std::is_signed_v<T>, y + i * ldy);
    }
  });
}

template void requantize(base::ThreadPool*, int64_t, int64_t, const int32_t*, int64_t, const int32_t*, const float*,
                         bool, int32_t, int8_t*, int64_t);
template void requantize(base::ThreadPool*, int64_t, int64_t, const int32_t*, int64_t, const int32_t*, const float*,
                         bool, int32_t, uint8_t*, int64_t);

void dequantize_sums(base::ThreadPool* pool, int64_t m, int64_t n, const int32_t* c, int64_t ldc, const float* scale,
                     bool scale_per_column, const float* bias, float* y, int64_t ldy) {
  const double row_ns = static_cast<double>(n) * kRequantizeNs;
  base::parallel_for(pool, m, least_items(row_ns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int32_t* from = c + i * ldc;
      float* to = y + i * ldy;
      if (scale_per_column) {
        for (int64_t j = 0; j < n; ++j) to[j] = static_cast<float>(from[j]) * scale[j];
      } else {
        for (int64_t j = 0; j < n; ++j) to[j] = static_cast<float>(from[j]) * scale[0];
      }
      if (bias == nullptr) continue;
      for (int64_t j = 0; j < n; ++j) to[j] += bias[j];
    }
  });
}

}  // namespace ortolan::cpu::kernels
