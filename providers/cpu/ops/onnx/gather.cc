// Kernels of Gather, GatherElements and GatherND.
#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/moves/checked_indices.h"
#include "cpu/moves/counted_copy.h"
#include "cpu/moves/strided_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

constexpr int64_t kMostTyped = 8;  // longer blocks go by memcpy

template <class E>
void copy_block(const E* from, E* to, int64_t count) {
  if constexpr (std::is_trivially_copyable_v<E>) {
    if (count > kMostTyped) {
      return base::polled_copy(to, from, count * static_cast<int64_t>(sizeof(E)));
    }
  }
  put_n(from, count, to);
}

/** How many blocks of `count` elements make a thread's work. */
template <class E>
int64_t least_blocks(int64_t count) {
  const double bytes = static_cast<double>(count) * sizeof(E);
  return kernels::least_items(kernels::kScalarNs + bytes * kernels::kMovedByteNs);
}

class Gather : public OpKernel {
 public:
  explicit Gather(const KernelInfo& info) : axis_(info.node().int_or("axis", 0)) {
    const Tensor* data = info.weights_input(0);
    if (data == nullptr || !kPlainTypes.contains(data->type())) return;
    copies_bytes_ = data->shape().count_from(checked_axis(axis_, data->rank()) + 1) > kMostTyped;
  }
  ConstantUse constant_use(size_t i) const override {
    return i == 0 && copies_bytes_ ? ConstantUse::kBytes : ConstantUse::kElements;
  }
  void compute(KernelContext& context) const override {
    const Tensor& data = context.input(0);
    size_t axis = checked_axis(axis_, data.rank());
    auto indices = checked_indices(context, context.input(1), data.shape()[axis]);
    Tensor& output = context.output(0);
    if (output.element_count() == 0) return;
    int64_t inner = data.shape().count_from(axis + 1), outer = data.shape().count_to(axis);
    auto picks = static_cast<int64_t>(indices.size());
    int64_t length = data.shape()[axis];
    dispatch_moved(data.type(), [&]<class E>(TypeTag<E>) {
      auto* from = static_cast<const E*>(data.raw());
      auto* to = static_cast<E*>(output.mutable_raw());
      context.threads().parallel_for(outer * picks, least_blocks<E>(inner), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          int64_t row = i / picks * length + indices[static_cast<size_t>(i % picks)];
          copy_block(from + row * inner, to + i * inner, inner);
        }
      });
    });
  }

 private:
  int64_t axis_;
  bool copies_bytes_ = false;  // every block is long enough for memcpy
};

class GatherElements : public OpKernel {
 public:
  explicit GatherElements(const KernelInfo& info) : axis_(info.node().int_or("axis", 0)) {}
  void compute(KernelContext& context) const override {
    const Tensor& data = context.input(0);
    const Shape& shape = context.input(1).shape();
    size_t axis = checked_axis(axis_, data.rank());
    require_within(shape, data.shape(), axis);
    Tensor& output = context.output(0);
    if (output.element_count() == 0) return;
    if (context.input(1).type() == ElementType::kInt32) {
      gather(context, axis, context.input(1).data<int32_t>());
    } else {
      gather(context, axis, context.input(1).data<int64_t>());
    }
  }

 private:
  template <class I>
  void gather(KernelContext& context, size_t axis, const I* indices) const {
    const Tensor& data = context.input(0);
    const Shape& shape = context.input(1).shape();
    Tensor& output = context.output(0);
    Dims strides = row_strides(data.shape());
    int64_t along = strides[axis], line = shape[shape.rank() - 1], step = axis + 1 == shape.rank() ? 0 : 1;
    int64_t dim = data.shape()[axis];
    strides[axis] = 0;
    dispatch_moved(data.type(), [&]<class E>(TypeTag<E>) {
      auto* from = static_cast<const E*>(data.raw());
      auto* to = static_cast<E*>(output.mutable_raw());
      auto body = [&](int64_t begin, int64_t end) {
        for_each_line(shape, strides, begin, end, [&](int64_t number, int64_t offset) {
          const Line<E, I> of{from + offset, indices + number * line, number * line, dim, line};
          along == 1 && step == 0 ? of.gather(to + number * line) : of.gather_strided(to + number * line, step, along);
        });
      };
      const int64_t least = kernels::least_rows(line, kernels::kScalarNs);
      context.threads().parallel_for(output.element_count() / line, least, body);
    });
  }

  /** A line of the output; indices are checked where they are used. */
  template <class E, class I>
  struct Line {
    const E* from;
    const I* index;
    int64_t position, dim, count;
    void gather(E* to) const {
      base::polled_loop(count, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) put(to[i], from[checked_index(index[i], position + i, dim)]);
      });
    }
    void gather_strided(E* to, int64_t step, int64_t along) const {
      base::polled_loop(count, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          put(to[i], from[i * step + checked_index(index[i], position + i, dim) * along]);
        }
      });
    }
  };

  int64_t axis_;
};

class GatherNd : public OpKernel {
 public:
  explicit GatherNd(const KernelInfo& info) : batch_dims_(static_cast<size_t>(info.node().int_or("batch_dims", 0))) {}
  void compute(KernelContext& context) const override {
    const Tensor& data = context.input(0);
    const Tensor& tuples = context.input(1);
    Tensor& output = context.output(0);
    if (output.element_count() == 0) return;
    const Shape& shape = data.shape();
    auto width = static_cast<size_t>(tuples.shape()[tuples.rank() - 1]);
    Dims strides = row_strides(shape);
    std::span<const int64_t> dims(shape.data() + batch_dims_, width);
    auto offsets = checked_offsets(context, tuples, dims, std::span(strides.data() + batch_dims_, width));
    int64_t batches = shape.count_to(batch_dims_), block = shape.count_from(batch_dims_ + width);
    int64_t batch_size = shape.count_from(batch_dims_), picks = static_cast<int64_t>(offsets.size()) / batches;
    dispatch_moved(data.type(), [&]<class E>(TypeTag<E>) {
      auto* from = static_cast<const E*>(data.raw());
      auto* to = static_cast<E*>(output.mutable_raw());
      context.threads().parallel_for(batches * picks, least_blocks<E>(block), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          copy_block(from + i / picks * batch_size + offsets[static_cast<size_t>(i)], to + i * block, block);
        }
      });
    });
  }

 private:
  size_t batch_dims_;
};

constexpr KernelRow kRows[] = {
    {"", "Gather", 1, kLatest, make_kernel<Gather>},
    {"", "GatherElements", 11, kLatest, make_kernel<GatherElements>},
    {"", "GatherND", 11, kLatest, make_kernel<GatherNd>},
    {"com.microsoft", "GatherND", 1, kLatest, make_kernel<GatherNd>},
};

}  // namespace

extern const KernelTable gather_rows;
const KernelTable gather_rows(kRows);

}  // namespace ortolan::cpu::onnx
