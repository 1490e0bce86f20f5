// Operators that walk along an axis: CumSum, CumProd, ReverseSequence.
#include "gpu/core/elements/moves.h"

namespace ortolan::gpu {
namespace {

bool knows_second(const Node&, size_t i) { return i == 1; }

std::string refuse_cumulation(const Candidate& candidate) {
  return refuse_unless(candidate, 0,
                       {ElementType::kFloat, ElementType::kFloat16, ElementType::kInt32, ElementType::kUint32,
                        ElementType::kInt64, ElementType::kUint64});
}

int kind_of(ElementType type) {
  if (is_float(type)) return type == ElementType::kFloat ? 0 : 1;
  return element_bytes(type) == 4 ? 2 : 3;
}

void lower_cumulation(Lowering& l, bool product) {
  const Shape& shape = l.shape(0);
  std::vector<int64_t> given = l.integers(1);
  if (given.size() != 1) l.fail("the axis must be one number");
  size_t axis = l.axis(given[0], shape.size());
  Memory x = l.input(0), y = l.output(0, shape);
  if (l.count(0) == 0) return;
  int64_t lines = l.count(0) / shape[axis];
  l.call("cumulate")
      .group(l.traits().kind == DeviceClass::kWide ? 1 : 64)
      .rounds(shape[axis])
      .constant("KIND", kind_of(l.type(0)))
      .constant("PRODUCT", product)
      .constant("EXCLUSIVE", l.node().integer("exclusive", 0) != 0)
      .constant("REVERSE", l.node().integer("reverse", 0) != 0)
      .read(x)
      .write(y)
      .params(lines, shape[axis], element_count(shape, axis + 1, shape.size()))
      .run_items(lines);
}

std::string refuse_reversal(const Candidate& candidate) {
  std::string refusal = refuse_unstorable(candidate, 0);
  return refusal.empty() ? refuse_unless(candidate, 1, {ElementType::kInt64}) : refusal;
}

void lower_reversal(Lowering& l) {
  const Shape& shape = l.shape(0);
  int64_t batch_axis = l.node().integer("batch_axis", 1), time_axis = l.node().integer("time_axis", 0);
  if (batch_axis < 0 || batch_axis > 1 || time_axis != 1 - batch_axis) {
    l.fail("batch_axis and time_axis must be 0 and 1, or 1 and 0");
  }
  if (shape.size() < 2 || l.count(1) != shape[batch_axis]) l.fail("there must be a length for each batch");
  Memory x = l.input(0), lengths = l.input(1), y = l.output(0, shape);
  if (l.count(0) == 0) return;
  int64_t rows = shape[0] * shape[1], inner = element_count(shape, 2, shape.size()), times = shape[time_axis];
  ErrorBit error = l.error("a length is outside of 0 to " + std::to_string(times));
  Grain grain = grain_of(l.traits(), rows, inner);
  l.call("reverse_sequence")
      .group(grain.group)
      .constant("BYTES", static_cast<int>(element_bytes(l.type(0))))
      .constant("TIME", time_axis == 0)
      .read(x)
      .write(y)
      .read(lengths)
      .write(error.word)
      .params(grain.items(), rows, grain.block, inner, grain.chunk, grain.chunks, shape[1], times, error.bit)
      .run_items(grain.items());
}

constexpr Operator kRows[] = {
    {"", "CumSum", 11, kNewest, refuse_cumulation, [](Lowering& l) { lower_cumulation(l, false); }, knows_second},
    {"", "CumProd", 26, kNewest, refuse_cumulation, [](Lowering& l) { lower_cumulation(l, true); }, knows_second},
    {"", "ReverseSequence", 10, kNewest, refuse_reversal, lower_reversal},
};

}  // namespace

std::span<const Operator> along_axis_operators() { return kRows; }

}  // namespace ortolan::gpu
