// Kernel of Col2Im.
#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/number_matrices.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

std::vector<int64_t> or_fill(std::vector<int64_t> list, size_t count, int64_t value, const char* what) {
  if (list.empty()) list.assign(count, value);
  require(list.size() == count, ErrorCode::kInvalidArgument, what, " has ", list.size(), " entries; it needs ", count);
  return list;
}

/** The geometry of one run: sizes, and how many block positions there are along each dimension. */
struct Blocks {
  std::vector<int64_t> image, block, strides, dilations, begins, counts;
  int64_t image_size, taps, positions;
};

/** Turns a flat number into coordinates of these sizes. */
void unravel(int64_t number, const std::vector<int64_t>& sizes, std::vector<int64_t>& at) {
  for (size_t i = sizes.size(); i-- > 0; number /= sizes[i]) at[i] = number % sizes[i];
}

/** Elements of float16 and bfloat16 are summed in float; sums of bool say whether any is true. */
template <class T>
using SumOf =
    std::conditional_t<kHalfTypes.contains(kTypeOf<T>), float, std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;

template <class T>
void add_to(SumOf<T>& sum, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    sum |= static_cast<uint8_t>(value);
  } else if constexpr (std::is_integral_v<T>) {
    sum = static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(value));
  } else {
    sum += static_cast<SumOf<T>>(value);
  }
}

/** Where along dimension `d` a tap lies: `offset` elements from stride times the position, and inside the image at the
    positions [first, end). */
struct Reach {
  int64_t offset, first, end;
};
Reach reach_of(const Blocks& blocks, size_t d, int64_t tap) {
  int64_t stride = blocks.strides[d], offset = tap * blocks.dilations[d] - blocks.begins[d];
  int64_t first = offset >= 0 ? 0 : (-offset - 1) / stride + 1;
  int64_t room = blocks.image[d] - 1 - offset;
  int64_t end = room < 0 ? 0 : std::min(blocks.counts[d], room / stride + 1);
  return {offset, first, std::max(first, end)};
}

/** Rows of `n` elements; the strides are those between rows. */
template <class T>
void add_lines(const T* from, int64_t from_stride, SumOf<T>* to, int64_t to_stride, int64_t count, int64_t n) {
  if constexpr (std::is_same_v<T, float>) return kernels::add_rows(from, from_stride, to, to_stride, count, n);
  for (; count > 0; --count, from += from_stride, to += to_stride) {
    for (int64_t i = 0; i < n; ++i) add_to(to[i], from[i]);
  }
}

/** The sums of one channel's image. Columns that lie a stride apart are neighbours in memory, so that what one tap adds
    to a row is contiguous: a row is strides.back() pieces of `piece` elements. */
template <class T>
class ChannelImage {
 public:
  explicit ChannelImage(const Blocks& blocks)
      : blocks_(blocks),
        last_(blocks.image.size() - 1),
        stride_(blocks.strides[last_]),
        width_(blocks.image[last_]),
        piece_(width_ / stride_ + (width_ % stride_ != 0)),
        rows_(width_ == 0 ? 0 : blocks.image_size / width_),
        sums_(static_cast<size_t>(checked_mul(rows_, row_size()))) {}

  /** Adds the channel's columns [taps, positions] and writes the image. */
  void make(const T* columns, T* image) {
    std::ranges::fill(sums_, SumOf<T>{});
    std::vector<int64_t> tap(last_ + 1);
    base::TerminatePoll poll;
    for (int64_t t = 0; t < blocks_.taps; ++t) {
      poll.work(16 + blocks_.positions);
      unravel(t, blocks_.block, tap);
      add_tap(tap, columns + t * blocks_.positions);
    }
    for (int64_t row = 0; row < rows_; ++row) {
      poll.work(1 + width_);
      write_row(sums_.data() + row * row_size(), image + row * width_);
    }
  }

 private:
  int64_t pieces() const { return std::min(stride_, width_); }
  int64_t row_size() const { return pieces() * piece_; }

  void add_tap(const std::vector<int64_t>& tap, const T* from) {
    const Reach along = reach_of(blocks_, last_, tap[last_]);
    if (along.first == along.end || rows_ == 0) return;
    const int64_t column = along.first * stride_ + along.offset;
    SumOf<T>* to = sums_.data() + column % stride_ * piece_ + column / stride_;
    from += along.first;
    const int64_t count = along.end - along.first, width = blocks_.counts[last_];
    if (last_ == 0) return add_lines(from, 0, to, 0, 1, count);
    const size_t above = last_ - 1;
    const Reach down = reach_of(blocks_, above, tap[above]);
    const int64_t row = down.first * blocks_.strides[above] + down.offset,
                  plane_size = blocks_.image[above] * row_size();
    from += down.first * width;
    std::vector<int64_t> position(above);
    for (int64_t p = 0; p < blocks_.positions && down.first < down.end; p += blocks_.counts[above] * width) {
      if (int64_t plane = plane_at(tap, position); plane >= 0) {
        add_lines(from + p, width, to + plane * plane_size + row * row_size(), blocks_.strides[above] * row_size(),
                  down.end - down.first, count);
      }
      for (size_t d = above; d-- > 0 && ++position[d] == blocks_.counts[d];) position[d] = 0;
    }
  }

  /** The number of the plane of the last two dimensions that a tap lies in; -1 outside the image. */
  int64_t plane_at(const std::vector<int64_t>& tap, const std::vector<int64_t>& position) const {
    int64_t plane = 0;
    for (size_t d = 0; d < position.size(); ++d) {
      int64_t at = position[d] * blocks_.strides[d] - blocks_.begins[d] + tap[d] * blocks_.dilations[d];
      if (at < 0 || at >= blocks_.image[d]) return -1;
      plane = plane * blocks_.image[d] + at;
    }
    return plane;
  }

  void write_row(const SumOf<T>* sums, T* to) const {
    if (stride_ == 1) {
      for (int64_t i = 0; i < width_; ++i) to[i] = static_cast<T>(sums[i]);
      return;
    }
    if (stride_ == 2) {
      const SumOf<T>* odd = sums + piece_;
      for (int64_t i = 0; i < width_ / 2; ++i) {
        to[2 * i] = static_cast<T>(sums[i]);
        to[2 * i + 1] = static_cast<T>(odd[i]);
      }
      if (width_ % 2 != 0) to[width_ - 1] = static_cast<T>(sums[width_ / 2]);
      return;
    }
    for (int64_t first = 0; first < pieces(); ++first, sums += piece_) {
      for (int64_t i = first, n = 0; i < width_; i += stride_, ++n) to[i] = static_cast<T>(sums[n]);
    }
  }

  const Blocks& blocks_;
  size_t last_;
  int64_t stride_, width_, piece_, rows_;
  std::vector<SumOf<T>> sums_;
};

constexpr TypeSet kTypes = kNumericTypes | kComplexTypes | ElementType::kBool;

class Col2Im : public OpKernel {
 public:
  explicit Col2Im(const KernelInfo& info)
      : dilations_(info.node().ints("dilations")),
        pads_(info.node().ints("pads")),
        strides_(info.node().ints("strides")) {
    require(info.input_type(0).element != ElementType::kString, ErrorCode::kNotImplemented,
            "the sum of strings that Col2Im would make is not defined; give numbers");
  }

  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    Tensor& output = context.output(0);
    Blocks blocks = geometry(context);
    require(input.shape()[2] == blocks.positions, ErrorCode::kInvalidArgument, "dimension 2 of the input of shape ",
            input.shape(), " must be ", blocks.positions, ", the number of block positions in the image");
    int64_t channels = output.shape().count_to(2);
    dispatch<kTypes>(input.type(), [&]<class T>(TypeTag<T>) {
      const T* from = input.data<T>();
      T* to = output.mutable_data<T>();
      const int64_t least = kernels::least_rows(blocks.taps * blocks.positions, kernels::kScalarNs);
      context.threads().parallel_for(channels, least, [&](int64_t begin, int64_t end) {
        ChannelImage<T> image(blocks);
        for (int64_t c = begin; c < end; ++c) {
          image.make(from + c * blocks.taps * blocks.positions, to + c * blocks.image_size);
        }
      });
    });
  }

 private:
  Blocks geometry(const KernelContext& context) const {
    Blocks b;
    b.image = to_int64s(context.input(1));
    b.block = to_int64s(context.input(2));
    size_t spatial = b.image.size();
    require(spatial > 0, ErrorCode::kInvalidArgument, "image_shape is empty; it needs the sizes of an image");
    b.strides = or_fill(strides_, spatial, 1, "strides");
    b.dilations = or_fill(dilations_, spatial, 1, "dilations");
    b.begins = or_fill(pads_, 2 * spatial, 0, "pads");
    for (size_t i = 0; i < spatial; ++i) {
      int64_t reach = checked_add(checked_mul(b.dilations[i], b.block[i] - 1), int64_t{1});
      int64_t room = b.image[i] + b.begins[i] + b.begins[i + spatial] - reach;
      require(room >= 0, ErrorCode::kInvalidArgument, "a block of size ", reach, " does not fit dimension ", i,
              " of the padded image");
      b.counts.push_back(room / b.strides[i] + 1);
    }
    b.image_size = checked_size(b.image);
    b.taps = checked_size(b.block);
    b.positions = checked_size(b.counts);
    return b;
  }

  std::vector<int64_t> dilations_, pads_, strides_;
};

constexpr KernelRow kRows[] = {
    {"", "Col2Im", 18, kLatest, make_kernel<Col2Im>},
};

}  // namespace

extern const KernelTable col2im_rows;
const KernelTable col2im_rows(kRows);

}  // namespace ortolan::cpu::onnx
