// The arithmetic of attention on contiguous rows, in fp32 by the vector kernels and in fp64 by plain loops. One thread.
#pragma once

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
/** sums[row][size] += weights[row][keys] * values[keys][size]. */
void add_weighted(int64_t rows, int64_t size, int64_t keys, const float* weights, const float* values,
                  int64_t value_stride, float* sums);
void add_weighted(int64_t rows, int64_t size, int64_t keys, const double* weights, const double* values,
                  int64_t value_stride, double* sums);

/** x = exp(x - shift); returns their sum. */
float exponentials(float* x, float shift, int64_t count);
double exponentials(double* x, double shift, int64_t count);
/** The largest, NaN where any is NaN; count > 0. */
float largest(const float* x, int64_t count);
double largest(const double* x, int64_t count);
/** x = limit * tanh(x / limit). */
void cap(float* x, float limit, int64_t count);
void cap(double* x, double limit, int64_t count);
void scale(float* x, float factor, int64_t count);
void scale(double* x, double factor, int64_t count);
/** y += x. */
void add(const float* x, int64_t count, float* y);
void add(const double* x, int64_t count, double* y);
/** y += factor * x. */
void add_scaled(const float* x, float factor, int64_t count, float* y);
void add_scaled(const double* x, double factor, int64_t count, double* y);

/** Scratch space of the calling thread that none of these functions uses. */
template <class C>
C* thread_space(int64_t count);

}  // namespace ortolan::cpu::attention_math
