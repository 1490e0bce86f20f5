// Runs of a session that are under way behind its caller's back, and the session's end while some are.
#include "runtime/session/pending_runs.h"

#include <unistd.h>

#include "runtime/session/session.h"

namespace ortolan::runtime {

PendingRuns::PendingRuns() : process_(getpid()) {}
PendingRuns::~PendingRuns() = default;

void PendingRuns::begin() {
  std::lock_guard lock(mutex_);
  ++count_;
}

void PendingRuns::end() {
  std::unique_ptr<Session> ended;
  std::lock_guard lock(mutex_);
  if (--count_ != 0) return;
  ended = std::move(left_);
  changed_.notify_all();
}

void PendingRuns::wait() {
  if (getpid() != process_) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return count_ == 0; });
}

void PendingRuns::leave(std::unique_ptr<Session> session) {
  std::lock_guard lock(mutex_);
  if (count_ != 0) left_ = std::move(session);
}

}  // namespace ortolan::runtime
