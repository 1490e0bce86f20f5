// One run of a recurrent operator: its inputs, its memory, and the walk over its steps. Internal to Recurrent.
#pragma once

#include <algorithm>

#include "base/threads/thread_pool.h"
#include "cpu/attention/memory_attention.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/recurrent/cell_walk.h"
#include "cpu/recurrent/joint_walks.h"
#include "cpu/recurrent/recurrent.h"

namespace ortolan::cpu {

/** One run of the operator; C is the type computed in. */
template <class C>
struct Recurrent::Run {
  const Recurrent& op;
  KernelContext& context;
  RecurrentSizes size;
  const C *x, *bias, *first_h, *first_c, *peepholes;
  C *y, *y_h, *y_c;        // each may be NULL
  const int32_t* lengths;  // of each sequence; NULL: all full
  std::vector<CellWeights<C>> weights = {};
  std::vector<MemoryAttention<C>> attention = {};      // of each direction, AttnLSTM only
  std::vector<C*> projected = {};                      // of each direction: [rows][gates * hidden]
  std::vector<std::shared_ptr<CellWalk>> shared = {};  // of each direction, where threads share its steps

  /** One direction's memory while it walks: states are [batch][hidden]. */
  struct Walk {
    int64_t direction;
    const CellWeights<C>& weights;
    const GateActivations& f;
    C *h, *next, *c, *hidden, *gathered;  // gathered: [batch][gates * hidden]
    const C *peephole, *hidden_bias;
  };

  int64_t width() const { return op.gates() * size.hidden; }
  bool linear() const { return op.kind_ == CellKind::kGru && op.linear_before_reset_; }
  /** Elements that one walk needs. */
  int64_t walk_memory() const { return size.batch * (4 * size.hidden + width()); }
  /** The time at which sequence b is at `step`; -1 when it is over. */
  int64_t time(int64_t direction, int64_t step, int64_t b) const {
    int64_t length = lengths ? lengths[b] : size.steps;
    return step >= length ? -1 : backward(direction) ? length - 1 - step : step;
  }
  /** Steps of the longest sequence. */
  int64_t longest() const { return lengths ? *std::max_element(lengths, lengths + size.batch) : size.steps; }
  bool backward(int64_t direction) const { return direction == 1 || op.reverse_first_; }
  /** Whether the first step of a packed cell has no product. */
  bool from_zero(int64_t direction) const { return !first_h && weights[direction].cell->is_finite(); }
  void run();
  int threads_for(int runs) const;
  bool walks_jointly(int threads) const;
  void share_walks(int threads);
  void project();
  void add_biases(const C* both, const kernels::PackedCell* cell, C* sums) const;
  Walk walk_of(int64_t direction, C* memory) const;
  void walk(int64_t direction, C* memory);
  void walk_shared(int64_t direction, C* memory);
  void walk_jointly(int64_t direction, C* memory);
  void begin(const Walk& w) const;
  const C* states_of(const Walk& w, int64_t step) const;
  void take_step(const Walk& w, int64_t step, C* gates, int64_t stride);
  void take_cell_step(const Walk& w, int64_t step, const C* gates, int64_t stride);
  void keep_states(const Walk& w, int64_t step);
  void run_row(const Walk& w, C* gates, int64_t b) const;
  void finish_gru_row(const Walk& w, C* gates, int64_t b) const;
  void lstm_row(const Walk& w, C* gates, int64_t b) const;
  void gru_row(const Walk& w, C* gates, int64_t b) const;
  void end(const Walk& w) const;
  template <class Body>
  void each_direction(Body&& body) const {
    for (int64_t d = 0; d < size.directions; ++d) body(d);
  }
  /** Calls body(b) for the sequences that are not over. */
  template <class Body>
  void for_active(const Walk& w, int64_t step, Body&& body) const {
    const int64_t least = kernels::least_rows(width(), kernels::kActivationNs);
    context.threads().parallel_for(size.batch, least, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        if (time(w.direction, step, b) >= 0) body(b);
      }
    });
  }
};

extern template struct Recurrent::Run<float>;
extern template struct Recurrent::Run<double>;

}  // namespace ortolan::cpu
