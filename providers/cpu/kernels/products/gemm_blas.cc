// Blocks of products by OpenBLAS, each on the thread that asks for it. What OpenBLAS cannot express is a plain loop.
#include "cpu/kernels/products/gemm_blas.h"

#include <cblas.h>

#include <algorithm>
#include <bit>
#include <climits>

#include "base/small_float.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/vectors/lengths.h"

// Of newer versions; in those before, only the whole process has a number of threads.
extern "C" int openblas_set_num_threads_local(int) __attribute__((weak));

namespace ortolan::cpu::kernels {
namespace generic {
extern const GemmF32Kernels kGemmF32;
}

namespace {

constexpr int kLanes = 4, kVectors = 16, kTileRows = 8;
constexpr int64_t kWidth = kLanes * kVectors;  // of the widest panel
constexpr int64_t kRowsF64 = 64, kColumnsF64 = 64;

// OpenBLAS multiplies on the thread that calls it: the threads are this library's.
void keep_to_this_thread() {
  if (openblas_set_num_threads_local != nullptr) {
    thread_local const int before = openblas_set_num_threads_local(1);
    static_cast<void>(before);
  } else {
    static const bool once = (openblas_set_num_threads(1), true);
    static_cast<void>(once);
  }
}

template <class T>
struct Matrix {
  const T* data;
  int64_t stride;
  bool transposed;  // columns are `stride` apart, their elements side by side

  T at(int64_t i, int64_t j) const { return transposed ? data[j * stride + i] : data[i * stride + j]; }
  bool fits(int64_t rows, int64_t columns) const {
    return stride >= (transposed ? rows : columns) && stride <= INT_MAX;
  }
  CBLAS_TRANSPOSE order() const { return transposed ? CblasTrans : CblasNoTrans; }
};

void multiply(int m, int n, int k, float alpha, const Matrix<float>& a, const Matrix<float>& b, float beta, float* c,
              int64_t ldc) {
  cblas_sgemm(CblasRowMajor, a.order(), b.order(), m, n, k, alpha, a.data, static_cast<int>(a.stride), b.data,
              static_cast<int>(b.stride), beta, c, static_cast<int>(ldc));
}

void multiply(int m, int n, int k, double alpha, const Matrix<double>& a, const Matrix<double>& b, double beta,
              double* c, int64_t ldc) {
  cblas_dgemm(CblasRowMajor, a.order(), b.order(), m, n, k, alpha, a.data, static_cast<int>(a.stride), b.data,
              static_cast<int>(b.stride), beta, c, static_cast<int>(ldc));
}

// C = alpha*A*B + beta*C; C is not read where beta is 0.
template <class T>
void product(int64_t m, int64_t n, int64_t k, T alpha, const Matrix<T>& a, const Matrix<T>& b, T beta, T* c,
             int64_t ldc) {
  const bool fits =
      m > 0 && n > 0 && k > 0 && k <= INT_MAX && a.fits(m, k) && b.fits(k, n) && ldc >= n && ldc <= INT_MAX;
  if (fits) {
    keep_to_this_thread();
    return multiply(static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), alpha, a, b, beta, c, ldc);
  }
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += a.at(i, l) * b.at(l, j);
      T& to = c[i * ldc + j];
      to = beta == 0 ? alpha * sum : alpha * sum + beta * to;
    }
  }
}

void finish_row(const GemmBlock& g, int64_t row) {
  float* c = g.c + row * g.ldc;
  const auto each = [&](auto change) {
    for (int64_t j = 0; j < g.columns; ++j) c[j] = change(c[j], j);
  };
  if (g.column_bias != nullptr) each([&](float v, int64_t j) { return v + g.column_bias[j]; });
  if (g.row_bias != nullptr) each([&](float v, int64_t) { return v + g.row_bias[row]; });
  if (g.shift != 0) each([&](float v, int64_t) { return v + g.shift; });
  if (g.residual != nullptr) each([&](float v, int64_t j) { return v + g.residual[row * g.residual_stride + j]; });
  if (!g.clamp) return;
  each([&](float v, int64_t) {
    const float above = g.low > v ? g.low : v;
    return g.high < above ? g.high : above;
  });
}

void multiply_rows(const GemmBlock& g, const Matrix<float>& a, int64_t row, int64_t rows) {
  product(rows, g.columns, g.k, g.alpha, a, Matrix<float>{g.b, g.b_step, false}, g.c_scale, g.c + row * g.ldc, g.ldc);
  for (int64_t i = row; i < row + rows; ++i) finish_row(g, i);
}

void block(int, const GemmBlock& g) { multiply_rows(g, {g.a, g.lda, false}, 0, g.rows); }

void thin_block_packed_a(const GemmBlock& g) {
  for (int64_t row = 0; row < g.rows; row += kTileRows) {
    multiply_rows(g, {g.a + row * g.lda, kTileRows, true}, row, std::min<int64_t>(kTileRows, g.rows - row));
  }
}

// OpenBLAS packs both operands anew: many rows at once are worth a copy of A.
void block_packed_a(int, const GemmBlock& g) {
  if (g.rows <= kTileRows) return thin_block_packed_a(g);
  const Scratch<float> rows(g.rows * g.k);
  for (int64_t i = 0; i < g.rows; ++i) {
    const float* from = g.a + i / kTileRows * kTileRows * g.lda + i % kTileRows;
    for (int64_t k = 0; k < g.k; ++k) rows.data()[i * g.k + k] = from[k * kTileRows];
  }
  multiply_rows(g, {rows.data(), g.k, false}, 0, g.rows);
}

void block_of_rows(int, const GemmBlock& g) {
  const Scratch<float> panel(g.k * kWidth);
  for (int64_t k = 0; k < g.k; ++k) std::copy_n(g.b + g.b_rows[k], g.columns, panel.data() + k * kWidth);
  GemmBlock packed = g;
  packed.b = panel.data(), packed.b_step = kWidth;
  block_packed_a(kVectors, packed);
}

float element(const void* b, PackedElement type, int64_t i) {
  if (type == PackedElement::kFloat) return static_cast<const float*>(b)[i];
  const uint16_t bits = static_cast<const uint16_t*>(b)[i];
  return type == PackedElement::kHalf ? base::half_value(bits)
                                      : std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// The sums of one row times a panel, in the same blocks of k as taller products.
void row_panel(PackedElement type, const void* b, int64_t first, int64_t width, const GemmBlock& g) {
  float total[kWidth] = {};
  const int64_t step = k_block(g.k);
  for (int64_t begin = 0; begin < g.k; begin += step) {
    float sums[kWidth] = {};
    for (int64_t k = begin; k < std::min(g.k, begin + step); ++k) {
      for (int64_t j = 0; j < width; ++j) sums[j] += g.a[k] * element(b, type, first + k * width + j);
    }
    for (int64_t j = 0; j < width; ++j) total[j] += sums[j];
  }
  for (int64_t j = 0; j < g.columns; ++j) {
    g.c[j] = g.c_scale == 0 ? g.alpha * total[j] : g.alpha * total[j] + g.c_scale * g.c[j];
  }
  finish_row(g, 0);
}

void row_panels(PackedElement type, const void* b, const PanelSplit& split, int64_t begin, int64_t end, bool backward,
                const GemmBlock& row) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t panel = backward ? begin + end - 1 - i : i, column = split.first_column(panel);
    GemmBlock g = row;
    g.c += column;
    g.columns = split.columns(panel);
    if (g.column_bias != nullptr) g.column_bias += column;
    if (g.residual != nullptr) g.residual += column;
    row_panel(type, b, column * g.k, split.width(panel), g);
  }
}

void pack_panel(const float* b, int64_t ldb, int64_t k, int64_t columns, int64_t width, float* panel) {
  generic::kGemmF32.pack_panel(b, ldb, k, columns, width, panel);
}

void pack_panel_transposed(const float* b, int64_t ldb, int64_t k, int64_t columns, int64_t width, float* panel) {
  generic::kGemmF32.pack_panel_transposed(b, ldb, k, columns, width, panel);
}

void matrix_vector(const float* a, int64_t lda, int64_t rows, int64_t k, const float* x, float* y) {
  product(rows, 1, k, 1.0f, Matrix<float>{a, lda, false}, Matrix<float>{x, 1, false}, 0.0f, y, 1);
}

void multiply_f64(const BlockF64& g) {
  const bool transposed = g.a_column != 1;
  if (transposed && g.a_row != 1) {  // neither rows nor columns lie side by side
    const Scratch<double> rows(g.rows * g.depth);
    for (int64_t i = 0; i < g.rows; ++i) {
      for (int64_t k = 0; k < g.depth; ++k) rows.data()[i * g.depth + k] = g.a[i * g.a_row + k * g.a_column];
    }
    return product(g.rows, g.columns, g.depth, g.alpha, Matrix<double>{rows.data(), g.depth, false},
                   Matrix<double>{g.b, g.b_row, false}, g.beta, g.c, g.ldc);
  }
  product(g.rows, g.columns, g.depth, g.alpha, Matrix<double>{g.a, transposed ? g.a_column : g.a_row, transposed},
          Matrix<double>{g.b, g.b_row, false}, g.beta, g.c, g.ldc);
}

}  // namespace

const GemmF32Kernels kGemmF32OfBlas = {.isa = base::IsaLevel::kGeneric,
                                       .lanes = kLanes,
                                       .max_vectors = kVectors,
                                       .tile_rows = kTileRows,
                                       .block = block,
                                       .block_packed_a = block_packed_a,
                                       .row_panels = row_panels,
                                       .block_of_rows = block_of_rows,
                                       .thin_block_packed_a = thin_block_packed_a,
                                       .pack_panel = pack_panel,
                                       .pack_panel_transposed = pack_panel_transposed,
                                       .matrix_vector = matrix_vector,
                                       .in_winograd = false};

const GemmF64Kernels kGemmF64OfBlas = {.rows = kRowsF64, .columns = kColumnsF64, .multiply = multiply_f64};

}  // namespace ortolan::cpu::kernels
