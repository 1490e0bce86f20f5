// Kernel of TopK.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "base/threads/polled_loop.h"
#include "base/threads/polled_vector.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/extreme_of.h"
#include "cpu/elements/small_floats.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/layout/transpose.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

template <class T>
using Comparable = std::conditional_t<kHalfTypes.contains(kTypeOf<T>), float, T>;

constexpr int64_t kKeptSorted = 64;  // so many are kept sorted while the others pass by
constexpr int64_t kLines = 16;       // lines that are taken together, where they are short or their elements lie apart
constexpr int64_t kShortLine = 24;
constexpr int64_t kRare = 100;  // behind so many values for each that is kept, better ones have become rare

/** One candidate; of equal values the lower index is better. NaN is greater than any number. */
template <class C>
struct Candidate {
  C value;
  int64_t index;
};

template <class C, bool kLargest>
bool better(const Candidate<C>& a, const Candidate<C>& b) {
  if constexpr (std::is_floating_point_v<C>) {
    bool a_nan = std::isnan(a.value), b_nan = std::isnan(b.value);
    if (a_nan != b_nan) return a_nan == kLargest;
    if (a_nan) return a.index < b.index;
  }
  if (a.value != b.value) return kLargest ? a.value > b.value : a.value < b.value;
  return a.index < b.index;
}

/** Puts a candidate among `count` that are sorted, best first, and have room for one more; `limit` are kept at most. */
template <class C, bool kLargest>
int64_t insert(Candidate<C>* sorted, int64_t count, int64_t limit, const Candidate<C>& next) {
  int64_t place = count < limit ? count : limit - 1;
  for (; place > 0 && better<C, kLargest>(next, sorted[place - 1]); --place) sorted[place] = sorted[place - 1];
  sorted[place] = next;
  return std::min(count + 1, limit);
}

/** Puts the values [begin, end) that are better than the worst of the `k` kept ones in its place. */
template <class C, bool kLargest>
[[gnu::noinline]] void offer(const C* values, int64_t begin, int64_t end, Candidate<C>* kept, int64_t k) {
  C worst = kept[k - 1].value;
  for (int64_t i = begin; i < end; ++i) {
    if (kLargest ? values[i] <= worst : values[i] >= worst) continue;
    const Candidate<C> next{values[i], i};
    if (better<C, kLargest>(next, kept[k - 1])) insert<C, kLargest>(kept, k, k, next);
    worst = kept[k - 1].value;
  }
}

/** Whether any of kLines values may be better than `worst`; without branches, so that the loop vectorises. */
template <class C, bool kLargest>
bool any_better(const C* values, C worst) {
  if constexpr (std::is_integral_v<C> && sizeof(C) == 8) return true;  // these are compared one by one
  int any = 0;
  for (int64_t i = 0; i < kLines; ++i) any |= kLargest ? !(values[i] <= worst) : !(values[i] >= worst);
  return any != 0;
}

/** How far the next element of a line is, and the next line. */
struct Step {
  int64_t element, line;
};

/** A value's place in the order of all values of its type: the better, the lower. */
struct Rank {
  uint64_t order;
  int64_t index;
  auto operator<=>(const Rank&) const = default;
};

template <class C, bool kLargest>
uint64_t order_of(C value) {
  uint64_t order = 0;
  if constexpr (std::is_floating_point_v<C>) {
    using Bits = std::conditional_t<sizeof(C) == 8, uint64_t, uint32_t>;
    constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
    const auto bits = std::bit_cast<Bits>(value + C{0});  // zeros are equal
    order = value != value ? UINT64_MAX : bits & kSign ? Bits(~bits) : bits | kSign;
  } else if constexpr (std::is_signed_v<C>) {
    order = static_cast<uint64_t>(int64_t{value}) ^ (uint64_t{1} << 63);
  } else {
    order = value;
  }
  return kLargest ? ~order : order;
}

/** Puts the best `k` first, best first where they are to be sorted. */
void put_best_first(std::span<Rank> all, int64_t k, bool sorted) {
  base::polled_sort(std::ssize(all), std::less<Rank>(), [&](auto before) {
    if (k < std::ssize(all)) std::ranges::nth_element(all, all.begin() + k, before);
    if (sorted) std::ranges::sort(all.begin(), all.begin() + k, before);
  });
}

/** Copies `count` lines. */
template <class C>
const C* copied(const C* from, Step from_step, int64_t length, int64_t count, C* to, Step to_step) {
  auto copy = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const C* x = from + i * from_step.element;
      C* y = to + i * to_step.element;
      for (int64_t line = 0; line < count; ++line) y[line * to_step.line] = x[line * from_step.line];
    }
  };
  base::polled_loop(length, copy, kLines);
  return to;
}

/** The best of the values; no place (-1) where it takes candidates to find it. */
template <class C, bool kLargest>
Candidate<C> best_of(const C* values, int64_t count) {
  if constexpr (sizeof(C) == 2) {
    return {{}, -1};
  } else {
    C best = extreme_of(kLargest, values, count);
    return {best, best == best ? kernels::find_first(best, values, count) : -1};
  }
}

/** The best of each of kLines neighbouring lines, whose elements lie `stride` apart. Index is as wide as C where it can
    be, so that the loop vectorises. */
template <class C, class Index>
struct BestOfLines {
  C value[kLines];
  Index place[kLines];

  template <bool kLargest>
  void find(const C* x, int64_t length, int64_t stride) {
    for (int64_t l = 0; l < kLines; ++l) value[l] = x[l], place[l] = 0;
    auto pass = [&](int64_t begin, int64_t end) { compare<kLargest>(x + begin * stride, begin + 1, end + 1, stride); };
    base::polled_loop(length - 1, pass, kLines);
  }
  /** With the elements [first, end) of each line, of which those before lie at `x`. */
  template <bool kLargest>
  void compare(const C* x, int64_t first, int64_t end, int64_t stride) {
    BestOfLines best = *this;  // in registers
    for (int64_t i = first; i < end; ++i) {
      x += stride;
      for (int64_t l = 0; l < kLines; ++l) {
        const C next = x[l], held = best.value[l];
        bool wins = kLargest ? next > held : next < held;
        if constexpr (std::is_floating_point_v<C>) {
          wins = wins | (kLargest ? (next != next) & (held == held) : (next == next) & (held != held));
        }
        best.value[l] = wins ? next : held;
        best.place[l] = wins ? static_cast<Index>(i) : best.place[l];
      }
    }
    *this = best;
  }
  template <class T>
  void write(int64_t count, T* values, int64_t* indices) const {
    std::transform(value, value + count, values, [](C v) { return static_cast<T>(v); });
    std::copy_n(place, count, indices);
  }
};

bool keeps_sorted(int64_t k, int64_t count) { return k <= kKeptSorted && k < count; }

/** The best `k` of the values, best first, into `best`; `ranks` are as many as the values, unless these are kept
    sorted. */
template <class C, bool kLargest>
void select(const C* values, int64_t count, int64_t k, bool sorted, Candidate<C>* best, std::span<Rank> ranks) {
  auto at = [&](int64_t i) { return Candidate<C>{values[i], i}; };
  if (k == 1) {
    best[0] = best_of<C, kLargest>(values, count);
    if (best[0].index >= 0) return;
  }
  if (keeps_sorted(k, count)) {
    // Most values are refused by one comparison with the worst that is kept.
    int64_t size = 0;
    for (int64_t i = 0; i < k; ++i) size = insert<C, kLargest>(best, size, k, at(i));
    const int64_t first = std::min(count, k * kRare);
    offer<C, kLargest>(values, k, first, best, k);
    base::polled_loop(count - first, [&](int64_t begin, int64_t end) {
      int64_t i = first + begin;
      for (; i + kLines <= first + end; i += kLines) {
        if (any_better<C, kLargest>(values + i, best[k - 1].value)) offer<C, kLargest>(values, i, i + kLines, best, k);
      }
      offer<C, kLargest>(values, i, first + end, best, k);
    });
    return;
  }
  base::polled_loop(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ranks[i] = {order_of<C, kLargest>(values[i]), i};
  });
  put_best_first(ranks, k, sorted);
  base::polled_loop(k, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) best[i] = at(ranks[i].index);
  });
}

class TopK : public OpKernel {
 public:
  explicit TopK(const KernelInfo& info)
      : axis_(info.node().int_or("axis", -1)),
        largest_(info.node().int_or("largest", 1) != 0),
        sorted_(info.node().int_or("sorted", 1) != 0) {}

  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    Shape shape = input.shape();
    size_t axis = checked_axis(axis_, shape.rank());
    Tensor spare_values, spare_indices;
    Tensor& values = place(context, 0, spare_values);
    Tensor& indices = place(context, 1, spare_indices);
    const Tensor& made = context.has_output(0) ? values : indices;
    if (made.element_count() == 0) return;
    int64_t k = made.shape()[axis];
    if (!context.has_output(0)) spare_values = Tensor(input.type(), made.shape());
    if (!context.has_output(1)) spare_indices = Tensor(ElementType::kInt64, made.shape());
    dispatch<kNumericTypes>(input.type(), [&]<class T>(TypeTag<T>) {
      run<T>(context, input, axis, k, values.mutable_data<T>(), indices.mutable_data<int64_t>());
    });
  }

 private:
  static Tensor& place(KernelContext& context, size_t i, Tensor& spare) {
    return context.has_output(i) ? context.output(i) : spare;
  }

  /** float16 and bfloat16 are compared as floats. */
  template <class T>
  static const Comparable<T>* comparable(KernelContext& context, const Tensor& input) {
    if constexpr (std::is_same_v<T, Comparable<T>>) {
      return input.data<T>();
    } else {
      auto floats = context.scratch<float>(input.element_count());
      widen(input.type(), input.raw(), floats.data(), input.element_count());
      return floats.data();
    }
  }

  struct Extent {
    int64_t outer, length, inner;
  };

  template <class T>
  void run(KernelContext& context, const Tensor& input, size_t axis, int64_t k, T* values, int64_t* indices) const {
    using C = Comparable<T>;
    const Shape& shape = input.shape();
    Extent e{shape.count_to(axis), shape[axis], shape.count_from(axis + 1)};
    const C* from = comparable<T>(context, input);
    using Index = std::conditional_t<sizeof(C) == 8, int64_t, int32_t>;
    const bool is_short = e.length <= kShortLine;
    if (k == 1 && e.inner == 1 && is_short) return run_short<Index>(context.threads(), from, e, values, indices);
    const bool indexed = e.length <= std::numeric_limits<int32_t>::max();
    const bool apart = e.inner > 1 && (is_short || (e.inner >= kLines && indexed));
    k == 1 && apart ? run_best<Index>(context.threads(), from, e, values, indices)
                    : run_lines(context.threads(), from, e, k, values, indices);
  }

  /** Line by line. */
  template <class C, class T>
  void run_lines(ThreadPool& threads, const C* from, const Extent& e, int64_t k, T* values, int64_t* indices) const {
    const int64_t beside = std::min(e.inner, kLines), groups = (e.inner + beside - 1) / beside;
    auto choose = largest_ ? select<C, true> : select<C, false>;
    const int64_t least = kernels::least_rows(e.length * beside, kernels::kScalarNs);
    threads.parallel_for(e.outer * groups, least, [&](int64_t begin, int64_t end) {
      auto best = base::polled_vector<Candidate<C>>(k);
      auto ranks = base::polled_vector<Rank>(keeps_sorted(k, e.length) ? 0 : e.length);
      auto lines = base::polled_vector<C>(e.inner == 1 ? 0 : beside * e.length);
      for (int64_t group = begin; group < end; ++group) {
        const int64_t outer = group / groups, first = group % groups * beside;
        const int64_t count = std::min(beside, e.inner - first);
        const C* line = from + outer * e.length * e.inner + first;
        if (e.inner > 1) line = copied(line, {e.inner, 1}, e.length, count, lines.data(), {1, e.length});
        for (int64_t i = 0; i < count; ++i, line += e.length) {
          choose(line, e.length, k, sorted_, best.data(), ranks);
          write<C>(best, e.inner, outer * k * e.inner + first + i, values, indices);
        }
      }
    });
  }

  template <class C, class T>
  static void write(std::span<const Candidate<C>> best, int64_t step, int64_t first, T* values, int64_t* indices) {
    base::polled_loop(std::ssize(best), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin, to = first + begin * step; i < end; ++i, to += step) {
        values[to] = static_cast<T>(best[i].value);
        indices[to] = best[i].index;
      }
    });
  }

  template <class C, class Index>
  void find(BestOfLines<C, Index>& best, const C* x, int64_t length, int64_t stride) const {
    largest_ ? best.template find<true>(x, length, stride) : best.template find<false>(x, length, stride);
  }

  /** The one best of each of many short lines, which are laid side by side. */
  template <class Index, class C, class T>
  void run_short(ThreadPool& threads, const C* from, const Extent& e, T* values, int64_t* indices) const {
    constexpr int64_t kTogether = 256;
    const int64_t least = kernels::least_rows(e.length * kTogether, kernels::kElementNs);
    threads.parallel_for((e.outer + kTogether - 1) / kTogether, least, [&](int64_t begin, int64_t end) {
      std::vector<C> lines(static_cast<size_t>(e.length * kTogether + kLines));  // the last ones are read, not used
      BestOfLines<C, Index> best;
      for (int64_t first = begin * kTogether; first < std::min(end * kTogether, e.outer); first += kTogether) {
        const int64_t dims[] = {std::min(kTogether, e.outer - first), e.length};
        const int turned[] = {1, 0};
        kernels::transpose(nullptr, sizeof(C), 2, dims, turned, from + first * e.length, lines.data());
        for (int64_t line = 0; line < dims[0]; line += kLines) {
          find(best, lines.data() + line, e.length, dims[0]);
          best.write(std::min(kLines, dims[0] - line), values + first + line, indices + first + line);
        }
      }
    });
  }

  /** The one best of each line, of neighbours whose elements lie apart. */
  template <class Index, class C, class T>
  void run_best(ThreadPool& threads, const C* from, const Extent& e, T* values, int64_t* indices) const {
    const int64_t groups = (e.inner + kLines - 1) / kLines;
    const int64_t least = kernels::least_rows(e.length * kLines, kernels::kElementNs);
    threads.parallel_for(e.outer * groups, least, [&](int64_t begin, int64_t end) {
      auto lines = base::polled_vector<C>(e.inner % kLines == 0 ? 0 : e.length * kLines);
      BestOfLines<C, Index> best;
      for (int64_t group = begin; group < end; ++group) {
        const int64_t outer = group / groups, first = group % groups * kLines,
                      count = std::min(kLines, e.inner - first);
        const C* x = from + outer * e.length * e.inner + first;
        const bool whole = count == kLines;
        if (!whole) x = copied(x, {e.inner, 1}, e.length, count, lines.data(), {kLines, 1});
        find(best, x, e.length, whole ? e.inner : kLines);
        best.write(count, values + outer * e.inner + first, indices + outer * e.inner + first);
      }
    });
  }

  int64_t axis_;
  bool largest_, sorted_;
};

constexpr KernelRow kRows[] = {
    {"", "TopK", 1, kLatest, make_kernel<TopK>},
};

}  // namespace

extern const KernelTable top_k_rows;
const KernelTable top_k_rows(kRows);

}  // namespace ortolan::cpu::onnx
