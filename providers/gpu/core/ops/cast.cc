// Cast and CastLike: elements of another type. Floats become integers towards zero; what does not fit wraps around as
// the CPU has it.
#include "gpu/core/graph/fusion.h"

namespace ortolan::gpu {
namespace {

bool is_known_type(ElementType type) {
  return is_float(type) || is_whole(type) || type == ElementType::kBool || type == ElementType::kBfloat16;
}

std::string refuse_pair(const Candidate& candidate, ElementType to) {
  ElementType from = candidate.type(0);
  for (ElementType type : {from, to}) {
    if (!is_known_type(type)) return std::string("elements of ") + type_name(type) + " are not cast on the device";
    std::string refusal = refuse_long_integers(candidate, type);
    if (!refusal.empty()) return refusal;
  }
  return "";
}

ElementType target_of(const Node& node) { return static_cast<ElementType>(node.integer("to", 0)); }

std::string refuse_cast(const Candidate& candidate) { return refuse_pair(candidate, target_of(candidate.node())); }
std::string refuse_cast_like(const Candidate& candidate) { return refuse_pair(candidate, candidate.type(1)); }

bool counts(ElementType type) { return is_whole(type) || type == ElementType::kBool; }

void lower_to(Lowering& l, ElementType to) {
  if (l.type(0) == to) return l.view(0, 0, l.shape(0));
  bool whole = counts(l.type(0)) && counts(to);
  lower_elementwise_output(l, {elementwise_operand(l, 0)}, {}, to, whole ? ElementType::kInt64 : ElementType::kFloat);
}

constexpr Operator kRows[] = {
    {"", "Cast", 6, kNewest, refuse_cast, [](Lowering& l) { lower_to(l, target_of(l.node())); }},
    {"", "CastLike", 15, kNewest, refuse_cast_like, [](Lowering& l) { lower_to(l, l.type(1)); }},
};

}  // namespace

std::span<const Operator> cast_operators() { return kRows; }

}  // namespace ortolan::gpu
