// The elementwise step of LSTM and GRU cells, and the step of a state that is a matrix.
#pragma once

#include <cstdint>

#include "cpu/kernels/activation.h"

namespace ortolan::cpu::kernels {

/** Gate activations in ONNX's order (f, g, h) and the clip of gate inputs (0: none). */
struct CellOptions {
  Activation f{UnaryOp::kSigmoid}, g{UnaryOp::kTanh}, h{UnaryOp::kTanh};
  float clip = 0;
  bool input_forget = false;
};

/**
 * One LSTM step of one row. `gates` holds 4*n sums (x*W + h*R + biases) in ONNX's order i, o, f, c and is overwritten.
 * `peephole` is nullptr or 3*n weights in the order i, o, f. Reads c_before; writes c_after and h_after (n each), which
 * may be c_before and any span that is not `gates`.
 */
void lstm_step(const CellOptions& options, int64_t n, float* gates, const float* peephole, const float* c_before,
               float* c_after, float* h_after);

/**
 * The end of one GRU step of one row: z (already activated) and the hidden sums `candidate` (g is applied here, in
 * place): h_after = (1 - z)*g(candidate) + z*h_before.
 */
void gru_step(const CellOptions& options, int64_t n, const float* z, float* candidate, const float* h_before,
              float* h_after);

/** y[c] = the sum over i < count of weights[i] * rows[i*columns + c]. */
void weighted_rows(const float* rows, int64_t count, int64_t columns, const float* weights, float* y);

/**
 * One step of linear attention over a state of count rows: row i becomes factors[i]*row + key[i]*value (factors may be
 * nullptr: all 1); y is the sum over i of query[i] times the new row. y overlaps nothing else.
 */
void update_state(float* state, int64_t count, int64_t columns, const float* factors, const float* key,
                  const float* value, const float* query, float* y);

}  // namespace ortolan::cpu::kernels
