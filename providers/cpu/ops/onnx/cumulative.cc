// CumSum and CumProd. float16 and bfloat16 keep the running value in float; integers wrap around.
#include <algorithm>
#include <vector>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/number_loops.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** The type of the running value. */
template <class T>
struct Running {
  using type = float;
};
template <class T>
requires std::is_integral_v<T>
struct Running<T> {
  using type = std::make_unsigned_t<T>;
};
template <>
struct Running<double> {
  using type = double;
};

struct Extent {
  int64_t outer, axis, inner;
};

struct Options {
  bool product, exclusive, reverse;
};

/** A part of a slice of neighbouring elements, from `running` on, which it returns as it is at the end. */
template <bool kProduct, class T, class R>
R cumulate_part(const T* x, T* y, int64_t count, int64_t step, bool exclusive, R running) {
  for (int64_t i = 0; count > 0; --count, i += step) {
    R before = running;
    R element = static_cast<R>(x[i]);
    running = kProduct ? before * element : before + element;
    y[i] = static_cast<T>(exclusive ? before : running);
  }
  return running;
}

/** One slice of neighbouring elements. */
template <class T, class R>
void cumulate_row(const T* x, T* y, int64_t count, const Options& options) {
  R running = options.product ? R{1} : R{0};
  const int64_t step = options.reverse ? -1 : 1, first = options.reverse ? count - 1 : 0;
  const auto cumulate = options.product ? cumulate_part<true, T, R> : cumulate_part<false, T, R>;
  base::polled_loop(count, [&](int64_t begin, int64_t end) {
    const int64_t at = first + begin * step;
    running = cumulate(x + at, y + at, end - begin, step, options.exclusive, running);
  });
}

/** Sums of `inner` neighbouring slices at once, each row on the one before it. */
template <class T>
void add_rows(const T* x, T* y, const Extent& extent, bool reverse) {
  const int64_t step = reverse ? -extent.inner : extent.inner;
  int64_t at = reverse ? (extent.axis - 1) * extent.inner : 0;
  std::copy_n(x + at, extent.inner, y + at);
  base::TerminatePoll poll;
  for (int64_t row = 1; row < extent.axis; ++row) {
    poll.work(extent.inner);
    const T* before = y + at;
    at += step;
    if constexpr (std::is_same_v<T, float>) {
      kernels::binary(kernels::BinaryOp::kAdd, before, x + at, y + at, extent.inner);
    } else {
      kernels::number_loops(kernels::NumberOp::kAdd, kernels::number_of<T>())
          .vectors(before, x + at, y + at, extent.inner);
    }
  }
}

/** `inner` neighbouring slices at once; `running` holds `inner` values. */
template <class T, class R>
void cumulate(const T* x, T* y, const Extent& extent, const Options& options, std::vector<R>& running) {
  if constexpr (sizeof(T) == sizeof(R)) {  // not a float that is kept wider
    if (!options.exclusive && !options.product) {
      return add_rows(reinterpret_cast<const R*>(x), reinterpret_cast<R*>(y), extent, options.reverse);
    }
  }
  running.assign(static_cast<size_t>(extent.inner), options.product ? R{1} : R{0});
  base::TerminatePoll poll;
  for (int64_t step = 0; step < extent.axis; ++step) {
    int64_t at = (options.reverse ? extent.axis - 1 - step : step) * extent.inner;
    base::polled_loop(poll, extent.inner, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        R before = running[i];
        R element = static_cast<R>(x[at + i]);
        running[i] = options.product ? before * element : before + element;
        y[at + i] = static_cast<T>(options.exclusive ? before : running[i]);
      }
    });
  }
}

class Cumulative : public OpKernel {
 public:
  explicit Cumulative(const KernelInfo& info)
      : options_{info.node().op_type == "CumProd", info.node().int_or("exclusive", 0) != 0,
                 info.node().int_or("reverse", 0) != 0} {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    std::vector<int64_t> axis_input = to_int64s(context.input(1));
    require(axis_input.size() == 1, ErrorCode::kInvalidArgument, "input axis has ", axis_input.size(),
            " elements; give it exactly one");
    size_t axis = checked_axis(axis_input[0], x.rank());
    if (x.element_count() == 0) return;
    Extent extent{x.shape().count_to(axis), x.shape()[axis], x.shape().count_from(axis + 1)};
    constexpr TypeSet kTypes =
        kFloatTypes | ElementType::kInt32 | ElementType::kInt64 | ElementType::kUInt32 | ElementType::kUInt64;
    dispatch<kTypes>(x.type(),
                     [&]<class T>(TypeTag<T>) { run(context.threads(), x.data<T>(), y.mutable_data<T>(), extent); });
  }

 private:
  template <class T>
  void run(ThreadPool& threads, const T* x, T* y, const Extent& extent) const {
    int64_t size = extent.axis * extent.inner;
    const int64_t least = kernels::least_rows(size, kernels::kScalarNs);
    threads.parallel_for(extent.outer, least, [&](int64_t begin, int64_t end) {
      using R = typename Running<T>::type;
      std::vector<R> running;
      for (int64_t o = begin; o < end; ++o) {
        if (extent.inner == 1) {
          cumulate_row<T, R>(x + o * size, y + o * size, size, options_);
        } else {
          cumulate(x + o * size, y + o * size, extent, options_, running);
        }
      }
    });
  }

  Options options_;
};

constexpr TypeSet kTypes =
    kFloatTypes | ElementType::kInt32 | ElementType::kInt64 | ElementType::kUInt32 | ElementType::kUInt64;

constexpr KernelRow kRows[] = {
    {"", "CumSum", 11, kLatest, make_kernel<Cumulative>, {{0, kTypes}}},
    {"", "CumProd", 26, kLatest, make_kernel<Cumulative>, {{0, kTypes}}},
};

}  // namespace

extern const KernelTable cumulative_rows;
constinit const KernelTable cumulative_rows(kRows);

}  // namespace ortolan::cpu::onnx
