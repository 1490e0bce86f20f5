// Matrix products of whole numbers, modulo their word size.
#pragma once

#include "base/thread_pool.h"
#include "tensor/tensor.h"

namespace ortolan::cpu {

/** One operand: element (i, j) lies at i*row + j*column. */
template <class T>
struct StridedMatrix {
  const T* data;
  int64_t row, column;
};

/** c[m,n] = a[m,k] * b[k,n], c contiguous. T: uint32_t or uint64_t; signed types have the same bits. */
template <class T>
void integer_product(base::ThreadPool* pool, int64_t m, int64_t n, int64_t k, StridedMatrix<T> a, StridedMatrix<T> b,
                     T* c) {
  int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, n * std::max<int64_t>(1, k)));
  base::parallel_for(pool, m, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* row = c + i * n;
      std::fill(row, row + n, T{0});
      for (int64_t p = 0; p < k; ++p) {
        T factor = a.data[i * a.row + p * a.column];
        const T* line = b.data + p * b.row;
        if (b.column == 1) {
          for (int64_t j = 0; j < n; ++j) row[j] += factor * line[j];
        } else {
          for (int64_t j = 0; j < n; ++j) row[j] += factor * line[j * b.column];
        }
      }
    }
  });
}

}  // namespace ortolan::cpu
