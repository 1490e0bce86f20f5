// Attention that is spelled out: MatMul(Softmax(scores), V), where the scores are MatMul(Q, K transposed) with factors
// on them or on the operands, then a sum with a mask or a Where, or both.
#pragma once

#include "gpu/core/graph/makers.h"

namespace ortolan::gpu {

inline constexpr std::string_view kOwnDomain = "ortolan";  // of nodes that models cannot have
inline constexpr std::string_view kSpelledAttention = "Attention";

/** The inputs of such a node; factors are those from kFirstFactor on. */
enum class SpelledInput : size_t { kQuery, kKeys, kValues, kBias, kCondition, kOther, kFirstFactor };

/** Makes the last node of such a pattern one that stands for all of it, of operator kSpelledAttention, with attributes
 * - "divides": for each factor whether it divides,
 * - "stands": whether scores stand where the condition is true, else where it is false,
 * - "bias_first": whether the bias is added before the Where,
 * - "axis": the Softmax's.
 * What the factors are, and whether all that fits together, shows with the shapes. */
void join_attention(const Makers& makers, Node& last);

}  // namespace ortolan::gpu
