// Where the time of a session goes, as a Chrome trace.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/execution/node_report.h"

namespace ortolan::runtime {
using namespace graph;

/** What an event is about; numbers are those of OrtProfilingEventCategory. */
enum class ProfileCategory : int { kSession = 0, kNode = 1, kKernel = 2, kApi = 3 };
inline constexpr int kProfileCategoryCount = 4;

/** A span of time in a profile. */
struct ProfileEvent {
  ProfileCategory category = ProfileCategory::kSession;
  int32_t process = 0;
  int32_t thread = 0;
  std::string name;
  int64_t start_us = 0;  // since the profile's start
  int64_t duration_us = 0;
  std::vector<std::pair<std::string, std::string>> args;
  std::vector<std::pair<std::string, std::string>> json_args;  // whose values are JSON, for the file alone
};

/** Learns of the profile's own events while they happen, from the threads on which they do. */
class ProfileObserver {
 public:
  virtual ~ProfileObserver() = default;
  virtual void event_begins(uint64_t number) = 0;
  virtual void event_ends(uint64_t number, const ProfileEvent& event) = 0;
};

/** Collects events from any thread; end() writes them as the JSON array that ONNX Runtime writes, and that
    chrome://tracing and Perfetto open. Times are microseconds since the profiler was made. */
class Profiler {
 public:
  /** The file will be `<prefix>_<date>_<time>.json`. */
  explicit Profiler(std::string_view prefix);
  /** Writes the file once and gives its name; later calls only give the name. */
  std::string end();
  /** Nanoseconds of the steady clock at which the profiler was made. */
  uint64_t start_ns() const;
  bool active() const { return active_; }
  /** True for the first caller, who then ends the profile. */
  bool start_ending() { return !ending_.exchange(true); }

  using Clock = std::chrono::steady_clock;
  /** An event that is under way. */
  struct Open {
    Clock::time_point begin;
    uint64_t number;  // for observers
  };
  /** An event begins on this thread; `close` says that it ended at `end`. */
  Open open();
  void close(const Open& open, Clock::time_point end, ProfileCategory category, std::string name,
             NodeReport report = {});
  /** An event of the session that began before anybody could observe it. */
  void add_session_event(std::string name, Clock::time_point begin);
  /** Events of others. */
  void add(std::vector<ProfileEvent> events);

  /** An observer that is not NULL must be removed before it ends. */
  void add_observer(ProfileObserver* observer);
  void remove_observer(ProfileObserver* observer);

 private:
  ProfileEvent finished(Clock::time_point begin, Clock::time_point end, ProfileCategory category,
                        std::string name) const;

  std::string path_;
  Clock::time_point start_;
  std::atomic<bool> active_ = true;
  std::atomic<bool> ending_ = false;
  std::atomic<uint64_t> next_number_ = 1;
  std::mutex mutex_;
  std::vector<std::string> events_;  // as JSON, which takes less memory than events
  std::shared_mutex observers_mutex_;
  std::vector<ProfileObserver*> observers_;
};

/** Records the time of one node's compute(). */
class ScopedNodeEvent {
 public:
  ScopedNodeEvent(Profiler& profiler, const Node& node) : profiler_(profiler), node_(node), open_(profiler.open()) {}
  ScopedNodeEvent(const ScopedNodeEvent&) = delete;
  ScopedNodeEvent& operator=(const ScopedNodeEvent&) = delete;
  ~ScopedNodeEvent();
  /** compute() has returned: stops the clock, then takes down what it did. */
  void finish(const StepContext& context);

 private:
  Profiler& profiler_;
  const Node& node_;
  Profiler::Open open_;
  Profiler::Clock::time_point end_{};
  NodeReport report_;
};

/** Records the time of a run when there is a profiler. */
class ScopedSessionEvent {
 public:
  ScopedSessionEvent(Profiler* profiler, const char* name) : profiler_(profiler), name_(name) {
    if (profiler_ != nullptr) open_ = profiler_->open();
  }
  ~ScopedSessionEvent() {
    if (profiler_ != nullptr) profiler_->close(open_, Profiler::Clock::now(), ProfileCategory::kSession, name_);
  }

 private:
  Profiler* profiler_;
  const char* name_;
  Profiler::Open open_{};
};

}  // namespace ortolan::runtime
