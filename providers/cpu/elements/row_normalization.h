// Normalisation of rows in fp32 and fp64 behind one name.
#pragma once

#include <algorithm>
#include <limits>

#include "cpu/kernels/rows/normalization_f32.h"

namespace ortolan::base {
class ThreadPool;
}

namespace ortolan::cpu {

/** One value of scale and bias for each column; see kernels::LayerNorm. Pointers but x and y may be NULL. */
template <class C>
struct RowNormalization {
  int64_t rows, columns;
  const C* x;
  const C* scale;
  const C* bias;
  float epsilon;
  bool rms;
  C* y;
  C* mean;
  C* inverse_std;
  kernels::ValueRange* range = nullptr;  // fp32 only
};
void normalize_rows(base::ThreadPool* pool, const RowNormalization<float>& args);
void normalize_rows(base::ThreadPool* pool, const RowNormalization<double>& args);

/** The moments of rows without columns, which the functions above do not take: NaN, as 0/0. */
template <class Rows>
void no_moments(const Rows& norm) {
  for (auto* moments : {norm.mean, norm.inverse_std}) {
    if (moments) std::fill_n(moments, norm.rows, std::numeric_limits<float>::quiet_NaN());
  }
}

/** Mean and population variance of each row. */
void row_moments(base::ThreadPool* pool, const float* x, int64_t rows, int64_t columns, float* mean, float* variance);
void row_moments(base::ThreadPool* pool, const double* x, int64_t rows, int64_t columns, double* mean,
                 double* variance);

}  // namespace ortolan::cpu
