// Products of whole numbers, shared out among threads; steps of elimination.
#include "cpu/kernels/elementwise/number_matrices.h"

#include <algorithm>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/number_loops_kernels.h"
#include "cpu/kernels/kernel_table.h"

namespace ortolan::cpu::kernels {
namespace {

const auto& product_of(uint32_t) { return kernels().numbers->product_u32; }
const auto& product_of(uint64_t) { return kernels().numbers->product_u64; }

}  // namespace

template <class T>
void multiply_words(base::ThreadPool* pool, int64_t m, int64_t n, int64_t k, StridedMatrix<T> a, StridedMatrix<T> b,
                    T* c) {
  if (m == 0 || n == 0) return;
  const auto product = product_of(T{});
  // Threads take rows, or columns where there are few rows.
  const bool by_rows = m >= n / 64;
  const int64_t count = by_rows ? (m + 3) / 4 : (n + 63) / 64, step = by_rows ? 4 : 64;
  const double products = static_cast<double>(step * (by_rows ? n : m)) * static_cast<double>(k);
  base::parallel_for(pool, count, least_items(products * multiply_ns(4)), [&](int64_t begin, int64_t end) {
    const int64_t first = begin * step, last = std::min(end * step, by_rows ? m : n);
    if (by_rows) {
      product(last - first, n, k, {a.data + first * a.row, a.row, a.column}, b, c + first * n, n);
    } else {
      product(m, last - first, k, a, {b.data + first * b.column, b.row, b.column}, c + first, n);
    }
  });
}

template <>
void subtract_rows(const float* x, const float* factors, float* rows, int64_t stride, int64_t count, int64_t n) {
  kernels().numbers->subtract_f32(x, factors, rows, stride, count, n);
}
template <>
void subtract_rows(const double* x, const double* factors, double* rows, int64_t stride, int64_t count, int64_t n) {
  kernels().numbers->subtract_f64(x, factors, rows, stride, count, n);
}

void add_rows(const float* x, int64_t x_stride, float* y, int64_t y_stride, int64_t count, int64_t n) {
  kernels().numbers->add_rows_f32(x, x_stride, y, y_stride, count, n);
}

template void multiply_words(base::ThreadPool*, int64_t, int64_t, int64_t, StridedMatrix<uint32_t>,
                             StridedMatrix<uint32_t>, uint32_t*);
template void multiply_words(base::ThreadPool*, int64_t, int64_t, int64_t, StridedMatrix<uint64_t>,
                             StridedMatrix<uint64_t>, uint64_t*);

}  // namespace ortolan::cpu::kernels
