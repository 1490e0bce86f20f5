// Where: elements of input 1 where input 0 is true, else of input 2.
#include "gpu/core/graph/fusion.h"

namespace ortolan::gpu {
namespace {

std::string refuse(const Candidate& candidate) {
  std::string refusal = refuse_unless(candidate, 0, {ElementType::kBool});
  if (!refusal.empty()) return refusal;
  ElementType type = candidate.type(1);
  if (element_bytes(type) == 0) return std::string("elements are ") + type_name(type) + ", which no kernel stores";
  for (size_t i = 0; i < 3; i++) {
    if (candidate.rank(i) > kMostElementwiseAxes) {
      return "input " + std::to_string(i) + " has " + std::to_string(candidate.rank(i)) + " axes; broadcasts of " +
             std::to_string(kMostElementwiseAxes) + " are supported";
    }
  }
  return refuse_long_integers(candidate, type);
}

/** A type in which elements stay as they are: their own, or one of as many bytes. */
ElementType storage_of(ElementType type) {
  if (is_float(type) || is_whole(type)) return type;
  switch (element_bytes(type)) {
    case 1:
      return ElementType::kUint8;
    case 2:
      return ElementType::kUint16;
    case 4:
      return ElementType::kInt32;
    default:
      return ElementType::kInt64;
  }
}

void lower(Lowering& l) {
  ElementType storage = storage_of(l.type(1));
  std::vector<ElementwiseOperand> operands;
  for (size_t i = 0; i < 3; i++) operands.push_back(elementwise_operand(l, i));
  operands[1].type = operands[2].type = storage;
  ElementType arithmetic = is_float(storage) ? ElementType::kFloat : storage;
  lower_elementwise_output(l, operands, {{"Where", 1}}, l.type(1), arithmetic);
}

constexpr Operator kRows[] = {{"", "Where", 9, kNewest, refuse, lower}};

}  // namespace

std::span<const Operator> where_operators() { return kRows; }

}  // namespace ortolan::gpu
