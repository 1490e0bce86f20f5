// The arithmetic of attention on contiguous rows, in fp32 by the vector kernels and in fp64 by plain loops. One thread.
#pragma once

#include "cpu/kernels/elementwise/convert.h"
#include "tensor/element_type.h"

namespace ortolan::cpu::attention_math {
using namespace tensor;

/** `count` elements of `type` as C, and back, rounded to nearest even. */
void load(const void* from, ElementType type, int64_t count, float* to);
void load(const void* from, ElementType type, int64_t count, double* to);
void save(const float* from, int64_t count, ElementType type, void* to);
void save(const double* from, int64_t count, ElementType type, void* to);

/** scores[row][key] = scale * (query row . key row), keys side by side. */
void products(int64_t rows, int64_t keys, int64_t size, float scale, const float* queries, int64_t query_stride,
              const float* key_rows, int64_t key_stride, float* scores);
void products(int64_t rows, int64_t keys, int64_t size, double scale, const double* queries, int64_t query_stride,
              const double* key_rows, int64_t key_stride, double* scores);
/** sums[row][size] = sums[row][size] * kept + weights[row][keys] * values[keys][size], where kept is 0 or 1. */
void add_weighted(int64_t rows, int64_t size, int64_t keys, const float* weights, const float* values,
                  int64_t value_stride, bool kept, float* sums);
void add_weighted(int64_t rows, int64_t size, int64_t keys, const double* weights, const double* values,
                  int64_t value_stride, bool kept, double* sums);

/** Raises `maximum` to the largest of x, makes x exp(x - maximum) and returns the sum; 0 while all is -inf. count > 0.
 */
float weigh(float* x, int64_t count, float* maximum);
double weigh(double* x, int64_t count, double* maximum);
/** The same for whole rows of `count` that lie side by side and begin; first row r of `added` is added to row r, where
    it is not NULL. */
void weigh_rows(float* x, int64_t rows, int64_t count, const float* added, int64_t added_stride, float* maxima,
                float* totals);
/** x = limit * tanh(x / limit). */
void cap(float* x, float limit, int64_t count);
void cap(double* x, double limit, int64_t count);
void scale(float* x, float factor, int64_t count);
void scale(double* x, double factor, int64_t count);
/** y = factor * x, as elements of `type`; x is changed. */
void save_scaled(float* x, float factor, int64_t count, ElementType type, void* y);
void save_scaled(double* x, double factor, int64_t count, ElementType type, void* y);
/** Rows of `size` side by side, each times its factor, to rows `stride` apart, which `range`, where not NULL, comes to
    include. */
void scale_rows(const float* x, int64_t rows, int64_t size, const float* factors, float* y, int64_t stride,
                kernels::ValueRange* range);
/** `range` comes to include x. */
void include(const float* x, int64_t count, kernels::ValueRange& range);
/** y += x. */
void add(const float* x, int64_t count, float* y);
void add(const double* x, int64_t count, double* y);
/** y += factor * x. */
void add_scaled(const float* x, float factor, int64_t count, float* y);
void add_scaled(const double* x, double factor, int64_t count, double* y);

}  // namespace ortolan::cpu::attention_math
