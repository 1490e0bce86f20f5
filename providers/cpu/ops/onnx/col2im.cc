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

/** Adds one channel's columns [taps, positions] into its image. */
template <class T>
void add_channel(const Blocks& blocks, const T* columns, std::vector<SumOf<T>>& image) {
  size_t spatial = blocks.image.size();
  std::vector<int64_t> tap(spatial), position(spatial);
  for (int64_t t = 0; t < blocks.taps; ++t) {
    unravel(t, blocks.block, tap);
    for (int64_t p = 0; p < blocks.positions; ++p) {
      unravel(p, blocks.counts, position);
      int64_t offset = 0;
      bool inside = true;
      for (size_t i = 0; i < spatial; ++i) {
        int64_t at = position[i] * blocks.strides[i] - blocks.begins[i] + tap[i] * blocks.dilations[i];
        inside = inside && at >= 0 && at < blocks.image[i];
        offset = offset * blocks.image[i] + at;
      }
      if (inside) add_to(image[static_cast<size_t>(offset)], columns[t * blocks.positions + p]);
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
