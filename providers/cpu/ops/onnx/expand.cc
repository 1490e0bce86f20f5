// Kernels of Expand, Tile and Range.
#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/vectors/lengths.h"
#include "cpu/moves/strided_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

void require_whole_bytes(const Tensor& input) {
  require(!is_packed(input.type()), ErrorCode::kNotImplemented, "elements of type ", name_of(input.type()),
          " cannot be repeated");
}

/** Copies the first `done` bytes of a block behind it, again and again, until there are `total`. */
void repeat_bytes(char* block, int64_t done, int64_t total) {
  while (done < total) {
    const int64_t more = std::min(done, total - done);
    base::polled_copy(block + done, block, more);
    done += more;
  }
}

/** Copies the first `bytes` bytes of a block behind it until it is there `times` times; threads copy what is not in
    the nearest caches. */
void repeat_bytes(ThreadPool& threads, char* block, int64_t bytes, int64_t times) {
  constexpr int64_t kLeast = kernels::least_items(kernels::kMovedByteNs), kAtOnce = 16 << 10;
  const int64_t total = bytes * times, source = std::min(total, bytes * kernels::divide_up(kAtOnce, bytes));
  if (total - source < 2 * kLeast) return repeat_bytes(block, bytes, total);
  repeat_bytes(block, bytes, source);
  threads.parallel_for(total - source, kLeast, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end;) {
      const int64_t offset = at % source, count = std::min(source - offset, end - at);
      base::polled_copy(block + source + at, block + offset, count);
      at += count;
    }
  });
}

/** Repeats the elements of `input` along each dimension as often as the output's shape says: its lines are put where
    they first come, then blocks are repeated, from the last dimension to the first. `shape` is the input's, of the
    output's rank, whose dimensions are multiples of it. */
void repeat_part(ThreadPool& threads, const Shape& shape, const Shape& to, int64_t size, const char* from, char* out) {
  const size_t rank = shape.rank();
  Dims strides = row_strides(to);
  size_t whole = rank;  // the dimensions from here on are not repeated
  while (whole > 0 && shape[whole - 1] == to[whole - 1]) --whole;
  const int64_t line = shape.count_from(whole - 1) * size;
  Dims at(whole - 1);
  int64_t offset = 0;
  base::TerminatePoll poll;
  for (int64_t n = shape.count_to(whole - 1); n > 0; --n, from += line) {
    poll.work(1 + line * (to[whole - 1] / shape[whole - 1]) / base::kBytesPerUnit);
    base::polled_copy(out + offset * size, from, line);
    repeat_bytes(threads, out + offset * size, line, to[whole - 1] / shape[whole - 1]);
    for (size_t axis = whole - 1; axis-- > 0;) {
      offset += strides[axis];
      const int64_t block = shape[axis] * strides[axis];
      if (++at[axis] < shape[axis]) break;
      offset -= block;
      at[axis] = 0;
      repeat_bytes(threads, out + offset * size, block * size, to[axis] / shape[axis]);
    }
  }
}

/** The same, where slices of dimensions that are not repeated, before all others, are shared among threads. */
void repeat(ThreadPool& threads, const Shape& shape, const Tensor& input, Tensor& output) {
  const Shape& to = output.shape();
  if (shape == to) return copy_elements(threads, input, output);
  size_t kept = 0;  // dimensions before the first that is repeated
  while (shape[kept] == to[kept]) ++kept;
  Shape part = shape, part_to = to;
  for (size_t d = 0; d < kept; ++d) part[d] = part_to[d] = 1;
  const int64_t size = bits_of(input.type()) / 8;
  const int64_t from_bytes = part.element_count() * size, to_bytes = part_to.element_count() * size;
  const int64_t least =
      kernels::least_items(kernels::kFunctionNs + static_cast<double>(to_bytes) * kernels::kMovedByteNs);
  threads.parallel_for(to.count_to(kept), least, [&](int64_t begin, int64_t end) {
    Shape slices = part, slices_to = part_to;
    if (kept > 0) slices[0] = slices_to[0] = end - begin;
    repeat_part(threads, slices, slices_to, size, static_cast<const char*>(input.raw()) + begin * from_bytes,
                static_cast<char*>(output.mutable_raw()) + begin * to_bytes);
  });
}

class Expand : public OpKernel {
 public:
  explicit Expand(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    Tensor& output = context.output(0);
    require_whole_bytes(input);
    if (output.element_count() == 0) return;
    size_t added = output.rank() - input.rank();
    if (input.type() != ElementType::kString) {
      Shape shape(output.rank(), 1);
      std::copy(input.shape().begin(), input.shape().end(), shape.begin() + added);
      return repeat(context.threads(), shape, input, output);
    }
    Dims from = row_strides(input.shape()), to = row_strides(output.shape());
    StridedWalk walk;
    for (size_t i = 0; i < output.rank(); ++i) {
      bool repeated = i < added || input.shape()[i - added] == 1;
      walk.add(output.shape()[i], repeated ? 0 : from[i - added], to[i]);
    }
    strided_copy(context.threads(), input.type(), walk, input.raw(), output.mutable_raw());
  }
};

/** Serves opset 1 as well, where only one dimension is repeated: the output's shape says how often. */
class Tile : public OpKernel {
 public:
  explicit Tile(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    Tensor& output = context.output(0);
    require_whole_bytes(input);
    const bool one_axis = context.input_if(2) != nullptr;  // before opset 6
    require(one_axis || context.input(1).element_count() == static_cast<int64_t>(input.rank()),
            ErrorCode::kInvalidArgument, "repeats has ", context.input(1).element_count(),
            " entries for an input of shape ", input.shape());
    if (output.element_count() == 0) return;
    if (input.type() != ElementType::kString) return repeat(context.threads(), input.shape(), input, output);
    Dims from = row_strides(input.shape()), to = row_strides(output.shape());
    StridedWalk walk;
    for (size_t i = 0; i < input.rank(); ++i) {
      int64_t size = input.shape()[i];
      walk.add(output.shape()[i] / size, 0, to[i] * size);
      walk.add(size, from[i], to[i]);
    }
    strided_copy(context.threads(), input.type(), walk, input.raw(), output.mutable_raw());
  }
};

class Range : public OpKernel {
 public:
  explicit Range(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    constexpr TypeSet kTypes = kFloatTypes | ElementType::kInt16 | ElementType::kInt32 | ElementType::kInt64;
    Tensor& output = context.output(0);
    dispatch<kTypes>(output.type(), [&]<class T>(TypeTag<T>) {
      const Tensor* step = context.input_if(2);
      T start = *context.input(0).data<T>(), delta = step ? *step->data<T>() : T(1);
      auto values = output.mutable_span<T>();
      const int64_t least = kernels::least_items(kernels::kElementNs);
      context.threads().parallel_for(static_cast<int64_t>(values.size()), least, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) values[static_cast<size_t>(i)] = at(start, delta, i);
      });
    });
  }

 private:
  template <class T>
  static T at(T start, T delta, int64_t i) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(start) + static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
    } else if constexpr (std::is_same_v<T, double>) {
      return start + static_cast<double>(i) * delta;
    } else {
      return T(static_cast<float>(start) + static_cast<float>(i) * static_cast<float>(delta));
    }
  }
};

constexpr KernelRow kRows[] = {
    {"", "Expand", 8, kLatest, make_kernel<Expand>},
    {"", "Tile", 1, kLatest, make_kernel<Tile>},
    {"", "Range", 11, kLatest, make_kernel<Range>},
    {"com.microsoft", "Range", 1, kLatest, make_kernel<Range>},
};

}  // namespace

extern const KernelTable expand_rows;
const KernelTable expand_rows(kRows);

}  // namespace ortolan::cpu::onnx
