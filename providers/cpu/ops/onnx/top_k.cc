// Kernel of TopK.
#include <cmath>
#include <numeric>

#include "base/thread_pool.h"
#include "runtime/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

template <class T>
using Comparable = std::conditional_t<kHalfTypes.contains(kTypeOf<T>), float, T>;

constexpr int64_t kKeptSorted = 64;  // so many are kept sorted while the others pass by

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

/** The best `k` of the values, best first; `room` has at least as many places as there are values. */
template <class C, bool kLargest, class T>
std::span<Candidate<C>> select(const T* values, int64_t stride, int64_t count, int64_t k, bool sorted,
                               std::span<Candidate<C>> room) {
  auto at = [&](int64_t i) { return Candidate<C>{static_cast<C>(values[i * stride]), i}; };
  if (k <= kKeptSorted && k < count) {
    // Most values are refused by one comparison with the worst that is kept.
    Candidate<C>* kept = room.data();
    int64_t size = 0;
    for (int64_t i = 0; i < k; ++i) size = insert<C, kLargest>(kept, size, k, at(i));
    for (int64_t i = k; i < count; ++i) {
      C value = static_cast<C>(values[i * stride]);
      if (kLargest ? value <= kept[k - 1].value : value >= kept[k - 1].value) continue;
      Candidate<C> next{value, i};
      if (better<C, kLargest>(next, kept[k - 1])) insert<C, kLargest>(kept, k, k, next);
    }
    return room.subspan(0, static_cast<size_t>(k));
  }
  auto all = room.subspan(0, static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) all[static_cast<size_t>(i)] = at(i);
  if (k < count) std::ranges::nth_element(all, all.begin() + k, better<C, kLargest>);
  auto best = all.subspan(0, static_cast<size_t>(k));
  if (sorted) std::ranges::sort(best, better<C, kLargest>);
  return best;
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

  template <class T>
  void run(KernelContext& context, const Tensor& input, size_t axis, int64_t k, T* values, int64_t* indices) const {
    using C = Comparable<T>;
    int64_t length = input.shape()[axis], inner = input.shape().count_from(axis + 1);
    int64_t lines = input.shape().count_to(axis) * inner;
    const T* from = input.data<T>();
    auto choose = largest_ ? select<C, true, T> : select<C, false, T>;
    context.threads().parallel_for(lines, 1 + 4096 / length, [&](int64_t begin, int64_t end) {
      std::vector<Candidate<C>> room(static_cast<size_t>(k <= kKeptSorted && k < length ? k : length));
      for (int64_t line = begin; line < end; ++line) {
        int64_t outer = line / inner, at = line % inner;
        auto best = choose(from + outer * length * inner + at, inner, length, k, sorted_, room);
        for (int64_t i = 0; i < k; ++i) {
          int64_t to = (outer * k + i) * inner + at;
          values[to] = static_cast<T>(best[static_cast<size_t>(i)].value);
          indices[to] = best[static_cast<size_t>(i)].index;
        }
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
