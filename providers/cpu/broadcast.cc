// The walk over broadcast operands.
#include "cpu/broadcast.h"

#include <algorithm>

namespace ortolan::cpu {

BroadcastPlan::BroadcastPlan(const Shape& output, std::initializer_list<const Shape*> operands)
    : operand_count_(operands.size()), count_(output.element_count()) {
  int64_t pitch[kMaxOperands] = {1, 1, 1};  // elements of each operand inside the dimensions seen so far
  for (const Shape* shape : operands) {
    require(shape->rank() <= output.rank(), ErrorCode::kInvalidArgument, "shape ", *shape, " does not broadcast to ",
            output, ": its rank is larger");
  }
  for (size_t back = 1; back <= output.rank(); ++back) {
    Loop loop{output[output.rank() - back], {}};
    size_t k = 0;
    for (const Shape* shape : operands) {
      int64_t size = back <= shape->rank() ? (*shape)[shape->rank() - back] : 1;
      require(size == loop.size || size == 1, ErrorCode::kInvalidArgument, "shape ", *shape, " does not broadcast to ",
              output, ": dimension ", size, " is neither 1 nor ", loop.size);
      loop.step[k] = size == 1 ? 0 : pitch[k];
      pitch[k++] *= size;
    }
    if (loop.size != 1) add_dimension(loop);
  }
}

void BroadcastPlan::add_dimension(const Loop& loop) {
  if (outer_.empty() && inner_ == 1) {
    inner_ = loop.size;
    std::copy_n(loop.step, operand_count_, inner_step_);
    return;
  }
  int64_t& size = outer_.empty() ? inner_ : outer_.back().size;
  const int64_t* step = outer_.empty() ? inner_step_ : outer_.back().step;
  bool joins = true;
  for (size_t k = 0; k < operand_count_; ++k) joins = joins && loop.step[k] == step[k] * size;
  if (joins) {
    size *= loop.size;
  } else {
    outer_.push_back(loop);
  }
}

void BroadcastPlan::run(ThreadPool& threads, int64_t grain, Row row) const {
  if (count_ == 0) return;
  threads.parallel_for(count_, grain, [&](int64_t begin, int64_t end) { run_range(begin, end, row); });
}

void BroadcastPlan::run_range(int64_t begin, int64_t end, Row row) const {
  int64_t offsets[kMaxOperands] = {};
  InlinedVector<int64_t, 6> index;
  index.resize(outer_.size());
  int64_t column = begin % inner_;
  int64_t rest = begin / inner_;
  for (size_t d = 0; d < outer_.size(); ++d) {
    index[d] = rest % outer_[d].size;
    rest /= outer_[d].size;
    for (size_t k = 0; k < operand_count_; ++k) offsets[k] += index[d] * outer_[d].step[k];
  }
  while (begin < end) {
    int64_t length = std::min(inner_ - column, end - begin);
    int64_t at[kMaxOperands];
    for (size_t k = 0; k < kMaxOperands; ++k) at[k] = offsets[k] + column * inner_step_[k];
    row(at, begin, length);
    begin += length;
    column = 0;
    for (size_t d = 0; d < outer_.size(); ++d) {
      for (size_t k = 0; k < operand_count_; ++k) offsets[k] += outer_[d].step[k];
      if (++index[d] < outer_[d].size) break;
      index[d] = 0;
      for (size_t k = 0; k < operand_count_; ++k) offsets[k] -= outer_[d].step[k] * outer_[d].size;
    }
  }
}

}  // namespace ortolan::cpu
