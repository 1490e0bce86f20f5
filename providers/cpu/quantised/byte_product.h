// Products of 8-bit integers with exact 32-bit sums over stacks of matrices; a constant right matrix is packed once.
#pragma once

#include "base/function_ref.h"
#include "cpu/products/matmul.h"
#include "cpu/quantised/byte_tensors.h"

namespace ortolan::cpu {

/** Constant input i, rank 1 or 2, packed through the session's cache (as [n, k] where `transposed`, and then dimensions
    of 1 may follow); NULL where it is not constant or empty. */
std::shared_ptr<const kernels::PackedMatrixInt8> pack_byte_matrix(const KernelInfo& info, size_t i,
                                                                  bool transposed = false);

/** Values that belong to the rows (or columns) of each product: one for all, `size` for every product alike, or
    size * count, each product its own. */
struct PerLine {
  const Tensor* tensor = nullptr;
  int64_t size = 1;
  int64_t values = 0;

  PerLine(const Tensor* tensor, int64_t size, int64_t count, const char* what);
  bool single() const { return values <= 1; }
  /** The first value of product i. */
  int64_t first(int64_t i) const { return values > size ? i * size : 0; }
};

/** A zero point or scale of the rows of `a` where a stack of matrices became one tall one: repeated to its height. */
Tensor repeated(const Tensor& tensor, int64_t rows);

struct ByteOperands {
  const Tensor *a, *b, *a_zero, *b_zero;  // zeros may be NULL
};

/** A kernel around such products. */
class ByteProduct : public OpKernel {
 protected:
  /** `right` is the input that holds the right matrices. */
  ByteProduct(const KernelInfo& info, size_t right) : right_(right), packed_(pack_byte_matrix(info, right)) {}
  KernelReport report(const KernelContext& context) const override;
  ConstantUse constant_use(size_t i) const override {
    return i == right_ && packed_ ? ConstantUse::kNothing : ConstantUse::kElements;
  }

  /** Called after each product with its number and its sums, [m, n]. */
  using Done = FunctionRef<void(int64_t i, int32_t* sums)>;
  /** All products of p. They go to `sums` one after the other or, where that is NULL, each through the same scratch. */
  void run(KernelContext& context, const StackedProduct& p, ByteOperands in, int32_t* sums, Done done) const;
  /** What happens to the sums of product i. */
  using EpilogueOf = FunctionRef<kernels::SumEpilogue(int64_t i)>;
  /** All products of p as floats, one after the other. */
  void run(KernelContext& context, const StackedProduct& p, const ByteOperands& in, EpilogueOf epilogue,
           float* y) const;

 private:
  using Each = FunctionRef<void(int64_t i, const kernels::ByteMatrix& a, const kernels::RightInt8& b,
                                const kernels::ZeroPoints& zeros)>;
  void for_each(KernelContext& context, const StackedProduct& p, ByteOperands in, Each each) const;

  size_t right_;
  std::shared_ptr<const kernels::PackedMatrixInt8> packed_;
};

}  // namespace ortolan::cpu
