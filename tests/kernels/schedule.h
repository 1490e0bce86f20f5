// When threads are done with tasks of known costs.
#pragma once

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

namespace ortolan::cpu::kernels {

constexpr int kMostThreads = 128;

/** Each thread claims one task after the other, in their order. */
inline double time_of(const std::vector<double>& costs, int threads) {
  std::priority_queue<double, std::vector<double>, std::greater<>> done;
  for (int i = 0; i < threads; ++i) done.push(0);
  double last = 0;
  for (double cost : costs) {
    const double end = done.top() + cost;
    done.pop();
    done.push(end);
    last = std::max(last, end);
  }
  return last;
}

}  // namespace ortolan::cpu::kernels
