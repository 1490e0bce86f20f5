// Det by elimination with row pivoting, in double.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/number_matrices.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** Rows are taken from others by the vector functions from this size on; they are then of whole cache lines. */
constexpr int64_t kVectorRows = 16;
constexpr int64_t kLine = 8;

/** Takes the pivot's row from `count` rows below it, so many times that nothing is left in its column. What stands
    before the column is spoilt. */
void eliminate(base::TerminatePoll& poll, const double* own, double* rows, int64_t stride, int64_t count,
               int64_t column, double* factors) {
  if (stride < kVectorRows) {
    for (double* row = rows; row < rows + count * stride; row += stride) {
      const double factor = row[column] / own[column];
      for (int64_t i = column + 1; i < stride; ++i) row[i] -= factor * own[i];
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) factors[i] = rows[i * stride + column] / own[column];
  const int64_t first = (column + 1) / kLine * kLine;
  auto subtract = [&](int64_t begin, int64_t end) {
    kernels::subtract_rows<double>(own + first, factors + begin, rows + begin * stride + first, stride, end - begin,
                                   stride - first);
  };
  base::polled_loop(poll, count, subtract, stride);
}

/** The determinant of an n x n matrix, whose rows are `stride` apart and which is overwritten. */
double determinant(double* a, int64_t n, int64_t stride, double* factors) {
  double result = 1;
  base::TerminatePoll poll;
  for (int64_t column = 0; column < n; ++column) {
    int64_t pivot = column;
    for (int64_t row = column + 1; row < n; ++row) {
      if (std::fabs(a[row * stride + column]) > std::fabs(a[pivot * stride + column])) pivot = row;
    }
    double* own = a + column * stride;
    if (a[pivot * stride + column] == 0) return 0;
    if (pivot != column) {
      std::swap_ranges(a + pivot * stride, a + pivot * stride + n, own);
      result = -result;
    }
    result *= own[column];
    eliminate(poll, own, own + stride, stride, n - column - 1, column, factors);
  }
  return result;
}

class Det : public OpKernel {
 public:
  explicit Det(const KernelInfo&) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    int64_t n = x.shape()[x.rank() - 1];
    require(n == x.shape()[x.rank() - 2], ErrorCode::kInvalidArgument, "matrices of shape ", x.shape(),
            " are not square");
    dispatch<kFloatTypes>(x.type(), [&]<class T>(TypeTag<T>) {
      const T* from = x.data<T>();
      T* to = y.mutable_data<T>();
      int64_t size = std::min<int64_t>(n, 4096);
      context.threads().parallel_for(
          y.element_count(), kernels::least_rows(size * size * size, kernels::kActivationNs),
          [&](int64_t begin, int64_t end) { determinants(from + begin * n * n, n, to + begin, end - begin); });
    });
  }

 private:
  template <class T>
  static void determinants(const T* from, int64_t n, T* to, int64_t count) {
    const int64_t stride = n < kVectorRows ? n : checked_add(n, kLine - 1) / kLine * kLine;
    kernels::AlignedBuffer buffer(checked_mul(static_cast<size_t>(checked_mul(stride, n)), sizeof(double)));
    std::vector<double> factors(static_cast<size_t>(n));
    auto* matrix = buffer.as<double>();
    std::fill_n(matrix, n * stride, 0.0);
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t row = 0; row < n; ++row) {
        for (int64_t j = 0; j < n; ++j) matrix[row * stride + j] = to_double(*from++);
      }
      to[i] = from_double<T>(determinant(matrix, n, stride, factors.data()));
    }
  }

  template <class T>
  static double to_double(T value) {
    if constexpr (std::is_same_v<T, double>) return value;
    return static_cast<double>(static_cast<float>(value));
  }
  template <class T>
  static T from_double(double value) {
    if constexpr (std::is_same_v<T, double>) return value;
    return T(static_cast<float>(value));
  }
};

constexpr KernelRow kRows[] = {{"", "Det", 11, kLatest, make_kernel<Det>, {{0, kFloatTypes}}}};

}  // namespace

extern const KernelTable det_rows;
constinit const KernelTable det_rows(kRows);

}  // namespace ortolan::cpu::onnx
