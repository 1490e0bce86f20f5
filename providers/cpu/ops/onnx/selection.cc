// Kernels of OneHot, NonZero and Compress.
#include <cmath>

#include "base/thread_pool.h"
#include "cpu/counted_copy.h"
#include "cpu/element_number.h"
#include "cpu/kernels/cast.h"
#include "cpu/stacked_slices.h"
#include "cpu/strided_copy.h"
#include "runtime/kernel_registry.h"

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
      auto from = indices.span<T>();
      for (size_t i = 0; i < at.size(); ++i) at[i] = as_index(from[i]);
    });
    if (output.element_count() == 0) return;
    dispatch_moved(values.type(), [&]<class E>(TypeTag<E>) {
      auto* choice = static_cast<const E*>(values.raw());
      auto* to = static_cast<E*>(output.mutable_raw());
      put_copies(to, output.element_count(), choice[0]);
      for (int64_t i = 0; i < static_cast<int64_t>(at.size()); ++i) {
        int64_t index = at[static_cast<size_t>(i)] + (at[static_cast<size_t>(i)] < 0 ? depth : 0);
        if (index >= 0 && index < depth) put(to[(i / inner * depth + index) * inner + i % inner], choice[1]);
      }
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
        std::ranges::transform(input.span<T>(), flags.begin(), [](const T& value) { return !is_zero(value); });
      });
    }
    int64_t found = 0;
    for (uint8_t flag : flags) found += flag;
    auto rank = static_cast<int64_t>(input.rank());
    int64_t* to = context.output(0, Shape{rank, found}).mutable_data<int64_t>();
    if (rank > 0 && found > 0) write(flags.data(), input.shape(), found, to);
  }

 private:
  /** The indices along the last dimension one by one, those along the others for a whole line. */
  static void write(const uint8_t* flags, const Shape& shape, int64_t found, int64_t* to) {
    const size_t last = shape.rank() - 1;
    const int64_t length = shape[last], lines = shape.count_to(last);
    Dims at(last);
    int64_t next = 0;
    for (int64_t line = 0; line < lines; ++line, flags += length) {
      const int64_t first = next;
      int64_t* columns = to + static_cast<int64_t>(last) * found;
      for (int64_t i = 0; i < length; ++i) {
        if (flags[i]) columns[next++] = i;
      }
      for (size_t axis = 0; axis < last; ++axis) {
        std::fill(to + static_cast<int64_t>(axis) * found + first, to + static_cast<int64_t>(axis) * found + next,
                  at[axis]);
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
    std::vector<int64_t> kept(static_cast<size_t>(std::min(length, static_cast<int64_t>(condition.size()))));
    size_t next = 0;
    for (size_t i = 0; i < kept.size(); ++i) {
      kept[next] = static_cast<int64_t>(i);
      next += condition[i] ? 1 : 0;
    }
    kept.resize(next);
    auto count = static_cast<int64_t>(kept.size());
    Shape shape = axis_ ? input.shape() : Shape{count};
    shape[axis] = count;
    Tensor& output = context.output(0, shape);
    dispatch_moved(input.type(), [&]<class E>(TypeTag<E>) {
      auto* from = static_cast<const E*>(input.raw());
      auto* to = static_cast<E*>(output.mutable_raw());
      for (int64_t o = 0; o < outer; ++o) {
        if (inner == 1) {
          for (int64_t index : kept) *to++ = from[o * length + index];
          continue;
        }
        for (int64_t index : kept) to = std::copy_n(from + (o * length + index) * inner, inner, to);
      }
    });
  }

 private:
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
