// Reductions over axes. The axes are an attribute at first and input 1 later: from opset 13 on for ReduceSum, from 18
// on for the others. No axes means all of them, or, with noop_with_empty_axes, none.
#include "gpu/core/elements/reduced_axes.h"
#include "gpu/core/elements/row_items.h"
#include "gpu/core/operators.h"

namespace ortolan::gpu {
namespace {

/** Codes of reduce.k; reduce_integers.k has the first six and the mean. */
enum First { kSum, kProduct, kMost, kLeast, kMagnitudes, kSquares, kExponentials };
enum Finish { kNone, kMean, kRoot, kLogarithm };
constexpr int kIntegerMean = 6;

std::string refuse_types(const Candidate& candidate, bool integers) {
  if (candidate.rank(0) > 8) return "the input's rank is " + std::to_string(candidate.rank(0)) + "; at most 8 is taken";
  if (is_float(candidate.type(0))) return "";
  if (!integers) return refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kFloat16});
  std::string refusal = refuse_unless(
      candidate, 0, {ElementType::kFloat, ElementType::kFloat16, ElementType::kInt32, ElementType::kInt64});
  if (!refusal.empty() || candidate.traits().has_int64) return refusal;
  return "the device's kernels have no 64-bit integers";
}

std::string refuse_numbers(const Candidate& candidate) { return refuse_types(candidate, true); }
std::string refuse_floats(const Candidate& candidate) { return refuse_types(candidate, false); }

bool knows_axes(const Node&, size_t i) { return i == 1; }

std::vector<bool> axes_of(const Lowering& l) {
  size_t rank = l.shape(0).size();
  std::vector<int64_t> axes = l.has(1) ? l.integers(1) : l.node().integers("axes");
  bool all = axes.empty() && l.node().integer("noop_with_empty_axes", 0) == 0;
  std::vector<bool> is_reduced(rank, all);
  for (int64_t axis : axes) is_reduced[l.axis(axis, rank)] = true;
  return is_reduced;
}

struct Operands {
  Memory x, y;
  ReducedAxes axes;
  int first, finish;
};

void reduce_integers(Lowering& l, const Operands& o) {
  l.call("reduce_integers")
      .row_group(o.axes.reduced.count())
      .constant("OP", o.finish == kMean ? kIntegerMean : o.first)
      .constant("BYTES", static_cast<int>(element_bytes(l.type(0))))
      .read(o.x)
      .write(o.y)
      .params(o.axes.reduced.count(), o.axes.kept.place_params(), o.axes.reduced.place_params())
      .run(o.axes.kept.count());
}

/** Whether vectors of neighbours pay and the kernel has them for this operation. */
bool goes_wide(const Lowering& l, const Operands& o) {
  bool has_vectors = o.first == kSum || o.first == kProduct || o.first == kSquares;
  return l.traits().kind == DeviceClass::kWide && l.type(0) == ElementType::kFloat && has_vectors;
}

void reduce_floats(Lowering& l, const Operands& o) {
  const Grid &kept = o.axes.kept, &reduced = o.axes.reduced;
  constexpr int64_t kShortRow = 32, kLongLine = 16;
  int64_t line = kept.sizes[3];
  bool rows = !o.axes.ends_kept || (line < kLongLine && reduced.count() > kShortRow) ||
              row_rounds(reduced.count(), 1) > l.traits().max_rounds;
  bool flat = reduced.used <= 1;
  bool wide = goes_wide(l, o) && (!rows || (flat && reduced.strides[3] == 1));
  KernelCall call = l.call("reduce");
  call.row_group(rows ? reduced.count() : 0).constant("FIRST", o.first).constant("FINISH", o.finish);
  call.constant("HALF", l.type(0) == ElementType::kFloat16).constant("ROWS", rows).constant("FLAT", flat);
  call.constant("WIDE", wide).read(o.x).write(o.y);
  call.params(kept.count(), reduced.count(), line, kept.place_params(), reduced.place_params());
  if (rows) return call.run(kept.count());
  int64_t lanes = wide ? l.traits().vector_width : 1;
  int64_t items = line == 0 ? 0 : kept.count() / line * ((line + lanes - 1) / lanes);
  call.run_items(items);
}

void lower(Lowering& l, int first, int finish) {
  std::vector<bool> is_reduced = axes_of(l);
  Shape shape = reduced_shape(l.shape(0), is_reduced, l.node().integer("keepdims", 1) != 0);
  Memory x = l.input(0), y = l.output(0, shape);
  Operands operands{x, y, reduced_axes(l.shape(0), is_reduced), first, finish};
  if (is_float(l.type(0))) return reduce_floats(l, operands);
  reduce_integers(l, operands);
}

template <First kFirst, Finish kFinish = kNone>
void lower_as(Lowering& l) {
  lower(l, kFirst, kFinish);
}

constexpr Operator kRows[] = {
    {"", "ReduceSum", 1, kNewest, refuse_numbers, lower_as<kSum>, knows_axes},
    {"", "ReduceMean", 1, kNewest, refuse_numbers, lower_as<kSum, kMean>, knows_axes},
    {"", "ReduceMax", 1, kNewest, refuse_numbers, lower_as<kMost>, knows_axes},
    {"", "ReduceMin", 1, kNewest, refuse_numbers, lower_as<kLeast>, knows_axes},
    {"", "ReduceProd", 1, kNewest, refuse_numbers, lower_as<kProduct>, knows_axes},
    {"", "ReduceL1", 1, kNewest, refuse_numbers, lower_as<kMagnitudes>, knows_axes},
    {"", "ReduceSumSquare", 1, kNewest, refuse_numbers, lower_as<kSquares>, knows_axes},
    {"", "ReduceL2", 1, kNewest, refuse_floats, lower_as<kSquares, kRoot>, knows_axes},
    {"", "ReduceLogSum", 1, kNewest, refuse_floats, lower_as<kSum, kLogarithm>, knows_axes},
    {"", "ReduceLogSumExp", 1, kNewest, refuse_floats, lower_as<kExponentials, kLogarithm>, knows_axes},
};

}  // namespace

std::span<const Operator> reductions_operators() { return kRows; }

}  // namespace ortolan::gpu
