// Profiling events of plugins, and the profilers that give them.
#include "api/plugins/ep_profiling.h"

#include <algorithm>
#include <iterator>

#include "api/arguments.h"
#include "api/guard.h"
#include "api/status.h"

namespace ortolan::api {
namespace {

constexpr uint32_t kProfilersSince = 25;

struct EndProfiler {
  void operator()(OrtEpProfilerImpl* profiler) const {
    if (profiler->Release != nullptr) profiler->Release(profiler);
  }
};

int64_t now_since(const runtime::Profiler& profiler) {
  auto now = runtime::Profiler::Clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() - static_cast<int64_t>(profiler.start_ns());
}

}  // namespace

/** One profile. An event that the plugin fails to follow is its own loss. */
class PluginProfiler::Profile final : public runtime::ProfileObserver {
 public:
  Profile(OrtEpProfilerImpl* theirs, runtime::Profiler& profiler) : theirs_(theirs), profiler_(profiler) {
    require(theirs->StartProfiling != nullptr && theirs->EndProfiling != nullptr, ErrorCode::kEpFail,
            "OrtEpProfilerImpl lacks StartProfiling or EndProfiling; both must be set");
    check_status(theirs->StartProfiling(theirs, now_since(profiler)));
    profiler_.add_observer(this);
  }
  ~Profile() override { profiler_.remove_observer(this); }

  void event_begins(uint64_t number) override {
    if (theirs_->StartEvent != nullptr) ReleaseStatus(theirs_->StartEvent(theirs_.get(), number));
  }
  void event_ends(uint64_t number, const runtime::ProfileEvent& event) override {
    if (theirs_->StopEvent == nullptr) return;
    ReleaseStatus(theirs_->StopEvent(theirs_.get(), number, wrap<const OrtProfilingEvent>(&event)));
  }
  void end() {
    profiler_.remove_observer(this);
    ProfilingEvents events;
    OrtStatus* status = theirs_->EndProfiling(theirs_.get(), wrap<OrtProfilingEventsContainer>(&events));
    profiler_.add(std::move(events.events));
    check_status(status);
  }

 private:
  std::unique_ptr<OrtEpProfilerImpl, EndProfiler> theirs_;
  runtime::Profiler& profiler_;
};

PluginProfiler::PluginProfiler(OrtEp& ep) : ep_(ep) {}
PluginProfiler::~PluginProfiler() = default;

void PluginProfiler::start(runtime::Profiler& profiler) {
  if (ep_.ort_version_supported < kProfilersSince || ep_.CreateProfiler == nullptr) return;
  OrtEpProfilerImpl* made = nullptr;
  check_status(ep_.CreateProfiler(&ep_, &made));
  if (made == nullptr) return;
  auto profile = std::make_unique<Profile>(made, profiler);
  std::lock_guard lock(mutex_);
  profiles_[&profiler] = std::move(profile);
}

void PluginProfiler::end(runtime::Profiler& profiler) {
  std::unique_ptr<Profile> profile;
  {
    std::lock_guard lock(mutex_);
    auto found = profiles_.find(&profiler);
    if (found == profiles_.end()) return;
    profile = std::move(found->second);
    profiles_.erase(found);
  }
  profile->end();
}

OrtStatus* ORT_API_CALL CreateProfilingEvent(OrtProfilingEventCategory category, int32_t process_id, int32_t thread_id,
                                             const char* event_name, int64_t timestamp_us, int64_t duration_us,
                                             const char* const* arg_keys, const char* const* arg_values,
                                             size_t num_args, OrtProfilingEvent** out) noexcept {
  return guard([&] {
    int number = static_cast<int>(category);
    require(number >= 0 && number < runtime::kProfileCategoryCount, ErrorCode::kInvalidArgument, "category is ", number,
            "; it must be in [0, ", runtime::kProfileCategoryCount - 1, "]");
    runtime::ProfileEvent event{static_cast<runtime::ProfileCategory>(number),
                                process_id,
                                thread_id,
                                text(event_name, "event_name"),
                                timestamp_us,
                                duration_us,
                                {}};
    auto keys = array(arg_keys, num_args, "arg_keys");
    auto values = array(arg_values, num_args, "arg_values");
    for (size_t i = 0; i < num_args; ++i) {
      event.args.emplace_back(text(keys[i], join("arg_keys[", i, "]").c_str()),
                              text(values[i], join("arg_values[", i, "]").c_str()));
    }
    give(out, std::move(event));
  });
}

void ORT_API_CALL ReleaseProfilingEvent(OrtProfilingEvent* event) noexcept { release(event); }

OrtStatus* ORT_API_CALL ProfilingEvent_GetCategory(const OrtProfilingEvent* event,
                                                   OrtProfilingEventCategory* out) noexcept {
  return guard([&] { put(out, unwrap(event, "event").category); });
}

OrtStatus* ORT_API_CALL ProfilingEvent_GetName(const OrtProfilingEvent* event, const char** out) noexcept {
  return guard([&] { put(out, unwrap(event, "event").name.c_str()); });
}

OrtStatus* ORT_API_CALL ProfilingEvent_GetTimestampUs(const OrtProfilingEvent* event, int64_t* out) noexcept {
  return guard([&] { put(out, unwrap(event, "event").start_us); });
}

OrtStatus* ORT_API_CALL ProfilingEvent_GetDurationUs(const OrtProfilingEvent* event, int64_t* out) noexcept {
  return guard([&] { put(out, unwrap(event, "event").duration_us); });
}

OrtStatus* ORT_API_CALL ProfilingEvent_GetArgValue(const OrtProfilingEvent* event, const char* key,
                                                   const char** out) noexcept {
  return guard([&] {
    std::string_view wanted = text(key, "key");
    const char* value = nullptr;
    for (const auto& [name, content] : unwrap(event, "event").args) {
      if (name == wanted) value = content.c_str();
    }
    put(out, value);
  });
}

OrtStatus* ORT_API_CALL ProfilingEventsContainer_AddEvents(OrtProfilingEventsContainer* events_container,
                                                           const OrtProfilingEvent* const* events,
                                                           size_t num_events) noexcept {
  return guard([&] {
    ProfilingEvents& container = unwrap(events_container, "events_container");
    std::vector<runtime::ProfileEvent> copies;
    for (const OrtProfilingEvent* event : array(events, num_events, "events")) {
      copies.push_back(unwrap(event, "events[i]"));
    }
    std::lock_guard lock(container.mutex);
    std::ranges::move(copies, std::back_inserter(container.events));
  });
}

}  // namespace ortolan::api
