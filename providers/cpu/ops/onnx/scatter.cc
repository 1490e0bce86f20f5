// Kernels of Scatter, ScatterElements and ScatterND.
#include "base/polled_loop.h"
#include "cpu/checked_indices.h"
#include "cpu/kernels/vector_f32.h"
#include "cpu/strided_copy.h"
#include "runtime/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

enum class Reduction { kNone, kAdd, kMul, kMax, kMin };

Reduction reduction_of(const KernelInfo& info) {
  std::string_view name = info.node().string_or("reduction", "none");
  constexpr std::string_view kNames[] = {"none", "add", "mul", "max", "min"};
  auto found = std::ranges::find(kNames, name);
  require(found != std::end(kNames), ErrorCode::kInvalidGraph, "reduction '", name,
          "' is unknown; it must be none, add, mul, max or min");
  return static_cast<Reduction>(found - std::begin(kNames));
}

/** Orders float16 and bfloat16 as their values are, without converting them; `of_nan` stands for every NaN. */
template <class T>
int32_t rank_of(T value, int32_t of_nan) {
  constexpr int32_t kInfinity = std::is_same_v<T, Half> ? 0x7c00 : 0x7f80;
  const int32_t magnitude = value.bits & 0x7fff;
  return magnitude > kInfinity ? of_nan : value.bits & 0x8000 ? -magnitude : magnitude;
}

template <class T, class Combine>
void combine_into(T& target, const T& update, Combine combine) {
  if constexpr (kHalfTypes.contains(kTypeOf<T>)) {
    if constexpr (requires { Combine::kNanRank; }) {
      const int32_t kept = rank_of(target, Combine::kNanRank), next = rank_of(update, Combine::kNanRank);
      target = combine(kept, next) == kept ? target : update;
    } else {
      target = T(combine(static_cast<float>(target), static_cast<float>(update)));
    }
  } else {
    // Unsigned 64-bit arithmetic wraps where signed would overflow; order comparisons see the true values.
    target = static_cast<T>(combine(target, update));
  }
}

struct Add {
  template <class T>
  auto operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<uint64_t>(a) + static_cast<uint64_t>(b);
    } else {
      return a + b;
    }
  }
};
struct Mul {
  template <class T>
  auto operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<uint64_t>(a) * static_cast<uint64_t>(b);
    } else {
      return a * b;
    }
  }
};
struct Max {
  static constexpr int32_t kNanRank = INT32_MAX;
  template <class T>
  T operator()(T a, T b) const {
    const T best = b > a ? b : a;
    return b == b ? best : b;
  }
};
struct Min {
  static constexpr int32_t kNanRank = INT32_MIN;
  template <class T>
  T operator()(T a, T b) const {
    const T best = b < a ? b : a;
    return b == b ? best : b;
  }
};

/** Calls body with an assignment `(target&, update)` that combines as `reduction` says; elements are of type T. */
template <class T, class Body>
void with_combine(Reduction reduction, Body&& body) {
  auto by = [&](auto combine) {
    body([combine](T& target, const T& update) { combine_into(target, update, combine); });
  };
  switch (reduction) {
    case Reduction::kAdd:
      return by(Add{});
    case Reduction::kMul:
      return by(Mul{});
    default:
      break;
  }
  if constexpr (kComplexTypes.contains(kTypeOf<T>)) {
    fail(ErrorCode::kInvalidGraph, "reduction max or min of ", name_of(kTypeOf<T>),
         ": complex numbers have no order; use none, add or mul");
  } else {
    reduction == Reduction::kMax ? by(Max{}) : by(Min{});
  }
}

/** Calls body(TypeTag<E>{}, assign): by element size without a reduction, by type with one. */
template <class Body>
void with_assignment(Reduction reduction, ElementType type, Body&& body) {
  if (reduction == Reduction::kNone) {
    return dispatch_moved(
        type, [&]<class E>(TypeTag<E> tag) { body(tag, [](E& target, const E& update) { target = update; }); });
  }
  dispatch<kNumericTypes | kComplexTypes | ElementType::kBool>(
      type, [&]<class T>(TypeTag<T> tag) { with_combine<T>(reduction, [&](auto assign) { body(tag, assign); }); });
}

class ScatterElements : public OpKernel {
 public:
  explicit ScatterElements(const KernelInfo& info)
      : axis_(info.node().int_or("axis", 0)), reduction_(reduction_of(info)) {}
  void compute(KernelContext& context) const override {
    const Tensor& data = context.input(0);
    const Tensor& updates = context.input(2);
    const Shape& shape = context.input(1).shape();
    size_t axis = checked_axis(axis_, data.rank());
    require_within(shape, data.shape(), axis);
    require(shape == updates.shape(), ErrorCode::kInvalidArgument, "indices have shape ", shape, " and updates ",
            updates.shape(), "; both must have the same shape");
    auto indices = checked_indices(context, context.input(1), data.shape()[axis]);
    Tensor& output = context.output(0);
    copy_elements(data, output);
    if (!indices.empty()) scatter(output, updates, indices, axis);
  }

 private:
  /** Neighbouring updates: where they go lies `step` apart, and `along` for each index. */
  template <class E>
  struct Line {
    E* to;
    const E* from;
    const int64_t* index;
    int64_t step, along;

    template <class Assign>
    void put(int64_t begin, int64_t end, Assign assign) const {
      E* target = to + begin * step;
      for (int64_t i = begin; i < end; ++i, target += step) assign(target[index[i] * along], from[i]);
    }
  };

  void scatter(Tensor& output, const Tensor& updates, std::span<const int64_t> indices, size_t axis) const {
    const Shape& shape = updates.shape();
    Dims strides = row_strides(output.shape());
    int64_t along = strides[axis], line = shape[shape.rank() - 1], step = axis + 1 == shape.rank() ? 0 : 1;
    strides[axis] = 0;
    with_assignment(reduction_, output.type(), [&]<class E>(TypeTag<E>, auto assign) {
      auto* from = static_cast<const E*>(updates.raw());
      auto* to = static_cast<E*>(output.mutable_raw());
      base::TerminatePoll poll;
      for_each_line(
          shape, strides, 0, static_cast<int64_t>(indices.size()) / line, [&](int64_t number, int64_t offset) {
            const Line<E> of_line{to + offset, from + number * line, indices.data() + number * line, step, along};
            base::polled_loop(poll, line, [&](int64_t begin, int64_t end) { of_line.put(begin, end, assign); });
          });
    });
  }

  int64_t axis_;
  Reduction reduction_;
};

class ScatterNd : public OpKernel {
 public:
  explicit ScatterNd(const KernelInfo& info) : reduction_(reduction_of(info)) {}
  void compute(KernelContext& context) const override {
    const Tensor& data = context.input(0);
    const Tensor& tuples = context.input(1);
    const Tensor& updates = context.input(2);
    size_t width = check_shapes(data.shape(), tuples.shape(), updates.shape());
    Dims strides = row_strides(data.shape());
    auto offsets =
        checked_offsets(context, tuples, std::span(data.shape().data(), width), std::span(strides.data(), width));
    Tensor& output = context.output(0);
    copy_elements(data, output);
    int64_t block = data.shape().count_from(width);
    if (reduction_ != Reduction::kNone && output.type() == ElementType::kFloat && block >= 16) {
      return combine_blocks(updates.data<float>(), offsets, block, output.mutable_data<float>());
    }
    with_assignment(reduction_, output.type(), [&]<class E>(TypeTag<E>, auto assign) {
      auto* from = static_cast<const E*>(updates.raw());
      auto* to = static_cast<E*>(output.mutable_raw());
      if constexpr (std::is_trivially_copyable_v<E>) {
        if (reduction_ == Reduction::kNone && block > 8) return copy_blocks(from, offsets, block, to);
      }
      base::TerminatePoll poll;
      for (size_t i = 0; block > 0 && i < offsets.size(); ++i, from += block) {
        base::polled_loop(poll, block, [&](int64_t begin, int64_t end) {
          for (int64_t j = begin; j < end; ++j) assign(to[offsets[i] + j], from[j]);
        });
      }
    });
  }

 private:
  void combine_blocks(const float* from, std::span<const int64_t> offsets, int64_t block, float* to) const {
    constexpr kernels::BinaryOp kOps[] = {kernels::BinaryOp::kAdd, kernels::BinaryOp::kMul, kernels::BinaryOp::kMax,
                                          kernels::BinaryOp::kMin};
    const auto op = kOps[static_cast<int>(reduction_) - 1];
    base::TerminatePoll poll;
    for (int64_t offset : offsets) {
      poll.work(block);
      kernels::binary(op, to + offset, from, to + offset, block);
      from += block;
    }
  }

  template <class E>
  static void copy_blocks(const E* from, std::span<const int64_t> offsets, int64_t block, E* to) {
    base::TerminatePoll poll;
    for (int64_t offset : offsets) {
      poll.work(block);
      base::polled_copy(to + offset, from, block * static_cast<int64_t>(sizeof(E)));
      from += block;
    }
  }

  /** Throws unless updates are indices[:-1] + data[width:]; gives the width of an index tuple. */
  static size_t check_shapes(const Shape& data, const Shape& indices, const Shape& updates) {
    require(indices.rank() > 0, ErrorCode::kInvalidArgument, "indices are a scalar; they must be index tuples");
    int64_t width = indices[indices.rank() - 1];
    require(width >= 0 && width <= static_cast<int64_t>(data.rank()), ErrorCode::kInvalidArgument, "index tuples have ",
            width, " entries for data of shape ", data);
    Shape wanted(indices.begin(), indices.end() - 1);
    wanted.append(data.begin() + width, data.end());
    require(updates == wanted, ErrorCode::kInvalidArgument, "updates have shape ", updates, "; indices ", indices,
            " into data ", data, " need ", wanted);
    return static_cast<size_t>(width);
  }

  Reduction reduction_;
};

constexpr KernelRow kRows[] = {
    {"", "Scatter", 9, kLatest, make_kernel<ScatterElements>, {}, Reuse::kInPlace},
    {"", "ScatterElements", 11, kLatest, make_kernel<ScatterElements>, {}, Reuse::kInPlace},
    {"", "ScatterND", 11, kLatest, make_kernel<ScatterNd>, {}, Reuse::kInPlace},
};

}  // namespace

extern const KernelTable scatter_rows;
const KernelTable scatter_rows(kRows);

}  // namespace ortolan::cpu::onnx
