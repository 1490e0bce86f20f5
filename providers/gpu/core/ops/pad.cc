// Pad: elements added at the ends of axes, or with negative pads removed. The pads are attributes before opset 11.
#include <algorithm>
#include <cstring>

#include "gpu/core/elements/moves.h"

namespace ortolan::gpu {
namespace {

/** What is added at both ends of an axis. */
struct Pads {
  int64_t begin = 0, end = 0;
};

bool pads_are_inputs(const Node& node) { return node.since_version >= 11; }

std::string refuse(const Candidate& candidate) {
  int changed = candidate.rank(0);
  if (changed > kMostPickedAxes) {
    return "input 0 has " + std::to_string(changed) + " axes; at most " + std::to_string(kMostPickedAxes) +
           " are padded";
  }
  bool by_value = !pads_are_inputs(candidate.node()) && candidate.node().number("value", 0.0f) != 0.0f;
  if (by_value) return refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kFloat16});
  return refuse_unstorable(candidate, 0);
}

bool knows(const Node& node, size_t i) { return pads_are_inputs(node) && (i == 1 || i == 3); }

std::vector<Pads> pads_of(const Lowering& l) {
  size_t rank = l.shape(0).size();
  bool oldest = l.node().since_version < 2;
  std::vector<int64_t> given =
      pads_are_inputs(l.node()) ? l.integers(1) : l.node().integers(oldest ? "paddings" : "pads");
  std::vector<int64_t> axes = pads_are_inputs(l.node()) && l.has(3) ? l.integers(3) : std::vector<int64_t>();
  for (size_t i = 0; axes.size() < rank && !l.has(3); i++) axes.push_back(static_cast<int64_t>(i));
  if (given.size() != 2 * axes.size()) {
    l.fail("there are " + std::to_string(given.size()) + " pads for " + std::to_string(axes.size()) + " axes");
  }
  for (int64_t pad : given) {
    if (pad < -INT32_MAX || pad > INT32_MAX) l.fail("a pad is " + std::to_string(pad) + ", beyond 2^31 - 1");
  }
  std::vector<Pads> pads(rank);
  for (size_t i = 0; i < axes.size(); i++) pads[l.axis(axes[i], rank)] = {given[i], given[i + axes.size()]};
  return pads;
}

/** Where place `at`, which may lie outside of the axis, is taken from; -1: it is the constant. */
int64_t source_of(int64_t at, int64_t size, const std::string& mode) {
  if (at >= 0 && at < size) return at;
  if (mode == "edge") return at < 0 ? 0 : size - 1;
  if (mode == "wrap") return (at % size + size) % size;
  if (mode != "reflect") return -1;
  if (size == 1) return 0;
  int64_t period = 2 * (size - 1), phase = (at % period + period) % period;
  return phase < size ? phase : period - phase;
}

AxisSources sources_of(const Lowering& l, size_t axis, Pads pads, const std::string& mode) {
  int64_t size = l.shape(0)[axis];
  AxisSources result{size, size + pads.begin + pads.end};
  if (result.to < 0)
    l.fail("the pads remove more than axis " + std::to_string(axis) + " of size " + std::to_string(size));
  element_count({result.to});
  if (pads.begin == 0 && pads.end == 0) return result;
  if (size == 0 && result.to > 0 && mode != "constant") {
    l.fail("axis " + std::to_string(axis) + " is empty, so there is nothing to pad with; use mode constant");
  }
  for (int64_t i = 0; i < result.to; i++) {
    result.source.push_back(static_cast<int32_t>(source_of(i - pads.begin, size, mode)));
  }
  return result;
}

/** The constant as one element on the device. */
Memory value_of(Lowering& l) {
  if (pads_are_inputs(l.node()) && l.has(2)) return l.input(2);
  float value = pads_are_inputs(l.node()) ? 0.0f : l.node().number("value", 0.0f);
  if (value == 0.0f) return l.table({0, 0});
  HostTensor tensor = HostTensor::of_floats(l.type(0), {1}, {value});
  int32_t word = 0;
  std::memcpy(&word, tensor.elements.bytes.data(), tensor.elements.bytes.size());
  return l.table({word, 0});
}

void lower(Lowering& l) {
  std::string mode = l.node().text("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    l.fail("mode '" + mode + "' is unknown");
  std::vector<Pads> pads = pads_of(l);
  std::vector<AxisSources> axes;
  for (size_t i = 0; i < pads.size(); i++) axes.push_back(sources_of(l, i, pads[i], mode));
  bool changes = std::any_of(pads.begin(), pads.end(), [](const Pads& pad) { return pad.begin != 0 || pad.end != 0; });
  if (!changes) return l.view(0, 0, l.shape(0));
  pick(l, axes, value_of(l));
}

constexpr Operator kRows[] = {{"", "Pad", 1, kNewest, refuse, lower, knows}};

}  // namespace

std::span<const Operator> pad_operators() { return kRows; }

}  // namespace ortolan::gpu
