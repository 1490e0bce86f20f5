// TopK: the greatest or least elements along an axis, in order; of equal ones the first.
#include <algorithm>
#include <array>

#include "gpu/core/elements/moves.h"

namespace ortolan::gpu {
namespace {

bool knows_second(const Node&, size_t i) { return i == 1; }

constexpr std::array<ElementType, 6> kKinds = {ElementType::kFloat, ElementType::kFloat16, ElementType::kInt32,
                                               ElementType::kInt64, ElementType::kUint8,   ElementType::kInt8};

std::string refuse(const Candidate& candidate) {
  return refuse_unless(candidate, 0, {kKinds[0], kKinds[1], kKinds[2], kKinds[3], kKinds[4], kKinds[5]});
}

int64_t count_of(const Lowering& l) {
  if (l.node().since_version < 10) return l.node().integer("k", 0);
  std::vector<int64_t> given = l.integers(1);
  if (given.size() != 1) l.fail("K has " + std::to_string(given.size()) + " elements; it must have one");
  return given[0];
}

/** Lines of `size` elements, `stride` apart. */
struct Lines {
  int64_t count, size, stride;
};

/** The places of each line's elements in order: the first `known` of them. */
struct Order {
  Memory places;
  int64_t known;
};

class LineOrder {
 public:
  LineOrder(Lowering& l, const Lines& lines) : l_(l), lines_(lines), x_(l.input(0)) {}

  Order first(int64_t k) {
    if (k > kMostChosen) return sorted();
    Memory order = places(k);
    if (l_.traits().kind == DeviceClass::kWide) {
      call("top_insert", 1).write(order).params(lines_.count, lines_.size, lines_.stride, k).run_items(lines_.count);
    } else {
      call("top_select", 64)
          .rounds(k * (lines_.size / 64 + 8))
          .write(order)
          .params(lines_.size, lines_.stride, k)
          .run(lines_.count);
    }
    return {order, k};
  }

 private:
  static constexpr int64_t kMostChosen = 64;  // beyond, sorting is less work than choosing one after the other

  Order sorted() {
    Memory order = places(lines_.size), next = places(lines_.size);
    for (int64_t width = 1; width < lines_.size; width *= 2) {
      call("top_merge", 16)
          .constant("FIRST", width == 1)
          .read(width == 1 ? x_ : order)
          .write(next)
          .params(lines_.count, lines_.size, lines_.stride, width)
          .run_items(lines_.count * lines_.size);
      std::swap(order, next);
    }
    return {order, lines_.size};
  }
  KernelCall call(std::string_view kernel, int group) {
    int kind = static_cast<int>(std::find(kKinds.begin(), kKinds.end(), l_.type(0)) - kKinds.begin());
    KernelCall call = l_.call(kernel);
    call.group(group).constant("KIND", kind).constant("LARGEST", l_.node().integer("largest", 1) != 0).read(x_);
    return call;
  }
  Memory places(int64_t each) { return l_.scratch(static_cast<size_t>(lines_.count * each) * sizeof(int32_t)); }

  Lowering& l_;
  const Lines& lines_;
  Memory x_;
};

void lower(Lowering& l) {
  Shape shape = l.shape(0);
  size_t axis = l.axis(l.node().integer("axis", -1), shape.size());
  int64_t k = count_of(l), size = shape[axis], stride = element_count(shape, axis + 1, shape.size());
  if (k < 0 || k > size)
    l.fail("K is " + std::to_string(k) + ", but the axis has " + std::to_string(size) + " elements");
  Lines lines{element_count(shape, 0, axis) * stride, size, stride};
  shape[axis] = k;
  int64_t count = element_count(shape);
  auto index_bytes = static_cast<size_t>(count) * sizeof(int64_t);
  Memory y =
      l.node().has_output(0) ? l.output(0, shape) : l.scratch(static_cast<size_t>(count) * element_bytes(l.type(0)));
  Memory indices = l.node().has_output(1) ? l.output(1, ElementType::kInt64, shape) : l.scratch(index_bytes);
  if (count == 0) return;
  Order order = LineOrder(l, lines).first(k);
  Grain grain = grain_of(l.traits(), count);
  l.call("top_values")
      .group(grain.group)
      .constant("BYTES", static_cast<int>(element_bytes(l.type(0))))
      .read(l.input(0))
      .write(y)
      .write(indices)
      .read(order.places)
      .params(count, grain.chunk, size, stride, k, order.known)
      .run_items(grain.items());
}

constexpr Operator kRows[] = {{"", "TopK", 1, kNewest, refuse, lower, knows_second}};

}  // namespace

std::span<const Operator> top_k_operators() { return kRows; }

}  // namespace ortolan::gpu
