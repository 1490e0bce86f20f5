// How the operands of a chain are read.
#include "cpu/elements/elementwise_operand.h"

#include <algorithm>

namespace ortolan::cpu {
namespace {

constexpr int64_t kLongestPeriod = 1024;
constexpr int64_t kShortestRow = 128;  // below it, copying rows together costs less than a call for each,
constexpr int64_t kFewRows = 4;        // except that of these

}  // namespace

void ElementwiseOperands::add(const float* data, const Shape& shape, const Shape& output) {
  if (shape == output) return operands_.push_back({data, Kind::kWhole, nullptr, 0});
  int64_t count = shape.element_count();
  if (count == output.element_count()) return operands_.push_back({data, Kind::kWhole, nullptr, 0});
  all_whole_ = false;
  if (count == 1) return operands_.push_back({data, Kind::kScalar, nullptr, 0});
  add_broadcast({data, Kind::kGathered, nullptr, scratch_size_}, shape, output);
}

void ElementwiseOperands::add_broadcast(Operand operand, const Shape& shape, const Shape& output) {
  plans_.reserve(most_);
  const BroadcastPlan& plan = plans_.emplace_back(output, std::initializer_list<const Shape*>{&shape});
  operand.plan = &plan;
  if (plan.is_repeated_row(0) && plan.row_length() <= kLongestPeriod) {
    operand.kind = Kind::kPeriodic;
    scratch_size_ += block_ + plan.row_length();
  } else if (plan.row_length() >= kShortestRow || plan.element_count() <= kFewRows * plan.row_length()) {
    operand.kind = Kind::kRows;
    row_length_ = std::min(row_length_, plan.row_length());
  } else {
    scratch_size_ += block_;
  }
  operands_.push_back(operand);
}

void ElementwiseOperands::prepare(float* scratch) const {
  if (scratch_size_ == 0) return;
  for (const Operand& operand : operands_) {
    if (operand.kind != Kind::kPeriodic) continue;
    int64_t period = operand.plan->row_length(), size = block_ + period;
    float* to = scratch + operand.scratch;
    for (int64_t i = 0; i < size; i += period) std::copy_n(operand.data, std::min(period, size - i), to + i);
  }
}

ElementwiseOperands::Span ElementwiseOperands::read_broadcast(const Operand& operand, int64_t begin, int64_t count,
                                                              float* scratch) {
  const BroadcastPlan& plan = *operand.plan;
  if (operand.kind == Kind::kPeriodic) return {scratch + begin % plan.row_length(), false};
  if (operand.kind == Kind::kRows) return {operand.data + plan.offset(0, begin), plan.is_scalar(0)};
  plan.gather(0, sizeof(float), operand.data, begin, count, scratch);
  return {scratch, false};
}

}  // namespace ortolan::cpu
