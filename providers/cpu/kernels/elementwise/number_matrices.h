// Matrices in plain loops: products of whole numbers modulo the word size, steps of elimination, sums.
#pragma once

#include <cstdint>

namespace ortolan::base {
class ThreadPool;
}

namespace ortolan::cpu::kernels {

/** Element (i, j) lies at i*row + j*column. */
template <class T>
struct StridedMatrix {
  const T* data;
  int64_t row, column;
};

/** c[m,n] = a[m,k] * b[k,n], c contiguous and apart. T: uint32_t or uint64_t; signed types have the same bits. `pool`
   may be nullptr. */
template <class T>
void multiply_words(base::ThreadPool* pool, int64_t m, int64_t n, int64_t k, StridedMatrix<T> a, StridedMatrix<T> b,
                    T* c);

/** rows[r*stride + i] -= factors[r] * x[i] for r < count and i < n; x and the factors are apart from the rows. One
    thread. T: float or double. */
template <class T>
void subtract_rows(const T* x, const T* factors, T* rows, int64_t stride, int64_t count, int64_t n);

/** y[r*y_stride + i] += x[r*x_stride + i] for r < count and i < n. One thread. */
void add_rows(const float* x, int64_t x_stride, float* y, int64_t y_stride, int64_t count, int64_t n);

}  // namespace ortolan::cpu::kernels
