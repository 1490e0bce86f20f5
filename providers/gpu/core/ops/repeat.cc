// Operators that repeat their input: Expand along dimensions of size 1, Tile along all.
#include <algorithm>

#include "gpu/core/elements/moves.h"

namespace ortolan::gpu {
namespace {

std::string refuse(const Candidate& candidate) { return refuse_unstorable(candidate, 0); }

bool knows_second(const Node&, size_t i) { return i == 1; }

/** With ones in front, so that it has as many axes as the other. */
Shape of_rank(Shape shape, size_t rank) {
  if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
  return shape;
}

void lower_expand(Lowering& l) {
  Shape target = l.integers(1);
  Shape source = of_rank(l.shape(0), target.size());
  target = of_rank(target, source.size());
  StridedCopy copy{source, strides_of(source), {}};
  for (size_t i = 0; i < target.size(); i++) {
    if (source[i] != target[i] && source[i] != 1 && target[i] != 1) {
      l.fail("dimensions " + std::to_string(source[i]) + " and " + std::to_string(target[i]) + " do not broadcast");
    }
    if (source[i] != 1) continue;
    copy.shape[i] = target[i];
    copy.from[i] = 0;
  }
  copy.to = strides_of(copy.shape);
  Shape shape = copy.shape;
  move_input(l, shape, std::move(copy));
}

void lower_tile(Lowering& l) {
  const Shape& source = l.shape(0);
  std::vector<int64_t> repeats = l.integers(1), strides = strides_of(source);
  if (repeats.size() != source.size()) {
    l.fail("there are " + std::to_string(repeats.size()) + " repeats for " + std::to_string(source.size()) + " axes");
  }
  const bool is_empty = element_count(source) == 0 || std::ranges::find(repeats, 0) != repeats.end();
  StridedCopy copy;
  Shape shape;
  for (size_t i = 0; i < source.size(); i++) {
    const bool too_many = source[i] != 0 && repeats[i] > (is_empty ? INT64_MAX / source[i] : INT32_MAX);
    if (repeats[i] < 0 || too_many) l.fail("an axis is repeated " + std::to_string(repeats[i]) + " times");
    shape.push_back(source[i] * repeats[i]);
    copy.shape.insert(copy.shape.end(), {repeats[i], source[i]});
    copy.from.insert(copy.from.end(), {0, strides[i]});
  }
  if (is_empty) {
    l.output(0, shape);
    return;
  }
  copy.to = strides_of(copy.shape);
  move_input(l, shape, std::move(copy));
}

constexpr Operator kRows[] = {
    {"", "Expand", 8, kNewest, refuse, lower_expand, knows_second},
    {"", "Tile", 6, kNewest, refuse, lower_tile, knows_second},
};

}  // namespace

std::span<const Operator> repeat_operators() { return kRows; }

}  // namespace ortolan::gpu
