// What the provider adds to profiles: one event for each computation.
#pragma once

#include <chrono>
#include <string>

#include "gpu/epkit/host.h"

namespace ortolan::gpu::epkit {

/** Notes how long a computation took, from construction to the end of the scope, for all profilers at work. */
class Measured {
 public:
  explicit Measured(const std::string& name) : name_(name), start_(std::chrono::steady_clock::now()) {}
  ~Measured();

 private:
  const std::string& name_;
  std::chrono::steady_clock::time_point start_;
};

class Profiler : public OrtEpProfilerImpl {
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

}  // namespace ortolan::gpu::epkit
