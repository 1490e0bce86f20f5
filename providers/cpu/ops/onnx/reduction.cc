// Reductions over any axes, done as a few passes over [outer][axis][inner] tensors, innermost axes first. floats take
// the vector functions; float16 and bfloat16 are computed in float; means, norms and logarithms of integers in double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/threads/polled_loop.h"
#include "cpu/elements/broadcast.h"
#include "cpu/elements/small_floats.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/cast.h"
#include "cpu/kernels/elementwise/number_loops.h"
#include "cpu/kernels/rows/reduce_f32.h"
#include "ops/shape_rules.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

using kernels::ReduceOp;

/** What turns a plain sum into the operator's result. */
enum class Finish { kNone, kMean, kRoot, kLog };

struct ReductionOperator {
  const char* name;
  ReduceOp first;
  Finish finish = Finish::kNone;
  bool exponential = false;  // of exp(x), with the largest element taken out
};

constexpr ReductionOperator kOperators[] = {
    {"ReduceSum", ReduceOp::kSum},
    {"ReduceMean", ReduceOp::kSum, Finish::kMean},
    {"ReduceMax", ReduceOp::kMax},
    {"ReduceMin", ReduceOp::kMin},
    {"ReduceProd", ReduceOp::kProduct},
    {"ReduceL1", ReduceOp::kSumAbs},
    {"ReduceL2", ReduceOp::kSumSquares, Finish::kRoot},
    {"ReduceLogSum", ReduceOp::kSum, Finish::kLog},
    {"ReduceLogSumExp", ReduceOp::kSum, Finish::kLog, true},
    {"ReduceSumSquare", ReduceOp::kSumSquares},
};

/** How later passes combine the results of the first one. */
ReduceOp following(ReduceOp op) { return op == ReduceOp::kSumSquares || op == ReduceOp::kSumAbs ? ReduceOp::kSum : op; }

/** One operation on T; integers wrap around. */
template <class T, ReduceOp kOp>
struct Step {
  using Wide = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  using W = std::conditional_t<std::is_integral_v<T> && (sizeof(T) < 4), uint32_t, Wide>;
  static constexpr T initial() {
    using Limits = std::numeric_limits<T>;
    if (kOp == ReduceOp::kProduct) return T{1};
    if (kOp == ReduceOp::kMax) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    if (kOp == ReduceOp::kMin) return Limits::has_infinity ? Limits::infinity() : Limits::max();
    return T{0};
  }
  static T apply(T sum, T x) {
    if constexpr (kOp == ReduceOp::kSum) return static_cast<T>(W(sum) + W(x));
    if constexpr (kOp == ReduceOp::kSumSquares) return static_cast<T>(W(sum) + W(x) * W(x));
    if constexpr (kOp == ReduceOp::kSumAbs) return static_cast<T>(W(sum) + (x < 0 ? W(0) - W(x) : W(x)));
    if constexpr (kOp == ReduceOp::kProduct) return static_cast<T>(W(sum) * W(x));
    if constexpr (kOp == ReduceOp::kMax) return x != x || x > sum ? x : sum;
    if constexpr (kOp == ReduceOp::kMin) return x != x || x < sum ? x : sum;
  }
};

struct Extent {
  int64_t outer, axis, inner;
};

template <class T, ReduceOp kOp>
void reduce_outer(const T* x, const Extent& extent, T* y) {
  using S = Step<T, kOp>;
  std::fill_n(y, extent.inner, S::initial());
  if (extent.inner == 1) {
    if (extent.axis > 0) *y = kernels::reduce_numbers(kOp, x, extent.axis);
    return;
  }
  base::TerminatePoll poll;
  for (int64_t a = 0; a < extent.axis; ++a, x += extent.inner) {
    base::polled_loop(poll, extent.inner, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = S::apply(y[i], x[i]);
    });
  }
}

template <class T>
using OuterFunction = void (*)(const T*, const Extent&, T*);

template <class T>
OuterFunction<T> outer_function(ReduceOp op) {
  constexpr OuterFunction<T> kFunctions[] = {reduce_outer<T, ReduceOp::kSum>,    reduce_outer<T, ReduceOp::kSumSquares>,
                                             reduce_outer<T, ReduceOp::kSumAbs>, reduce_outer<T, ReduceOp::kProduct>,
                                             reduce_outer<T, ReduceOp::kMax>,    reduce_outer<T, ReduceOp::kMin>};
  return kFunctions[static_cast<size_t>(op)];
}

template <class T>
void reduce_pass(ThreadPool& threads, ReduceOp op, const T* x, const Extent& extent, T* y) {
  if constexpr (std::is_same_v<T, float>) {
    kernels::reduce_axis(&threads, op, x, extent.outer, extent.axis, extent.inner, y);
  } else {
    auto function = outer_function<T>(op);
    int64_t size = extent.axis * extent.inner;
    const int64_t least = kernels::least_rows(size, kernels::kElementNs);
    threads.parallel_for(extent.outer, least, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) function(x + o * size, extent, y + o * extent.inner);
    });
  }
}

/** A shape as runs of dimensions that are reduced or kept, without dimensions of size 1. */
class Groups {
 public:
  Groups(const Shape& shape, const std::vector<bool>& is_reduced) {
    for (size_t i = 0; i < shape.rank(); ++i) {
      if (is_reduced[i]) reduced_count_ = checked_mul(reduced_count_, shape[i]);
      if (shape[i] == 1) continue;
      if (!sizes_.empty() && reduced_.back() == is_reduced[i]) {
        sizes_.back() = checked_mul(sizes_.back(), shape[i]);
      } else {
        sizes_.push_back(shape[i]);
        reduced_.push_back(is_reduced[i]);
      }
    }
  }
  /** The number of elements that make one. */
  int64_t reduced_count() const { return reduced_count_; }
  size_t passes() const { return std::count(reduced_.begin(), reduced_.end(), true); }
  /** Takes away the last reduced group and says which pass that is. */
  Extent next_pass() {
    size_t last = sizes_.size() - 1;
    while (!reduced_[last]) --last;
    Extent extent{1, sizes_[last], 1};
    for (size_t i = 0; i < last; ++i) extent.outer *= sizes_[i];
    for (size_t i = last + 1; i < sizes_.size(); ++i) extent.inner *= sizes_[i];
    sizes_[last] = 1;
    reduced_[last] = false;
    return extent;
  }

 private:
  InlinedVector<int64_t, 6> sizes_;
  InlinedVector<bool, 6> reduced_;
  int64_t reduced_count_ = 1;
};

/** y = the reduction of x by `op` over all reduced groups, scratch from the context. */
template <class T>
void reduce(KernelContext& context, ReduceOp op, const T* x, Groups groups, T* y) {
  ThreadPool& threads = context.threads();
  size_t passes = groups.passes();
  if (passes == 0) {
    Extent single{context.output(0).element_count(), 1, 1};
    return reduce_pass(threads, op, x, single, y);
  }
  for (size_t pass = 1; pass <= passes; ++pass) {
    Extent extent = groups.next_pass();
    T* to = pass == passes ? y : context.scratch<T>(extent.outer * extent.inner).data();
    reduce_pass(threads, op, x, extent, to);
    x = to;
    op = following(op);
  }
}

/** to = exp(x - shift), shift broadcast, an infinite shift counted as 0. */
template <class T>
void shifted_exponentials(KernelContext& context, const T* x, const Shape& x_shape, const T* shift,
                          const Shape& shift_shape, T* to) {
  BroadcastPlan plan(x_shape, {&shift_shape});
  int64_t step = plan.is_scalar(0) ? 0 : 1;
  plan.run(context.threads(), kernels::least_items(kernels::kFunctionNs),
           [&](const int64_t* at, int64_t begin, int64_t count) {
             for (int64_t i = 0; i < count; ++i) {
               T by = shift[at[0] + i * step];
               to[begin + i] = std::exp(x[begin + i] - (std::isinf(by) ? T{0} : by));
             }
           });
}

class Reduction : public OpKernel {
 public:
  explicit Reduction(const KernelInfo& info) {
    const Node& node = info.node();
    for (const ReductionOperator& candidate : kOperators) {
      if (node.op_type == candidate.name) operator_ = candidate;
    }
    axes_ = node.ints("axes");
    noop_ = node.int_or("noop_with_empty_axes", 0) != 0;
  }

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    std::vector<bool> is_reduced = reduced_axes(context, x.rank());
    ElementType type = x.type() == ElementType::kBool ? ElementType::kUInt8 : compute_type(x.type());
    if (kIntegerTypes.contains(type) && operator_.finish != Finish::kNone) return through<double>(context, is_reduced);
    if (type != x.type() && type == ElementType::kFloat) return through<float>(context, is_reduced);
    constexpr TypeSet kTypes = ElementType::kFloat | ElementType::kDouble | ElementType::kInt32 | ElementType::kInt64 |
                               ElementType::kUInt32 | ElementType::kUInt64 | ElementType::kInt8 | ElementType::kUInt8;
    dispatch<kTypes>(type, [&]<class T>(TypeTag<T>) {
      run<T>(context, static_cast<const T*>(x.raw()), is_reduced, static_cast<T*>(context.output(0).mutable_raw()));
    });
  }

 private:
  std::vector<bool> reduced_axes(const KernelContext& context, size_t rank) const {
    std::vector<int64_t> axes = axes_;
    if (const Tensor* input = context.input_if(1)) axes = to_int64s(*input);
    std::vector<bool> is_reduced(rank, axes.empty() && !noop_);
    for (size_t axis : ops::checked_axes(axes, rank)) is_reduced[axis] = true;  // the plan counts on no axis twice
    return is_reduced;
  }

  /** Reduces in another type than the elements': float for small floats, double for integers. */
  template <class T>
  void through(KernelContext& context, const std::vector<bool>& is_reduced) const {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    int64_t count = x.element_count();
    auto wide = context.scratch<T>(count);
    auto result = context.scratch<T>(y.element_count());
    if constexpr (std::is_same_v<T, float>) {
      widen(x.type(), x.raw(), wide.data(), count);
      run<T>(context, wide.data(), is_reduced, result.data());
      narrow(x.type(), result.data(), y.mutable_raw(), y.element_count());
    } else {
      dispatch<kIntegerTypes>(x.type(), [&]<class I>(TypeTag<I>) {
        kernels::cast(x.data<I>(), count, wide.data());
        run<T>(context, wide.data(), is_reduced, result.data());
        std::transform(result.begin(), result.end(), y.mutable_data<I>(), [](T value) { return whole<I>(value); });
      });
    }
  }

  /** The nearest number towards zero; the limits of I for what is out of range, 0 for NaN. */
  template <class I>
  static I whole(double value) {
    using Limits = std::numeric_limits<I>;
    if (std::isnan(value)) return 0;
    if (value <= static_cast<double>(Limits::lowest())) return Limits::lowest();
    return value >= static_cast<double>(Limits::max()) ? Limits::max() : static_cast<I>(value);
  }

  template <class T>
  void run(KernelContext& context, const T* x, const std::vector<bool>& is_reduced, T* y) const {
    const Shape& shape = context.input(0).shape();
    Groups groups(shape, is_reduced);
    int64_t outputs = context.output(0).element_count();
    if (outputs == 0) return;
    if (!operator_.exponential) {
      reduce(context, operator_.first, x, groups, y);
      return finish(y, outputs, groups.reduced_count());
    }
    if constexpr (std::is_floating_point_v<T>) {
      auto largest = context.scratch<T>(outputs);
      reduce(context, ReduceOp::kMax, x, groups, largest.data());
      Shape kept = shape;
      for (size_t i = 0; i < kept.rank(); ++i) kept[i] = is_reduced[i] ? 1 : kept[i];
      auto powers = context.scratch<T>(shape.element_count());
      shifted_exponentials(context, x, shape, largest.data(), kept, powers.data());
      reduce(context, ReduceOp::kSum, static_cast<const T*>(powers.data()), groups, y);
      for (int64_t i = 0; i < outputs; ++i) y[i] = std::log(y[i]) + (std::isinf(largest[i]) ? T{0} : largest[i]);
    }
  }

  template <class T>
  void finish(T* y, int64_t count, int64_t reduced_count) const {
    if constexpr (std::is_floating_point_v<T>) {
      for (int64_t i = 0; i < count; ++i) {
        if (operator_.finish == Finish::kMean) y[i] /= static_cast<T>(reduced_count);
        if (operator_.finish == Finish::kRoot) y[i] = std::sqrt(y[i]);
        if (operator_.finish == Finish::kLog) y[i] = std::log(y[i]);
      }
    }
  }

  ReductionOperator operator_{};
  bool noop_ = false;
  std::vector<int64_t> axes_;  // where they are no input
};

constexpr TypeSet kSumTypes =
    kFloatTypes | ElementType::kInt32 | ElementType::kInt64 | ElementType::kUInt32 | ElementType::kUInt64;
constexpr TypeSet kExtremeTypes = kSumTypes | ElementType::kInt8 | ElementType::kUInt8 | ElementType::kBool;

constexpr KernelRow row(const char* name, TypeSet types) {
  return {"", name, 1, kLatest, make_kernel<Reduction>, {{0, types}}};
}

constexpr KernelRow kRows[] = {
    row("ReduceSum", kSumTypes),       row("ReduceMean", kSumTypes),   row("ReduceMax", kExtremeTypes),
    row("ReduceMin", kExtremeTypes),   row("ReduceProd", kSumTypes),   row("ReduceL1", kSumTypes),
    row("ReduceL2", kSumTypes),        row("ReduceLogSum", kSumTypes), row("ReduceLogSumExp", kSumTypes),
    row("ReduceSumSquare", kSumTypes),
};

}  // namespace

extern const KernelTable reduction_rows;
constinit const KernelTable reduction_rows(kRows);

}  // namespace ortolan::cpu::onnx
