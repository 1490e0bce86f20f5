// Choosing the fastest among launches that compute the same, by measuring them on the device.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "gpu/core/kernel_store.h"
#include "gpu/device/device.h"

namespace ortolan::gpu {

enum class Tuning {
  kNone,  // nothing is measured: what suits the class of device
  kFast,  // a few candidates
  kFull,  // all of them
};

/** What was measured once is kept in the store. Thread-safe. */
class Tuner {
 public:
  Tuner(Device& device, KernelStore store, Tuning tuning)
      : device_(device), store_(std::move(store)), tuning_(tuning) {}

  Tuning tuning() const { return tuning_; }
  /** The name of the fastest candidate; the first without measuring where nothing is to be tuned. `problem` names the
   *  kernel and all that decides which candidate is fastest but the device. `measure` gives a candidate's nanoseconds;
   * it may throw Error: such a candidate is not chosen. */
  std::string choose(const std::string& kernel, const std::string& problem, const std::vector<std::string>& candidates,
                     const std::function<int64_t(const std::string& candidate)>& measure);
  /** Problems that were measured: for tests and reports. */
  size_t measured() const;

 private:
  std::string measure_all(const std::vector<std::string>& candidates,
                          const std::function<int64_t(const std::string& candidate)>& measure) const;

  Device& device_;
  const KernelStore store_;
  const Tuning tuning_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> chosen_;  // by key
  size_t measured_ = 0;
};

}  // namespace ortolan::gpu
