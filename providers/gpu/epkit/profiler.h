// What the provider adds to profiles: an event of the category Api for each computation, as long as the host's call,
// and one of the category Kernel for each launch, in the device's time.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu/core/group.h"
#include "gpu/epkit/host.h"

namespace ortolan::gpu::epkit {

class Profiler;

/** What one session's profilers learn of. Nothing is kept while none is at work. Thread-safe. */
class ProfileRecords {
 public:
  explicit ProfileRecords(bool with_device_times) : with_device_times_(with_device_times) {}

  bool takes_device_times() const { return with_device_times_ && at_work_ > 0; }
  /** A computation of the host's that began then and ends now. */
  void add(const std::string& name, std::chrono::steady_clock::time_point start);
  void add(const std::vector<TimedLaunch>& launches);

 private:
  friend class Profiler;
  const bool with_device_times_;
  std::atomic<int> at_work_{0};
  std::mutex mutex_;
  std::set<Profiler*> profilers_;  // at work
};

/** Notes how long a computation took, from construction to the end of the scope. */
class Measured {
 public:
  Measured(ProfileRecords& records, const std::string& name)
      : records_(records), name_(name), start_(std::chrono::steady_clock::now()) {}
  ~Measured() { records_.add(name_, start_); }
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

 private:
  ProfileRecords& records_;
  const std::string& name_;
  std::chrono::steady_clock::time_point start_;
};

class Profiler : public OrtEpProfilerImpl {
 public:
  /** The records must outlive it. */
  Profiler(const Host& host, const std::string& provider, ProfileRecords& records);
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

 private:
  friend class ProfileRecords;
  struct Record {
    OrtProfilingEventCategory category;
    std::string name;
    LaunchTime time;
    std::string node, op;  // of a kernel; empty: it is for no node
  };
  static void ORT_API_CALL release(OrtEpProfilerImpl* self) noexcept;
  static OrtStatus* ORT_API_CALL start(OrtEpProfilerImpl* self, int64_t offset) noexcept;
  static OrtStatus* ORT_API_CALL end(OrtEpProfilerImpl* self, OrtProfilingEventsContainer* events) noexcept;
  std::vector<Record> stop();
  void add_event(const Record& record, OrtProfilingEventsContainer* events) const;

  const Host host_;
  const std::string provider_;
  ProfileRecords& records_;
  int64_t zero_ = 0;          // when the profile began
  std::vector<Record> list_;  // behind the records' lock
};

}  // namespace ortolan::gpu::epkit
