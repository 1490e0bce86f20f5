// Kernel of Unique.
#include <bit>
#include <cmath>
#include <numeric>

#include "base/threads/polled_loop.h"
#include "base/threads/polled_vector.h"
#include "cpu/elements/number_key.h"
#include "cpu/moves/counted_copy.h"
#include "cpu/moves/stacked_slices.h"
#include "runtime/kernels/kernel_registry.h"

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

constexpr TypeSet kTypes = kNumericTypes | kComplexTypes | ElementType::kBool | ElementType::kString;
constexpr TypeSet kNumbers = kNumericTypes.without(kHalfTypes) | ElementType::kBool;

/** Numbers, by a hash table of their keys: groups come in the order of their first elements. */
class NumberGroups {
 public:
  explicit NumberGroups(const Tensor& values)
      : count_(values.element_count()),
        shift_(63 - std::bit_width(static_cast<uint64_t>(count_))),
        table_(base::polled_vector<int64_t>(int64_t{1} << (64 - shift_), -1)) {
    constexpr int64_t kTogether = 256;
    distinct_.inverse = base::polled_vector<int64_t>(count_);
    base::TerminatePoll poll;
    for (int64_t first = 0; first < count_; first += kTogether) {
      uint64_t keys[kTogether];
      const int64_t together = std::min(kTogether, count_ - first);
      poll.work(8 * together);
      dispatch<kNumbers>(values.type(), [&]<class T>(TypeTag<T>) {
        const T* from = values.data<T>() + first;
        std::transform(from, from + together, keys, number_key<T>);
      });
      for (int64_t i = 0; i < together; ++i) add(first + i, keys[i]);
    }
  }
  Distinct take(bool sorted) {
    if (sorted) reorder(distinct_, [&](int64_t a, int64_t b) { return key(a) < key(b); });
    return std::move(distinct_);
  }

 private:
  uint64_t key(int64_t group) const { return keys_[static_cast<size_t>(group)]; }

  void add(int64_t i, uint64_t key_of_i) {
    size_t slot = ((key_of_i ^ (key_of_i >> 32)) * 0x9e3779b97f4a7c15) >> shift_;
    while (table_[slot] >= 0 && key(table_[slot]) != key_of_i) slot = (slot + 1) & (table_.size() - 1);
    if (table_[slot] < 0) {
      table_[slot] = static_cast<int64_t>(keys_.size());
      keys_.push_back(key_of_i);
      distinct_.first.push_back(i);
      distinct_.counts.push_back(0);
    }
    distinct_.inverse[static_cast<size_t>(i)] = table_[slot];
    ++distinct_.counts[static_cast<size_t>(table_[slot])];
  }

  int64_t count_;
  int shift_;
  std::vector<int64_t> table_;
  std::vector<uint64_t> keys_;
  Distinct distinct_;
};

/** As order(), of rows a and b of a table. */
using CompareRows = int (*)(const void* rows, int64_t width, int64_t a, int64_t b);

template <class T>
int compare_rows(const void* table, int64_t width, int64_t a, int64_t b) {
  const T* rows = static_cast<const T*>(table);
  int difference = 0;
  base::polled_loop(width, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && difference == 0; ++i) {
      difference = order(rows[a * width + i], rows[b * width + i]);
    }
  });
  return difference;
}

/** Rows of any type, by sorting: groups come in the order of their values. */
Distinct sort_rows(const Tensor& rows, int64_t count, int64_t width) {
  const auto compare_typed =
      dispatch<kTypes>(rows.type(), []<class T>(TypeTag<T>) -> CompareRows { return compare_rows<T>; });
  auto compare = [&](int64_t a, int64_t b) { return compare_typed(rows.raw(), width, a, b); };
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

Distinct find_distinct(const Tensor& rows, int64_t count, int64_t width, bool sorted) {
  if (width == 1 && kNumbers.contains(rows.type())) return NumberGroups(rows).take(sorted);
  Distinct result = sort_rows(rows, count, width);
  auto first = [&](int64_t group) { return result.first[static_cast<size_t>(group)]; };
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
    Distinct distinct = find_distinct(rows, count, width, sorted_);
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
