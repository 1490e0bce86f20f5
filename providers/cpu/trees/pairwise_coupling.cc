// Probabilities of classes by coupling those of pairs: rounds of steps that converge.
#include "cpu/trees/pairwise_coupling.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace ortolan::cpu {

void couple_pairs(std::span<const double> pairs, std::span<double> p) {
  size_t n = p.size();
  std::vector<double> q(n * n), qp(n);
  for (size_t t = 0; t < n; ++t) {
    p[t] = 1.0 / static_cast<double>(n);
    for (size_t j = 0; j < n; ++j) {
      if (j == t) continue;
      q[t * n + t] += pairs[j * n + t] * pairs[j * n + t];
      q[t * n + j] = -pairs[j * n + t] * pairs[t * n + j];
    }
  }
  double close = 0.005 / static_cast<double>(n);
  for (size_t round = 0; round < std::max<size_t>(100, n); ++round) {
    double total = 0, error = 0;
    for (size_t t = 0; t < n; ++t) {
      qp[t] = 0;
      for (size_t j = 0; j < n; ++j) qp[t] += q[t * n + j] * p[j];
      total += p[t] * qp[t];
    }
    for (size_t t = 0; t < n; ++t) error = std::max(error, std::abs(qp[t] - total));
    if (error < close) break;
    for (size_t t = 0; t < n; ++t) {
      double change = (total - qp[t]) / q[t * n + t];
      p[t] += change;
      total = (total + change * (change * q[t * n + t] + 2 * qp[t])) / (1 + change) / (1 + change);
      for (size_t j = 0; j < n; ++j) {
        qp[j] = (qp[j] + change * q[t * n + j]) / (1 + change);
        p[j] /= 1 + change;
      }
    }
  }
}

}  // namespace ortolan::cpu
