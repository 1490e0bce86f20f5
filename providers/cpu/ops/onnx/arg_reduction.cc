// ArgMax and ArgMin. NaN never wins against a number.
#include <algorithm>
#include <vector>

#include "base/thread_pool.h"
#include "cpu/small_floats.h"
#include "runtime/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** Slices of `axis` elements with `inner` between neighbours. */
struct Extent {
  int64_t outer, axis, inner;
};

/** The winner's index for each of `inner` neighbouring slices. `best` holds `inner` elements. */
template <class T, bool kLargest, bool kLast>
void arg_columns(const T* x, const Extent& extent, T* best, int64_t* y) {
  std::copy_n(x, extent.inner, best);
  std::fill_n(y, extent.inner, int64_t{0});
  for (int64_t a = 1; a < extent.axis; ++a) {
    x += extent.inner;
    for (int64_t i = 0; i < extent.inner; ++i) {
      bool better = kLargest ? x[i] > best[i] : x[i] < best[i];
      bool equal = kLast && x[i] == best[i];
      if (better || equal || (best[i] != best[i] && x[i] == x[i])) {
        best[i] = x[i];
        y[i] = a;
      }
    }
  }
}

template <class T>
using ArgFunction = void (*)(const T*, const Extent&, T*, int64_t*);

template <class T>
ArgFunction<T> arg_function(bool largest, bool last) {
  if (largest) return last ? arg_columns<T, true, true> : arg_columns<T, true, false>;
  return last ? arg_columns<T, false, true> : arg_columns<T, false, false>;
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
    ArgFunction<T> function = arg_function<T>(largest_, last_);
    auto best = context.scratch<T>(extent.outer * extent.inner);
    int64_t size = extent.axis * extent.inner;
    context.threads().parallel_for(extent.outer, std::max<int64_t>(1, 16384 / size), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        function(x + o * size, extent, best.data() + o * extent.inner, y + o * extent.inner);
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
