// Weights of recurrent operators, as their steps multiply by them.
#pragma once

#include <optional>
#include <vector>

#include "cpu/kernels/quantised/gemm_int8.h"
#include "cpu/kernels/recurrent/recurrent_f32.h"
#include "cpu/products/packed_weights.h"

namespace ortolan::cpu {

/** A right operand of bytes. The left one is quantised on the way, with scale and zero point of its own each time. */
struct ByteGates {
  std::shared_ptr<const kernels::PackedMatrixInt8> packed;
  const float* scales = nullptr;  // one, or one a column
  const void* zeros = nullptr;    // the same, of the bytes' type
  bool scale_per_column = false, zero_per_column = false;
  uint8_t* codes = nullptr;  // memory for the left operand
  int32_t* sums = nullptr;   // and for the products
  float* factors = nullptr;  // and for a factor a column
};

/** A right operand, given as [n, k] or, not transposed, as [k, n]. fp32 is packed; or it holds bytes. */
template <class C>
struct GateMatrix;
template <>
struct GateMatrix<float> {
  std::shared_ptr<const kernels::PackedMatrix> packed;
  std::optional<ByteGates> bytes = std::nullopt;
};
template <>
struct GateMatrix<double> {
  const double* data = nullptr;
  int64_t n = 0, k = 0;
  int64_t row = 0;  // elements between rows
  bool transposed = true;
};
/** c[m, n] = a[m, k] * matrix (+ c) (+ bias, one a column, may be NULL). `order` is advice. */
void gate_product(ThreadPool& pool, int64_t m, const float* a, const GateMatrix<float>& matrix, float* c, int64_t ldc,
                  bool accumulate, const float* bias = nullptr,
                  kernels::PanelOrder order = kernels::PanelOrder::kForward);
void gate_product(ThreadPool& pool, int64_t m, const double* a, const GateMatrix<double>& matrix, double* c,
                  int64_t ldc, bool accumulate, const double* bias = nullptr,
                  kernels::PanelOrder order = kernels::PanelOrder::kForward);

/** The weights of one direction. GRU keeps the rows of its candidate apart, AttnLSTM the columns of its attention.
    Where `cell` is there it holds all recurrent weights, and the columns of `input` are in its order. */
template <class C>
struct CellWeights {
  GateMatrix<C> input, recurrent, candidate, attention;
  std::shared_ptr<const kernels::PackedCell> cell = nullptr;
};

using PackedBytes = std::shared_ptr<const kernels::PackedMatrixInt8>;

/** n rows of k elements, `row` apart, whose matrix is transposed. That of doubles only refers to them. */
GateMatrix<float> matrix_of(ThreadPool& pool, const float* rows, int64_t n, int64_t k, int64_t row);
GateMatrix<double> matrix_of(ThreadPool& pool, const double* rows, int64_t n, int64_t k, int64_t row);
/** Rows [first, first + n) of direction d of weights [directions][rows][k], packed through the cache. */
GateMatrix<float> pack_constant(const KernelInfo& info, const Tensor& tensor, int64_t d, int64_t first, int64_t n);

/** W [gates * hidden, k] and R [gates * hidden, hidden] of one direction. */
CellWeights<float> cell_weights(ThreadPool& pool, kernels::Cell kind, int64_t hidden, const float* w, int64_t k,
                                const float* r);
/** The same of direction d of constants, through the cache. */
CellWeights<float> constant_cell_weights(const KernelInfo& info, kernels::Cell kind, const Tensor& w, const Tensor& r,
                                         int64_t d);

/** Direction d of bytes [directions, k, n]. */
kernels::PackedMatrixInt8 pack_bytes(ThreadPool& pool, const Tensor& tensor, int64_t d);
/** Every direction of constant bytes, through the cache; none where input i is not constant. */
std::vector<PackedBytes> pack_constant_bytes(const KernelInfo& info, size_t i);

}  // namespace ortolan::cpu
