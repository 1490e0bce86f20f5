// Products of whole numbers and steps of elimination for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/elementwise/number_loops_kernels.h"
#include "cpu/kernels/vectors/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

template <class T>
struct LanesOf {
  typedef T Type __attribute__((vector_size(kVectorBytes)));
  typedef T Loose __attribute__((vector_size(kVectorBytes), aligned(1), may_alias));
};
template <class T>
using Lanes = typename LanesOf<T>::Type;
template <class T>
using LooseLanes = typename LanesOf<T>::Loose;

template <class T>
ORTOLAN_INLINE Lanes<T> load_lanes(const T* p) {
  return *reinterpret_cast<const LooseLanes<T>*>(p);
}
template <class T>
ORTOLAN_INLINE void store_lanes(T* p, Lanes<T> v) {
  *reinterpret_cast<LooseLanes<T>*>(p) = v;
}

#if defined(__AVX512F__)
constexpr int kWordVectors = 4;
#else
constexpr int kWordVectors = 2;
#endif
constexpr int kWordRows = 4;
constexpr int64_t kWordDepth = 128;
template <class T>
constexpr int64_t kWordColumns = kWordVectors* kVectorBytes / static_cast<int64_t>(sizeof(T));

/** A block of columns of B, as wide as the sums. */
template <class T>
struct WordPanel {
  const T* b;
  int64_t stride, depth, columns;  // the last: those that C has
  bool adds;                       // to what C holds
};

/** kCount rows of C, of which the panel's columns. */
template <int kCount, class T>
ORTOLAN_INLINE void word_rows(const StridedMatrix<T>& a, const WordPanel<T>& panel, T* c, int64_t ldc) {
  constexpr int64_t kWidth = kVectorBytes / static_cast<int64_t>(sizeof(T));
  const bool whole = panel.columns == kWordColumns<T>;
  Lanes<T> sums[kCount][kWordVectors] = {};
  T edge[kWordColumns<T>] = {};
  for (int r = 0; panel.adds && r < kCount; ++r) {
    const T* from = c + r * ldc;
    if (!whole) {
      for (int64_t j = 0; j < panel.columns; ++j) edge[j] = from[j];
      from = edge;
    }
    for (int v = 0; v < kWordVectors; ++v) sums[r][v] = load_lanes(from + v * kWidth);
  }
  const T* x = a.data;
  const T* b = panel.b;
  for (int64_t p = 0; p < panel.depth; ++p, x += a.column, b += panel.stride) {
    Lanes<T> row[kWordVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kWordVectors; ++v) row[v] = load_lanes(b + v * kWidth);
#pragma GCC unroll 4
    for (int r = 0; r < kCount; ++r) {
      const Lanes<T> factor = x[r * a.row] - Lanes<T>{};  // in every lane
#pragma GCC unroll 4
      for (int v = 0; v < kWordVectors; ++v) sums[r][v] += factor * row[v];
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kCount; ++r) {
    T* to = whole ? c + r * ldc : edge;
#pragma GCC unroll 4
    for (int v = 0; v < kWordVectors; ++v) store_lanes(to + v * kWidth, sums[r][v]);
    for (int64_t j = 0; !whole && j < panel.columns; ++j) c[r * ldc + j] = edge[j];
  }
}

template <class T>
void word_panel(StridedMatrix<T> a, const WordPanel<T>& panel, int64_t rows, T* c, int64_t ldc) {
  int64_t i = 0;
  auto next = [&](int count) {
    i += count;
    a.data += count * a.row;
    c += count * ldc;
  };
  for (; i + kWordRows <= rows; next(kWordRows)) word_rows<kWordRows>(a, panel, c, ldc);
  for (; i < rows; next(1)) word_rows<1>(a, panel, c, ldc);
}

/** b's rows are contiguous, or it is copied a panel at a time. */
template <class T>
void word_product(int64_t m, int64_t n, int64_t k, const StridedMatrix<T>& a, const StridedMatrix<T>& b, T* c,
                  int64_t ldc) {
  T copy[kWordDepth * kWordColumns<T>];
  for (int64_t j = 0; j < n; j += kWordColumns<T>) {
    WordPanel<T> panel{nullptr, b.row, 0, least(kWordColumns<T>, n - j), false};
    for (int64_t p = 0; p == 0 || p < k; p += kWordDepth, panel.adds = true) {
      panel.depth = least(kWordDepth, k - p);
      panel.b = b.data + p * b.row + j * b.column;
      if (b.column != 1 || panel.columns < kWordColumns<T>) {
        for (int64_t q = 0; q < panel.depth; ++q) {
          T* to = copy + q * kWordColumns<T>;
          for (int64_t i = 0; i < panel.columns; ++i) to[i] = panel.b[q * b.row + i * b.column];
          for (int64_t i = panel.columns; i < kWordColumns<T>; ++i) to[i] = 0;
        }
        panel.b = copy;
        panel.stride = kWordColumns<T>;
      }
      word_panel({a.data + p * a.column, a.row, a.column}, panel, m, c + j, ldc);
    }
  }
}

template <class T>
void subtract_product(const T* x, const T* factors, T* rows, int64_t stride, int64_t count, int64_t n) {
  constexpr int64_t kWidth = kVectorBytes / static_cast<int64_t>(sizeof(T));
  for (int64_t r = 0; r < count; ++r, rows += stride) {
    const Lanes<T> factor = factors[r] - Lanes<T>{};
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
      store_lanes(rows + i, load_lanes(rows + i) - factor * load_lanes(x + i));
    }
    for (; i < n; ++i) rows[i] -= factors[r] * x[i];
  }
}

/** As many floats as the vector has. */
template <int kFloats>
ORTOLAN_INLINE void add_some(const float* x, float* y) {
  typedef float V __attribute__((vector_size(kFloats * 4), aligned(1), may_alias));
  *reinterpret_cast<V*>(y) += *reinterpret_cast<const V*>(x);
}

/** Rows end in ever shorter vectors: what a masked store wrote is not to be had soon, and the next row may lie there.
 */
void add_rows(const float* x, int64_t x_stride, float* y, int64_t y_stride, int64_t count, int64_t n) {
  for (int64_t r = 0; r < count; ++r, x += x_stride, y += y_stride) {
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) add_some<kLanes>(x + i, y + i);
    if (kLanes > 8 && i + 8 <= n) add_some<8>(x + i, y + i), i += 8;
    if (kLanes > 4 && i + 4 <= n) add_some<4>(x + i, y + i), i += 4;
    for (; i < n; ++i) y[i] += x[i];
  }
}

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
