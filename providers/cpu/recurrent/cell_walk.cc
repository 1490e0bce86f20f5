// CellWalk: each lane computes blocks of units into memory of its own, and gathers the states of the step before.
#include "cpu/recurrent/cell_walk.h"

#include <algorithm>

namespace ortolan::cpu {
namespace {

constexpr double kLaneFlops = 2e5;                 // of a step, worth a thread
constexpr int64_t kFewestSteps = 4;                // worth telling another thread
constexpr int64_t kMostMemory = int64_t{4} << 20;  // elements
constexpr size_t kMostIdle = 4;
constexpr int kMostLanes = 16;
constexpr int64_t kLine = 16;  // floats in a cache line

int64_t whole_lines(int64_t count) { return checked_add(count, kLine - 1) / kLine * kLine; }

}  // namespace

kernels::AlignedBuffer WalkMemory::take(size_t bytes) {
  {
    std::lock_guard lock(mutex_);
    for (auto& buffer : idle_) {
      if (buffer.bytes() < bytes) continue;
      std::swap(buffer, idle_.back());
      kernels::AlignedBuffer taken = std::move(idle_.back());
      idle_.pop_back();
      return taken;
    }
  }
  return kernels::AlignedBuffer(bytes);
}

void WalkMemory::give(kernels::AlignedBuffer buffer) {
  std::lock_guard lock(mutex_);
  if (idle_.size() == kMostIdle) idle_.erase(idle_.begin());
  idle_.push_back(std::move(buffer));
}

int64_t CellWalkPlan::memory(int lanes) const {
  int64_t state = whole_lines(checked_mul(size.batch, size.hidden));
  int64_t rows = checked_mul(size.steps, size.batch);
  int64_t states = checked_mul(checked_add(checked_mul(size.steps, int64_t{2}), int64_t{1}), int64_t{lanes});
  return checked_add(checked_mul(rows, cell->gates() * size.hidden),
                     checked_mul(checked_add(states, int64_t{3}), state));
}

int CellWalkPlan::lanes(int degree) const {
  double flops = 2.0 * static_cast<double>(size.batch * size.hidden) * static_cast<double>(cell->gates() * size.hidden);
  double worth = std::min({flops / kLaneFlops, static_cast<double>(size.hidden / cell->block()), 1.0 * kMostLanes});
  int lanes = std::min(degree, static_cast<int>(worth));
  return lanes > 1 && size.steps >= kFewestSteps && memory(lanes) <= kMostMemory ? lanes : 1;
}

CellWalk::CellWalk(CellWalkPlan plan, int lanes, std::shared_ptr<WalkMemory> memory)
    : SteppedWork(plan.size.steps, lanes),
      plan_(std::move(plan)),
      memory_(std::move(memory)),
      buffer_(memory_->take(static_cast<size_t>(plan_.memory(lanes)) * sizeof(float))) {
  int64_t state = whole_lines(state_size());
  projected_ = buffer_.as<float>();
  first_h_ = projected_ + plan_.size.steps * plan_.size.batch * plan_.cell->gates() * plan_.size.hidden;
  first_c_ = first_h_ + state;
  hidden_bias_ = first_c_ + state;
  own_h_ = hidden_bias_ + state;
  states_ = own_h_ + lanes * state;
}

CellWalk::~CellWalk() { memory_->give(std::move(buffer_)); }

void CellWalk::set_hidden_bias(const float* bias) {
  has_bias_ = bias != nullptr;
  if (has_bias_) std::copy_n(bias, plan_.size.hidden, hidden_bias_);
}

/** The units of a part, of all sequences. */
void CellWalk::copy_part(const float* from, int part, float* to) const {
  int64_t begin = first_block(part) * plan_.cell->block(), end = first_block(part + 1) * plan_.cell->block();
  for (int64_t b = 0; b < plan_.size.batch; ++b) {
    int64_t at = b * plan_.size.hidden + begin;
    std::copy_n(from + at, end - begin, to + at);
  }
}

void CellWalk::put_into_y(int64_t step) const {
  for (int64_t b = 0; b < plan_.size.batch; ++b) {
    std::copy_n(own_h(0) + b * plan_.size.hidden, plan_.size.hidden,
                y_ + plan_.size.y_row(time(step), b, plan_.direction) * plan_.size.hidden);
  }
}

void CellWalk::prepare(int64_t step, int lane) noexcept {
  if (step == 0) {
    std::copy_n(first_h_, state_size(), own_h(lane));
    return;
  }
  for (int part = 0; part < lanes(); ++part) copy_part(next_h(winner(step - 1, part), step - 1), part, own_h(lane));
  if (lane == 0 && y_) put_into_y(step - 1);
}

void CellWalk::run_part(int64_t step, int part, int lane) noexcept {
  int64_t width = plan_.cell->gates() * plan_.size.hidden;
  kernels::CellStep cell;
  cell.rows = plan_.size.batch;
  cell.gates = projected_ + plan_.size.row(time(step), 0) * width;
  cell.gates_stride = plan_.size.row(0, 1) * width;
  cell.h = own_h(lane);
  cell.next_h = next_h(lane, step);
  cell.hidden_bias = has_bias_ ? hidden_bias_ : nullptr;
  cell.c = step == 0 ? first_c_ : next_c(winner(step - 1, part), step - 1);
  cell.next_c = next_c(lane, step);
  cell.h_is_zero = plan_.from_zero && step == 0;
  kernels::cell_blocks(*plan_.cell, cell, first_block(part), first_block(part + 1), step % 2 != 0);
}

void CellWalk::read_last(float* h, float* c) const {
  std::copy_n(own_h(0), state_size(), h);
  for (int part = 0; part < lanes(); ++part) copy_part(next_c(winner(steps() - 1, part), steps() - 1), part, c);
}

}  // namespace ortolan::cpu
