// How many threads of this process can be at work at the same time.
#pragma once

namespace ortolan::base {

/** The processors of the affinity mask, cut to the cgroup's CPU quota, of which a part counts as one; at least 1. Read
    once. */
int processors_at_once() noexcept;

/** While it lives, processors_at_once() is that number, so that tests see what other machines do. */
class PretendedProcessors {
 public:
  explicit PretendedProcessors(int count) noexcept;
  ~PretendedProcessors();
  PretendedProcessors(const PretendedProcessors&) = delete;
  PretendedProcessors& operator=(const PretendedProcessors&) = delete;

 private:
  int before_;
};

}  // namespace ortolan::base
