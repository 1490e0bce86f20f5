// GatherBlockQuantized: runs of elements with the same scale, or with scales side by side, at a time.
#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/moves/checked_indices.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

constexpr int64_t kBlock = 512;  // elements made floats before they are narrowed

/** Integers of 2, 4 or 8 bits side by side, the first in the low bits. */
struct NarrowIntegers {
  const uint8_t* data = nullptr;
  int bits = 4;
  bool is_signed = false;

  int32_t at(int64_t i) const {
    int64_t bit = i * bits;
    int32_t q = data[bit >> 3] >> (bit & 7) & ((1 << bits) - 1);
    return is_signed && q >> (bits - 1) ? q - (1 << bits) : q;
  }
  /** out[j] = element i + j, as float. */
  void read(int64_t i, int64_t count, float* out) const {
    int64_t done = 0;
    if (bits == 8) {
      for (; done < count; ++done) out[done] = data[i + done];
    } else if (bits == 4) {
      for (; done < count && (i + done) % 2; ++done) out[done] = static_cast<float>(at(i + done));
      int flip = is_signed ? 8 : 0;
      const uint8_t* from = data + (i + done) / 2;
      int64_t pairs = (count - done) / 2;
      for (int64_t j = 0; j < pairs; ++j) {
        out[done + 2 * j] = static_cast<float>(((from[j] & 15) ^ flip) - flip);
        out[done + 2 * j + 1] = static_cast<float>(((from[j] >> 4) ^ flip) - flip);
      }
      done += 2 * pairs;
    }
    for (; done < count; ++done) out[done] = static_cast<float>(at(i + done));
  }
};

class GatherBlockQuantized final : public OpKernel {
 public:
  explicit GatherBlockQuantized(const KernelInfo& info)
      : gather_axis_(info.node().int_or("gather_axis", 0)),
        quantize_axis_(info.node().int_or("quantize_axis", 1)),
        block_(info.node().int_or("block_size", 128)),
        bits_(info.node().int_or("bits", 4)) {
    require(block_ >= 16 && (block_ & (block_ - 1)) == 0, ErrorCode::kInvalidGraph, "block_size is ", block_,
            "; it must be a power of two and at least 16");
    bool bytes = info.input_type(0).element == ElementType::kUInt8;
    require(bits_ == 4 || (bytes && (bits_ == 2 || bits_ == 8)), ErrorCode::kInvalidGraph, "bits is ", bits_,
            "; it must be 4, or 2 or 8 for uint8 data");
  }

  ConstantUse constant_use(size_t i) const override {
    return i == 0 || i == 3 ? ConstantUse::kBytes : ConstantUse::kElements;
  }
  void compute(KernelContext& context) const override;

 private:
  /** Elements as [., quantized, inner], their scales as [., blocks, inner]; what is gathered as [., axis, row]. */
  struct Plan {
    int64_t quantized, blocks, inner, axis, row;
    int64_t zero_row;  // how many zeros lie side by side before the next whole byte
    NarrowIntegers data, zeros;
    int32_t middle = 0;  // the zero where there are no zeros
    const float* scales = nullptr;

    float zero(int64_t scale) const {
      if (!zeros.data) return static_cast<float>(middle);
      int64_t per_byte = 8 / zeros.bits, bytes = (zero_row + per_byte - 1) / per_byte;
      return static_cast<float>(zeros.at(scale / zero_row * bytes * per_byte + scale % zero_row));
    }
  };
  Plan plan(KernelContext& context) const;
  void dequantize(const Plan& p, int64_t from, int64_t count, float* out) const;

  int64_t gather_axis_, quantize_axis_, block_, bits_;
};

GatherBlockQuantized::Plan GatherBlockQuantized::plan(KernelContext& context) const {
  const Tensor &data = context.input(0), &scales = context.input(2);
  const Tensor* zeros = context.input_if(3);
  bool bytes = data.type() == ElementType::kUInt8;
  Shape shape = data.shape();
  size_t last = shape.rank() - 1, axis = checked_axis(quantize_axis_, shape.rank());
  int64_t packed = bytes ? 8 / bits_ : 1;
  require(packed == 1 || axis == last, ErrorCode::kInvalidArgument, "quantize_axis ", axis, " of data ", shape,
          " must be the last one, which is packed");
  shape[last] = checked_mul(shape[last], packed);
  Shape wanted = shape;
  wanted[axis] = wanted[axis] / block_ + (wanted[axis] % block_ != 0);
  require(scales.shape() == wanted, ErrorCode::kInvalidArgument, "scales have shape ", scales.shape(), "; blocks of ",
          block_, " of ", shape, " need ", wanted);
  Plan p{};
  size_t gathered = checked_axis(gather_axis_, shape.rank());
  p.quantized = shape[axis], p.blocks = wanted[axis], p.inner = shape.count_from(axis + 1);
  p.axis = shape[gathered], p.row = shape.count_from(gathered + 1);
  p.data = {static_cast<const uint8_t*>(data.raw()), static_cast<int>(bits_), data.type() == ElementType::kInt4};
  p.middle = bytes ? 1 << (bits_ - 1) : 0;
  p.zero_row = bytes ? std::max<int64_t>(p.blocks, 1) : std::max<int64_t>(scales.element_count(), 1);
  if (!zeros) return p;
  wanted[axis] = bytes ? wanted[axis] / packed + (wanted[axis] % packed != 0) : wanted[axis];
  require(zeros->shape() == wanted, ErrorCode::kInvalidArgument, "zero_points have shape ", zeros->shape(),
          "; they need ", wanted);
  p.zeros = p.data, p.zeros.data = static_cast<const uint8_t*>(zeros->raw());
  return p;
}

/** Elements from, from + 1, … of data. */
void GatherBlockQuantized::dequantize(const Plan& p, int64_t from, int64_t count, float* out) const {
  while (count > 0) {
    int64_t outer = from / (p.quantized * p.inner), y = from / p.inner % p.quantized, z = from % p.inner;
    int64_t scale = (outer * p.blocks + y / block_) * p.inner + z, run;
    if (p.inner == 1) {
      run = std::min({count, p.quantized - y, block_ - y % block_});
      p.data.read(from, run, out);
      float zero = p.zero(scale), factor = p.scales[scale];
      for (int64_t i = 0; i < run; ++i) out[i] = (out[i] - zero) * factor;
    } else {
      run = std::min(count, p.inner - z);
      p.data.read(from, run, out);
      for (int64_t i = 0; i < run; ++i) out[i] = (out[i] - p.zero(scale + i)) * p.scales[scale + i];
    }
    from += run, out += run, count -= run;
  }
}

void GatherBlockQuantized::compute(KernelContext& context) const {
  Plan p = plan(context);
  auto indices = checked_indices(context, context.input(1), p.axis);
  Tensor& output = context.output(0);
  if (output.element_count() == 0) return;
  p.scales = read_input<float>(context, 2);
  ElementType type = output.type();
  auto picks = static_cast<int64_t>(indices.size());
  int64_t rows = output.element_count() / p.row, size = bits_of(type) / 8;
  const int64_t least = kernels::least_rows(p.row, kernels::kActivationNs);
  context.threads().parallel_for(rows, least, [&](int64_t begin, int64_t end) {
    float block[kBlock];
    for (int64_t r = begin; r < end; ++r) {
      int64_t from = (r / picks * p.axis + indices[static_cast<size_t>(r % picks)]) * p.row;
      auto* to = static_cast<char*>(output.mutable_raw()) + r * p.row * size;
      if (type == ElementType::kFloat) {
        dequantize(p, from, p.row, reinterpret_cast<float*>(to));
        continue;
      }
      for (int64_t i = 0; i < p.row; i += kBlock) {
        int64_t count = std::min(kBlock, p.row - i);
        dequantize(p, from + i, count, block);
        convert_floats(nullptr, block, ElementType::kFloat, to + i * size, type, count);
      }
    }
  });
}

constexpr KernelRow kRows[] = {
    {"com.microsoft",
     "GatherBlockQuantized",
     1,
     kLatest,
     make_kernel<GatherBlockQuantized>,
     {{0, ElementType::kInt4 | ElementType::kUInt4 | ElementType::kUInt8}}},
};

}  // namespace

extern const KernelTable gather_block_quantized_rows;
const KernelTable gather_block_quantized_rows(kRows);
}  // namespace ortolan::cpu::microsoft
