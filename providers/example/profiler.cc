// Records of computations, kept while some profiler is at work, and handed over when it ends.
#include "profiler.h"

#include <unistd.h>

#include <mutex>
#include <utility>
#include <vector>

namespace ortolan::example {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using Clock = std::chrono::steady_clock;

struct Records {
  std::mutex lock;
  int at_work = 0;  // profilers
  std::vector<Profiler::Record> list;
};

Records& records() {
  static auto* all = new Records;  // never destroyed: work may still be under way when the process ends
  return *all;
}

}  // namespace

Measured::~Measured() {
  Records& all = records();
  std::lock_guard lock(all.lock);
  if (all.at_work > 0) all.list.push_back({name_, start_, Clock::now() - start_});
}

Profiler::Profiler(const Host& host, const std::string& provider)
    : OrtEpProfilerImpl{}, host_(host), provider_(provider) {
  ort_version_supported = host.level;
  Release = release;
  StartProfiling = start;
  EndProfiling = end;
}

Profiler::~Profiler() = default;

void ORT_API_CALL Profiler::release(OrtEpProfilerImpl* self) noexcept { delete static_cast<Profiler*>(self); }

OrtStatus* ORT_API_CALL Profiler::start(OrtEpProfilerImpl* self, int64_t offset) noexcept {
  auto& profiler = *static_cast<Profiler*>(self);
  Records& all = records();
  std::lock_guard lock(all.lock);
  all.at_work++;
  profiler.zero_ = Clock::now() - std::chrono::nanoseconds(offset);
  return nullptr;
}

OrtStatus* ORT_API_CALL Profiler::end(OrtEpProfilerImpl* self, OrtProfilingEventsContainer* events) noexcept {
  auto& profiler = *static_cast<Profiler*>(self);
  note(Event::kProfile);
  return guard(profiler.host_, [&] {
    std::vector<Record> list;
    {
      Records& all = records();
      std::lock_guard lock(all.lock);
      if (all.at_work > 0 && --all.at_work == 0) list = std::exchange(all.list, {});
    }
    for (const Record& record : list) profiler.add_event(record, events);
  });
}

void Profiler::add_event(const Record& record, OrtProfilingEventsContainer* events) const {
  const char *key = "example.provider", *value = provider_.c_str();
  OrtProfilingEvent* event = nullptr;
  check(host_,
        host_.ep->CreateProfilingEvent(OrtProfilingEventCategory_API, getpid(), gettid(), record.name.c_str(),
                                       duration_cast<microseconds>(record.start - zero_).count(),
                                       duration_cast<microseconds>(record.duration).count(), &key, &value, 1, &event));
  OrtStatus* status = host_.ep->ProfilingEventsContainer_AddEvents(events, &event, 1);
  host_.ep->ReleaseProfilingEvent(event);
  check(host_, status);
}

}  // namespace ortolan::example
