// Det by elimination with row pivoting, in double.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/thread_pool.h"
#include "runtime/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** The determinant of an n x n matrix, which is overwritten. */
double determinant(double* a, int64_t n) {
  double result = 1;
  for (int64_t column = 0; column < n; ++column) {
    int64_t pivot = column;
    for (int64_t row = column + 1; row < n; ++row) {
      if (std::fabs(a[row * n + column]) > std::fabs(a[pivot * n + column])) pivot = row;
    }
    if (a[pivot * n + column] == 0) return 0;
    if (pivot != column) {
      std::swap_ranges(a + pivot * n, a + pivot * n + n, a + column * n);
      result = -result;
    }
    double diagonal = a[column * n + column];
    result *= diagonal;
    for (int64_t row = column + 1; row < n; ++row) {
      double factor = a[row * n + column] / diagonal;
      for (int64_t i = column + 1; i < n; ++i) a[row * n + i] -= factor * a[column * n + i];
    }
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
      int64_t work = std::max<int64_t>(1, size * size * size);
      context.threads().parallel_for(y.element_count(), std::max<int64_t>(1, 32768 / work),
                                     [&](int64_t begin, int64_t end) {
                                       std::vector<double> matrix(static_cast<size_t>(n * n));
                                       for (int64_t i = begin; i < end; ++i) {
                                         for (int64_t j = 0; j < n * n; ++j) matrix[j] = to_double(from[i * n * n + j]);
                                         to[i] = from_double<T>(determinant(matrix.data(), n));
                                       }
                                     });
    });
  }

 private:
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
