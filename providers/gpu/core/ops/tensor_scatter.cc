// TensorScatter: a cache with new rows, which is changed where it is if the result is to have its memory.
#include "gpu/core/elements/moves.h"

namespace ortolan::gpu {
namespace {

std::string refuse(const Candidate& candidate) {
  std::string refusal = refuse_unstorable(candidate, 0);
  return refusal.empty() && candidate.has(2) ? refuse_unless(candidate, 2, {ElementType::kInt64}) : refusal;
}

void check(const Lowering& l, size_t axis) {
  Shape wanted = l.shape(0);
  if (axis == 0) l.fail("axis 0 is the batch; the cache's positions are on another");
  if (l.shape(1).size() == wanted.size()) wanted[axis] = l.shape(1)[axis];
  if (l.shape(1) != wanted || wanted[axis] > l.shape(0)[axis]) l.fail("update does not fit past_cache");
  if (l.has(2) && l.shape(2) != Shape{wanted[0]}) l.fail("write_indices has no index for each sequence");
}

void lower(Lowering& l) {
  const Shape& shape = l.shape(0);
  size_t axis = l.axis(l.node().integer("axis", -2), shape.size());
  check(l, axis);
  size_t bytes = element_bytes(l.type(0));
  bool in_place = l.overwrites(0, 0);
  Memory y = l.output(0, shape);
  if (!in_place) copy_strided(l, l.input(0), y, bytes, {shape, strides_of(shape), strides_of(shape)});
  int64_t count = l.count(1);
  ErrorBit error = l.error("a write index is outside of a cache of " + std::to_string(shape[axis]) + " rows");
  l.call("put_rows")
      .group(l.traits().kind == DeviceClass::kWide ? 16 : 64)
      .constant("BYTES", static_cast<int>(bytes))
      .constant("INDICES", l.has(2))
      .constant("CIRCULAR", l.node().text("mode", "linear") == "circular")
      .read(l.input(1))
      .write(y)
      .read(l.input(l.has(2) ? 2 : 1))
      .write(error.word)
      .params(count, l.shape(1)[axis], shape[axis], element_count(shape, axis + 1, shape.size()),
              element_count(shape, 1, axis), error.bit)
      .run_items(count);
}

constexpr Operator kRows[] = {{"", "TensorScatter", 24, kNewest, refuse, lower}};

}  // namespace

std::span<const Operator> tensor_scatter_operators() { return kRows; }

}  // namespace ortolan::gpu
