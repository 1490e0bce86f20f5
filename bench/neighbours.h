// Processes that keep processors busy while something else is measured.
#pragma once

#include <sys/types.h>

#include <vector>

namespace ortolan::bench {

/** `count` processes that do nothing but compute, from construction on; they end with this object or its process. */
class Neighbours {
 public:
  /** Throws std::system_error where the system gives no process. */
  explicit Neighbours(int count);
  ~Neighbours();
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

 private:
  void end();

  std::vector<pid_t> processes_;
};

}  // namespace ortolan::bench
