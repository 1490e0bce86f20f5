// Broadcasting: up to three operands walked together as few long rows, so that kernels only write vector loops.
#pragma once

#include <initializer_list>

#include "base/function_ref.h"
#include "base/threads/thread_pool.h"
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
  /** True when operand k has as many elements as the output, in the same order. */
  bool is_whole(size_t k) const { return walk_[k] == Walk::kWhole; }
  /** True when operand k is one row that repeats. */
  bool is_repeated_row(size_t k) const { return walk_[k] == Walk::kRepeatedRow; }

  /** Where operand k's element for that output element is. */
  int64_t offset(size_t k, int64_t element) const;

  /** Called for a row, or a part of one: the operands' offsets in elements, the output's, and the length. */
  using Row = FunctionRef<void(const int64_t* offsets, int64_t output_offset, int64_t length)>;
  /** Calls `row` for every row, on several threads, each of which takes `least` elements or more. */
  void run(ThreadPool& threads, int64_t least, Row row) const;

  /** Sets `to` to operand k as seen from output elements [begin, begin + count); `data` is the operand's first element.
      For plans of short rows, where a loop a row would cost more than these copies. Element sizes: 1, 2, 4, 8. */
  void gather(size_t k, size_t element_size, const void* data, int64_t begin, int64_t count, void* to) const;

 private:
  struct Loop {
    int64_t size;
    int64_t step[kMaxOperands];
  };
  enum class Walk : uint8_t { kWhole, kRepeatedRow, kOther };
  void add_dimension(const Loop& loop);
  Walk walk_of(size_t k, int64_t elements) const;
  void run_range(int64_t begin, int64_t end, Row row) const;

  size_t operand_count_;
  int64_t count_ = 1;
  int64_t inner_ = 1;
  int64_t inner_step_[kMaxOperands] = {};
  Walk walk_[kMaxOperands] = {};
  InlinedVector<Loop, 4> outer_;  // innermost first
};

}  // namespace ortolan::cpu
