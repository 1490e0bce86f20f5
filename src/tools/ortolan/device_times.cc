// Times of kernels: medians over runs, and sums over what they have in common.
#include <algorithm>
#include <map>
#include <set>

#include "kernel_events.h"

namespace ortolan::tools {

void KernelEvents::add(KernelTime kernel, int64_t start, double us) {
  auto key = std::tuple(kernel.provider, kernel.node, kernel.type, kernel.kernel);
  auto [found, added] = numbers_.try_emplace(std::move(key), kernels_.size());
  if (added) kernels_.push_back(std::move(kernel));
  events_.push_back({found->second, start, us});
}

DeviceTimes KernelEvents::times() const {
  std::vector<std::vector<double>> us(kernels_.size(), std::vector<double>(runs_.size())), calls = us;
  std::vector<double> sums(runs_.size());
  std::set<size_t> seen;
  for (const Event& event : events_) {
    // Of the last run that had begun: its work may go on after its end.
    size_t runs_begun = size_t(std::upper_bound(runs_.begin(), runs_.end(), event.start) - runs_.begin());
    if (runs_begun == 0) continue;
    us[event.kernel][runs_begun - 1] += event.us;
    calls[event.kernel][runs_begun - 1] += 1;
    sums[runs_begun - 1] += event.us;
    seen.insert(event.kernel);
  }
  DeviceTimes times;
  times.us = median(std::move(sums));
  for (size_t i : seen) {
    times.kernels.push_back(kernels_[i]);
    times.kernels.back().time.us = median(std::move(us[i]));
    times.kernels.back().time.calls = median(std::move(calls[i]));
  }
  return times;
}

RunTime DeviceTimes::total() const {
  RunTime sum;
  for (const KernelTime& kernel : kernels) sum += kernel.time;
  return sum;
}

double DeviceTimes::share(const RunTime& time) const {
  double all = total().us;
  return all > 0 ? time.us / all : 0;
}

std::vector<const KernelTime*> DeviceTimes::by_time() const {
  std::vector<const KernelTime*> sorted;
  for (const KernelTime& kernel : kernels) sorted.push_back(&kernel);
  std::stable_sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->time.us > b->time.us; });
  return sorted;
}

std::vector<KernelSum> DeviceTimes::sums(std::string KernelTime::*what) const {
  std::map<std::string, KernelSum> sums;
  std::map<std::string, std::set<std::string>> nodes;
  for (const KernelTime& kernel : kernels) {
    KernelSum& sum = sums[kernel.*what];
    sum.name = kernel.*what;
    sum.nodes += nodes[sum.name].insert(kernel.node).second ? 1 : 0;
    sum.time += kernel.time;
  }
  std::vector<KernelSum> sorted;
  for (auto& [name, sum] : sums) sorted.push_back(std::move(sum));
  std::stable_sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.time.us > b.time.us; });
  return sorted;
}

}  // namespace ortolan::tools
