// Softmax and layer normalisation of fp32 rows, with their fused forms.
#pragma once

#include <cstdint>

namespace ortolan::base {
class ThreadPool;
}

namespace ortolan::cpu::kernels {

struct ValueRange;  // convert.h

/**
 * Softmax (or its logarithm) along the axis of x = [outer][axis][inner]; y has the same layout and may be x. A slice
 * that is all -inf gives NaN, as the definition does. `pool` may be nullptr.
 */
void softmax(base::ThreadPool* pool, const float* x, int64_t outer, int64_t axis, int64_t inner, bool logarithm,
             float* y);

/** Softmax of one row of n values after x*scale + mask (mask may be nullptr); y may be x. For attention. */
void softmax_row(const float* x, float scale, const float* mask, int64_t n, float* y);

/** The step of a softmax that runs over pieces of a row: raises `maximum` to the largest of x, makes x exp(x - maximum)
    (0 for a denormal) and returns the sum. While all is -inf, x becomes 0. n > 0. */
float weigh_row(float* x, int64_t n, float* maximum);

/** The first such step of rows that lie side by side, after row r of `added` is added to row r (rows of it are
    `added_stride` apart; it may be nullptr): their maxima and sums. */
void weigh_rows(float* x, int64_t rows, int64_t n, const float* added, int64_t added_stride, float* maxima,
                float* totals);

/** Row r of y, `stride` apart, is factors[r] times row r of x, whose rows lie side by side. `range`, where not nullptr,
    comes to include y. */
void scale_rows(const float* x, int64_t rows, int64_t n, const float* factors, float* y, int64_t stride,
                ValueRange* range = nullptr);

struct LayerNorm {
  int64_t rows = 0, columns = 0;
  const float* x = nullptr;
  const float* skip = nullptr;       // added to x, row by row, or nullptr
  int64_t skip_rows = 0;             // rows of skip; row r uses row r % skip_rows; 0: as many as rows
  const float* skip_bias = nullptr;  // `columns` values added too, or nullptr
  float* sum = nullptr;              // receives x + skip + skip_bias, or nullptr
  const float* scale = nullptr;      // `columns` values, or nullptr for 1
  const float* bias = nullptr;       // `columns` values, or nullptr for 0
  float epsilon = 1e-5f;
  bool rms = false;              // true: no mean is taken away (RMS normalisation)
  float* y = nullptr;            // may be x
  float* mean = nullptr;         // one a row, or nullptr
  float* inverse_std = nullptr;  // one a row, or nullptr
  ValueRange* range = nullptr;   // comes to include y, or nullptr
};

/** y = (v - mean(v)) / sqrt(var(v) + epsilon) * scale + bias with v = x + skip + skip_bias. Two passes: exact. */
void layer_norm(base::ThreadPool* pool, const LayerNorm& args);

/** Mean and variance (of the population) of each of `rows` rows of `n` values; variance from centred values. */
void row_moments(base::ThreadPool* pool, const float* x, int64_t rows, int64_t n, float* mean, float* variance);

/** y = x*scale[c] + shift[c] for x = [outer][channels][inner]; y may be x. Batch, instance, group normalisation. */
void scale_channels(base::ThreadPool* pool, const float* x, int64_t outer, int64_t channels, int64_t inner,
                    const float* scale, const float* shift, float* y);

}  // namespace ortolan::cpu::kernels
