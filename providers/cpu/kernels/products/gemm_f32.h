// Matrix products in fp32 and fp64: packed constant weights, dynamic operands, batches, with a fused epilogue.
#pragma once

#include <cstdint>
#include <memory>

#include "cpu/kernels/elementwise/activation.h"

namespace ortolan::base {
class ThreadPool;
}

namespace ortolan::cpu::kernels {

/** Which way `bias` is spread over the result: one value a column (N of them), a row (M), or one for all. */
enum class BiasKind : uint8_t { kNone, kColumn, kRow, kScalar };

/**
 * What happens to a product before it is stored:
 *   C = activation(alpha * A*B + beta * C_before + bias + residual)
 * C is not read where beta is 0. `residual` is an M x N matrix with row stride `residual_stride`, or nullptr; it may be
 * C itself, element for element.
 */
struct Epilogue {
  float alpha = 1;
  float beta = 0;
  BiasKind bias_kind = BiasKind::kNone;
  const float* bias = nullptr;
  const float* residual = nullptr;
  int64_t residual_stride = 0;
  Activation activation;
};

struct GemmF32Kernels;

/** Which end of a right operand is read first. Products with one matrix, a few rows each, that take turns find in the
    cache what the one before read last. */
enum class PanelOrder : uint8_t { kForward, kBackward };

/** What a packed matrix holds of each element, which is a fp32 value in any case. */
enum class PackedElement : uint8_t { kFloat, kBfloat16, kHalf };
inline constexpr uint8_t kPackedElements = 3;

/** kShortest: 16 bits of each element where that holds all of them exactly, as it does for weights that were trained or
    kept so. Products are the same bit for bit, but for which NaN one is. */
enum class PackedForm : uint8_t { kFloats, kShortest };

/** A K x N matrix laid out for the kernels, for use as the right operand of any number of products at once. */
class PackedMatrix {
 public:
  PackedMatrix();
  ~PackedMatrix();
  PackedMatrix(PackedMatrix&&) noexcept;
  PackedMatrix& operator=(PackedMatrix&&) noexcept;

  int64_t k() const noexcept { return k_; }
  int64_t n() const noexcept { return n_; }
  int64_t bytes() const noexcept;
  bool empty() const noexcept { return storage_ == nullptr; }
  PackedElement element() const noexcept { return element_; }
  /** Of elements of that kind. */
  const void* data() const noexcept;
  const GemmF32Kernels& kernels() const noexcept { return *kernels_; }

 private:
  friend PackedMatrix pack_b(base::ThreadPool*, int64_t, int64_t, const float*, int64_t, bool, const GemmF32Kernels*,
                             PackedForm);
  friend void gemm(base::ThreadPool*, int64_t, const float*, int64_t, bool, const PackedMatrix&, float*, int64_t,
                   const Epilogue&, PanelOrder);
  struct Storage;
  std::unique_ptr<Storage> storage_;
  const GemmF32Kernels* kernels_ = nullptr;
  int64_t k_ = 0, n_ = 0;
  PackedElement element_ = PackedElement::kFloat;
};

/**
 * Packs B, which is K x N with row stride `ldb`, or, where `trans_b`, N x K with row stride `ldb`. `kernels` chooses
 * the instruction set; nullptr: the best that this processor has. Throws std::bad_alloc.
 */
PackedMatrix pack_b(base::ThreadPool* pool, int64_t k, int64_t n, const float* b, int64_t ldb, bool trans_b,
                    const GemmF32Kernels* kernels = nullptr, PackedForm form = PackedForm::kFloats);

/**
 * C[M,N] = epilogue(op(A) * B). A is M x K with row stride `lda`, or K x M where `trans_a`; C has row stride `ldc` and
 * overlaps neither A nor B. Any of M, N and K may be 0: K = 0 makes the product zero. Sums run in blocks of K, whose
 * size depends on K and gemm_isa alone, so results do not depend on the number of threads. `pool` may be nullptr.
 * base::fp32_precision() says how exact sums have to be.
 */
void gemm(base::ThreadPool* pool, int64_t m, const float* a, int64_t lda, bool trans_a, const PackedMatrix& b, float* c,
          int64_t ldc, const Epilogue& epilogue, PanelOrder order = PanelOrder::kForward);

/** The same with B not packed: K x N with row stride `ldb`, or N x K where `trans_b`. */
void gemm(base::ThreadPool* pool, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, bool trans_a,
          const float* b, int64_t ldb, bool trans_b, float* c, int64_t ldc, const Epilogue& epilogue,
          const GemmF32Kernels* kernels = nullptr);

/** How a product of these sizes is computed for the calling thread: the instruction set of plain fp32 arithmetic, or
    "amx bf16x6", "amx bf16x3" or "amx bf16". The values and the number of threads change nothing of that. */
const char* gemm_isa(int64_t m, int64_t n, int64_t k) noexcept;

/** Many products of one shape; product i takes a + i*stride_a and so on. A stride may be 0 for A and B, not for C. */
struct GemmBatch {
  int64_t count = 1;
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  int64_t lda = 0, stride_a = 0;
  bool trans_a = false;
  const float* b = nullptr;
  int64_t ldb = 0, stride_b = 0;
  bool trans_b = false;
  float* c = nullptr;
  int64_t ldc = 0, stride_c = 0;
  /** Where the batch is not evenly spaced (broadcast dimensions): element offsets of each product, `count` of them. */
  const int64_t* offsets_a = nullptr;
  const int64_t* offsets_b = nullptr;
  const int64_t* offsets_c = nullptr;
};

/** The epilogue's bias and residual are the same for each product (residual: stride_c apart). */
void gemm_batched(base::ThreadPool* pool, const GemmBatch& batch, const Epilogue& epilogue,
                  const GemmF32Kernels* kernels = nullptr);

/** C = alpha * op(A)*op(B) + beta * C in fp64. Contracts as for the fp32 product; C is not read where beta is 0. */
void gemm_f64(base::ThreadPool* pool, int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda,
              bool trans_a, const double* b, int64_t ldb, bool trans_b, double beta, double* c, int64_t ldc);

}  // namespace ortolan::cpu::kernels
