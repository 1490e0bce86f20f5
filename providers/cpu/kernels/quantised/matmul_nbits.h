// Products with constant weights of 2, 4 or 8 bits that share a scale in blocks along K.
#pragma once

#include <cstdint>
#include <memory>

#include "cpu/kernels/aligned_buffer.h"

namespace ortolan::base {
class ThreadPool;
}

namespace ortolan::cpu::kernels {

struct NBitsKernels;

/**
 * A K x N matrix as models hold it: N rows of K elements, row_bytes apart, the first element of a byte in its low bits.
 * Element k of row n is worth (q - zero) * scale, or table[q] * scale, with the scale and zero of block k / block.
 * `bits` is 2, 4 or 8, `block` a positive multiple of 16. A row must hold (k * bits + 7) / 8 bytes.
 */
struct NBitsSource {
  int bits = 4;
  int64_t n = 0, k = 0, block = 0;
  const uint8_t* data = nullptr;
  int64_t row_bytes = 0;
  const float* scales = nullptr;       // [n][blocks]
  const uint8_t* zeros = nullptr;      // [n][blocks], a byte each; where neither is given the zero is 2^(bits-1)
  const float* zero_values = nullptr;  // [n][blocks]
  const float* table = nullptr;        // 16 values; 4 bits only, without zeros
  int64_t blocks() const { return (k + block - 1) / block; }
};

/** The matrix laid out for the kernels: elements may be shared by matrices with other scales. */
struct NBitsMatrix {
  const NBitsKernels* kernels = nullptr;
  int bits = 4;
  int64_t n = 0, k = 0, block = 0;
  std::shared_ptr<const AlignedBuffer> words;
  AlignedBuffer scales, zeros, zero_values;  // in panels of the kernels' width
  float table[16] = {};
  bool has_table = false;
  bool empty() const { return words == nullptr; }
  int64_t blocks() const { return (k + block - 1) / block; }
};

/** The elements alone, for pack_nbits; they depend on the source's data, n, k and bits. */
std::shared_ptr<AlignedBuffer> pack_nbits_words(base::ThreadPool* pool, const NBitsSource& source);
/** Packs the rest. `words`: what pack_nbits_words gave for these elements; nullptr to make them. */
NBitsMatrix pack_nbits(base::ThreadPool* pool, const NBitsSource& source,
                       std::shared_ptr<const AlignedBuffer> words = nullptr);

/** Whether this processor multiplies bytes for such a matrix; see `bytes` below. */
bool can_multiply_bytes(const NBitsMatrix& b);

/**
 * C[M,N] = A[M,K] * B + bias, bias of N values or nullptr; rows lda and ldc apart; C overlaps no operand. In fp32, or,
 * where `bytes` is set and the processor can, with each block of A rounded to 8 bits (scale: its largest magnitude over
 * 127) and exact sums within a block; rows with infinities, NaN or blocks below 2^-119 are multiplied in fp32 even so.
 * Results do not depend on the number of threads. `pool` may be nullptr.
 */
void matmul_nbits(base::ThreadPool* pool, int64_t m, const float* a, int64_t lda, const NBitsMatrix& b, float* c,
                  int64_t ldc, const float* bias, bool bytes);

/** How m rows of A are multiplied, as gemm_isa says it; `bytes`: where they are multiplied as bytes. */
const char* nbits_isa(int64_t m, int64_t n, int64_t k, int64_t block, bool bytes) noexcept;

}  // namespace ortolan::cpu::kernels
