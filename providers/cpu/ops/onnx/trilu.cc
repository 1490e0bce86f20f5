// Trilu, by element size: each row is a run that is copied between two runs of zeros.
#include <algorithm>
#include <cstring>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

struct Matrix {
  int64_t rows, columns;
};

/** The columns [first, second) of `row` that are kept. */
std::pair<int64_t, int64_t> kept_columns(int64_t row, const Matrix& matrix, bool upper, int64_t k) {
  int64_t columns = matrix.columns;
  k = std::clamp(k, -matrix.rows, columns);  // beyond, nothing changes, and row + k cannot overflow
  if (upper) return {std::clamp<int64_t>(row + k, 0, columns), columns};
  return {0, std::clamp<int64_t>(row + k + 1, 0, columns)};
}

class Trilu : public OpKernel {
 public:
  explicit Trilu(const KernelInfo& info) : upper_(info.node().int_or("upper", 1) != 0) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    int64_t k = offset(context);
    size_t rank = x.rank();
    require(rank >= 2, ErrorCode::kInvalidArgument, "input of shape ", x.shape(), " holds no matrices");
    if (x.element_count() == 0) return;
    Matrix matrix{x.shape()[rank - 2], x.shape()[rank - 1]};
    int64_t rows = x.shape().count_to(rank - 1);
    const int64_t least = kernels::least_rows(matrix.columns, kernels::kElementNs);
    context.threads().parallel_for(rows, least, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        auto [first, last] = kept_columns(row % matrix.rows, matrix, upper_, k);
        copy_row(x, y, row * matrix.columns, matrix.columns, first, last);
      }
    });
  }

 private:
  static int64_t offset(const KernelContext& context) {
    const Tensor* k = context.input_if(1);
    if (!k) return 0;
    require(k->element_count() == 1, ErrorCode::kInvalidArgument, "input k has ", k->element_count(),
            " elements; give a scalar");
    return to_int64s(*k)[0];
  }

  static void copy_row(const Tensor& x, Tensor& y, int64_t start, int64_t columns, int64_t first, int64_t last) {
    if (x.type() == ElementType::kString) {
      const std::string* from = x.data<std::string>() + start;
      std::string* to = y.mutable_data<std::string>() + start;
      base::polled_loop(columns, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = i >= first && i < last ? from[i] : std::string();
      });
      return;
    }
    int64_t size = bits_of(x.type()) / 8;
    auto* from = static_cast<const char*>(x.raw()) + start * size;
    auto* to = static_cast<char*>(y.mutable_raw()) + start * size;
    base::polled_clear(to, first * size);
    if (last > first && from != to) base::polled_copy(to + first * size, from + first * size, (last - first) * size);
    last = std::max(first, last);
    base::polled_clear(to + last * size, (columns - last) * size);
  }

  bool upper_;
};

constexpr TypeSet kTypes = kPlainTypes | ElementType::kString;

constexpr KernelRow kRows[] = {
    {"", "Trilu", 14, kLatest, make_kernel<Trilu>, {{0, kTypes}}, Reuse::kInPlace},
    {"com.microsoft", "Trilu", 1, kLatest, make_kernel<Trilu>, {{0, kTypes}}, Reuse::kInPlace},
};

}  // namespace

extern const KernelTable trilu_rows;
constinit const KernelTable trilu_rows(kRows);

}  // namespace ortolan::cpu::onnx
