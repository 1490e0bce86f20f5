// Weights of 2, 4 or 8 bits in tensors, made ready for products.
#pragma once

#include <vector>

#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/quantised/matmul_nbits.h"

namespace ortolan::cpu {

/** N rows of K elements in blocks with a scale each, as MatMulNBits has them. */
struct NBitsFormat {
  int bits = 4;
  int64_t n = 0, k = 0, block = 0;
  int64_t blocks() const { return (k + block - 1) / block; }
  int64_t row_bytes() const { return blocks() * (block * bits / 8); }
  void append_to(std::string& text) const { base::append(text, join(bits, " bits ", n, "x", k, " blocks of ", block)); }
};
/** Throws unless bits are 2, 4 or 8, the block a power of two from 16 on, and n and k positive and not absurd. */
void check_format(const NBitsFormat& format);

/** `data` uint8 [n, blocks, block * bits / 8]; `scales` floats [n, blocks]; `zeros`, where there, uint8 with `bits`
   bits each and rows of whole bytes, or floats as scales; `groups`, where there, the block of each of the K elements.
   The last three may also be flat. */
struct NBitsTensors {
  const Tensor* data = nullptr;
  const Tensor* scales = nullptr;
  const Tensor* zeros = nullptr;
  const Tensor* groups = nullptr;
};

/** The right operand of a product. */
class NBitsOperand {
 public:
  NBitsOperand() = default;
  /** Checks shapes and group numbers, and packs. `info`: where given, to share elements with other nodes. */
  NBitsOperand(ThreadPool& threads, const NBitsFormat& format, const NBitsTensors& tensors,
               const KernelInfo* info = nullptr);
  bool empty() const { return matrix_.empty(); }
  /** Whether multiply() heeds `bytes`. */
  bool can_multiply_bytes() const { return !empty() && kernels::can_multiply_bytes(matrix_); }
  /** C[m, n] = A[m, k] * B + bias; bias may be NULL. `bytes` as for kernels::matmul_nbits. */
  void multiply(KernelContext& context, int64_t m, const float* a, const float* bias, bool bytes, float* c) const;

 private:
  kernels::NBitsMatrix matrix_;
  std::vector<int32_t> order_;  // which element of A each of the matrix's K takes, -1 for none; empty for all in order
  int64_t k_ = 0;
};

/** The rows of `bits`-bit elements (the first in the low bits; each row begins at a byte) as a byte each. */
std::vector<uint8_t> unpack_bytes(const uint8_t* data, int64_t rows, int64_t columns, int bits);

}  // namespace ortolan::cpu
