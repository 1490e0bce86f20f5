// fp32 rows go to the vector kernels; fp64 rows are plain loops.
#include "cpu/elements/row_normalization.h"

#include <cmath>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"

namespace ortolan::cpu {
namespace {

double mean_of(const double* x, int64_t n) {
  double sum = 0;
  base::polled_loop(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sum += x[i];
  });
  return sum / n;
}

double mean_square(const double* x, int64_t n, double center) {
  double sum = 0;
  base::polled_loop(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sum += (x[i] - center) * (x[i] - center);
  });
  return sum / n;
}

void normalize_row(const RowNormalization<double>& args, int64_t row) {
  const double* x = args.x + row * args.columns;
  double* y = args.y + row * args.columns;
  double mean = args.rms ? 0 : mean_of(x, args.columns);
  double inverse = 1 / std::sqrt(mean_square(x, args.columns, mean) + args.epsilon);
  base::polled_loop(args.columns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double value = (x[i] - mean) * inverse * (args.scale ? args.scale[i] : 1);
      y[i] = value + (args.bias ? args.bias[i] : 0);
    }
  });
  if (args.mean) args.mean[row] = mean;
  if (args.inverse_std) args.inverse_std[row] = inverse;
}

}  // namespace

void normalize_rows(base::ThreadPool* pool, const RowNormalization<float>& args) {
  kernels::LayerNorm norm;
  norm.rows = args.rows, norm.columns = args.columns, norm.x = args.x;
  norm.scale = args.scale, norm.bias = args.bias, norm.epsilon = args.epsilon, norm.rms = args.rms;
  norm.y = args.y, norm.mean = args.mean, norm.inverse_std = args.inverse_std;
  norm.range = args.range;
  kernels::layer_norm(pool, norm);
}

void normalize_rows(base::ThreadPool* pool, const RowNormalization<double>& args) {
  const int64_t least = kernels::least_rows(args.columns, kernels::kScalarNs);
  base::parallel_for(pool, args.rows, least, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) normalize_row(args, row);
  });
}

void row_moments(base::ThreadPool* pool, const float* x, int64_t rows, int64_t columns, float* mean, float* variance) {
  kernels::row_moments(pool, x, rows, columns, mean, variance);
}

void row_moments(base::ThreadPool* pool, const double* x, int64_t rows, int64_t columns, double* mean,
                 double* variance) {
  base::parallel_for(pool, rows, kernels::least_rows(columns, kernels::kScalarNs), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      mean[row] = mean_of(x + row * columns, columns);
      variance[row] = mean_square(x + row * columns, columns, mean[row]);
    }
  });
}

}  // namespace ortolan::cpu
