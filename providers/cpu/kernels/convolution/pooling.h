// Max and average pooling over planes in NC + spatial layout.
#pragma once

#include <cstdint>

namespace ortolan::base {
class ThreadPool;
}

namespace ortolan::cpu::kernels {

/** `planes` is N*C. Spatial rank 1 to 3; unused leading dimensions stay 1 (pads 0), so the last is always [2]. */
struct PoolGeometry {
  int64_t planes = 0;
  int64_t in[3] = {1, 1, 1};
  int64_t out[3] = {1, 1, 1};
  int64_t kernel[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1};
  int64_t dilation[3] = {1, 1, 1};
  int64_t pad_begin[3] = {0, 0, 0};
  int64_t pad_end[3] = {0, 0, 0};  // read by average pooling that counts padding only
};

/**
 * Largest element of each window; windows reach outside the plane only by padding, which never wins. A window wholly
 * outside gives the lowest value of T. `indices`, where not nullptr, receives the place of the first largest element,
 * counted over the whole input (plane offset included), row-major or, where `column_major`, with [2] slowest.
 * T: float, double, int16_t, int8_t, uint8_t.
 */
template <class T>
void max_pool(base::ThreadPool* pool, const PoolGeometry& geometry, const T* x, T* y, int64_t* indices,
              bool column_major);

/** max_pool of 16-bit floats whose positive infinity has the bits `infinity`. NaN never wins, and of zeros the positive
    one does; a window without numbers gives negative infinity. */
void max_pool_halves(base::ThreadPool* pool, const PoolGeometry& geometry, uint16_t infinity, const uint16_t* x,
                     uint16_t* y);

/** Mean of each window, over its elements inside the plane or, where `count_pad`, padding counted as zeros. T: float,
 * double. */
template <class T>
void average_pool(base::ThreadPool* pool, const PoolGeometry& geometry, bool count_pad, const T* x, T* y);

/** (sum |x|^p)^(1/p) of each window. T: float, double. */
template <class T>
void lp_pool(base::ThreadPool* pool, const PoolGeometry& geometry, double p, const T* x, T* y);

/** Rows or columns of a plane: [begin, end). */
struct CellRange {
  int64_t begin, end;
};

/** y[r*column_count + c] = the largest element in rows[r] and columns[c] of a plane whose rows are `width` long; 0
   where one of them is empty. T: float, double. */
template <class T>
void max_pool_cells(const T* plane, int64_t width, const CellRange* rows, int64_t row_count, const CellRange* columns,
                    int64_t column_count, T* y);

/** max_pool where each element of a plane is a row of `channels` (channels last); `planes` counts images. T: int8_t,
 * uint8_t. */
template <class T>
void max_pool_channels_last(base::ThreadPool* pool, const PoolGeometry& geometry, int64_t channels, const T* x, T* y);

/** Bytes that are averaged: y = saturate(round_half_even(scale * mean(x - x_zero)) + y_zero). */
struct ByteAverage {
  bool is_signed = false;
  int32_t x_zero = 0, y_zero = 0;
  float scale = 1;
};
/** average_pool over such bytes with channels last. */
void average_pool_channels_last(base::ThreadPool* pool, const PoolGeometry& geometry, int64_t channels, bool count_pad,
                                const ByteAverage& average, const uint8_t* x, uint8_t* y);

}  // namespace ortolan::cpu::kernels
