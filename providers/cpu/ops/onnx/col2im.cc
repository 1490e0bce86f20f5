// Kernel of Col2Im.
#include "base/thread_pool.h"
#include "runtime/kernel_registry.h"

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

/** Positions [first, end) along the last dimension at which tap `tap` lies inside the image. */
std::pair<int64_t, int64_t> inside(const Blocks& blocks, int64_t tap) {
  size_t last = blocks.image.size() - 1;
  int64_t stride = blocks.strides[last], at = tap * blocks.dilations[last] - blocks.begins[last];
  int64_t first = at >= 0 ? 0 : (-at - 1) / stride + 1;
  int64_t room = blocks.image[last] - 1 - at;
  int64_t end = room < 0 ? 0 : std::min(blocks.counts[last], room / stride + 1);
  return {first, std::max(first, end)};
}

/** Adds one row of positions, of one tap, into a row of the image. */
template <class T>
void add_row(const T* from, SumOf<T>* to, int64_t count, int64_t stride) {
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) add_to(to[i], from[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) add_to(to[i * stride], from[i]);
  }
}

/** Adds one channel's columns [taps, positions] into its image. */
template <class T>
void add_channel(const Blocks& blocks, const T* columns, std::vector<SumOf<T>>& image) {
  size_t spatial = blocks.image.size(), last = spatial - 1;
  int64_t width = blocks.counts[last];
  std::vector<int64_t> tap(spatial), position(spatial);
  for (int64_t t = 0; t < blocks.taps; ++t) {
    unravel(t, blocks.block, tap);
    auto [first, end] = inside(blocks, tap[last]);
    int64_t column = first * blocks.strides[last] - blocks.begins[last] + tap[last] * blocks.dilations[last];
    for (int64_t p = 0; p < blocks.positions; p += width) {
      unravel(p, blocks.counts, position);
      int64_t row = 0;
      bool within = first < end;
      for (size_t i = 0; i < last; ++i) {
        int64_t at = position[i] * blocks.strides[i] - blocks.begins[i] + tap[i] * blocks.dilations[i];
        within = within && at >= 0 && at < blocks.image[i];
        row = row * blocks.image[i] + at;
      }
      if (!within) continue;
      SumOf<T>* to = image.data() + row * blocks.image[last] + column;
      add_row(columns + t * blocks.positions + p + first, to, end - first, blocks.strides[last]);
    }
  }
}

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
      context.threads().parallel_for(channels, 1, [&](int64_t begin, int64_t end) {
        std::vector<SumOf<T>> image(static_cast<size_t>(blocks.image_size));
        for (int64_t c = begin; c < end; ++c) {
          std::ranges::fill(image, SumOf<T>{});
          add_channel(blocks, from + c * blocks.taps * blocks.positions, image);
          for (int64_t i = 0; i < blocks.image_size; ++i) {
            to[c * blocks.image_size + i] = static_cast<T>(image[static_cast<size_t>(i)]);
          }
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
