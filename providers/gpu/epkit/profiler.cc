// Records go to each profiler at work, which hands them over when it ends.
#include "gpu/epkit/profiler.h"

#include <unistd.h>

namespace ortolan::gpu::epkit {
namespace {

int64_t nanoseconds(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace

void ProfileRecords::add(const std::string& name, std::chrono::steady_clock::time_point start) {
  if (at_work_ == 0) return;
  LaunchTime time{nanoseconds(start), nanoseconds(std::chrono::steady_clock::now())};
  std::lock_guard lock(mutex_);
  for (Profiler* profiler : profilers_) profiler->list_.push_back({OrtProfilingEventCategory_API, name, time, {}, {}});
}

void ProfileRecords::add(const std::vector<TimedLaunch>& launches) {
  std::lock_guard lock(mutex_);
  for (Profiler* profiler : profilers_) {
    for (const TimedLaunch& launch : launches) {
      profiler->list_.push_back({OrtProfilingEventCategory_KERNEL, launch.kernel, launch.time, launch.node, launch.op});
    }
  }
}

Profiler::Profiler(const Host& host, const std::string& provider, ProfileRecords& records)
    : OrtEpProfilerImpl{}, host_(host), provider_(provider), records_(records) {
  ort_version_supported = host.level;
  Release = release;
  StartProfiling = start;
  EndProfiling = end;
}

Profiler::~Profiler() { stop(); }

void ORT_API_CALL Profiler::release(OrtEpProfilerImpl* self) noexcept { delete static_cast<Profiler*>(self); }

OrtStatus* ORT_API_CALL Profiler::start(OrtEpProfilerImpl* self, int64_t offset) noexcept {
  auto& profiler = *static_cast<Profiler*>(self);
  return guard(profiler.host_, [&] {
    std::lock_guard lock(profiler.records_.mutex_);
    profiler.zero_ = nanoseconds(std::chrono::steady_clock::now()) - offset;
    if (profiler.records_.profilers_.insert(&profiler).second) profiler.records_.at_work_++;
  });
}

OrtStatus* ORT_API_CALL Profiler::end(OrtEpProfilerImpl* self, OrtProfilingEventsContainer* events) noexcept {
  auto& profiler = *static_cast<Profiler*>(self);
  return guard(profiler.host_, [&] {
    for (const Record& record : profiler.stop()) profiler.add_event(record, events);
  });
}

std::vector<Profiler::Record> Profiler::stop() {
  std::lock_guard lock(records_.mutex_);
  if (records_.profilers_.erase(this) > 0) records_.at_work_--;
  return std::exchange(list_, {});
}

void Profiler::add_event(const Record& record, OrtProfilingEventsContainer* events) const {
  const std::string duration = std::to_string(record.time.end - record.time.begin);
  const char* keys[] = {"provider", "duration_ns", "node", "op_name"};
  const char* values[] = {provider_.c_str(), duration.c_str(), record.node.c_str(), record.op.c_str()};
  OrtProfilingEvent* event = nullptr;
  check(host_, host_.ep->CreateProfilingEvent(
                   record.category, getpid(), gettid(), record.name.c_str(), (record.time.begin - zero_) / 1000,
                   (record.time.end - record.time.begin) / 1000, keys, values, record.op.empty() ? 2 : 4, &event));
  OrtStatus* status = host_.ep->ProfilingEventsContainer_AddEvents(events, &event, 1);
  host_.ep->ReleaseProfilingEvent(event);
  check(host_, status);
}

}  // namespace ortolan::gpu::epkit
