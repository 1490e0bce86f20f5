// A view whose count of elements would change is refused.
#include "gpu/core/graph/result_shapes.h"

#include <algorithm>

#include "gpu/device/error.h"

namespace ortolan::gpu {
namespace {

[[noreturn]] void fail(const Node& node, const std::string& what) {
  throw Error(ErrorKind::kInvalid, describe(node) + ": " + what);
}

/** Puts what the other dimensions leave of `count` elements in the place of -1. */
void fill_open(const Node& node, int64_t count, Shape& target) {
  auto open = std::find(target.begin(), target.end(), -1);
  if (open == target.end()) return;
  *open = 1;
  if (std::find(target.begin(), target.end(), -1) != target.end()) fail(node, "the shape has more than one -1");
  int64_t known = element_count(target);
  if (known == 0 || count % known != 0) {
    fail(node, std::to_string(count) + " elements do not divide into rows of " + std::to_string(known));
  }
  *open = count / known;
}

}  // namespace

size_t checked_axis(const Node& node, int64_t axis, size_t rank) {
  int64_t whole = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
  if (whole < 0 || whole >= static_cast<int64_t>(rank)) {
    fail(node, "axis " + std::to_string(axis) + " is outside of rank " + std::to_string(rank));
  }
  return static_cast<size_t>(whole);
}

Shape reshaped_shape(const Node& node, const Shape& shape, Shape target) {
  bool copies = node.integer("allowzero", 0) == 0;
  for (size_t i = 0; copies && i < target.size(); i++) {
    if (target[i] != 0) continue;
    if (i >= shape.size()) {
      fail(node, "the shape copies dimension " + std::to_string(i) + ", which the input has not");
    }
    target[i] = shape[i];
  }
  int64_t count = element_count(shape);
  fill_open(node, count, target);
  if (element_count(target) != count) fail(node, std::to_string(count) + " elements do not fit the shape");
  return target;
}

Shape squeezed_shape(const Node& node, const Shape& shape, const std::optional<std::vector<int64_t>>& axes) {
  std::vector<bool> goes(shape.size());
  for (size_t i = 0; i < shape.size(); i++) goes[i] = !axes && shape[i] == 1;
  for (int64_t axis : axes.value_or(std::vector<int64_t>())) goes[checked_axis(node, axis, shape.size())] = true;
  Shape result;
  for (size_t i = 0; i < shape.size(); i++) {
    if (!goes[i]) result.push_back(shape[i]);
    if (goes[i] && shape[i] != 1) fail(node, "axis " + std::to_string(i) + " has size " + std::to_string(shape[i]));
  }
  return result;
}

Shape unsqueezed_shape(const Node& node, const Shape& shape, const std::vector<int64_t>& axes) {
  Shape result(shape.size() + axes.size(), -1);
  for (int64_t axis : axes) result[checked_axis(node, axis, result.size())] = 1;
  auto next = shape.begin();
  for (int64_t& dimension : result) {
    if (dimension == 1) continue;
    if (next == shape.end()) fail(node, "the axes name one place twice");
    dimension = *next++;
  }
  return result;
}

uint64_t count_of_steps(int64_t start, int64_t limit, int64_t delta) {
  if (delta > 0 ? start >= limit : start <= limit) return 0;
  auto low = static_cast<uint64_t>(std::min(start, limit)), high = static_cast<uint64_t>(std::max(start, limit));
  uint64_t step = delta > 0 ? static_cast<uint64_t>(delta) : 0 - static_cast<uint64_t>(delta);
  return (high - low - 1) / step + 1;
}

}  // namespace ortolan::gpu
