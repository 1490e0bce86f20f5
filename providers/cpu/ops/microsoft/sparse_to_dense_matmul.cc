// SparseToDenseMatMul: every element of A adds a multiple of a row of B to a row of the result. Threads share the
// result's columns, so none writes where another does.
#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/saturate.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

constexpr TypeSet kTypes =
    kFloat32And64 | ElementType::kInt32 | ElementType::kInt64 | ElementType::kUInt32 | ElementType::kUInt64;

/** Where each element of A stands, in the order of its values. */
struct Places {
  std::vector<int64_t> rows, columns;
  void add(int64_t row, int64_t column) {
    rows.push_back(row);
    columns.push_back(column);
  }
};

Places coo_places(const SparseTensor& a) {
  Places places;
  bool pairs = a.indices[0].rank() == 2;
  auto indices = a.indices[0].span<int64_t>();
  int64_t width = a.dense_shape[1];
  for (size_t i = 0; i < indices.size(); i += pairs ? 2 : 1) {
    pairs ? places.add(indices[i], indices[i + 1]) : places.add(indices[i] / width, indices[i] % width);
  }
  return places;
}

Places csr_places(const SparseTensor& a) {
  Places places;
  auto columns = a.indices[0].span<int64_t>(), starts = a.indices[1].span<int64_t>();
  require(columns.empty() || (starts.front() == 0 && starts.back() == static_cast<int64_t>(columns.size())),
          ErrorCode::kInvalidArgument, "the row starts of A must go from 0 to its ", columns.size(), " values");
  for (size_t row = 0; row + 1 < starts.size(); ++row) {
    for (int64_t i = starts[row]; i < starts[row + 1]; ++i) places.add(static_cast<int64_t>(row), columns[i]);
  }
  return places;
}

Places places_of(const SparseTensor& a) {
  require(a.dense_shape.rank() == 2, ErrorCode::kInvalidArgument, "A has the dense shape ", a.dense_shape,
          "; it must have rank 2");
  if (a.values.element_count() == 0) return {};
  require(a.format == SparseFormat::kCoo || a.format == SparseFormat::kCsrc, ErrorCode::kInvalidArgument,
          "A is a sparse tensor of format ", static_cast<int>(a.format), "; give COO or CSR");
  return a.format == SparseFormat::kCoo ? coo_places(a) : csr_places(a);
}

void add_scaled(const float* x, float factor, float* y, int64_t n) { kernels::accumulate_scaled(x, factor, y, n); }

template <class T>
void add_scaled(const T* x, T factor, T* y, int64_t n) {
  using Word = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;  // whole numbers wrap around
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(Word(y[i]) + Word(factor) * Word(x[i]));
}

class SparseToDenseMatMul final : public OpKernel {
 public:
  explicit SparseToDenseMatMul(const KernelInfo& info)
      : trans_a_(info.node().int_or("transA", 0) != 0),
        trans_b_(info.node().int_or("transB", 0) != 0),
        alpha_(info.node().float_or("alpha", 1)) {}

  void compute(KernelContext& context) const override {
    const Value& a = context.input_value(0);
    Tensor& y = context.output(0);
    bool sparse = a.kind() == ValueKind::kSparse;
    check(sparse ? a.sparse()->type : a.tensor().type(), sparse ? a.sparse()->dense_shape : a.tensor().shape(),
          context.input(1).shape(), y);
    dispatch<kTypes>(y.type(), [&]<class T>(TypeTag<T>) {
      std::fill_n(y.mutable_data<T>(), y.element_count(), T(0));
      if (sparse) {
        multiply(context, places_of(*a.sparse()), a.sparse()->values.data<T>(), y);
      } else {
        multiply_dense<T>(context, a.tensor(), y);
      }
    });
  }

 private:
  /** The shape rule judged what the model states; this judges what came. */
  void check(ElementType type, const Shape& a, const Shape& b, const Tensor& y) const {
    bool fits = type == y.type() && a.rank() == 2 && b.rank() == 2 && a[trans_a_] == y.shape()[0] &&
                a[!trans_a_] == b[trans_b_] && b[!trans_b_] == y.shape()[1];
    require(fits, ErrorCode::kInvalidArgument, "A of ", name_of(type), a, " times B of ", name_of(y.type()), b,
            " does not give ", y.shape(), "; types and inner dimensions must be equal");
  }

  template <class T>
  void multiply_dense(KernelContext& context, const Tensor& a, Tensor& y) const {
    Places places;
    std::vector<T> values;
    auto all = a.span<T>();
    int64_t width = a.shape()[1];
    base::TerminatePoll poll;
    for (size_t i = 0; i < all.size(); ++i) {
      poll.work();
      if (all[i] == T(0)) continue;
      places.add(static_cast<int64_t>(i) / width, static_cast<int64_t>(i) % width);
      values.push_back(all[i]);
    }
    multiply(context, places, values.data(), y);
  }

  template <class T>
  void multiply(KernelContext& context, const Places& places, const T* values, Tensor& y) const {
    const T* b = right(context, context.input(1).data<T>(), context.input(1).shape());
    T* out = y.mutable_data<T>();
    int64_t width = y.shape()[1], count = static_cast<int64_t>(places.rows.size());
    if (count == 0) return;
    const auto &to = trans_a_ ? places.columns : places.rows, &from = trans_a_ ? places.rows : places.columns;
    context.threads().parallel_for(
        width, std::max<int64_t>(16, kernels::least_rows(count, kernels::kElementNs)), [&](int64_t begin, int64_t end) {
          base::TerminatePoll poll;
          for (int64_t i = 0; i < count; ++i) {
            poll.work(8 + end - begin);
            add_scaled(b + from[i] * width + begin, values[i], out + to[i] * width + begin, end - begin);
          }
          if (alpha_ == 1) return;
          for (int64_t r = 0; r < y.shape()[0]; ++r) {
            poll.work(end - begin);
            scale(out + r * width + begin, end - begin);
          }
        });
  }

  /** B, or its transposed copy. */
  template <class T>
  const T* right(KernelContext& context, const T* b, const Shape& shape) const {
    if (!trans_b_) return b;
    T* copy = context.scratch<T>(shape.element_count()).data();
    base::TerminatePoll poll;
    for (int64_t i = 0; i < shape[0]; ++i) {
      poll.work(4 * shape[1]);
      for (int64_t j = 0; j < shape[1]; ++j) copy[j * shape[0] + i] = b[i * shape[1] + j];
    }
    return copy;
  }

  template <class T>
  void scale(T* y, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_integral_v<T>) {
        y[i] = saturate_cast<T>(double(alpha_) * static_cast<double>(y[i]));
      } else {
        y[i] *= static_cast<T>(alpha_);
      }
    }
  }

  bool trans_a_, trans_b_;
  float alpha_;
};

constexpr KernelRow kRows[] = {
    {"com.microsoft", "SparseToDenseMatMul", 1, kLatest, make_kernel<SparseToDenseMatMul>, {{1, kTypes}}},
};

}  // namespace

extern const KernelTable sparse_to_dense_matmul_rows;
const KernelTable sparse_to_dense_matmul_rows(kRows);
}  // namespace ortolan::cpu::microsoft
