// The elementwise step of LSTM and GRU cells, and the step of a state that is a matrix.
#pragma once

#include <cstdint>

#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/elementwise/activation.h"

namespace ortolan::base {
class ThreadPool;
}

namespace ortolan::cpu::kernels {

/** Cells whose gates are sigmoids, whose candidate is a tanh, and that clip nothing: LSTM without peepholes, gates in
    ONNX's order i, o, f, c; and GRU with linear_before_reset, in the order z, r, h. */
enum class Cell : uint8_t { kLstm, kGru };

struct RecurrentKernels;

/** The order of the gates' units in the steps of a cell on this processor. */
class CellOrder {
 public:
  /** True for numbers of hidden units that have one. */
  static bool takes(int64_t hidden);
  CellOrder(Cell cell, int64_t hidden);

  int gates() const noexcept { return cell_ == Cell::kLstm ? 4 : 3; }
  int64_t hidden() const noexcept { return hidden_; }
  /** Units that a step computes together, whose weights lie side by side. */
  int64_t block() const noexcept { return lanes_; }
  /** Where a step expects the projected input of a gate's unit, instead of at gate * hidden + unit. */
  int64_t column(int64_t gate, int64_t unit) const noexcept {
    return unit / lanes_ * lanes_ * gates() + gate * lanes_ + unit % lanes_;
  }

 protected:
  Cell cell_;
  int64_t hidden_, lanes_;
};

/** A cell's recurrent weights, laid out so that a step finishes its gates as soon as their sums are there. */
class PackedCell : public CellOrder {
 public:
  /** Packs R, [gates * hidden, hidden] by rows. Throws std::bad_alloc. */
  PackedCell(Cell cell, int64_t hidden, const float* r);
  /** Whether no weight is infinite or NaN, so that the product with zeros is zero. */
  bool is_finite() const noexcept { return finite_; }

 private:
  friend void cell_blocks(const PackedCell&, const struct CellStep&, int64_t, int64_t, bool);
  friend void cell_rows(const PackedCell&, const struct CellRow*, int, bool);
  bool pack(const float* r);  // returns is_finite()
  bool finite_ = true;
  const RecurrentKernels* kernels_;
  AlignedBuffer weights_;
};

/** One step of one sequence; each points to `hidden` elements, as CellStep says. */
struct CellRow {
  const float *gates, *h;
  float* next_h;
  const float *hidden_bias, *c;
  float* next_c;
};

/** One step of `rows` sequences; h, c and what follows them are [rows, hidden]. */
struct CellStep {
  int64_t rows = 0;
  const float* gates = nullptr;  // x*W + biases, columns as PackedCell::column() says; rows gates_stride apart
  int64_t gates_stride = 0;
  const float* h = nullptr;
  float* next_h = nullptr;             // not h
  const float* hidden_bias = nullptr;  // GRU: what reset multiplies besides the product; nullptr: nothing
  const float* c = nullptr;            // LSTM
  float* next_c = nullptr;             // LSTM; may be c
  bool h_is_zero = false;              // so the product is not computed

  CellRow row(int64_t i, int64_t hidden) const {
    const int64_t at = i * hidden;
    return {gates + i * gates_stride,
            h + at,
            next_h + at,
            hidden_bias,
            c == nullptr ? nullptr : c + at,
            next_c == nullptr ? nullptr : next_c + at};
  }
};

/** A step of the units in blocks [begin, end) of cell.block(). `from_end` reads the weights from their last to their
    first: steps that take turns find in the cache what the one before read last. A way of reading rounds in its own
    way. */
void cell_blocks(const PackedCell& cell, const CellStep& step, int64_t begin, int64_t end, bool from_end);

/** Of all blocks. Results do not depend on the number of threads. */
void cell_step(base::ThreadPool* pool, const PackedCell& cell, const CellStep& step, bool from_end);

/** A step of all units of sequences apart from each other, which read the weights together, most_lone_rows() at a time.
    Each has the bits that cell_step() gives it as the only row. */
void cell_rows(const PackedCell& cell, const CellRow* rows, int count, bool from_end);
int most_lone_rows();

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
