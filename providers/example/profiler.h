// What the provider adds to profiles: an event for each computation, of the category Api, as it is the host's call that
// is measured. Times that a device takes itself are events of the category Kernel.
#pragma once

#include <chrono>
#include <string>

#include "counters.h"
#include "host.h"

namespace ortolan::example {

/** Notes how long a computation took, from construction to the end of the scope, for all profilers at work. */
class Measured {
 public:
  explicit Measured(const std::string& name) : name_(name), start_(std::chrono::steady_clock::now()) {}
  ~Measured();

 private:
  const std::string& name_;
  std::chrono::steady_clock::time_point start_;
};

class Profiler : public OrtEpProfilerImpl, private Counted<Live::kProfiler> {
 public:
  Profiler(const Host& host, const std::string& provider);
  ~Profiler();
  struct Record {
    std::string name;
    std::chrono::steady_clock::time_point start;
    std::chrono::nanoseconds duration;
  };

 private:
  static void ORT_API_CALL release(OrtEpProfilerImpl* self) noexcept;
  static OrtStatus* ORT_API_CALL start(OrtEpProfilerImpl* self, int64_t offset) noexcept;
  static OrtStatus* ORT_API_CALL end(OrtEpProfilerImpl* self, OrtProfilingEventsContainer* events) noexcept;
  void add_event(const Record& record, OrtProfilingEventsContainer* events) const;

  const Host host_;
  const std::string provider_;
  std::chrono::steady_clock::time_point zero_;  // when the profile began
};

}  // namespace ortolan::example
