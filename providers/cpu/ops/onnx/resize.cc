// Kernels of Resize and Upsample: nearest neighbours are copied line by line, linear and cubic interpolation goes over
// one dimension after the other.
#include "base/threads/polled_loop.h"
#include "cpu/convolution/resize_table.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/threads/thread_pool.h"
#include "cpu/elements/small_floats.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/cast.h"
#include "cpu/kernels/layout/transpose.h"
#include "cpu/moves/counted_copy.h"
#include "cpu/moves/strided_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** Copies of the nearest input elements; lines that repeat the one before are copied from the output. */
template <class E>
class NearestCopy {
 public:
  NearestCopy(const std::vector<ResizeTable>& tables, const Shape& in, const Shape& out, E fill)
      : tables_(tables), out_(out), strides_(row_strides(in)), fill_(fill) {}

  void run(ThreadPool& threads, const E* from, E* to) const {
    int64_t length = out_.back(), lines = out_.count_to(out_.rank() - 1);
    threads.parallel_for(lines, kernels::least_rows(length, kernels::kPackNs), [&](int64_t begin, int64_t end) {
      int64_t before = -2;
      Dims at = place_of(begin);
      for (int64_t i = begin; i < end; ++i, step(at)) {
        int64_t offset = source_line(at);
        if (offset == before) {
          put_n(to + (i - 1) * length, length, to + i * length);
        } else if (offset < 0) {
          put_copies(to + i * length, length, fill_);
        } else {
          copy_line(from + offset, to + i * length);
        }
        before = offset;
      }
    });
  }

 private:
  /** The indices of an output line. */
  Dims place_of(int64_t line) const {
    Dims at(out_.rank() - 1);
    for (size_t i = at.size(); i-- > 0; line /= out_[i]) at[i] = line % out_[i];
    return at;
  }
  void step(Dims& at) const {
    for (size_t i = at.size(); i-- > 0;) {
      if (++at[i] < out_[i]) return;
      at[i] = 0;
    }
  }

  /** Where the line begins in the input; -1 for one outside. */
  int64_t source_line(const Dims& at) const {
    int64_t offset = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      int64_t position = tables_[i].positions[static_cast<size_t>(at[i])];
      if (position < 0) return -1;
      offset += position * strides_[i];
    }
    return offset;
  }

  void copy_line(const E* from, E* to) const {
    const ResizeTable& table = tables_.back();
    int64_t length = out_.back();
    if (table.identity) {
      put_n(from, length, to);
      return;
    }
    const int64_t* positions = table.positions.data();
    base::polled_loop(length, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) put(to[i], positions[i] < 0 ? fill_ : from[positions[i]]);
    });
  }

  const std::vector<ResizeTable>& tables_;
  const Shape& out_;
  Dims strides_;
  E fill_;
};

/** n where each position of a dimension comes n times; else 0. */
int64_t repetitions(const ResizeTable& table, int64_t size) {
  auto count = static_cast<int64_t>(table.positions.size()), times = count / size;
  if (times == 0 || count % size != 0) return 0;
  bool all = true;
  base::polled_loop(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && all; ++i) all = table.positions[static_cast<size_t>(i)] == i / times;
  });
  return all ? times : 0;
}

/** Repeats the elements of the last two dimensions where that is all there is to do; else gives false. */
bool repeat_nearest(ThreadPool& threads, const std::vector<ResizeTable>& tables, const Tensor& input, Tensor& output) {
  size_t last = input.rank() - 1;
  int64_t size = is_packed(input.type()) || input.type() == ElementType::kString ? 0 : bits_of(input.type()) / 8;
  if (size == 0 || size > 8 || last == 0) return false;
  for (size_t i = 0; i + 1 < last; ++i) {
    if (!tables[i].identity) return false;
  }
  const Shape& shape = input.shape();
  kernels::Repetition repetition{shape[last], repetitions(tables[last - 1], shape[last - 1]),
                                 repetitions(tables[last], shape[last])};
  if (repetition.row_times == 0 || repetition.column_times == 0) return false;
  int64_t work = repetition.columns * repetition.row_times * repetition.column_times;
  const int64_t least = kernels::least_rows(work, kernels::kPackNs);
  threads.parallel_for(shape.count_to(last), least, [&](int64_t begin, int64_t end) {
    kernels::repeat_elements(size, repetition, input.raw(), begin, end, output.mutable_raw());
  });
  return true;
}

/** One line of `inner` elements as the weighted sum of input lines. */
template <class C>
void weigh_lines(const ResizeTable& table, int64_t row, const C* from, int64_t inner, C extrapolation,
                 C* __restrict to) {
  const int64_t* positions = table.positions.data() + row * table.taps;
  const float* weights = table.weights.data() + row * table.taps;
  if (positions[0] < 0) {
    std::fill_n(to, inner, extrapolation);
    return;
  }
  if (table.taps == 2) {
    const C* a = from + positions[0] * inner;
    const C* b = from + positions[1] * inner;
    C left = weights[0], right = weights[1];
    for (int64_t i = 0; i < inner; ++i) to[i] = a[i] * left + b[i] * right;
    return;
  }
  std::fill_n(to, inner, C{0});
  for (int t = 0; t < table.taps; ++t) {
    if (weights[t] == 0) continue;
    const C* line = from + positions[t] * inner;
    C weight = weights[t];
    for (int64_t i = 0; i < inner; ++i) to[i] += line[i] * weight;
  }
}

/** All outputs along the last dimension. */
template <class C>
void weigh_elements(const ResizeTable& table, const C* from, int64_t length, C extrapolation, C* __restrict to) {
  const int64_t* positions = table.positions.data();
  const float* weights = table.weights.data();
  if (table.taps == 2) {
    for (int64_t i = 0; i < length; ++i) {
      const int64_t* at = positions + 2 * i;
      to[i] = at[0] < 0 ? extrapolation : from[at[0]] * C(weights[2 * i]) + from[at[1]] * C(weights[2 * i + 1]);
    }
    return;
  }
  for (int64_t i = 0; i < length; ++i) {
    C sum = 0;
    for (int t = 0; t < table.taps; ++t) {
      int64_t at = positions[i * table.taps + t];
      if (at < 0) {
        sum = extrapolation;
        break;
      }
      sum += from[at] * C(weights[i * table.taps + t]);
    }
    to[i] = sum;
  }
}

/** Resizes the middle one of [outer, from, inner]. */
template <class C>
void resize_pass(ThreadPool& threads, const ResizeTable& table, const ops::ResizeAxis& axis, int64_t outer,
                 int64_t inner, C extrapolation, const C* from, C* to) {
  if (inner == 1) {
    threads.parallel_for(outer, kernels::least_rows(axis.to, kernels::kScalarNs), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        weigh_elements(table, from + i * axis.from, axis.to, extrapolation, to + i * axis.to);
      }
    });
    return;
  }
  const int64_t least = kernels::least_rows(inner, kernels::kActivationNs);
  threads.parallel_for(outer * axis.to, least, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      weigh_lines(table, i % axis.to, from + i / axis.to * axis.from * inner, inner, extrapolation, to + i * inner);
    }
  });
}

template <class T, class C>
T rounded(C value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    C low = static_cast<C>(std::numeric_limits<T>::min()), high = static_cast<C>(std::numeric_limits<T>::max());
    if (!(value > low)) return std::numeric_limits<T>::min();
    return value >= high ? std::numeric_limits<T>::max() : static_cast<T>(std::nearbyint(value));
  } else {
    return static_cast<T>(value);
  }
}

class Resize : public OpKernel {
 public:
  explicit Resize(const KernelInfo& info) : attributes_(info.node()) {
    bool inputs_moved = info.node().op_type == "Resize" && info.opset() >= 11;
    scales_ = inputs_moved ? 2 : 1;
    sizes_ = inputs_moved ? 3 : SIZE_MAX;
    roi_ = inputs_moved ? 1 : SIZE_MAX;
  }

  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    Tensor& output = context.output(0);
    if (output.element_count() == 0) return;
    if (input.rank() == 0) return copy_elements(input, output);
    require(input.element_count() > 0, ErrorCode::kInvalidArgument, "the input of shape ", input.shape(),
            " is empty, so it cannot be resized to ", output.shape());
    auto wishes =
        ops::resize_wishes(context.node(), context.input_if(scales_), context.input_if(sizes_), context.input_if(roi_));
    std::vector<ops::ResizeAxis> axes = ops::resize_axes(context.node(), input.shape(), wishes);
    std::vector<ResizeTable> tables;
    for (const auto& axis : axes) tables.push_back(resize_table(attributes_, axis));
    if (attributes_.mode == ResizeMode::kNearest) return nearest(context, tables, input, output);
    dispatch<kNumericTypes>(input.type(),
                            [&]<class T>(TypeTag<T>) { interpolate<T>(context, axes, tables, input, output); });
  }

 private:
  void nearest(KernelContext& context, const std::vector<ResizeTable>& tables, const Tensor& input,
               Tensor& output) const {
    if (repeat_nearest(context.threads(), tables, input, output)) return;
    Tensor fill = outside_value(input.type());
    dispatch_moved(input.type(), [&]<class E>(TypeTag<E>) {
      NearestCopy<E>(tables, input.shape(), output.shape(), *static_cast<const E*>(fill.raw()))
          .run(context.threads(), static_cast<const E*>(input.raw()), static_cast<E*>(output.mutable_raw()));
    });
  }

  /** The extrapolation value as one element; zero for types without arithmetic. */
  Tensor outside_value(ElementType type) const {
    Tensor value(type, Shape{});
    if (kNumericTypes.contains(type)) {
      dispatch<kNumericTypes>(
          type, [&]<class T>(TypeTag<T>) { *value.mutable_data<T>() = rounded<T>(attributes_.extrapolation); });
    } else if (type != ElementType::kString) {
      std::memset(value.mutable_raw(), 0, value.byte_count());
    }
    return value;
  }

  template <class T>
  void interpolate(KernelContext& context, const std::vector<ops::ResizeAxis>& axes,
                   const std::vector<ResizeTable>& tables, const Tensor& input, Tensor& output) const {
    using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const C* from = numbers<C>(context, input.data<T>(), input.element_count());
    Shape shape = input.shape();
    auto passes = std::ranges::count_if(tables, [](const ResizeTable& table) { return !table.identity; });
    for (size_t i : order_of_passes(axes, tables)) {
      int64_t outer = shape.count_to(i), inner = shape.count_from(i + 1);
      shape[i] = axes[i].to;
      C* to = target<C>(context, output, shape, --passes == 0);
      resize_pass<C>(context.threads(), tables[i], axes[i], outer, inner, attributes_.extrapolation, from, to);
      from = to;
    }
    T* result = output.mutable_data<T>();
    if (static_cast<const void*>(from) == result) return;
    const int64_t least = kernels::least_items(kernels::kActivationNs);
    context.threads().parallel_for(output.element_count(), least, [&](int64_t begin, int64_t end) {
      if constexpr (kHalfTypes.contains(kTypeOf<T>)) {
        narrow(output.type(), from + begin, result + begin, end - begin);
      } else {
        for (int64_t i = begin; i < end; ++i) result[i] = rounded<T>(from[i]);
      }
    });
  }

  /** Dimensions that shrink come first, whole lines at a time, as that leaves less to do; then from the last one on. */
  static std::vector<size_t> order_of_passes(const std::vector<ops::ResizeAxis>& axes,
                                             const std::vector<ResizeTable>& tables) {
    auto shrinks = [&](size_t i) { return i + 1 < axes.size() && axes[i].to < axes[i].from; };
    std::vector<size_t> order;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (!tables[i].identity && shrinks(i)) order.push_back(i);
    }
    for (size_t i = axes.size(); i-- > 0;) {
      if (!tables[i].identity && !shrinks(i)) order.push_back(i);
    }
    return order;
  }

  template <class C, class T>
  static const C* numbers(KernelContext& context, const T* values, int64_t count) {
    if constexpr (std::is_same_v<C, T>) {
      return values;
    } else {
      auto copy = context.scratch<C>(count);
      const int64_t least = kernels::least_items(kernels::kElementNs);
      context.threads().parallel_for(count, least, [&](int64_t begin, int64_t end) {
        if constexpr (kHalfTypes.contains(kTypeOf<T>)) {
          widen(kTypeOf<T>, values + begin, copy.data() + begin, end - begin);
        } else {
          kernels::cast(values + begin, end - begin, copy.data() + begin);
        }
      });
      return copy.data();
    }
  }

  /** Where a pass writes: the output itself for the last one. */
  template <class C>
  static C* target(KernelContext& context, Tensor& output, const Shape& shape, bool last) {
    if (last && output.type() == kTypeOf<C>) return output.mutable_data<C>();
    return context.scratch<C>(shape.element_count()).data();
  }

  ResizeAttributes attributes_;
  size_t scales_, sizes_, roi_;
};

constexpr KernelRow kRows[] = {
    {"", "Upsample", 1, kLatest, make_kernel<Resize>},
    {"", "Resize", 10, kLatest, make_kernel<Resize>},
};

}  // namespace

extern const KernelTable resize_rows;
const KernelTable resize_rows(kRows);

}  // namespace ortolan::cpu::onnx
