// The steps of one direction of an LSTM or GRU with a packed cell, shared by threads that each keep to the weights of
// the same units.
#pragma once

#include <mutex>

#include "base/threads/stepped_work.h"
#include "cpu/recurrent/recurrent.h"

namespace ortolan::cpu {

/** Memory for walks, kept from run to run. Any thread may call it. */
class WalkMemory {
 public:
  kernels::AlignedBuffer take(size_t bytes);
  void give(kernels::AlignedBuffer buffer);

 private:
  std::mutex mutex_;
  std::vector<kernels::AlignedBuffer> idle_;
};

/** What a walk needs to know before it starts. All sequences have all steps. */
struct CellWalkPlan {
  std::shared_ptr<const kernels::PackedCell> cell;
  RecurrentSizes size;
  int64_t direction = 0;
  bool backward = false;   // in time
  bool from_zero = false;  // the first h is all zeros, and the cell is finite
  /** Elements of memory for that many lanes; throws where the number overflows. */
  int64_t memory(int lanes) const;
  /** Lanes worth having in a pool of `degree` threads; 1: none beside the caller. */
  int lanes(int degree) const;
};

class CellWalk final : public base::SteppedWork {
 public:
  CellWalk(CellWalkPlan plan, int lanes, std::shared_ptr<WalkMemory> memory);
  ~CellWalk() override;

  // To be filled before the walk: x*W and biases of all rows in size.row()'s order, columns as the cell says; the first
  // states, [batch][hidden]; and GRU's bias of the candidate's recurrent sum.
  float* projected() const { return projected_; }
  float* first_h() const { return first_h_; }
  float* first_c() const { return first_c_; }
  void set_hidden_bias(const float* bias);
  /** Where lane 0 puts all states on its way; NULL: nowhere. */
  void set_y(float* y) { y_ = y; }
  /** The last states, after the walk. */
  void read_last(float* h, float* c) const;

 private:
  void prepare(int64_t step, int lane) noexcept override;
  void run_part(int64_t step, int part, int lane) noexcept override;
  int64_t state_size() const { return plan_.size.batch * plan_.size.hidden; }
  int64_t first_block(int part) const { return plan_.size.hidden / plan_.cell->block() * part / lanes(); }
  /** One lane's states after a step, and those before it that the lane multiplies. */
  float* next_h(int lane, int64_t step) const { return states_ + (lane * steps() + step) * state_size(); }
  float* next_c(int lane, int64_t step) const { return next_h(lanes() + lane, step); }
  float* own_h(int lane) const { return own_h_ + lane * state_size(); }
  int64_t time(int64_t step) const { return plan_.backward ? steps() - 1 - step : step; }
  void copy_part(const float* from, int part, float* to) const;
  void put_into_y(int64_t step) const;

  CellWalkPlan plan_;
  std::shared_ptr<WalkMemory> memory_;
  kernels::AlignedBuffer buffer_;
  float *projected_, *first_h_, *first_c_, *hidden_bias_, *own_h_, *states_;
  bool has_bias_ = false;
  float* y_ = nullptr;
};

}  // namespace ortolan::cpu
