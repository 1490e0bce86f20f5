// Kernels of OneHot, NonZero and Compress.
#include <cmath>

#include "base/threads/polled_loop.h"
#include "base/threads/polled_vector.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/element_number.h"
#include "cpu/kernels/elementwise/cast.h"
#include "cpu/moves/counted_copy.h"
#include "cpu/moves/stacked_slices.h"
#include "cpu/moves/strided_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** An index of any numeric type as an integer; -1 - 2^62 for what no depth reaches. */
template <class T>
int64_t as_index(T value) {
  constexpr int64_t kNowhere = -1 - (int64_t{1} << 62);
  if constexpr (std::is_integral_v<T>) {
    return std::cmp_greater(value, INT64_MAX) ? kNowhere : static_cast<int64_t>(value);
  } else {
    auto number = static_cast<double>(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value));
    return number > -1e18 && number < 1e18 ? static_cast<int64_t>(number) : kNowhere;
  }
}

class OneHot : public OpKernel {
 public:
  explicit OneHot(const KernelInfo& info) : axis_(info.node().int_or("axis", -1)) {}
  void compute(KernelContext& context) const override {
    const Tensor& indices = context.input(0);
    const Tensor& values = context.input(2);
    Tensor& output = context.output(0);
    require(values.element_count() == 2, ErrorCode::kInvalidArgument, "values must hold two elements, off and on");
    size_t axis = checked_axis(axis_, output.rank());
    int64_t depth = output.shape()[axis], inner = output.shape().count_from(axis + 1);
    auto at = context.scratch<int64_t>(indices.element_count());
    dispatch<kNumericTypes>(indices.type(), [&]<class T>(TypeTag<T>) {
      const T* from = indices.data<T>();
      base::polled_loop(std::ssize(at), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) at[i] = as_index(from[i]);
      });
    });
    if (output.element_count() == 0) return;
    dispatch_moved(values.type(), [&]<class E>(TypeTag<E>) {
      auto* choice = static_cast<const E*>(values.raw());
      auto* to = static_cast<E*>(output.mutable_raw());
      put_copies(to, output.element_count(), choice[0]);
      base::polled_loop(std::ssize(at), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          int64_t index = at[static_cast<size_t>(i)] + (at[static_cast<size_t>(i)] < 0 ? depth : 0);
          if (index >= 0 && index < depth) put(to[(i / inner * depth + index) * inner + i % inner], choice[1]);
        }
      });
    });
  }

 private:
  int64_t axis_;
};

template <class T>
bool is_zero(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value.empty();
  } else if constexpr (std::is_constructible_v<float, T> && !std::is_arithmetic_v<T>) {
    return static_cast<float>(value) == 0.0f;
  } else {
    return value == T{};
  }
}

class NonZero : public OpKernel {
 public:
  explicit NonZero(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    auto count = input.element_count();
    auto flags = context.scratch<uint8_t>(count);
    if (auto number = number_of(input.type())) {
      kernels::cast(*number, input.raw(), count, kernels::Number::kBool, flags.data());
    } else {
      dispatch<kPlainTypes | ElementType::kString>(input.type(), [&]<class T>(TypeTag<T>) {
        const T* from = input.data<T>();
        base::polled_loop(count, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) flags[i] = !is_zero(from[i]);
        });
      });
    }
    const int64_t found = sum_of(flags);
    auto rank = static_cast<int64_t>(input.rank());
    int64_t* to = context.output(0, Shape{rank, found}).mutable_data<int64_t>();
    if (rank > 0 && found > 0) write(flags.data(), input.shape(), found, to);
  }

 private:
  static int64_t sum_of(std::span<const uint8_t> flags) {
    int64_t sum = 0;
    base::polled_loop(std::ssize(flags), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) sum += flags[i];
    });
    return sum;
  }

  /** The indices along the last dimension one by one, those along the others for a whole line. */
  static void write(const uint8_t* flags, const Shape& shape, int64_t found, int64_t* to) {
    const size_t last = shape.rank() - 1;
    const int64_t length = shape[last], lines = shape.count_to(last);
    Dims at(last);
    int64_t next = 0;
    base::TerminatePoll poll;
    for (int64_t line = 0; line < lines; ++line, flags += length) {
      const int64_t first = next;
      int64_t* columns = to + static_cast<int64_t>(last) * found;
      base::polled_loop(poll, length, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if (flags[i]) columns[next++] = i;
        }
      });
      for (size_t axis = 0; axis < last; ++axis) {
        put_copies(to + static_cast<int64_t>(axis) * found + first, next - first, at[axis]);
      }
      for (size_t axis = last; axis-- > 0;) {
        if (++at[axis] < shape[axis]) break;
        at[axis] = 0;
      }
    }
  }
};

class Compress : public OpKernel {
 public:
  explicit Compress(const KernelInfo& info) {
    if (info.node().has_attribute("axis")) axis_ = info.node().int_of("axis");
  }
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    auto condition = context.input(1).span<bool>();
    size_t axis = axis_ ? checked_axis(*axis_, input.rank()) : 0;
    int64_t outer = axis_ ? input.shape().count_to(axis) : 1;
    int64_t inner = axis_ ? input.shape().count_from(axis + 1) : 1;
    int64_t length = axis_ ? input.shape()[axis] : input.element_count();
    const std::vector<int64_t> kept = chosen(condition.first(std::min(static_cast<size_t>(length), condition.size())));
    auto count = static_cast<int64_t>(kept.size());
    Shape shape = axis_ ? input.shape() : Shape{count};
    shape[axis] = count;
    Tensor& output = context.output(0, shape);
    if (output.element_count() == 0) return;
    dispatch_moved(input.type(), [&]<class E>(TypeTag<E>) {
      auto* to = static_cast<E*>(output.mutable_raw());
      base::TerminatePoll poll;
      for (int64_t o = 0; o < outer; ++o, to += count * inner) {
        copy_chosen(poll, static_cast<const E*>(input.raw()) + o * length * inner, inner, kept, to);
      }
    });
  }

 private:
  /** The places where the condition holds. */
  static std::vector<int64_t> chosen(std::span<const bool> condition) {
    auto kept = base::polled_vector<int64_t>(std::ssize(condition));
    size_t next = 0;
    base::polled_loop(std::ssize(condition), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        kept[next] = i;
        next += condition[i] ? 1 : 0;
      }
    });
    kept.resize(next);
    return kept;
  }

  /** Blocks of `inner` elements one after the other. */
  template <class E>
  static void copy_chosen(base::TerminatePoll& poll, const E* from, int64_t inner, std::span<const int64_t> kept,
                          E* to) {
    auto copy = [&](int64_t begin, int64_t end) {
      if (inner == 1) {
        for (int64_t i = begin; i < end; ++i) to[i] = from[kept[i]];
      } else {
        for (int64_t i = begin; i < end; ++i) put_n(from + kept[i] * inner, inner, to + i * inner);
      }
    };
    base::polled_loop(poll, std::ssize(kept), copy, inner);
  }

  std::optional<int64_t> axis_;
};

constexpr KernelRow kRows[] = {
    {"", "OneHot", 9, kLatest, make_kernel<OneHot>},
    {"", "NonZero", 9, kLatest, make_kernel<NonZero>},
    {"", "Compress", 9, kLatest, make_kernel<Compress>},
};

}  // namespace

extern const KernelTable selection_rows;
const KernelTable selection_rows(kRows);

}  // namespace ortolan::cpu::onnx
