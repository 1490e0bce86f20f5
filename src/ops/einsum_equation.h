// The equation of Einsum: which label each dimension of each operand has.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace ortolan::ops {

/** A letter's code, or kEllipsisLabel + i for dimension i of the ellipsis, counted from its outermost. */
using EinsumLabel = int;
inline constexpr EinsumLabel kEllipsisLabel = 256;

struct EinsumTerms {
  std::vector<std::vector<EinsumLabel>> inputs;
  std::vector<EinsumLabel> output;
};

/** Reads the equation for operands of these ranks. Without "->" the result has the ellipsis and then every letter that
    occurs once, sorted. Throws kInvalidGraph, quoting the equation, when it is malformed or does not fit the ranks. */
EinsumTerms einsum_terms(std::string_view equation, std::span<const size_t> ranks);

}  // namespace ortolan::ops
