// ArgMax and ArgMin. NaN never wins against a number.
#include <algorithm>
#include <vector>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/extreme_of.h"
#include "cpu/elements/small_floats.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** Slices of `axis` elements with `inner` between neighbours. */
struct Extent {
  int64_t outer, axis, inner;
};

/** The winner's index for each of `inner` neighbouring slices. `best` and `at` hold `inner` elements; Index is as wide
    as T where it can be, so that the loop vectorises. */
template <class T, class Index, bool kLargest, bool kLast>
void arg_columns(const T* x, const Extent& extent, T* best, Index* at, int64_t* y) {
  std::copy_n(x, extent.inner, best);
  std::fill_n(at, extent.inner, Index{0});
  base::TerminatePoll poll;
  for (int64_t a = 1; a < extent.axis; ++a) {
    x += extent.inner;
    poll.work(extent.inner);
    for (int64_t i = 0; i < extent.inner; ++i) {
      T value = x[i], held = best[i];
      bool wins = kLast ? (kLargest ? value >= held : value <= held) : (kLargest ? value > held : value < held);
      wins = wins | ((held != held) & (value == value));
      best[i] = wins ? value : held;
      at[i] = wins ? static_cast<Index>(a) : at[i];
    }
  }
  std::copy_n(at, extent.inner, y);
}

template <class T, class Index>
using ArgFunction = void (*)(const T*, const Extent&, T*, Index*, int64_t*);

template <class T, class Index>
ArgFunction<T, Index> arg_function(bool largest, bool last) {
  if (largest) return last ? arg_columns<T, Index, true, true> : arg_columns<T, Index, true, false>;
  return last ? arg_columns<T, Index, false, true> : arg_columns<T, Index, false, false>;
}

class ArgReduction : public OpKernel {
 public:
  explicit ArgReduction(const KernelInfo& info)
      : axis_(info.node().int_or("axis", 0)),
        largest_(info.node().op_type == "ArgMax"),
        last_(info.opset() >= 12 && info.node().int_or("select_last_index", 0) != 0) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    size_t axis = checked_axis(axis_, x.rank());
    Tensor& y = context.output(0);
    if (y.element_count() == 0) return;
    Extent extent{x.shape().count_to(axis), x.shape()[axis], x.shape().count_from(axis + 1)};
    require(extent.axis > 0, ErrorCode::kInvalidArgument, "axis ", axis, " of the input of shape ", x.shape(),
            " is empty, so it has no ", largest_ ? "largest" : "smallest", " element");
    int64_t* indices = y.mutable_data<int64_t>();
    dispatch<kIntegerTypes | kFloat32And64>(
        compute_type(x.type()), [&]<class T>(TypeTag<T>) { run(context, numbers<T>(context, x), extent, indices); });
  }

 private:
  template <class T>
  static const T* numbers(KernelContext& context, const Tensor& x) {
    if constexpr (std::is_same_v<T, float>) {
      if (kHalfTypes.contains(x.type())) {
        auto floats = context.scratch<float>(x.element_count());
        widen(x.type(), x.raw(), floats.data(), x.element_count());
        return floats.data();
      }
    }
    return static_cast<const T*>(x.raw());
  }

  template <class T>
  void run(KernelContext& context, const T* x, const Extent& extent, int64_t* y) const {
    constexpr bool kHasRows = sizeof(T) != 2;  // 16-bit integers have no vector function
    if constexpr (kHasRows) {
      if (extent.inner == 1) return run_rows(context.threads(), x, extent, y);
    }
    if constexpr (std::is_same_v<T, float>) {
      if (extent.axis <= INT32_MAX) return run_columns<T, int32_t>(context, x, extent, y);
    }
    run_columns<T, int64_t>(context, x, extent, y);
  }

  /** The extreme of a row by the vector function, then its place. */
  template <class T>
  void run_rows(ThreadPool& threads, const T* x, const Extent& extent, int64_t* y) const {
    const int64_t least = kernels::least_rows(extent.axis, kernels::kElementNs);
    threads.parallel_for(extent.outer, least, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        const T* row = x + o * extent.axis;
        if (extent.axis <= kShortRow && row[0] == row[0]) {
          y[o] = place_in_short_row(row, extent.axis);
          continue;
        }
        T extreme = extreme_of(largest_, row, extent.axis);
        y[o] = extreme == extreme ? place_of(extreme, row, extent.axis) : place_among_nans(row, extent.axis);
      }
    });
  }

  static constexpr int64_t kShortRow = 16;

  template <class T>
  int64_t place_in_short_row(const T* row, int64_t count) const {
    if (largest_) return last_ ? place_by<true, true>(row, count) : place_by<true, false>(row, count);
    return last_ ? place_by<false, true>(row, count) : place_by<false, false>(row, count);
  }
  /** Without branches on the elements, whose first one is a number. */
  template <bool kLargest, bool kLast, class T>
  static int64_t place_by(const T* row, int64_t count) {
    T best = row[0];
    int64_t at = 0;
    for (int64_t i = 1; i < count; ++i) {
      const T value = row[i];
      const bool wins = kLast ? (kLargest ? value >= best : value <= best) : (kLargest ? value > best : value < best);
      best = kLargest ? (value > best ? value : best) : (value < best ? value : best);
      at = wins ? i : at;
    }
    return at;
  }

  template <class T>
  int64_t place_of(T value, const T* row, int64_t count) const {
    if (!last_) return kernels::find_first(value, row, count);
    base::TerminatePoll poll;
    while (row[--count] != value) poll.work();
    return count;
  }

  template <class T>
  int64_t place_among_nans(const T* row, int64_t count) const {
    T best;
    int64_t at, result;
    arg_function<T, int64_t>(largest_, last_)(row, {1, count, 1}, &best, &at, &result);
    return result;
  }

  template <class T, class Index>
  void run_columns(KernelContext& context, const T* x, const Extent& extent, int64_t* y) const {
    auto function = arg_function<T, Index>(largest_, last_);
    auto best = context.scratch<T>(extent.outer * extent.inner);
    auto at = context.scratch<Index>(extent.outer * extent.inner);
    int64_t size = extent.axis * extent.inner;
    const int64_t least = kernels::least_rows(size, kernels::kActivationNs);
    context.threads().parallel_for(extent.outer, least, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        int64_t to = o * extent.inner;
        function(x + o * size, extent, best.data() + to, at.data() + to, y + to);
      }
    });
  }

  int64_t axis_;
  bool largest_;
  bool last_;
};

constexpr KernelRow kRows[] = {
    {"", "ArgMax", 1, kLatest, make_kernel<ArgReduction>, {{0, kNumericTypes}}},
    {"", "ArgMin", 1, kLatest, make_kernel<ArgReduction>, {{0, kNumericTypes}}},
};

}  // namespace

extern const KernelTable arg_reduction_rows;
constinit const KernelTable arg_reduction_rows(kRows);

}  // namespace ortolan::cpu::onnx
