// Operators whose result is their input with another shape: no launch.
#include "gpu/core/graph/result_shapes.h"
#include "gpu/core/operators.h"

namespace ortolan::gpu {
namespace {

std::string refuse(const Candidate& candidate) {
  return element_bytes(candidate.type(0)) > 0 ? "" : "the elements' type cannot lie on a device";
}

bool knows_second(const Node&, size_t i) { return i == 1; }

void lower_identity(Lowering& l) { l.view(0, 0, l.shape(0)); }

void lower_reshape(Lowering& l) { l.view(0, 0, reshaped_shape(l.node(), l.shape(0), l.integers(1))); }

void lower_flatten(Lowering& l) {
  const Shape& shape = l.shape(0);
  int64_t axis = l.node().integer("axis", 1);
  size_t split = axis == static_cast<int64_t>(shape.size()) ? shape.size() : l.axis(axis, shape.size());
  l.view(0, 0, {element_count(shape, 0, split), element_count(shape, split, shape.size())});
}

/** From the second input, or the attribute before opset 13. */
std::optional<std::vector<int64_t>> axes_of(const Lowering& l) {
  if (l.has(1)) return l.integers(1);
  if (l.node().has_attribute("axes")) return l.node().integers("axes");
  return {};
}

void lower_squeeze(Lowering& l) { l.view(0, 0, squeezed_shape(l.node(), l.shape(0), axes_of(l))); }

void lower_unsqueeze(Lowering& l) {
  l.view(0, 0, unsqueezed_shape(l.node(), l.shape(0), axes_of(l).value_or(std::vector<int64_t>())));
}

constexpr Operator kRows[] = {
    {"", "Identity", 1, kNewest, refuse, lower_identity},
    {"", "Reshape", 5, kNewest, refuse, lower_reshape, knows_second},
    {"", "Flatten", 1, kNewest, refuse, lower_flatten},
    {"", "Squeeze", 1, kNewest, refuse, lower_squeeze, knows_second},
    {"", "Unsqueeze", 1, kNewest, refuse, lower_unsqueeze, knows_second},
};

}  // namespace

std::span<const Operator> views_operators() { return kRows; }

}  // namespace ortolan::gpu
