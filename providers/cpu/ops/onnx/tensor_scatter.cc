// TensorScatter: copies each row of new positions to its place, in two pieces where it runs around the end.
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/moves/counted_copy.h"
#include "cpu/moves/strided_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** Sizes around the sequence axis: `rows` before it, `rows / batch` of them for each index, `inner` after it. */
struct Places {
  Places(const Shape& cache, const Shape& update, size_t axis)
      : rows(cache.count_to(axis)),
        per_index(cache.count_between(1, axis)),
        room(cache[axis]),
        length(update[axis]),
        inner(cache.count_from(axis + 1)) {}
  int64_t rows, per_index, room, length, inner;
};

template <class E>
void write_rows(ThreadPool& threads, const Places& p, const int64_t* indices, const E* from, E* to) {
  int64_t bytes = std::max<int64_t>(1, p.length * p.inner * static_cast<int64_t>(sizeof(E)));
  threads.parallel_for(p.rows, kernels::least_rows(bytes, kernels::kMovedByteNs), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t first = indices ? indices[row / p.per_index] % p.room : 0;
      int64_t before_end = std::min(p.length, p.room - first);
      const E* source = from + row * p.length * p.inner;
      E* target = to + row * p.room * p.inner;
      put_n(source, before_end * p.inner, target + first * p.inner);
      put_n(source + before_end * p.inner, (p.length - before_end) * p.inner, target);
    }
  });
}

class TensorScatter final : public OpKernel {
 public:
  explicit TensorScatter(const KernelInfo& info)
      : axis_(info.node().int_or("axis", -2)), circular_(info.node().string_or("mode", "linear") == "circular") {}

  void compute(KernelContext& context) const override {
    const Tensor &past = context.input(0), &update = context.input(1);
    Tensor& present = context.output(0);
    Places places(past.shape(), update.shape(), checked_axis(axis_, past.rank()));
    const int64_t* indices = checked(context, places);
    if (is_packed(past.type())) {
      Tensor wide = widened(past);
      if (update.element_count() > 0) write(context, places, indices, widened(update), wide);
      return pack_into(wide, present);
    }
    // The output may lie in either input's memory.
    bool over_update = present.raw() == update.raw() && update.element_count() > 0;
    Tensor kept = over_update ? clone(update) : update;
    if (present.raw() != past.raw()) copy_elements(past, present);
    if (update.element_count() > 0) write(context, places, indices, kept, present);
  }

 private:
  /** The indices, each within the cache; NULL for none. */
  const int64_t* checked(const KernelContext& context, const Places& places) const {
    const Tensor* indices = context.input_if(2);
    if (!indices) return nullptr;
    const Shape& past = context.input(0).shape();
    require(indices->shape() == Shape{past[0]}, ErrorCode::kInvalidArgument, "write_indices has shape ",
            indices->shape(), "; it needs one for each of the ", past[0], " sequences of past_cache ", past);
    for (int64_t index : indices->span<int64_t>()) {
      require(index >= 0 && (circular_ || index <= places.room - places.length), ErrorCode::kInvalidArgument,
              "write index ", index, " with ", places.length, " new positions is outside a cache of ", places.room,
              "; make room, or use mode circular");
    }
    return indices->data<int64_t>();
  }

  static void write(KernelContext& context, const Places& places, const int64_t* indices, const Tensor& update,
                    Tensor& present) {
    dispatch_moved(present.type(), [&]<class E>(TypeTag<E>) {
      write_rows(context.threads(), places, indices, static_cast<const E*>(update.raw()),
                 static_cast<E*>(present.mutable_raw()));
    });
  }

  int64_t axis_;
  bool circular_;
};

constexpr KernelRow kRows[] = {
    {"", "TensorScatter", 24, kLatest, make_kernel<TensorScatter>, {}, Reuse::kInPlace},
};

}  // namespace

extern const KernelTable tensor_scatter_rows;
constinit const KernelTable tensor_scatter_rows(kRows);

}  // namespace ortolan::cpu::onnx
