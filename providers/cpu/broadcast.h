// Broadcasting: up to three operands walked together as few long rows, so that kernels only write vector loops.
#pragma once

#include <initializer_list>

#include "base/function_ref.h"
#include "base/thread_pool.h"
#include "tensor/shape.h"

namespace ortolan::cpu {
using namespace tensor;

/** How operands are laid over an output by numpy's rule. Neighbouring dimensions that every operand walks alike are
    joined, so [8,3,224,224] + [3,1,1] is 24 rows of 50176 elements with one scalar each. */
class BroadcastPlan {
 public:
  static constexpr size_t kMaxOperands = 3;

  /** Throws kInvalidArgument where an operand's dimension is neither 1 nor the output's. */
  BroadcastPlan(const Shape& output, std::initializer_list<const Shape*> operands);

  int64_t row_length() const { return inner_; }
  int64_t element_count() const { return count_; }
  /** True when operand k gives one element for a whole row; otherwise its elements are contiguous. */
  bool is_scalar(size_t k) const { return inner_step_[k] == 0; }

  /** Called for a row, or a part of one: the operands' offsets in elements, the output's, and the length. */
  using Row = FunctionRef<void(const int64_t* offsets, int64_t output_offset, int64_t length)>;
  /** Calls `row` for every row, on several threads when there are more than `grain` elements. */
  void run(ThreadPool& threads, int64_t grain, Row row) const;

 private:
  struct Loop {
    int64_t size;
    int64_t step[kMaxOperands];
  };
  void add_dimension(const Loop& loop);
  void run_range(int64_t begin, int64_t end, Row row) const;

  size_t operand_count_;
  int64_t count_ = 1;
  int64_t inner_ = 1;
  int64_t inner_step_[kMaxOperands] = {};
  InlinedVector<Loop, 4> outer_;  // innermost first
};

}  // namespace ortolan::cpu
