// Operators whose result is their input with another shape: no launch.
#include "gpu/core/operators.h"

namespace ortolan::gpu {
namespace {

std::string refuse(const Candidate& candidate) {
  return element_bytes(candidate.type(0)) > 0 ? "" : "the elements' type cannot lie on a device";
}

bool knows_second(const Node&, size_t i) { return i == 1; }

void lower_identity(Lowering& l) { l.view(0, 0, l.shape(0)); }

// A 0 copies the input's dimension unless allowzero; one -1 takes what is left.
void lower_reshape(Lowering& l) {
  Shape target = l.integers(1);
  bool keeps_zero = l.node().integer("allowzero", 0) != 0;
  int64_t known = 1, open = -1;
  for (size_t i = 0; i < target.size(); i++) {
    if (target[i] == 0 && !keeps_zero) {
      if (i >= l.shape(0).size())
        l.fail("the shape copies dimension " + std::to_string(i) + ", which the input has not");
      target[i] = l.shape(0)[i];
    }
    if (target[i] == -1) {
      if (open >= 0) l.fail("the shape has more than one -1");
      open = static_cast<int64_t>(i);
    } else {
      known *= target[i];
    }
  }
  if (open >= 0) {
    if (known == 0 || l.count(0) % known != 0) {
      l.fail(std::to_string(l.count(0)) + " elements do not divide into rows of " + std::to_string(known));
    }
    target[open] = l.count(0) / known;
  }
  l.view(0, 0, target);
}

void lower_flatten(Lowering& l) {
  const Shape& shape = l.shape(0);
  int64_t axis = l.node().integer("axis", 1);
  size_t split = axis == static_cast<int64_t>(shape.size()) ? shape.size() : l.axis(axis, shape.size());
  l.view(0, 0, {element_count(shape, 0, split), element_count(shape, split, shape.size())});
}

/** From the attribute, or from opset 13 the second input. */
std::vector<int64_t> axes_of(const Lowering& l) { return l.has(1) ? l.integers(1) : l.node().integers("axes"); }

void lower_squeeze(Lowering& l) {
  const Shape& shape = l.shape(0);
  std::vector<bool> goes(shape.size());
  bool given = l.has(1) || l.node().has_attribute("axes");
  for (size_t i = 0; i < shape.size(); i++) goes[i] = !given && shape[i] == 1;
  for (int64_t axis : axes_of(l)) goes[l.axis(axis, shape.size())] = true;
  Shape result;
  for (size_t i = 0; i < shape.size(); i++) {
    if (!goes[i]) result.push_back(shape[i]);
  }
  l.view(0, 0, result);
}

void lower_unsqueeze(Lowering& l) {
  const Shape& shape = l.shape(0);
  std::vector<int64_t> axes = axes_of(l);
  Shape result(shape.size() + axes.size(), 0);
  for (int64_t axis : axes) result[l.axis(axis, result.size())] = 1;
  auto next = shape.begin();
  for (int64_t& dimension : result) {
    if (dimension == 0) {
      if (next == shape.end()) l.fail("the axes name one place twice");
      dimension = *next++;
    }
  }
  l.view(0, 0, result);
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
