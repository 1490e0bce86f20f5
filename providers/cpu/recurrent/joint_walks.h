// The steps of lone sequences of runs at the same time, which read a packed cell's weights together.
#pragma once

#include <memory>

#include "base/threads/joint_work.h"
#include "cpu/kernels/recurrent/recurrent_f32.h"

namespace ortolan::cpu {

class JointWalks final : public base::JointWork {
 public:
  /** The walk of one run. What it points to is the run's. */
  struct Walk : Member {
    using Member::Member;
    const float* gates = nullptr;  // of the first step: x*W + biases, columns as the cell says
    int64_t gates_stride = 0;      // to the next step's
    const float* hidden_bias = nullptr;
    float *h = nullptr, *c = nullptr;  // the states before the next step
    float* next_h = nullptr;           // memory that takes turns with h
    float* y = nullptr;                // where the first step's h goes besides; may be NULL
    int64_t y_stride = 0;              // to where the next one's goes
  };

  JointWalks(std::shared_ptr<const kernels::PackedCell> cell, std::atomic<int>& awake)
      : JointWork(std::min(kMostMembers, kernels::most_lone_rows()), awake), cell_(std::move(cell)) {}

 private:
  void take_step(std::span<Member* const> members, bool odd) noexcept override;

  std::shared_ptr<const kernels::PackedCell> cell_;
};

}  // namespace ortolan::cpu
