// The arithmetic of attention: fp32 through the vector kernels and the packed product, fp64 in plain loops.
#include "cpu/attention/attention_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/kernels/rows/normalization_f32.h"

namespace ortolan::cpu::attention_math {
namespace {

constexpr int64_t kFewRows = 8;    // so few query rows are multiplied one by one
constexpr int64_t kNearKeys = 64;  // with keys that stay in the first-level cache meanwhile

}  // namespace

void load(const void* from, ElementType type, int64_t count, float* to) {
  convert_floats(nullptr, from, type, to, ElementType::kFloat, count);
}
void load(const void* from, ElementType type, int64_t count, double* to) {
  if (type == ElementType::kDouble) {
    std::copy_n(static_cast<const double*>(from), count, to);
  } else {
    convert_floats(nullptr, from, type, to, ElementType::kDouble, count);
  }
}
void save(const float* from, int64_t count, ElementType type, void* to) {
  convert_floats(nullptr, from, ElementType::kFloat, to, type, count);
}
void save(const double* from, int64_t count, ElementType type, void* to) {
  if (type == ElementType::kDouble) {
    std::copy_n(from, count, static_cast<double*>(to));
  } else {
    convert_floats(nullptr, from, ElementType::kDouble, to, type, count);
  }
}

void products(int64_t rows, int64_t keys, int64_t size, float scale, const float* queries, int64_t query_stride,
              const float* key_rows, int64_t key_stride, float* scores) {
  kernels::Epilogue scaled;
  scaled.alpha = scale;
  if (rows > kFewRows) {
    return kernels::gemm(nullptr, rows, keys, size, queries, query_stride, false, key_rows, key_stride, true, scores,
                         keys, scaled);
  }
  for (int64_t first = 0; first < keys; first += kNearKeys) {
    for (int64_t row = 0; row < rows; ++row) {
      kernels::gemm(nullptr, 1, std::min(kNearKeys, keys - first), size, queries + row * query_stride, size, false,
                    key_rows + first * key_stride, key_stride, true, scores + row * keys + first, keys, scaled);
    }
  }
}
void products(int64_t rows, int64_t keys, int64_t size, double scale, const double* queries, int64_t query_stride,
              const double* key_rows, int64_t key_stride, double* scores) {
  kernels::gemm_f64(nullptr, rows, keys, size, scale, queries, query_stride, false, key_rows, key_stride, true, 0,
                    scores, keys);
}

void add_weighted(int64_t rows, int64_t size, int64_t keys, const float* weights, const float* values,
                  int64_t value_stride, bool kept, float* sums) {
  kernels::Epilogue added;
  added.beta = kept ? 1 : 0;
  kernels::gemm(nullptr, rows, size, keys, weights, keys, false, values, value_stride, false, sums, size, added);
}
void add_weighted(int64_t rows, int64_t size, int64_t keys, const double* weights, const double* values,
                  int64_t value_stride, bool kept, double* sums) {
  kernels::gemm_f64(nullptr, rows, size, keys, 1, weights, keys, false, values, value_stride, false, kept ? 1 : 0, sums,
                    size);
}

float weigh(float* x, int64_t count, float* maximum) { return kernels::weigh_row(x, count, maximum); }
double weigh(double* x, int64_t count, double* maximum) {
  for (int64_t i = 0; i < count; ++i) *maximum = *maximum >= x[i] || std::isnan(*maximum) ? *maximum : x[i];
  bool nothing = *maximum == -std::numeric_limits<double>::infinity();
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += x[i] = nothing ? 0 : std::exp(x[i] - *maximum);
  return sum;
}

void weigh_rows(float* x, int64_t rows, int64_t count, const float* added, int64_t added_stride, float* maxima,
                float* totals) {
  kernels::weigh_rows(x, rows, count, added, added_stride, maxima, totals);
}

void cap(float* x, float limit, int64_t count) {
  kernels::scale_shift(x, 1 / limit, 0, x, count);
  kernels::unary({kernels::UnaryOp::kTanh}, x, x, count);
  scale(x, limit, count);
}
void cap(double* x, double limit, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] = std::tanh(x[i] / limit) * limit;
}

void scale(float* x, float factor, int64_t count) { kernels::scale_shift(x, factor, 0, x, count); }
void scale(double* x, double factor, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] *= factor;
}

void save_scaled(float* x, float factor, int64_t count, ElementType type, void* y) {
  if (type == ElementType::kFloat) return kernels::scale_shift(x, factor, 0, static_cast<float*>(y), count);
  scale(x, factor, count);
  save(x, count, type, y);
}
void save_scaled(double* x, double factor, int64_t count, ElementType type, void* y) {
  scale(x, factor, count);
  save(x, count, type, y);
}

void scale_rows(const float* x, int64_t rows, int64_t size, const float* factors, float* y, int64_t stride,
                kernels::ValueRange* range) {
  kernels::scale_rows(x, rows, size, factors, y, stride, range);
}

void include(const float* x, int64_t count, kernels::ValueRange& range) {
  kernels::ValueRange found;
  kernels::min_max(x, count, &found.low, &found.high);
  range.include(found);
}

void add(const float* x, int64_t count, float* y) { kernels::binary(kernels::BinaryOp::kAdd, x, y, y, count); }
void add(const double* x, int64_t count, double* y) {
  for (int64_t i = 0; i < count; ++i) y[i] += x[i];
}

void add_scaled(const float* x, float factor, int64_t count, float* y) {
  kernels::accumulate_scaled(x, factor, y, count);
}
void add_scaled(const double* x, double factor, int64_t count, double* y) {
  for (int64_t i = 0; i < count; ++i) y[i] += factor * x[i];
}

}  // namespace ortolan::cpu::attention_math
