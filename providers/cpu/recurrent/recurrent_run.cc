// Runs of recurrent operators: one product projects all inputs, then each step adds the recurrent product and runs the
// gates.
#include "cpu/recurrent/recurrent_run.h"

#include "base/threads/counted_in.h"
#include "base/threads/loops_alone.h"
#include "base/threads/polled_loop.h"
#include "base/threads/processor_count.h"
#include "base/threads/thread_pool.h"

namespace ortolan::cpu {
namespace {

constexpr int64_t kFewestJointSteps = 4;  // worth joining others

}  // namespace

/** Everything between weights and outputs. Runs at the same time part the processors among them. */
template <class C>
void Recurrent::Run<C>::run() {
  const base::CountedIn counted(op.awake_);
  const int threads = threads_for(counted.count());
  const bool jointly = walks_jointly(threads);
  const base::LoopsAlone alone(threads == 1);
  share_walks(threads);
  project();
  C* memory = context.scratch<C>(checked_mul(size.directions, walk_memory())).data();
  if (!shared.empty()) return each_direction([&](int64_t d) { walk_shared(d, memory); });
  if (jointly) return each_direction([&](int64_t d) { walk_jointly(d, memory); });
  context.threads().parallel_for(size.directions, 1, [&](int64_t begin, int64_t end) {
    for (int64_t d = begin; d < end; ++d) walk(d, memory + d * walk_memory());
  });
}

/** Of the pool, for this run among so many. */
template <class C>
int Recurrent::Run<C>::threads_for(int runs) const {
  return std::max(1, std::min(context.threads().degree(), base::processors_at_once() / runs));
}

/** Whether the steps of a lone sequence are for one thread, which may do those of other runs besides. */
template <class C>
bool Recurrent::Run<C>::walks_jointly(int threads) const {
  return std::is_same_v<C, float> && !op.joint_walks_.empty() && size.batch == 1 && threads == 1 &&
         size.steps >= kFewestJointSteps && !ThreadPool::inside_loop();
}

/** Prepares walks for several threads, where that is worth it. */
template <class C>
void Recurrent::Run<C>::share_walks(int threads) {
  if constexpr (std::is_same_v<C, float>) {
    if (lengths || !weights[0].cell || ThreadPool::inside_loop()) return;
    for (int64_t d = 0; d < size.directions; ++d) {
      CellWalkPlan plan{weights[d].cell, size, d, backward(d), from_zero(d)};
      int lanes = plan.lanes(threads);
      if (lanes == 1) return;
      shared.push_back(std::make_shared<CellWalk>(std::move(plan), lanes, op.walk_memory_));
    }
  }
}

/** Adds the bias of W and, where no gate stands between, that of R; columns as the cell says, if there is one. */
template <class C>
void Recurrent::Run<C>::add_biases(const C* both, const kernels::PackedCell* cell, C* sums) const {
  int64_t block = cell ? cell->block() : size.hidden;
  for (int64_t gate = 0; gate < op.gates(); ++gate) {
    bool added = !linear() || gate < 2;
    for (int64_t unit = 0; unit < size.hidden; unit += block) {
      const C* own = both + gate * size.hidden + unit;
      C* to = sums + (cell ? cell->column(gate, unit) : gate * size.hidden + unit);
      for (int64_t i = 0; i < block; ++i) to[i] = own[i] + (added ? own[width() + i] : C(0));
    }
  }
}

/** All inputs times W, plus the biases that do not depend on time. GRU with linear_before_reset keeps the candidate's
    recurrent bias apart. */
template <class C>
void Recurrent::Run<C>::project() {
  int64_t rows = checked_mul(size.batch_first ? size.steps : longest(), size.batch);
  for (int64_t d = 0; d < size.directions; ++d) {
    if constexpr (std::is_same_v<C, float>) {
      if (!shared.empty()) projected.push_back(shared[d]->projected());
    }
    if (shared.empty()) projected.push_back(context.scratch<C>(checked_mul(rows, width())).data());
    C* sums = nullptr;
    if (bias) {
      sums = context.scratch<C>(width()).data();
      add_biases(bias + 2 * d * width(), weights[d].cell.get(), sums);
    }
    if (rows > 0) gate_product(context.threads(), rows, x, weights[d].input, projected[d], width(), false, sums);
  }
}

template <class C>
typename Recurrent::Run<C>::Walk Recurrent::Run<C>::walk_of(int64_t d, C* memory) const {
  int64_t state = size.batch * size.hidden;
  return {d,
          weights[d],
          op.activations_[d],
          memory,
          memory + state,
          memory + 2 * state,
          memory + 3 * state,
          memory + 4 * state,
          peepholes ? peepholes + d * 3 * size.hidden : nullptr,
          bias && linear() ? bias + (2 * d + 1) * width() + 2 * size.hidden : nullptr};
}

template <class C>
void Recurrent::Run<C>::walk_shared(int64_t d, C* memory) {
  if constexpr (std::is_same_v<C, float>) {
    CellWalk& walk = *shared[d];
    Walk w = walk_of(d, memory);
    w.h = walk.first_h(), w.c = walk.first_c();
    begin(w);
    walk.set_hidden_bias(w.hidden_bias);
    walk.set_y(y);
    base::run_steps(context.threads(), shared[d]);
    Walk last = walk_of(d, memory);
    walk.read_last(last.h, last.c);
    end(last);
  }
}

template <class C>
void Recurrent::Run<C>::walk_jointly(int64_t d, C* memory) {
  if constexpr (std::is_same_v<C, float>) {
    Walk w = walk_of(d, memory);
    begin(w);
    const int64_t steps = longest(), first = steps > 0 ? time(d, 0, 0) : 0, on = backward(d) ? -1 : 1;
    JointWalks::Walk joint(steps);
    joint.gates = projected[d] + first * width();
    joint.gates_stride = on * width();
    joint.h = w.h, joint.c = w.c, joint.next_h = w.next;
    joint.hidden_bias = w.hidden_bias;
    joint.y = y ? y + size.y_row(first, 0, d) * size.hidden : nullptr;
    joint.y_stride = on * size.directions * size.hidden;
    op.joint_walks_[d]->do_steps(joint);
    w.h = joint.h;
    end(w);
  }
}

template <class C>
void Recurrent::Run<C>::walk(int64_t d, C* memory) {
  Walk w = walk_of(d, memory);
  begin(w);
  base::TerminatePoll poll;
  for (int64_t s = 0, steps = longest(); s < steps; ++s) {
    poll.work(64 + size.batch * width() * (1 + size.hidden / 16));
    if (!lengths) {
      C* gates = projected[d] + size.row(time(d, s, 0), 0) * width();
      take_step(w, s, gates, (size.batch_first ? size.steps : 1) * width());
      continue;
    }
    for (int64_t b = 0; b < size.batch; ++b) {
      int64_t t = std::max<int64_t>(time(d, s, b), 0);
      std::copy_n(projected[d] + size.row(t, b) * width(), width(), w.gathered + b * width());
    }
    take_step(w, s, w.gathered, width());
  }
  end(w);
}

template <class C>
void Recurrent::Run<C>::begin(const Walk& w) const {
  for (int64_t b = 0; b < size.batch; ++b) {
    int64_t at = size.state_row(b, w.direction) * size.hidden;
    for (int64_t i = 0; i < size.hidden; ++i) {
      w.h[b * size.hidden + i] = first_h ? first_h[at + i] : C(0);
      w.c[b * size.hidden + i] = first_c ? first_c[at + i] : C(0);
    }
  }
}

/** The states that a step multiplies. Those of sequences that ended before the last step are zeros where all states are
    quantised with one scale, so that they have no part in it. */
template <class C>
const C* Recurrent::Run<C>::states_of(const Walk& w, int64_t step) const {
  if (!op.byte_weights_ || !lengths) return w.h;
  for (int64_t b = 0; b < size.batch; ++b) {
    C* to = w.next + b * size.hidden;
    if (step <= lengths[b]) {
      std::copy_n(w.h + b * size.hidden, size.hidden, to);
    } else {
      std::fill_n(to, size.hidden, C(0));
    }
  }
  return w.next;
}

/** One step of all sequences. Their gate sums lie `stride` apart; the recurrent products are added to them. */
template <class C>
void Recurrent::Run<C>::take_step(const Walk& w, int64_t step, C* gates, int64_t stride) {
  if (w.weights.cell) return take_cell_step(w, step, gates, stride);
  ThreadPool& pool = context.threads();
  bool gru = op.kind_ == CellKind::kGru;
  auto order = step % 2 ? kernels::PanelOrder::kBackward : kernels::PanelOrder::kForward;
  gate_product(pool, size.batch, states_of(w, step), w.weights.recurrent, gates, stride, true, nullptr, order);
  if (!attention.empty()) {
    gate_product(pool, size.batch, attention[w.direction].state(), w.weights.attention, gates, stride, true);
  }
  if (linear()) gate_product(pool, size.batch, w.h, w.weights.candidate, w.hidden, size.hidden, false, w.hidden_bias);
  for_active(w, step, [&](int64_t b) { run_row(w, gates + b * stride, b); });
  if (gru && !linear()) {
    gate_product(pool, size.batch, w.hidden, w.weights.candidate, gates + 2 * size.hidden, stride, true);
  }
  if (gru) for_active(w, step, [&](int64_t b) { finish_gru_row(w, gates + b * stride, b); });
  keep_states(w, step);
  if (!attention.empty()) attention[w.direction].attend(w.h);
}

/** The same with a packed cell, which computes all rows; those of sequences that are over are not kept. */
template <class C>
void Recurrent::Run<C>::take_cell_step(const Walk& w, int64_t step, const C* gates, int64_t stride) {
  if constexpr (std::is_same_v<C, float>) {
    bool apart = lengths && op.kind_ == CellKind::kLstm;
    kernels::CellStep cell{size.batch, gates, stride, w.h, w.next, w.hidden_bias, w.c, apart ? w.hidden : w.c};
    cell.h_is_zero = step == 0 && from_zero(w.direction);
    kernels::cell_step(&context.threads(), *w.weights.cell, cell, step % 2 != 0);
    for (int64_t b = 0; apart && b < size.batch; ++b) {
      if (time(w.direction, step, b) < 0) continue;
      std::copy_n(w.hidden + b * size.hidden, size.hidden, w.c + b * size.hidden);
    }
    keep_states(w, step);
  }
}

/** Takes over the next states of sequences that are not over, and writes them to Y. */
template <class C>
void Recurrent::Run<C>::keep_states(const Walk& w, int64_t step) {
  for (int64_t b = 0; b < size.batch; ++b) {
    int64_t t = time(w.direction, step, b);
    if (t < 0) continue;
    const C* next = w.next + b * size.hidden;
    std::copy_n(next, size.hidden, w.h + b * size.hidden);
    if (y) std::copy_n(next, size.hidden, y + size.y_row(t, b, w.direction) * size.hidden);
  }
}

template <class C>
void Recurrent::Run<C>::run_row(const Walk& w, C* gates, int64_t b) const {
  if (op.kind_ == CellKind::kLstm) return lstm_row(w, gates, b);
  if (op.kind_ == CellKind::kGru) return gru_row(w, gates, b);
  w.f[0].apply(gates, size.hidden, op.clip_);
  std::copy_n(gates, size.hidden, w.next + b * size.hidden);
}

/** Gates z and r, and what the candidate needs of them: r * h for the product to come, or r times the product. */
template <class C>
void Recurrent::Run<C>::gru_row(const Walk& w, C* gates, int64_t b) const {
  int64_t n = size.hidden;
  w.f[0].apply(gates, 2 * n, op.clip_);
  const C *r = gates + n, *h = w.h + b * n;
  C *hidden = w.hidden + b * n, *candidate = gates + 2 * n;
  if (linear()) {
    for (int64_t i = 0; i < n; ++i) candidate[i] += r[i] * hidden[i];
  } else {
    for (int64_t i = 0; i < n; ++i) hidden[i] = r[i] * h[i];
  }
}

template <class C>
void Recurrent::Run<C>::finish_gru_row(const Walk& w, C* gates, int64_t b) const {
  int64_t n = size.hidden;
  const C *z = gates, *h = w.h + b * n;
  C *candidate = gates + 2 * n, *next = w.next + b * n;
  w.f[1].apply(candidate, n, op.clip_);
  for (int64_t i = 0; i < n; ++i) next[i] = (1 - z[i]) * candidate[i] + z[i] * h[i];
}

/** Gates in the order i, o, f, c; peepholes i, o, f. */
template <class C>
void Recurrent::Run<C>::lstm_row(const Walk& w, C* gates, int64_t b) const {
  int64_t n = size.hidden;
  C *in = gates, *out = gates + n, *forget = gates + 2 * n, *cell = gates + 3 * n;
  C *c = w.c + b * n, *h = w.next + b * n;
  const C* p = w.peephole;
  for (int64_t i = 0; p && i < n; ++i) {
    in[i] += p[i] * c[i];
    forget[i] += p[2 * n + i] * c[i];
  }
  w.f[0].apply(in, n, op.clip_);
  w.f[0].apply(forget, n, op.clip_);
  w.f[1].apply(cell, n, op.clip_);
  for (int64_t i = 0; i < n; ++i) c[i] = (op.input_forget_ ? 1 - in[i] : forget[i]) * c[i] + in[i] * cell[i];
  for (int64_t i = 0; p && i < n; ++i) out[i] += p[n + i] * c[i];
  w.f[0].apply(out, n, op.clip_);
  std::copy_n(c, n, h);
  w.f[2].apply(h, n);
  for (int64_t i = 0; i < n; ++i) h[i] *= out[i];
}

template <class C>
void Recurrent::Run<C>::end(const Walk& w) const {
  for (int64_t b = 0; b < size.batch; ++b) {
    int64_t at = size.state_row(b, w.direction) * size.hidden;
    if (y_h) std::copy_n(w.h + b * size.hidden, size.hidden, y_h + at);
    if (y_c) std::copy_n(w.c + b * size.hidden, size.hidden, y_c + at);
  }
}

template struct Recurrent::Run<float>;
template struct Recurrent::Run<double>;

}  // namespace ortolan::cpu
