// Runs of a session that are under way behind its caller's back, and the session's end while some are.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <memory>
#include <mutex>

namespace ortolan::runtime {

class Session;

/** Counts the runs of one session. Any thread may call it. */
class PendingRuns {
 public:
  PendingRuns();
  ~PendingRuns();
  void begin();
  /** The end of the last one is that of a session that was left here. */
  void end();
  /** Returns when no run is pending. In a process that was forked from the one that made the object, at once: the
      threads that carry the runs out are not there. */
  void wait();
  /** The session ends with the last of its runs: here, where none is pending. */
  void leave(std::unique_ptr<Session> session);

 private:
  const pid_t process_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t count_ = 0;
  std::unique_ptr<Session> left_;
};

/** One pending run, from the making of the object to its end. */
class PendingRun {
 public:
  explicit PendingRun(std::shared_ptr<PendingRuns> all) : all_(std::move(all)) { all_->begin(); }
  PendingRun(PendingRun&& other) noexcept = default;
  ~PendingRun() {
    if (all_ != nullptr) all_->end();
  }

 private:
  std::shared_ptr<PendingRuns> all_;
};

/** Marks the calling thread as one that carries out a pending run, of whatever session, and what that calls. */
class InPendingRun {
 public:
  InPendingRun() { ++depth; }
  ~InPendingRun() { --depth; }
  InPendingRun(const InPendingRun&) = delete;
  InPendingRun& operator=(const InPendingRun&) = delete;
  static bool here() { return depth != 0; }

 private:
  static inline thread_local int depth = 0;
};

}  // namespace ortolan::runtime
