// Candidates are measured once for each device, driver, kernel text and problem.
#include "gpu/core/tuner.h"

#include <algorithm>
#include <cstring>

namespace ortolan::gpu {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

}  // namespace

std::string Tuner::choose(const std::string& kernel, const std::string& problem,
                          const std::vector<std::string>& candidates,
                          const std::function<int64_t(const std::string& candidate)>& measure) {
  if (tuning_ == Tuning::kNone || candidates.size() < 2) return candidates.at(0);
  std::string key = "tuning\n" + device_.identity(kernel) + '\n' + kernel + ' ' + problem;
  for (const std::string& candidate : candidates) key += '\n' + candidate;
  std::lock_guard lock(mutex_);
  std::string& chosen = chosen_[key];
  if (!chosen.empty()) return chosen;
  std::vector<std::byte> stored = store_.read(key);
  chosen.assign(reinterpret_cast<const char*>(stored.data()), stored.size());
  if (std::find(candidates.begin(), candidates.end(), chosen) != candidates.end()) return chosen;
  chosen = measure_all(candidates, measure);
  measured_++;
  store_.write(key, bytes_of(chosen));
  return chosen;
}

std::string Tuner::measure_all(const std::vector<std::string>& candidates,
                               const std::function<int64_t(const std::string& candidate)>& measure) const {
  std::string best = candidates[0];
  int64_t best_time = INT64_MAX;
  for (const std::string& candidate : candidates) {
    try {
      int64_t time = measure(candidate);
      if (time >= best_time) continue;
      best_time = time;
      best = candidate;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kDeviceLost) throw;
    }
  }
  return best;
}

size_t Tuner::measured() const {
  std::lock_guard lock(mutex_);
  return measured_;
}

}  // namespace ortolan::gpu
