// Operators that put updates into a copy of their input: ScatterElements, its old name Scatter, ScatterND. Updates of
// one place follow one another in their order, so that the last one counts and sums do not depend on the device.
#include <algorithm>
#include <array>

#include "gpu/core/elements/slots.h"

namespace ortolan::gpu {
namespace {

constexpr std::array<std::string_view, 5> kReductions = {"none", "add", "mul", "max", "min"};

size_t reduction_of(const Node& node) {
  return std::find(kReductions.begin(), kReductions.end(), node.text("reduction", "none")) - kReductions.begin();
}

std::string refuse(const Candidate& candidate) {
  std::string refusal = refuse_other_indices(candidate, 1);
  if (!refusal.empty()) return refusal;
  size_t reduction = reduction_of(candidate.node());
  if (reduction == 0) return refuse_unstorable(candidate, 0);
  if (reduction == kReductions.size()) return "its reduction is unknown";
  return refuse_unless(candidate, 0,
                       {ElementType::kFloat, ElementType::kFloat16, ElementType::kInt32, ElementType::kInt64});
}

/** Updates that follow one another: `count` in each of `lines`, `stride` apart. */
struct Lines {
  int64_t lines, count, stride;
};

int kind_of(ElementType type) {
  if (is_float(type)) return type == ElementType::kFloat ? 0 : 1;
  return type == ElementType::kInt32 ? 2 : 3;
}

void combine(Lowering& l, Memory y, Memory slots, int64_t inner, const Lines& lines) {
  int group = l.traits().kind == DeviceClass::kWide ? 1 : 64;
  l.call("scatter_reduce")
      .group(group)
      .rounds(lines.count)
      .constant("KIND", kind_of(l.type(0)))
      .constant("REDUCTION", static_cast<int>(reduction_of(l.node())))
      .read(l.input(2))
      .write(y)
      .read(slots)
      .params(lines.lines, lines.count, lines.stride, inner)
      .run_items(lines.lines);
}

/** Which update each slot takes, by number from 1. */
Memory winners(Lowering& l, Memory slots, int64_t updates, int64_t slot_count) {
  Memory winner = l.scratch(static_cast<size_t>(slot_count) * sizeof(uint32_t));
  fill(l, winner, sizeof(uint32_t), slot_count, {});
  Grain grain = grain_of(l.traits(), updates);
  l.call("scatter_claim")
      .group(grain.group)
      .read(slots)
      .write(winner)
      .params(updates, grain.chunk)
      .run_items(grain.items());
  return winner;
}

/** `updates` rows of `inner` elements go to their slots, of which there are slot_count. */
void replace(Lowering& l, Memory y, Memory slots, int64_t updates, int64_t inner, int64_t slot_count) {
  bool alone = updates == 1;
  Memory winner = alone ? slots : winners(l, slots, updates, slot_count);
  Grain grain = grain_of(l.traits(), updates, inner);
  l.call("scatter_apply")
      .group(grain.group)
      .constant("BYTES", static_cast<int>(element_bytes(l.type(0))))
      .constant("ALONE", alone)
      .read(l.input(2))
      .write(y)
      .read(slots)
      .read(winner)
      .params(grain.items(), updates, grain.block, inner, grain.chunk, grain.chunks)
      .run_items(grain.items());
}

void put_updates(Lowering& l, Memory y, Memory slots, int64_t updates, int64_t inner, const Lines& lines) {
  if (reduction_of(l.node()) != 0) return combine(l, y, slots, inner, lines);
  replace(l, y, slots, updates, inner, l.count(0) / inner);
}

Memory copy_of_data(Lowering& l) {
  const Shape& shape = l.shape(0);
  Memory x = l.input(0), y = l.output(0, shape);
  copy_strided(l, x, y, element_bytes(l.type(0)), {shape, strides_of(shape), strides_of(shape)});
  return y;
}

void lower_elements(Lowering& l) {
  const Shape indices = l.shape(1);
  size_t axis = l.axis(l.node().integer("axis", 0), l.shape(0).size());
  if (l.shape(2) != indices) l.fail("indices and updates are not of one shape");
  if (l.count(1) == 0) return l.view(0, 0, l.shape(0));
  Memory y = copy_of_data(l), slots = slots_of_elements(l, l.shape(0), 1, axis);
  int64_t count = indices[axis];
  put_updates(l, y, slots, l.count(1), 1,
              {l.count(1) / count, count, element_count(indices, axis + 1, indices.size())});
}

void lower_nd(Lowering& l) {
  const Shape data = l.shape(0), indices = l.shape(1);
  if (indices.empty()) l.fail("the indices have no axes");
  int64_t updates = element_count(indices, 0, indices.size() - 1), width = indices.back();
  if (width < 0 || width > static_cast<int64_t>(data.size())) l.fail("the tuples are longer than the data's rank");
  int64_t inner = element_count({data.begin() + width, data.end()});
  if (l.count(2) != updates * inner) {
    l.fail("there are " + std::to_string(l.count(2)) + " updates for " + std::to_string(updates) + " slices of " +
           std::to_string(inner));
  }
  if (l.count(2) == 0) return l.view(0, 0, l.shape(0));
  Memory y = copy_of_data(l), slots = slots_of_tuples(l, data, 1, 0);
  put_updates(l, y, slots, updates, inner, {inner, updates, inner});
}

constexpr Operator kRows[] = {
    {"", "Scatter", 9, kNewest, refuse, lower_elements},
    {"", "ScatterElements", 11, kNewest, refuse, lower_elements},
    {"", "ScatterND", 11, kNewest, refuse, lower_nd},
};

}  // namespace

std::span<const Operator> scatter_operators() { return kRows; }

}  // namespace ortolan::gpu
