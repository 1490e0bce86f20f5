// Kernels of CDist, by a product of the matrices, and Inverse, by elimination.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/number_matrices.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

/** Rows shorter than this are compared directly. */
constexpr int64_t kShortRow = 8;
/** Where a distance is so small a part of the rows' squares, the product has lost its digits. */
constexpr double kLostDigits = 1e-2;

void products(ThreadPool& threads, int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
  kernels::Epilogue epilogue;
  kernels::gemm(&threads, m, n, k, a, k, false, b, k, true, c, n, epilogue);
}
void products(ThreadPool& threads, int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c) {
  kernels::gemm_f64(&threads, m, n, k, 1, a, k, false, b, k, true, 0, c, n);
}

template <class T>
T direct(const T* a, const T* b, int64_t k) {
  T sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= k; i += 8) {
    for (int64_t j = 0; j < 8; ++j) sums[j] += (a[i + j] - b[i + j]) * (a[i + j] - b[i + j]);
  }
  for (; i < k; ++i) sums[0] += (a[i] - b[i]) * (a[i] - b[i]);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

template <class T>
std::vector<T> squares(const T* rows, int64_t count, int64_t k) {
  std::vector<T> sums(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < k; ++j) sum += static_cast<double>(rows[i * k + j]) * static_cast<double>(rows[i * k + j]);
    sums[i] = static_cast<T>(sum);
  }
  return sums;
}

/** Turns a row's products with n others into squared distances: a*a + b*b - 2ab. Says whether all kept their digits. */
template <class T>
bool to_distances(T square, const T* squares, int64_t n, T* row) {
  int lost = 0;
  for (int64_t j = 0; j < n; ++j) {
    T all = square + squares[j];
    row[j] = all - 2 * row[j];
    lost |= !(row[j] > static_cast<T>(kLostDigits) * all);
  }
  return lost == 0;
}

class CDist : public OpKernel {
 public:
  explicit CDist(const KernelInfo& info) : root_(info.node().string_or("metric", "sqeuclidean") == "euclidean") {
    std::string_view metric = info.node().string_or("metric", "sqeuclidean");
    require(root_ || metric == "sqeuclidean", ErrorCode::kNotImplemented, "metric is '", metric,
            "'; give 'euclidean' or 'sqeuclidean'");
  }

  void compute(KernelContext& context) const override {
    const Tensor& a = context.input(0);
    const Tensor& b = context.input(1);
    require(a.rank() == 2 && b.rank() == 2 && a.shape()[1] == b.shape()[1], ErrorCode::kInvalidArgument,
            "matrices of shapes ", a.shape(), " and ", b.shape(), " need rows of the same length");
    Tensor& c = context.output(0);
    if (c.element_count() == 0) return;
    dispatch<kFloat32And64>(a.type(), [&]<class T>(TypeTag<T>) {
      Sizes sizes{a.shape()[0], b.shape()[0], a.shape()[1]};
      run(context.threads(), sizes, a.data<T>(), b.data<T>(), c.mutable_data<T>());
    });
  }

 private:
  struct Sizes {
    int64_t m, n, k;
  };

  template <class T>
  void run(ThreadPool& threads, const Sizes& sizes, const T* a, const T* b, T* c) const {
    auto [m, n, k] = sizes;
    bool by_product = k >= kShortRow && m * n > 1;
    std::vector<T> left, right;
    if (by_product) {
      left = squares(a, m, k);
      right = squares(b, n, k);
      products(threads, m, n, k, a, b, c);
    }
    const int64_t least = kernels::least_rows(n * (by_product ? 1 : k), kernels::kActivationNs);
    threads.parallel_for(m, least, [&, n = n, k = k](int64_t begin, int64_t end) {
      base::TerminatePoll poll;
      for (int64_t i = begin; i < end; ++i) {
        T* row = c + i * n;
        bool good = by_product && to_distances(left[i], right.data(), n, row);
        for (int64_t j = 0; j < n && !good; ++j) {
          poll.work(1 + k);
          bool keep = by_product && row[j] > static_cast<T>(kLostDigits) * (left[i] + right[j]);
          if (!keep) row[j] = direct(a + i * k, b + j * k, k);
        }
        if (root_) take_roots(row, n);
      }
    });
  }

  static void take_roots(float* row, int64_t n) { kernels::unary({kernels::UnaryOp::kSqrt}, row, row, n); }
  static void take_roots(double* row, int64_t n) {
    for (int64_t j = 0; j < n; ++j) row[j] = std::sqrt(row[j]);
  }

  bool root_;
};

/** Matrices from this size on are inverted in the input's precision, smaller ones in double. */
constexpr int64_t kLargeMatrix = 16;

/** Rows are taken from others by the vector functions from this size on. */
constexpr int64_t kVectorRows = 8;

/** Subtracts `own` times its factor from each of `count` rows. */
template <class C>
void subtract_scaled(base::TerminatePoll& poll, const C* own, const C* factors, C* rows, int64_t stride, int64_t count,
                     int64_t n) {
  if (n >= kVectorRows) {
    auto subtract = [&](int64_t begin, int64_t end) {
      kernels::subtract_rows(own, factors + begin, rows + begin * stride, stride, end - begin, n);
    };
    return base::polled_loop(poll, count, subtract, n);
  }
  for (int64_t row = 0; row < count; ++row, rows += stride) {
    for (int64_t i = 0; i < n; ++i) rows[i] -= factors[row] * own[i];
  }
}

/** The row of the largest element of a column from its diagonal on. */
template <class C>
int64_t pivot_row(const C* a, int64_t n, int64_t stride, int64_t column) {
  int64_t pivot = column;
  C largest = std::fabs(a[column * stride + column]);
  for (int64_t row = column + 1; row < n; ++row) {
    const C size = std::fabs(a[row * stride + column]);
    if (size > largest) largest = size, pivot = row;
  }
  return pivot;
}

/** Turns the n x n matrix into its inverse, whose column j then stands in column places[j]: by columns with row
   pivoting; one without inverse gives NaN or infinity. Rows are `stride` apart; what they hold beyond n is spoilt. */
template <class C>
void invert(C* a, int64_t n, int64_t stride, std::span<C> factors, std::span<int64_t> places) {
  std::vector<int64_t> swaps(static_cast<size_t>(n));
  base::TerminatePoll poll;
  for (int64_t column = 0; column < n; ++column) {
    const int64_t pivot = swaps[column] = pivot_row(a, n, stride, column);
    C* own = a + column * stride;
    if (pivot != column) std::swap_ranges(a + pivot * stride, a + pivot * stride + n, own);
    C scale = 1 / std::exchange(own[column], C{1});
    for (int64_t i = 0; i < n; ++i) own[i] *= scale;
    for (int64_t row = 0; row < n; ++row) {
      if (row != column) factors[row] = std::exchange(a[row * stride + column], C{0});
    }
    subtract_scaled(poll, own, factors.data(), a, stride, column, stride);
    subtract_scaled(poll, own, factors.data() + column + 1, own + stride, stride, n - column - 1, stride);
  }
  std::iota(places.begin(), places.end(), int64_t{0});
  for (int64_t column = n - 1; column >= 0; --column) std::swap(places[column], places[swaps[column]]);
}

template <class C, class T>
C to_compute(T value) {
  if constexpr (std::is_arithmetic_v<T>) return static_cast<C>(value);
  return static_cast<C>(static_cast<float>(value));
}
template <class T, class C>
T from_compute(C value) {
  if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(value);
  return T(static_cast<float>(value));
}

class Inverse : public OpKernel {
 public:
  explicit Inverse(const KernelInfo&) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    if (x.element_count() == 0) return;
    int64_t n = x.shape()[x.rank() - 1], count = x.shape().count_to(x.rank() - 2);
    dispatch<kFloatTypes>(x.type(), [&]<class T>(TypeTag<T>) {
      bool in_double = std::is_same_v<T, double> || n < kLargeMatrix;
      auto* invert_range = in_double ? &invert_all<double, T> : &invert_all<float, T>;
      int64_t work = std::min<int64_t>(n, 4096);
      context.threads().parallel_for(count, kernels::least_rows(work * work * work, kernels::kActivationNs),
                                     [&](int64_t begin, int64_t end) {
                                       int64_t first = begin * n * n;
                                       invert_range(x.data<T>() + first, y.mutable_data<T>() + first, end - begin, n);
                                     });
    });
  }

 private:
  template <class C, class T>
  static void invert_all(const T* from, T* to, int64_t count, int64_t n) {
    // Rows of whole cache lines, which vectors divide.
    constexpr auto kLine = static_cast<int64_t>(64 / sizeof(C));
    const int64_t stride = n < kVectorRows ? n : checked_add(n, kLine - 1) / kLine * kLine;
    kernels::AlignedBuffer buffer(checked_mul(static_cast<size_t>(checked_mul(stride, n)), sizeof(C)));
    C* matrix = buffer.as<C>();
    std::vector<C> factors(static_cast<size_t>(n));
    std::vector<int64_t> places(static_cast<size_t>(n));
    std::fill_n(matrix, n * stride, C{0});
    for (int64_t m = 0; m < count; ++m, from += n * n, to += n * n) {
      for (int64_t row = 0; row < n; ++row) {
        std::transform(from + row * n, from + row * n + n, matrix + row * stride, to_compute<C, T>);
      }
      invert<C>(matrix, n, stride, factors, places);
      for (int64_t row = 0; row < n; ++row) {
        for (int64_t j = 0; j < n; ++j) to[row * n + j] = from_compute<T>(matrix[row * stride + places[j]]);
      }
    }
  }
};

constexpr KernelRow kRows[] = {
    {"com.microsoft", "CDist", 1, kLatest, make_kernel<CDist>, {{0, kFloat32And64}}},
    {"com.microsoft", "Inverse", 1, kLatest, make_kernel<Inverse>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable matrices_rows;
const KernelTable matrices_rows(kRows);

}  // namespace ortolan::cpu::microsoft
