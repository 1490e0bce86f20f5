// Kernel of Unique.
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/polled_loop.h"
#include "base/polled_vector.h"
#include "cpu/counted_copy.h"
#include "cpu/stacked_slices.h"
#include "runtime/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** Negative, zero or positive as a is before, equal to or after b. NaN comes last and equals NaN. */
template <class T>
int order(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    int real = order(a.real(), b.real());
    return real != 0 ? real : order(a.imag(), b.imag());
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return order(static_cast<float>(a), static_cast<float>(b));
  } else if constexpr (std::is_floating_point_v<T>) {
    bool a_nan = std::isnan(a), b_nan = std::isnan(b);
    if (a_nan || b_nan) return a_nan - b_nan;
    return (a > b) - (a < b);
  } else {
    return (a > b) - (a < b);
  }
}

/** The distinct rows of a table: which row stands for each, where every row went, how many went there. */
struct Distinct {
  std::vector<int64_t> first;    // the first row of each group, groups in output order
  std::vector<int64_t> inverse;  // the group of each row
  std::vector<int64_t> counts;
};

/** Puts the groups in the order of `before(a, b)` of their numbers. */
template <class Before>
void reorder(Distinct& distinct, Before before) {
  const int64_t groups = std::ssize(distinct.first);
  auto from = base::polled_vector<int64_t>(groups), place = base::polled_vector<int64_t>(groups);
  std::iota(from.begin(), from.end(), 0);
  base::TerminatePoll poll;
  base::polled_sort(groups, before, [&](auto by) { std::ranges::sort(from, by); });
  Distinct ordered;
  for (size_t i = 0; i < from.size(); ++i) {
    poll.work();
    const auto group = static_cast<size_t>(from[i]);
    place[group] = static_cast<int64_t>(i);
    ordered.first.push_back(distinct.first[group]);
    ordered.counts.push_back(distinct.counts[group]);
  }
  for (int64_t& group : distinct.inverse) {
    poll.work();
    group = place[static_cast<size_t>(group)];
  }
  distinct.first = std::move(ordered.first);
  distinct.counts = std::move(ordered.counts);
}

/** Equal for equal numbers alone; all NaN count as one number. */
template <class T>
uint64_t key_of(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (value != value) return 0x7ff8000000000001;
    return std::bit_cast<uint64_t>(static_cast<double>(value) + 0.0);  // -0 + 0 is 0
  } else {
    return static_cast<uint64_t>(value);
  }
}

/** Numbers, by a hash table of their keys: groups come in the order of their first elements. */
template <class T>
Distinct hash_numbers(const T* values, int64_t count) {
  const int bits = std::bit_width(static_cast<uint64_t>(count)) + 1;
  auto table = base::polled_vector<int64_t>(int64_t{1} << bits, -1);
  std::vector<uint64_t> keys;
  Distinct result;
  result.inverse = base::polled_vector<int64_t>(count);
  base::TerminatePoll poll;
  for (int64_t i = 0; i < count; ++i) {
    poll.work(8);
    const uint64_t key = key_of(values[i]);
    size_t slot = ((key ^ (key >> 32)) * 0x9e3779b97f4a7c15) >> (64 - bits);
    while (table[slot] >= 0 && keys[static_cast<size_t>(table[slot])] != key) slot = (slot + 1) & (table.size() - 1);
    if (table[slot] < 0) {
      table[slot] = static_cast<int64_t>(keys.size());
      keys.push_back(key);
      result.first.push_back(i);
      result.counts.push_back(0);
    }
    result.inverse[static_cast<size_t>(i)] = table[slot];
    ++result.counts[static_cast<size_t>(table[slot])];
  }
  return result;
}

/** Rows of any type, by sorting: groups come in the order of their values. */
template <class T>
Distinct sort_rows(const T* rows, int64_t count, int64_t width) {
  auto compare = [&](int64_t a, int64_t b) {
    int difference = 0;
    base::polled_loop(width, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end && difference == 0; ++i) {
        difference = order(rows[a * width + i], rows[b * width + i]);
      }
    });
    return difference;
  };
  auto by_value = base::polled_vector<int64_t>(count);
  std::iota(by_value.begin(), by_value.end(), 0);
  auto less = [&](int64_t a, int64_t b) { return compare(a, b) < 0; };
  base::polled_sort(count, less, [&](auto by) { std::ranges::stable_sort(by_value, by); });
  base::TerminatePoll poll;
  Distinct result;
  result.inverse = base::polled_vector<int64_t>(count);
  for (size_t i = 0; i < by_value.size(); ++i) {
    poll.work(8);
    if (i == 0 || compare(by_value[i - 1], by_value[i]) != 0) {
      result.first.push_back(by_value[i]);
      result.counts.push_back(0);
    }
    result.inverse[static_cast<size_t>(by_value[i])] = static_cast<int64_t>(result.first.size()) - 1;
    ++result.counts.back();
  }
  return result;
}

template <class T>
Distinct find_distinct(const T* rows, int64_t count, int64_t width, bool sorted) {
  Distinct result;
  auto first = [&](int64_t group) { return result.first[static_cast<size_t>(group)]; };
  if constexpr (std::is_arithmetic_v<T>) {
    if (width == 1) {
      result = hash_numbers(rows, count);
      if (sorted) reorder(result, [&](int64_t a, int64_t b) { return order(rows[first(a)], rows[first(b)]) < 0; });
      return result;
    }
  }
  result = sort_rows(rows, count, width);
  if (!sorted) reorder(result, [&](int64_t a, int64_t b) { return first(a) < first(b); });
  return result;
}

class Unique : public OpKernel {
 public:
  explicit Unique(const KernelInfo& info)
      : gives_first_(info.node().domain.empty()), sorted_(gives_first_ && info.node().int_or("sorted", 1) != 0) {
    if (info.node().has_attribute("axis")) axis_ = info.node().int_of("axis");
  }

  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    size_t axis = axis_ ? checked_axis(*axis_, input.rank()) : 0;
    Tensor rows = axis_ ? with_axis_moved(context, input, axis, 0) : input.reshaped(Shape{input.element_count()});
    int64_t count = rows.shape()[0], width = rows.shape().count_from(1);
    Distinct distinct;
    constexpr TypeSet kTypes = kNumericTypes | kComplexTypes | ElementType::kBool | ElementType::kString;
    dispatch<kTypes>(input.type(),
                     [&]<class T>(TypeTag<T>) { distinct = find_distinct(rows.data<T>(), count, width, sorted_); });
    set_values(context, rows, distinct, axis);
    size_t next = 1;
    if (gives_first_) set_list(context, next++, distinct.first);
    set_list(context, next++, distinct.inverse);
    set_list(context, next, distinct.counts);
  }

 private:
  static void set_list(KernelContext& context, size_t output, const std::vector<int64_t>& list) {
    if (!context.has_output(output)) return;
    Tensor& result = context.output(output, Shape{static_cast<int64_t>(list.size())});
    put_n(list.data(), std::ssize(list), result.mutable_data<int64_t>());
  }

  static void set_values(KernelContext& context, const Tensor& rows, const Distinct& distinct, size_t axis) {
    if (!context.has_output(0)) return;
    Shape shape = rows.shape();
    shape[0] = static_cast<int64_t>(distinct.first.size());
    Tensor picked(rows.type(), shape);
    const auto bytes = static_cast<int64_t>(shape.count_from(1) * bits_of(rows.type()) / 8);
    auto* from = static_cast<const char*>(rows.raw());
    auto* to = static_cast<char*>(picked.mutable_raw());
    base::TerminatePoll poll;
    for (size_t i = 0; i < distinct.first.size(); ++i) {
      poll.work(8 + bytes / base::kBytesPerUnit);
      if (rows.type() == ElementType::kString) {
        Tensor target = slice_at(picked, static_cast<int64_t>(i));
        copy_elements(slice_at(rows, distinct.first[i]), target);
      } else if (bytes > 0) {
        base::polled_copy(to + static_cast<int64_t>(i) * bytes, from + distinct.first[i] * bytes, bytes);
      }
    }
    Tensor moved = with_axis_moved(context, picked, 0, axis);
    copy_elements(moved, context.output(0, moved.shape()));
  }

  bool gives_first_;  // ONNX's form does, com.microsoft's does not
  bool sorted_;
  std::optional<int64_t> axis_;
};

constexpr KernelRow kRows[] = {
    {"", "Unique", 11, kLatest, make_kernel<Unique>},
    {"com.microsoft", "Unique", 1, kLatest, make_kernel<Unique>},
};

}  // namespace

extern const KernelTable unique_rows;
const KernelTable unique_rows(kRows);

}  // namespace ortolan::cpu::onnx
