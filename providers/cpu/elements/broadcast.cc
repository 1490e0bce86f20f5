// The walk over broadcast operands.
#include "cpu/elements/broadcast.h"

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
  for (size_t k = 0; k < operand_count_; ++k) walk_[k] = walk_of(k, pitch[k]);
}

BroadcastPlan::Walk BroadcastPlan::walk_of(size_t k, int64_t elements) const {
  if (elements == count_) return Walk::kWhole;
  return inner_step_[k] == 1 && elements == inner_ ? Walk::kRepeatedRow : Walk::kOther;
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

int64_t BroadcastPlan::offset(size_t k, int64_t element) const {
  int64_t at = element % inner_ * inner_step_[k];
  int64_t rest = element / inner_;
  for (const Loop& loop : outer_) {
    at += rest % loop.size * loop.step[k];
    rest /= loop.size;
  }
  return at;
}

void BroadcastPlan::run(ThreadPool& threads, int64_t least, Row row) const {
  if (count_ == 0) return;
  threads.parallel_for(count_, least, [&](int64_t begin, int64_t end) { run_range(begin, end, row); });
}

namespace {

template <class T>
void copy_row(const void* data, int64_t offset, bool repeat, int64_t count, void* to, int64_t at) {
  auto* from = static_cast<const T*>(data) + offset;
  auto* out = static_cast<T*>(to) + at;
  if (repeat) {
    for (int64_t i = 0; i < count; ++i) out[i] = *from;
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = from[i];
  }
}

constexpr int64_t kShortRow = 64;

/** Fills `count` bytes with a row of `length` that repeats, from its byte `first` on. */
void lay_out_row(const char* row, int64_t first, int64_t length, int64_t count, char* to) {
  int64_t done = std::min(count, length), head = std::min(done, length - first);
  std::copy_n(row + first, head, to);
  std::copy_n(row, done - head, to + head);
  for (; done < count; done *= 2) std::copy_n(to, std::min(done, count - done), to + done);
}

/** What gather() does where operand k has the same row for `rows` rows of the output, and then another one. */
void gather_repeated(const BroadcastPlan& plan, size_t k, int64_t rows, size_t element_size, const void* data,
                     int64_t begin, int64_t count, void* to) {
  const int64_t same = plan.row_length() * rows;
  auto* out = static_cast<char*>(to);
  auto size = static_cast<int64_t>(element_size);
  for (int64_t end = begin + count; begin < end;) {
    int64_t length = std::min(end - begin, same - begin % same), column = begin % plan.row_length();
    const char* row = static_cast<const char*>(data) + (plan.offset(k, begin) - column) * size;
    lay_out_row(row, column * size, plan.row_length() * size, length * size, out);
    begin += length;
    out += length * size;
  }
}

/** What it does where `rows` rows of the output have one element each, side by side. */
template <class T>
void gather_spread(const BroadcastPlan& plan, size_t k, int64_t rows, const void* data, int64_t begin, int64_t count,
                   void* to) {
  const int64_t length = plan.row_length(), together = length * rows;
  T* out = static_cast<T*>(to);
  for (int64_t end = begin + count; begin < end;) {
    const T* from = static_cast<const T*>(data) + plan.offset(k, begin);
    int64_t group_end = std::min(end, begin + together - begin % together);
    for (int64_t n = length - begin % length; begin < group_end; n = length) {
      n = std::min(n, group_end - begin);
      std::fill_n(out, n, *from++);
      begin += n;
      out += n;
    }
  }
}

}  // namespace

void BroadcastPlan::gather(size_t k, size_t element_size, const void* data, int64_t begin, int64_t count,
                           void* to) const {
  bool repeats = inner_step_[k] == 1 && !outer_.empty() && outer_[0].step[k] == 0;
  if (repeats && inner_ < kShortRow) {
    return gather_repeated(*this, k, outer_[0].size, element_size, data, begin, count, to);
  }
  if (is_scalar(k) && !outer_.empty() && outer_[0].step[k] == 1) {
    auto spread = element_size == 1   ? gather_spread<uint8_t>
                  : element_size == 2 ? gather_spread<uint16_t>
                  : element_size == 4 ? gather_spread<uint32_t>
                                      : gather_spread<uint64_t>;
    return spread(*this, k, outer_[0].size, data, begin, count, to);
  }
  auto copy = element_size == 1   ? copy_row<uint8_t>
              : element_size == 2 ? copy_row<uint16_t>
              : element_size == 4 ? copy_row<uint32_t>
                                  : copy_row<uint64_t>;
  bool repeat = is_scalar(k);
  run_range(begin, begin + count, [&](const int64_t* offsets, int64_t output_offset, int64_t length) {
    copy(data, offsets[k], repeat, length, to, output_offset - begin);
  });
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
