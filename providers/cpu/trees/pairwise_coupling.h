// Probabilities of classes from those of pairs of them.
#pragma once

#include <span>

namespace ortolan::cpu {

/** The probabilities `p` of classes, from pairs[i * n + j] that it is class i where it is i or j, where n is p.size().
    After T.-F. Wu, C.-J. Lin and R. C. Weng, "Probability estimates for multi-class classification by pairwise
    coupling" (2004). */
void couple_pairs(std::span<const double> pairs, std::span<double> p);

}  // namespace ortolan::cpu
