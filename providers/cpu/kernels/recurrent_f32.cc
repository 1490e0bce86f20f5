// The elementwise steps of LSTM and GRU cells, over the vector functions.
#include "cpu/kernels/recurrent_f32.h"

#include <algorithm>

#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/vector_f32.h"

namespace ortolan::cpu::kernels {
namespace {

void clip_and_apply(const CellOptions& options, Activation activation, float* values, int64_t n) {
  if (options.clip > 0) unary({UnaryOp::kClip, -options.clip, options.clip}, values, values, n);
  unary(activation, values, values, n);
}

}  // namespace

void lstm_step(const CellOptions& options, int64_t n, float* gates, const float* peephole, const float* c_before,
               float* c_after, float* h_after) {
  float *input = gates, *output = gates + n, *forget = gates + 2 * n, *cell = gates + 3 * n;
  if (peephole != nullptr) {
    multiply_add(peephole, c_before, input, input, n);
    multiply_add(peephole + 2 * n, c_before, forget, forget, n);
  }
  clip_and_apply(options, options.f, input, n);
  if (options.input_forget) {
    scale_shift(input, -1, 1, forget, n);
  } else {
    clip_and_apply(options, options.f, forget, n);
  }
  clip_and_apply(options, options.g, cell, n);
  binary(BinaryOp::kMul, input, cell, cell, n);
  multiply_add(forget, c_before, cell, c_after, n);
  if (peephole != nullptr) multiply_add(peephole + n, c_after, output, output, n);
  clip_and_apply(options, options.f, output, n);
  std::copy(c_after, c_after + n, cell);
  clip_and_apply(options, options.h, cell, n);
  binary(BinaryOp::kMul, output, cell, h_after, n);
}

void gru_step(const CellOptions& options, int64_t n, const float* z, float* candidate, const float* h_before,
              float* h_after) {
  clip_and_apply(options, options.g, candidate, n);
  for (int64_t i = 0; i < n; ++i) h_after[i] = candidate[i] + z[i] * (h_before[i] - candidate[i]);
}

void weighted_rows(const float* rows, int64_t count, int64_t columns, const float* weights, float* y) {
  kernels().rows->weighted_rows(rows, count, columns, weights, y);
}

void update_state(float* state, int64_t count, int64_t columns, const float* factors, const float* key,
                  const float* value, const float* query, float* y) {
  kernels().rows->update_state(state, count, columns, factors, key, value, query, y);
}

}  // namespace ortolan::cpu::kernels
