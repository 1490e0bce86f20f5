// Matrix products of 8-bit integers with exact 32-bit sums.
#pragma once

#include <cstdint>
#include <memory>

#include "cpu/kernels/elementwise/activation.h"

namespace ortolan::base {
class ThreadPool;
}

namespace ortolan::cpu::kernels {

struct GemmInt8Kernels;
struct ValueRange;  // convert.h

/** One byte operand: its bytes are int8_t where `is_signed`, else uint8_t. */
struct ByteMatrix {
  const void* data = nullptr;
  int64_t stride = 0;  // between rows
  bool transposed = false;
  bool is_signed = false;
};

/** A K x N matrix of bytes laid out for the kernels; products may share it. */
class PackedMatrixInt8 {
 public:
  PackedMatrixInt8();
  ~PackedMatrixInt8();
  PackedMatrixInt8(PackedMatrixInt8&&) noexcept;
  PackedMatrixInt8& operator=(PackedMatrixInt8&&) noexcept;

  int64_t k() const noexcept;
  int64_t n() const noexcept;
  int64_t bytes() const noexcept;
  bool empty() const noexcept { return storage_ == nullptr; }

  struct Storage;
  const Storage* storage() const noexcept { return storage_.get(); }

 private:
  friend PackedMatrixInt8 pack_b_int8(base::ThreadPool*, int64_t, int64_t, const ByteMatrix&, const GemmInt8Kernels*);
  std::unique_ptr<Storage> storage_;
};

/** Packs B: K x N, or N x K where transposed. `kernels`: nullptr for the best that this processor has. */
PackedMatrixInt8 pack_b_int8(base::ThreadPool* pool, int64_t k, int64_t n, const ByteMatrix& b,
                             const GemmInt8Kernels* kernels = nullptr);

/** The right operand of one product: packed before, or bytes that are packed on the way. */
struct RightInt8 {
  RightInt8(const PackedMatrixInt8& packed) : packed(packed.storage()), k(packed.k()), n(packed.n()) {}
  /** K x N, or N x K where transposed. `kernels` as for pack_b_int8. */
  RightInt8(int64_t k, int64_t n, const ByteMatrix& bytes, const GemmInt8Kernels* kernels = nullptr)
      : k(k), n(n), bytes(bytes), kernels(kernels) {}

  const PackedMatrixInt8::Storage* packed = nullptr;
  int64_t k, n;
  ByteMatrix bytes;
  const GemmInt8Kernels* kernels = nullptr;
};

/** Zero points: one for all, or one a row of A and one a column of B. nullptr means zero. Values of the operand's type.
 */
struct ZeroPoints {
  const void* a = nullptr;
  bool a_per_row = false;
  const void* b = nullptr;
  bool b_per_column = false;
};

/**
 * C[M,N] = (A - zero_a) * (B - zero_b), sums modulo 2^32 (exact while K < 2^15 or so). C has row stride `ldc`.
 * A is M x K, or K x M where transposed. `pool` may be nullptr.
 */
void gemm_int8(base::ThreadPool* pool, int64_t m, const ByteMatrix& a, const RightInt8& b,
               const ZeroPoints& zero_points, int32_t* c, int64_t ldc);

/**
 * What happens to sums that become floats:
 *   y = activation(float(sum) * scale + bias + residual)
 * `scale` has one value, or one a column; `bias` has one a column, or is nullptr. `residual` is an M x N matrix, or
 * nullptr.
 */
struct SumEpilogue {
  const float* scale = nullptr;
  bool scale_per_column = false;
  const float* bias = nullptr;
  const float* residual = nullptr;
  int64_t residual_stride = 0;
  Activation activation;
  ValueRange* range = nullptr;  // where not nullptr, comes to include y
};

/** The product as floats, finished block by block; sums are exact as gemm_int8's are. y overlaps no operand. */
void gemm_int8_to_float(base::ThreadPool* pool, int64_t m, const ByteMatrix& a, const RightInt8& b,
                        const ZeroPoints& zero_points, const SumEpilogue& epilogue, float* y, int64_t ldy);

/**
 * y = saturate(round_half_even(c * scale) + zero_point) for an M x N matrix of sums, after bias (one int32 a column, or
 * nullptr). `scale` has one value, or one a column. T: int8_t, uint8_t.
 */
template <class T>
void requantize(base::ThreadPool* pool, int64_t m, int64_t n, const int32_t* c, int64_t ldc, const int32_t* bias,
                const float* scale, bool scale_per_column, int32_t zero_point, T* y, int64_t ldy);

/** y = c * scale + bias (floats; bias may be nullptr) for an M x N matrix of sums. */
void dequantize_sums(base::ThreadPool* pool, int64_t m, int64_t n, const int32_t* c, int64_t ldc, const float* scale,
                     bool scale_per_column, const float* bias, float* y, int64_t ldy);

}  // namespace ortolan::cpu::kernels
