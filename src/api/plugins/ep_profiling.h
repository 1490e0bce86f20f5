// The part of a plugin provider in profiles.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "onnxruntime_ep_c_api.h"
#include "runtime/execution/profiler.h"

namespace ortolan::api {

/** OrtProfilingEventsContainer: what a plugin adds at the end of a profile. Thread-safe. */
struct ProfilingEvents {
  std::mutex mutex;
  std::vector<runtime::ProfileEvent> events;
};

/** Makes an OrtEpProfilerImpl for each profile. Thread-safe, as several runs may each have a profile of their own. */
class PluginProfiler {
 public:
  /** `ep` must outlive it. */
  explicit PluginProfiler(OrtEp& ep);
  ~PluginProfiler();

  /** The beginning of a profile, and its end, at which the plugin's events join it. Throw what the plugin reports. */
  void start(runtime::Profiler& profiler);
  void end(runtime::Profiler& profiler);

 private:
  class Profile;
  OrtEp& ep_;
  std::mutex mutex_;
  std::map<runtime::Profiler*, std::unique_ptr<Profile>> profiles_;
};

}  // namespace ortolan::api
