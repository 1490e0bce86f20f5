// Softmax and LogSoftmax: exp(x - max) / sum over an axis, from opset 13; before it over all axes from that one on.
#include "gpu/core/operators.h"

namespace ortolan::gpu {
namespace {

std::string refuse(const Candidate& candidate) { return refuse_unless(candidate, 0, {ElementType::kFloat}); }

void lower(Lowering& l, bool logarithm) {
  const Shape& shape = l.shape(0);
  bool one_axis = l.node().since_version >= 13;
  size_t axis = shape.empty() ? 0 : l.axis(l.node().integer("axis", one_axis ? -1 : 1), shape.size());
  size_t end = one_axis ? std::min(axis + 1, shape.size()) : shape.size();
  int64_t cols = element_count(shape, axis, end), inner = element_count(shape, end, shape.size());
  int64_t rows = cols == 0 ? 0 : element_count(shape) / cols;
  Memory x = l.input(0), y = l.output(0, shape);
  l.call("softmax").group(64).constant("LOGARITHM", logarithm).read(x).write(y).params(cols, inner, inner).run(rows);
}

constexpr Operator kRows[] = {
    {"", "Softmax", 1, kNewest, refuse, [](Lowering& l) { lower(l, false); }},
    {"", "LogSoftmax", 1, kNewest, refuse, [](Lowering& l) { lower(l, true); }},
};

}  // namespace

std::span<const Operator> softmax_operators() { return kRows; }

}  // namespace ortolan::gpu
