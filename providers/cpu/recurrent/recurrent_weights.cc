// Packing the weights of recurrent operators, and products with them.
#include "cpu/recurrent/recurrent_weights.h"

#include <algorithm>

#include "cpu/quantised/byte_tensors.h"
#include "cpu/quantised/dynamic_quantization.h"

namespace ortolan::cpu {
namespace {

kernels::PackedMatrix pack_rows(ThreadPool& pool, const float* rows, int64_t n, int64_t k, int64_t row) {
  return kernels::pack_b(&pool, k, n, rows, row, true);
}

/** Rows of W, in the order of the cell's columns. */
kernels::PackedMatrix pack_ordered(ThreadPool& pool, const kernels::CellOrder& cell, const float* rows, int64_t k) {
  int64_t n = cell.gates() * cell.hidden();
  if (base::parts_are_kept()) return pack_rows(pool, rows, n, k, k);  // which reads no rows
  std::vector<float> ordered(static_cast<size_t>(checked_mul(n, k)));
  for (int64_t i = 0; i < n; ++i) {
    std::copy_n(rows + i * k, k, ordered.data() + cell.column(i / cell.hidden(), i % cell.hidden()) * k);
  }
  return pack_rows(pool, ordered.data(), n, k, k);
}

/** The product with bytes: exact sums of the quantised left operand, then scaled. */
void byte_product(ThreadPool& pool, int64_t m, const float* a, const ByteGates& gates, float* c, int64_t ldc,
                  bool accumulate, const float* bias) {
  int64_t k = gates.packed->k(), n = gates.packed->n();
  DynamicFormat format = dynamic_format(range_of(pool, a, m * k));
  quantize_dynamic(pool, format, a, m * k, gates.codes);
  auto zero = static_cast<uint8_t>(format.zero);
  kernels::ZeroPoints zeros{&zero, false, gates.zeros, gates.zero_per_column};
  kernels::gemm_int8(&pool, m, {gates.codes, k, false, false}, *gates.packed, zeros, gates.sums, n);
  for (int64_t j = 0; j < (gates.scale_per_column ? n : 1); ++j) gates.factors[j] = format.scale * gates.scales[j];
  if (!accumulate) {
    kernels::dequantize_sums(&pool, m, n, gates.sums, n, gates.factors, gates.scale_per_column, bias, c, ldc);
    return spread_nan(pool, m, a, k, c, n, ldc);
  }
  int64_t step = gates.scale_per_column;
  for (int64_t i = 0; i < m; ++i) {
    const int32_t* from = gates.sums + i * n;
    float* to = c + i * ldc;
    for (int64_t j = 0; j < n; ++j) to[j] += static_cast<float>(from[j]) * gates.factors[j * step];
  }
  spread_nan(pool, m, a, k, c, n, ldc);
}

}  // namespace

void gate_product(ThreadPool& pool, int64_t m, const float* a, const GateMatrix<float>& matrix, float* c, int64_t ldc,
                  bool accumulate, const float* bias, kernels::PanelOrder order) {
  if (matrix.bytes) return byte_product(pool, m, a, *matrix.bytes, c, ldc, accumulate, bias);
  kernels::Epilogue epilogue;
  epilogue.beta = accumulate ? 1.0f : 0.0f;
  if (bias) epilogue.bias = bias, epilogue.bias_kind = kernels::BiasKind::kColumn;
  kernels::gemm(&pool, m, a, matrix.packed->k(), false, *matrix.packed, c, ldc, epilogue, order);
}

void gate_product(ThreadPool& pool, int64_t m, const double* a, const GateMatrix<double>& matrix, double* c,
                  int64_t ldc, bool accumulate, const double* bias, kernels::PanelOrder) {
  if (bias) {
    for (int64_t i = 0; i < m; ++i) std::copy_n(bias, matrix.n, c + i * ldc);
  }
  kernels::gemm_f64(&pool, m, matrix.n, matrix.k, 1, a, matrix.k, false, matrix.data, matrix.row, matrix.transposed,
                    accumulate || bias ? 1 : 0, c, ldc);
}

GateMatrix<float> pack_constant(const KernelInfo& info, const Tensor& tensor, int64_t d, int64_t first, int64_t n) {
  auto pack = [](ThreadPool& threads, const Tensor& weights, int64_t direction, int64_t from, int64_t count) {
    int64_t rows = weights.shape()[1], k = weights.shape()[2];
    Tensor floats = floats_to_pack(weights);
    return pack_rows(threads, floats.data<float>() + (direction * rows + from) * k, count, k, k);
  };
  return {pack_once(info, tensor, "recurrent_f32", pack, d, first, n)};
}

GateMatrix<float> matrix_of(ThreadPool& pool, const float* rows, int64_t n, int64_t k, int64_t row) {
  return {std::make_shared<const kernels::PackedMatrix>(pack_rows(pool, rows, n, k, row))};
}
GateMatrix<double> matrix_of(ThreadPool&, const double* rows, int64_t n, int64_t k, int64_t row) {
  return {rows, n, k, row};
}

CellWeights<float> cell_weights(ThreadPool& pool, kernels::Cell kind, int64_t hidden, const float* w, int64_t k,
                                const float* r) {
  auto cell = std::make_shared<const kernels::PackedCell>(kind, hidden, r);
  return {{std::make_shared<const kernels::PackedMatrix>(pack_ordered(pool, *cell, w, k))}, {}, {}, {}, cell};
}

CellWeights<float> constant_cell_weights(const KernelInfo& info, kernels::Cell kind, const Tensor& w, const Tensor& r,
                                         int64_t d) {
  int64_t hidden = r.shape()[2];
  auto pack_cell = [](ThreadPool&, const Tensor& weights, kernels::Cell cell, int64_t units, int64_t direction) {
    Tensor floats = floats_to_pack(weights);
    return kernels::PackedCell(cell, units, floats.data<float>() + direction * weights.shape()[1] * units);
  };
  auto pack_input = [](ThreadPool& threads, const Tensor& weights, kernels::Cell cell, int64_t units,
                       int64_t direction) {
    int64_t rows = weights.shape()[1], k = weights.shape()[2];
    Tensor floats = floats_to_pack(weights);
    return pack_ordered(threads, {cell, units}, floats.data<float>() + direction * rows * k, k);
  };
  auto cell = pack_once(info, r, "cell_f32", pack_cell, kind, hidden, d);
  return {{pack_once(info, w, "cell_input_f32", pack_input, kind, hidden, d)}, {}, {}, {}, cell};
}

kernels::PackedMatrixInt8 pack_bytes(ThreadPool& pool, const Tensor& tensor, int64_t d) {
  int64_t k = tensor.shape()[1], n = tensor.shape()[2];
  kernels::ByteMatrix matrix{static_cast<const char*>(tensor.raw()) + d * k * n, n, false, is_signed_byte(tensor)};
  return kernels::pack_b_int8(&pool, k, n, matrix);
}

std::vector<PackedBytes> pack_constant_bytes(const KernelInfo& info, size_t i) {
  std::vector<PackedBytes> result;
  const Tensor* tensor = info.weights_input(i);
  if (!tensor || tensor->rank() != 3 || tensor->element_count() == 0) return result;
  auto pack = [](auto&... what) { return pack_bytes(what...); };
  for (int64_t d = 0; d < tensor->shape()[0]; ++d) {
    result.push_back(pack_once(info, *tensor, "recurrent_int8", pack, d));
  }
  return result;
}

}  // namespace ortolan::cpu
