// Kernels of MatMulNBits, MatMulBnb4 and MatMulFpQ4. Constant weights are packed once.
#include <cstring>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/quantised/nbits_weights.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

int64_t rows_of(const Tensor& a) { return a.shape().count_to(a.rank() - 1); }

class MatMulNBits final : public OpKernel {
 public:
  explicit MatMulNBits(const KernelInfo& info) : bytes_(info.node().int_or("accuracy_level", 0) == 4) {
    format_.n = info.node().int_of("N"), format_.k = info.node().int_of("K");
    format_.block = info.node().int_of("block_size");
    int64_t bits = info.node().int_or("bits", 4);
    format_.bits = bits > 0 && bits <= 8 ? static_cast<int>(bits) : 0;
    check_format(format_);
    NBitsTensors tensors{info.weights_input(1), info.constant_input(2), info.constant_input(3), info.constant_input(4)};
    bool constant = tensors.data && tensors.scales && (tensors.zeros || !info.has_input(3)) &&
                    (tensors.groups || !info.has_input(4));
    if (constant) weights_ = NBitsOperand(info.threads(), format_, tensors, &info);
  }

  ConstantUse constant_use(size_t i) const override {
    return i >= 1 && i <= 4 && !weights_.empty() ? ConstantUse::kNothing : ConstantUse::kElements;
  }

  KernelReport report(const KernelContext& context) const override {
    int64_t m = rows_of(context.input(0));
    std::string size = join(" ", m, "x", format_.k, "x", format_.n);
    bool bytes = bytes_ && weights_.can_multiply_bytes();
    return {join("matmul_nbits ", format_.bits, " bits", bytes ? " int8" : " f32", size),
            kernels::nbits_isa(m, format_.n, format_.k, format_.block, bytes)};
  }

  void compute(KernelContext& context) const override {
    const Tensor* bias = context.input_if(5);
    require(!bias || bias->shape() == Shape{format_.n}, ErrorCode::kInvalidArgument, "the bias has shape ",
            bias ? bias->shape() : Shape(), "; it needs [", format_.n, "]");
    if (!weights_.empty()) return multiply(context, weights_);
    NBitsTensors tensors{&context.input(1), &context.input(2), context.input_if(3), context.input_if(4)};
    multiply(context, NBitsOperand(context.threads(), format_, tensors));
  }

 private:
  void multiply(KernelContext& context, const NBitsOperand& weights) const {
    OutputAs<float> y(context, 0);
    const float* a = read_input<float>(context, 0);
    weights.multiply(context, rows_of(context.input(0)), a, read_input<float>(context, 5), bytes_, y.data());
    y.finish();
  }

  NBitsFormat format_;
  bool bytes_;
  NBitsOperand weights_;
};

// The values of the 4-bit formats of bitsandbytes, for a block whose largest magnitude is 1: FP4 has a sign, two bits
// of exponent and one of mantissa; NF4 the quantiles of the normal distribution.
constexpr float kFp4[16] = {0.0f,  5.208333333e-03f,  0.66666667f,  1.0f,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
                            -0.0f, -5.208333333e-03f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f};
constexpr float kNf4[16] = {-1.0f,
                            -0.6961928009986877f,
                            -0.5250730514526367f,
                            -0.39491748809814453f,
                            -0.28444138169288635f,
                            -0.18477343022823334f,
                            -0.09105003625154495f,
                            0.0f,
                            0.07958029955625534f,
                            0.16093020141124725f,
                            0.24611230194568634f,
                            0.33791524171829224f,
                            0.44070982933044434f,
                            0.5626170039176941f,
                            0.7229568362236023f,
                            1.0f};

/** N rows of K elements as one sequence of blocks, the first element of a byte in its high bits. Where blocks end with
    rows it runs on narrow weights, else on floats. */
class MatMulBnb4 final : public OpKernel {
 public:
  explicit MatMulBnb4(const KernelInfo& info)
      : n_(info.node().int_of("N")),
        k_(info.node().int_of("K")),
        block_(info.node().int_of("block_size")),
        transposed_(info.node().int_or("transB", 1) != 0) {
    int64_t kind = info.node().int_of("quant_type");
    require(kind == 0 || kind == 1, ErrorCode::kInvalidGraph, "quant_type is ", kind,
            "; it must be 0 (FP4) or 1 (NF4)");
    require(block_ >= 2 && block_ % 2 == 0 && n_ > 0 && k_ > 0, ErrorCode::kInvalidGraph, "block_size ", block_, ", N ",
            n_, " and K ", k_, " must be positive, block_size even");
    checked_mul(n_, k_);
    table_ = kind == 0 ? kFp4 : kNf4;
    const Tensor *data = info.weights_input(1), *scales = info.constant_input(2);
    if (data && scales) weights_ = pack(info.threads(), *data, *scales);
  }

  ConstantUse constant_use(size_t i) const override {
    return (i == 1 || i == 2) && !weights_.empty() ? ConstantUse::kNothing : ConstantUse::kElements;
  }

  void compute(KernelContext& context) const override {
    if (!weights_.empty()) return multiply(context, weights_);
    multiply(context, pack(context.threads(), context.input(1), context.input(2)));
  }

 private:
  struct Packed {
    kernels::NBitsMatrix narrow;
    kernels::PackedMatrix floats;
    bool empty() const { return narrow.empty() && floats.empty(); }
  };

  Packed pack(ThreadPool& threads, const Tensor& data, const Tensor& scales) const {
    int64_t bytes = n_ * k_ / 2 + n_ * k_ % 2, blocks = (n_ * k_ - 1) / block_ + 1;
    require(data.element_count() == bytes, ErrorCode::kInvalidArgument, "B has shape ", data.shape(), "; ", n_, " x ",
            k_, " elements of 4 bits need ", bytes, " bytes");
    require(scales.element_count() == blocks, ErrorCode::kInvalidArgument, "absmax has shape ", scales.shape(),
            "; blocks of ", block_, " need ", blocks, " values");
    Tensor floats = to_float_tensor(scales);
    auto* from = static_cast<const uint8_t*>(data.raw());
    Packed result;
    if (transposed_ && block_ % 16 == 0 && k_ % block_ == 0) {
      std::vector<uint8_t> swapped(static_cast<size_t>(bytes));
      for (int64_t i = 0; i < bytes; ++i) swapped[i] = static_cast<uint8_t>(from[i] << 4 | from[i] >> 4);
      kernels::NBitsSource source{4, n_, k_, block_, swapped.data(), k_ / 2, floats.data<float>()};
      source.table = table_;
      result.narrow = kernels::pack_nbits(&threads, source);
      return result;
    }
    std::vector<float> values(static_cast<size_t>(n_ * k_));
    for (int64_t i = 0; i < n_ * k_; ++i) {
      values[i] = table_[from[i / 2] >> (i % 2 ? 0 : 4) & 15] * floats.data<float>()[i / block_];
    }
    int64_t k = transposed_ ? k_ : n_, n = transposed_ ? n_ : k_;
    result.floats = kernels::pack_b(&threads, k, n, values.data(), k_, transposed_);
    return result;
  }

  void multiply(KernelContext& context, const Packed& weights) const {
    OutputAs<float> y(context, 0);
    const float* a = read_input<float>(context, 0);
    int64_t m = rows_of(context.input(0)), k = transposed_ ? k_ : n_, n = transposed_ ? n_ : k_;
    if (weights.narrow.empty()) {
      kernels::gemm(&context.threads(), m, a, k, false, weights.floats, y.data(), n, {});
    } else {
      kernels::matmul_nbits(&context.threads(), m, a, k, weights.narrow, y.data(), n, nullptr, false);
    }
    y.finish();
  }

  int64_t n_, k_, block_;
  bool transposed_;
  const float* table_;
  Packed weights_;
};

/** A blob of N columns of blocks of 32 elements of 4 bits: a float scale, a zero byte where blk_quant_type is not 0,
   and 16 bytes with elements 0 to 15 in their low bits and 16 to 31 in their high bits. */
class MatMulFpQ4 final : public OpKernel {
 public:
  explicit MatMulFpQ4(const KernelInfo& info) : zeros_(info.node().int_or("blk_quant_type", 1) != 0) {
    const Tensor *blob = info.weights_input(1), *shape = info.constant_input(2);
    if (blob && shape) weights_ = pack(info.threads(), *blob, *shape);
  }

  ConstantUse constant_use(size_t i) const override {
    return i == 1 && !weights_.empty() ? ConstantUse::kNothing : ConstantUse::kElements;
  }

  void compute(KernelContext& context) const override {
    if (!weights_.empty()) return multiply(context, weights_);
    multiply(context, pack(context.threads(), context.input(1), context.input(2)));
  }

 private:
  static constexpr int64_t kBlock = 32;

  kernels::NBitsMatrix pack(ThreadPool& threads, const Tensor& blob, const Tensor& shape) const {
    require(shape.element_count() == 2 && shape.data<int64_t>()[0] > 0 && shape.data<int64_t>()[1] > 0,
            ErrorCode::kInvalidArgument, "B_shape must hold two positive dimensions, K and N");
    int64_t k = shape.data<int64_t>()[0], n = shape.data<int64_t>()[1], blocks = (k - 1) / kBlock + 1;
    int64_t head = 4 + zeros_, count = checked_mul(n, blocks), wanted = checked_mul(count, head + 16);
    require(blob.rank() == 1 && blob.element_count() == wanted, ErrorCode::kInvalidArgument, "B has shape ",
            blob.shape(), "; a matrix of ", k, " x ", n, " needs ", wanted, " bytes");
    std::vector<uint8_t> rows(static_cast<size_t>(count * 16)), zeros(static_cast<size_t>(zeros_ ? count : 0));
    std::vector<float> scales(static_cast<size_t>(count));
    auto* from = static_cast<const uint8_t*>(blob.raw());
    for (int64_t i = 0; i < count; ++i, from += head + 16) {
      std::memcpy(&scales[i], from, 4);
      if (zeros_) zeros[i] = from[4];
      const uint8_t* q = from + head;
      uint8_t* to = rows.data() + i * 16;
      for (int j = 0; j < 8; ++j) to[j] = static_cast<uint8_t>((q[2 * j] & 15) | q[2 * j + 1] << 4);
      for (int j = 0; j < 8; ++j) to[8 + j] = static_cast<uint8_t>(q[2 * j] >> 4 | (q[2 * j + 1] & 0xf0));
    }
    kernels::NBitsSource source{4, n, k, kBlock, rows.data(), blocks * 16, scales.data()};
    if (zeros_) source.zeros = zeros.data();
    return kernels::pack_nbits(&threads, source);
  }

  static void multiply(KernelContext& context, const kernels::NBitsMatrix& weights) {
    const Tensor& a = context.input(0);
    require(a.shape().back() == weights.k, ErrorCode::kInvalidArgument, "A has shape ", a.shape(),
            "; its last dimension must be K, ", weights.k);
    OutputAs<float> y(context, 0);
    const float* values = read_input<float>(context, 0);
    kernels::matmul_nbits(&context.threads(), rows_of(a), values, weights.k, weights, y.data(), weights.n, nullptr,
                          false);
    y.finish();
  }

  bool zeros_;
  kernels::NBitsMatrix weights_;
};

constexpr TypeSet kTypes = kHalfTypes | ElementType::kFloat;

constexpr KernelRow kRows[] = {
    {"com.microsoft", "MatMulNBits", 1, kLatest, make_kernel<MatMulNBits>, {{0, kTypes}}},
    {"com.microsoft", "MatMulBnb4", 1, kLatest, make_kernel<MatMulBnb4>, {{0, kTypes}}},
    {"com.microsoft", "MatMulFpQ4", 1, kLatest, make_kernel<MatMulFpQ4>, {{0, kTypes}}},
};

}  // namespace

extern const KernelTable narrow_products_rows;
const KernelTable narrow_products_rows(kRows);
}  // namespace ortolan::cpu::microsoft
