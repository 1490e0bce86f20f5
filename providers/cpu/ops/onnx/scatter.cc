// Kernels of Scatter, ScatterElements and ScatterND.
#include "base/threads/polled_loop.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/moves/checked_indices.h"
#include "cpu/moves/strided_copy.h"
#include "runtime/kernels/kernel_registry.h"

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

struct Replace {};
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

/** Combines as the function object says. */
template <class T, class Combine>
void combine_into(T& target, const T& update) {
  constexpr Combine combine;
  if constexpr (std::is_same_v<Combine, Replace>) {
    target = update;
  } else if constexpr (kHalfTypes.contains(kTypeOf<T>)) {
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

/** Neighbouring updates: where they go lies `step` elements apart, and `along` for each index. */
struct Line {
  void* to;
  const void* from;
  const int64_t* index;
  int64_t step, along;
};

/** What is done with elements of one type: the only code that knows it. */
struct Assignment {
  int64_t size = 0;                                                    // of an element, bytes
  void (*scatter)(const Line& line, int64_t begin, int64_t end) = {};  // the updates [begin, end)
  void (*block)(const void* from, void* to, int64_t count) = {};       // neighbours to neighbours
};

template <class T, class Combine>
Assignment assignment() {
  return {sizeof(T),
          [](const Line& line, int64_t begin, int64_t end) {
            auto* from = static_cast<const T*>(line.from);
            T* to = static_cast<T*>(line.to) + begin * line.step;
            for (int64_t i = begin; i < end; ++i, to += line.step) {
              combine_into<T, Combine>(to[line.index[i] * line.along], from[i]);
            }
          },
          [](const void* from, void* to, int64_t count) {
            auto *x = static_cast<const T*>(from), *end = x + count;
            for (auto* y = static_cast<T*>(to); x < end; ++x, ++y) combine_into<T, Combine>(*y, *x);
          }};
}

template <class T>
Assignment combining(Reduction reduction) {
  if (reduction == Reduction::kAdd) return assignment<T, Add>();
  if (reduction == Reduction::kMul) return assignment<T, Mul>();
  if constexpr (kComplexTypes.contains(kTypeOf<T>)) {
    fail(ErrorCode::kInvalidGraph, "reduction max or min of ", name_of(kTypeOf<T>),
         ": complex numbers have no order; use none, add or mul");
  } else {
    return reduction == Reduction::kMax ? assignment<T, Max>() : assignment<T, Min>();
  }
}

/** By element size without a reduction, by type with one. */
Assignment assignment_of(Reduction reduction, ElementType type) {
  Assignment found;
  if (reduction == Reduction::kNone) {
    dispatch_moved(type, [&]<class E>(TypeTag<E>) { found = assignment<E, Replace>(); });
  } else {
    dispatch<kNumericTypes | kComplexTypes | ElementType::kBool>(
        type, [&]<class T>(TypeTag<T>) { found = combining<T>(reduction); });
  }
  return found;
}

std::byte* moved(void* at, int64_t bytes) { return static_cast<std::byte*>(at) + bytes; }
const std::byte* moved(const void* at, int64_t bytes) { return static_cast<const std::byte*>(at) + bytes; }

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
    copy_elements(context.threads(), data, output);
    if (!indices.empty()) scatter(output, updates, indices, axis);
  }

 private:
  void scatter(Tensor& output, const Tensor& updates, std::span<const int64_t> indices, size_t axis) const {
    const Shape& shape = updates.shape();
    Dims strides = row_strides(output.shape());
    int64_t along = strides[axis], line = shape[shape.rank() - 1], step = axis + 1 == shape.rank() ? 0 : 1;
    strides[axis] = 0;
    const Assignment assign = assignment_of(reduction_, output.type());
    base::TerminatePoll poll;
    for_each_line(shape, strides, 0, std::ssize(indices) / line, [&](int64_t number, int64_t offset) {
      const Line of_line{moved(output.mutable_raw(), offset * assign.size),
                         moved(updates.raw(), number * line * assign.size), indices.data() + number * line, step,
                         along};
      base::polled_loop(poll, line, [&](int64_t begin, int64_t end) { assign.scatter(of_line, begin, end); });
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
    copy_elements(context.threads(), data, output);
    int64_t block = data.shape().count_from(width);
    if (reduction_ != Reduction::kNone && output.type() == ElementType::kFloat && block >= 16) {
      return combine_blocks(updates.data<float>(), offsets, block, output.mutable_data<float>());
    }
    const Assignment assign = assignment_of(reduction_, output.type());
    if (block == 1) {
      put_elements(assign, updates, offsets, output);
    } else if (block > 0) {
      put_blocks(assign, updates, offsets, block, output);
    }
  }

 private:
  static void put_elements(const Assignment& assign, const Tensor& updates, std::span<const int64_t> offsets,
                           Tensor& output) {
    const Line line{output.mutable_raw(), updates.raw(), offsets.data(), 0, 1};
    base::polled_loop(std::ssize(offsets), [&](int64_t begin, int64_t end) { assign.scatter(line, begin, end); });
  }

  void put_blocks(const Assignment& assign, const Tensor& updates, std::span<const int64_t> offsets, int64_t block,
                  Tensor& output) const {
    const bool copies = reduction_ == Reduction::kNone && output.type() != ElementType::kString && block > 8;
    auto* from = static_cast<const std::byte*>(updates.raw());
    base::TerminatePoll poll;
    for (int64_t offset : offsets) {
      std::byte* to = moved(output.mutable_raw(), offset * assign.size);
      if (copies) {
        poll.work(block);
        base::polled_copy(to, from, block * assign.size);
      } else {
        base::polled_loop(poll, block, [&](int64_t begin, int64_t end) {
          assign.block(from + begin * assign.size, to + begin * assign.size, end - begin);
        });
      }
      from += block * assign.size;
    }
  }

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
