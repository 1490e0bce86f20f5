// Dropout in inference: its input, and a mask of truths.
#include "gpu/core/graph/fusion.h"

namespace ortolan::gpu {
namespace {

bool may_train(const Candidate& candidate) {
  if (candidate.node().since_version < 12 || !candidate.has(2)) return false;
  const HostBytes* mode = candidate.constant(2);
  return mode == nullptr || mode->bytes.empty() || mode->bytes[0] != std::byte{0};
}

std::string refuse(const Candidate& candidate) {
  if (may_train(candidate)) return "training_mode is not known to be false";
  return refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kFloat16});
}

// Not of anything is finite, so that 0 times it and 1 is 1.
void lower(Lowering& l) {
  l.view(0, 0, l.shape(0));
  if (!l.node().has_output(1)) return;
  ElementType type = l.node().since_version < 10 ? l.type(0) : ElementType::kBool;
  lower_elementwise_output(l, {elementwise_operand(l, 0)}, {{"Not"}, {"Scale", 0, false, 0, 1}}, type,
                           ElementType::kFloat, 1);
}

constexpr Operator kRows[] = {{"", "Dropout", 1, kNewest, refuse, lower}};

}  // namespace

std::span<const Operator> dropout_operators() { return kRows; }

}  // namespace ortolan::gpu
