// The elementwise steps of LSTM and GRU cells, over the vector functions.
#include "cpu/kernels/recurrent/recurrent_f32.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/memory/packed_parts.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/products/gemm_f32_kernels.h"
#include "cpu/kernels/recurrent/recurrent_kernels.h"

namespace ortolan::cpu::kernels {
namespace {

void clip_and_apply(const CellOptions& options, Activation activation, float* values, int64_t n) {
  if (options.clip > 0) unary({UnaryOp::kClip, -options.clip, options.clip}, values, values, n);
  unary(activation, values, values, n);
}

}  // namespace

bool CellOrder::takes(int64_t hidden) { return hidden > 0 && hidden % kernels().recurrent->lanes == 0; }

CellOrder::CellOrder(Cell cell, int64_t hidden) : cell_(cell), hidden_(hidden), lanes_(kernels().recurrent->lanes) {}

PackedCell::PackedCell(Cell cell, int64_t hidden, const float* r)
    : CellOrder(cell, hidden),
      kernels_(kernels().recurrent),
      weights_(static_cast<size_t>(gates() * hidden) * static_cast<size_t>(hidden) * sizeof(float),
               Lifetime::kSession) {
  finite_ = base::packed_choice(2, [&] { return pack(r) ? 1 : 0; }) != 0;
}

bool PackedCell::pack(const float* r) {
  const int64_t hidden = hidden_;
  bool finite = true;
  const int64_t step = lanes_ * gates();
  std::vector<float> rows(static_cast<size_t>(step * hidden));  // of a block's units, gate by gate
  for (int64_t unit = 0; unit < hidden; unit += lanes_) {
    for (int64_t gate = 0; gate < gates(); ++gate) {
      std::memcpy(rows.data() + gate * lanes_ * hidden, r + (gate * hidden + unit) * hidden,
                  static_cast<size_t>(lanes_ * hidden) * sizeof(float));
    }
    kernels().gemm_f32->pack_panel_transposed(rows.data(), hidden, hidden, step, step,
                                              weights_.as<float>() + unit * gates() * hidden);
    finite = finite && std::ranges::all_of(rows, [](float weight) { return std::isfinite(weight); });
  }
  return finite;
}

void cell_blocks(const PackedCell& cell, const CellStep& step, int64_t begin, int64_t end, bool from_end) {
  const CellBlocks run = cell.cell_ == Cell::kLstm ? cell.kernels_->lstm : cell.kernels_->gru;
  run(step, cell.weights_.as<float>(), cell.hidden_, begin, end, from_end);
}

void cell_rows(const PackedCell& cell, const CellRow* rows, int count, bool from_end) {
  const LoneRows run = cell.cell_ == Cell::kLstm ? cell.kernels_->lstm_rows : cell.kernels_->gru_rows;
  run(rows, count, cell.weights_.as<float>(), cell.hidden_, from_end);
}

int most_lone_rows() { return kernels().recurrent->rows_at_once; }

void cell_step(base::ThreadPool* pool, const PackedCell& cell, const CellStep& step, bool from_end) {
  const double products = static_cast<double>(step.rows) * static_cast<double>(cell.block() * cell.gates()) *
                          static_cast<double>(cell.hidden());
  base::parallel_for(pool, cell.hidden() / cell.block(),
                     least_items(products * multiply_ns(kernels().recurrent->lanes)),
                     [&](int64_t begin, int64_t end) { cell_blocks(cell, step, begin, end, from_end); });
}

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
