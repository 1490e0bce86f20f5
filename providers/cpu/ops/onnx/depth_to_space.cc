// Kernels of DepthToSpace, SpaceToDepth and ReverseSequence.
#include "base/threads/polled_loop.h"
#include "cpu/moves/strided_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** Copies `input`, seen with shape `split`, with its dimensions in the order `perm`. */
void permute(KernelContext& context, const Tensor& input, const Shape& split, std::initializer_list<size_t> perm,
             Tensor& output) {
  Dims from = row_strides(split);
  Shape target;
  for (size_t axis : perm) target.push_back(split[axis]);
  Dims to = row_strides(target);
  StridedWalk walk;
  size_t i = 0;
  for (size_t axis : perm) {
    walk.add(split[axis], from[axis], to[i]);
    ++i;
  }
  strided_copy(context.threads(), input.type(), walk, input.raw(), output.mutable_raw());
}

class DepthToSpace : public OpKernel {
 public:
  explicit DepthToSpace(const KernelInfo& info) : block_(info.node().int_of("blocksize")) {
    std::string_view mode = info.node().string_or("mode", "DCR");
    require(mode == "DCR" || mode == "CRD", ErrorCode::kInvalidGraph, "mode '", mode,
            "' is unknown; it must be DCR or CRD");
    columns_first_ = mode == "CRD";
  }
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    Tensor& output = context.output(0);
    const Shape& in = input.shape();
    int64_t depth = output.shape()[1];
    if (columns_first_) {
      permute(context, input, Shape{in[0], depth, block_, block_, in[2], in[3]}, {0, 1, 4, 2, 5, 3}, output);
    } else {
      permute(context, input, Shape{in[0], block_, block_, depth, in[2], in[3]}, {0, 3, 4, 1, 5, 2}, output);
    }
  }

 private:
  int64_t block_;
  bool columns_first_;
};

class SpaceToDepth : public OpKernel {
 public:
  explicit SpaceToDepth(const KernelInfo& info) : block_(info.node().int_of("blocksize")) {}
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    Tensor& output = context.output(0);
    const Shape& in = input.shape();
    const Shape& out = output.shape();
    permute(context, input, Shape{in[0], in[1], out[2], block_, out[3], block_}, {0, 3, 5, 1, 2, 4}, output);
  }

 private:
  int64_t block_;
};

class ReverseSequence : public OpKernel {
 public:
  explicit ReverseSequence(const KernelInfo& info) : time_first_(info.node().int_or("time_axis", 0) == 0) {}
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    Tensor& output = context.output(0);
    const Shape& shape = input.shape();
    int64_t times = shape[time_first_ ? 0 : 1], batch = shape[time_first_ ? 1 : 0], inner = shape.count_from(2);
    auto lengths = context.input(1).span<int64_t>();
    require(static_cast<int64_t>(lengths.size()) == batch, ErrorCode::kInvalidArgument, "sequence_lens has ",
            lengths.size(), " entries for a batch of ", batch);
    for (int64_t length : lengths) {
      require(length >= 0 && length <= times, ErrorCode::kInvalidArgument, "sequence length ", length,
              " is outside [0, ", times, "]");
    }
    if (input.element_count() == 0) return;
    int64_t time_stride = time_first_ ? batch * inner : inner, batch_stride = time_first_ ? inner : times * inner;
    base::TerminatePoll poll;
    for (int64_t b = 0; b < batch; ++b) {
      poll.work(64);
      int64_t length = lengths[static_cast<size_t>(b)], base = b * batch_stride;
      copy_times(context, input, base + (length - 1) * time_stride, -time_stride, output, base, time_stride, length,
                 inner);
      int64_t rest = base + length * time_stride;
      copy_times(context, input, rest, time_stride, output, rest, time_stride, times - length, inner);
    }
  }

 private:
  static void copy_times(KernelContext& context, const Tensor& input, int64_t from, int64_t from_stride, Tensor& output,
                         int64_t to, int64_t to_stride, int64_t count, int64_t inner) {
    if (count == 0) return;
    StridedWalk walk;
    walk.add(count, from_stride, to_stride);
    walk.add(inner, 1, 1);
    strided_copy(context.threads(), input.type(), walk, element_at(input.type(), input.raw(), from),
                 element_at(input.type(), output.mutable_raw(), to));
  }

  bool time_first_;
};

constexpr KernelRow kRows[] = {
    {"", "DepthToSpace", 1, kLatest, make_kernel<DepthToSpace>},
    {"", "SpaceToDepth", 1, kLatest, make_kernel<SpaceToDepth>},
    {"", "ReverseSequence", 10, kLatest, make_kernel<ReverseSequence>},
};

}  // namespace

extern const KernelTable depth_to_space_rows;
const KernelTable depth_to_space_rows(kRows);

}  // namespace ortolan::cpu::onnx
