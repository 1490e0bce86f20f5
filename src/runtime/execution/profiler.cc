// Where the time of a session goes, as a Chrome trace.
#include "runtime/execution/profiler.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <memory>

#include "graph/shown_name.h"

namespace ortolan::runtime {
namespace {

using Microseconds = std::chrono::microseconds;

std::string timestamped(std::string_view prefix) {
  std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "_%Y-%m-%d_%H-%M-%S", &local);
  return join(prefix.empty() ? "onnxruntime_profile_" : prefix, std::string_view(stamp), ".json");
}

/** Bytes of the well-formed UTF-8 sequence of several bytes that `text` begins with (Unicode, table 3-7); 0: none. */
size_t multibyte_length(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0), second = byte(1);
  const size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                        : first >> 4 == 0xE              ? 3
                        : first >= 0xF0 && first <= 0xF4 ? 4
                                                         : 0;
  const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (length == 0 || second < least || second > most) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (byte(i) >> 6 != 2) return 0;
  }
  return length;
}

/** A JSON string; bytes that are no UTF-8, which names in a model may hold, become replacement characters. */
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x80) {
      const size_t length = multibyte_length(text.substr(i));
      out += length > 0 ? text.substr(i, length) : "\xEF\xBF\xBD";
      i += std::max<size_t>(length, 1) - 1;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  out += '"';
}

/** The key of the next member of an object. */
void append_key(std::string& out, std::string_view key) {
  if (out.back() != '{') out += ',';
  append_quoted(out, key);
  out += ':';
}

constexpr const char* kCategories[] = {"Session", "Node", "Kernel", "Api"};
static_assert(std::size(kCategories) == kProfileCategoryCount);

std::string json_of(const ProfileEvent& event) {
  std::string text;
  text.reserve(768);
  text.append("{\"cat\":\"").append(kCategories[static_cast<int>(event.category)]).append("\",\"pid\":");
  text.append(std::to_string(event.process)).append(",\"tid\":").append(std::to_string(event.thread));
  text.append(",\"dur\":").append(std::to_string(event.duration_us));
  text.append(",\"ts\":").append(std::to_string(event.start_us)).append(",\"ph\":\"X\",\"name\":");
  append_quoted(text, event.name);
  text += ",\"args\":{";
  for (const auto& [key, value] : event.args) {
    append_key(text, key);
    append_quoted(text, value);
  }
  for (const auto& [key, value] : event.json_args) {
    append_key(text, key);
    text += value;
  }
  text += "}}";
  text.shrink_to_fit();
  return text;
}

}  // namespace

Profiler::Profiler(std::string_view prefix) : path_(timestamped(prefix)), start_(Clock::now()) {}

uint64_t Profiler::start_ns() const {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(start_.time_since_epoch()).count());
}

ProfileEvent Profiler::finished(Clock::time_point begin, Clock::time_point end, ProfileCategory category,
                                std::string name) const {
  ProfileEvent event;
  event.category = category;
  event.process = getpid();
  event.thread = static_cast<int32_t>(syscall(SYS_gettid));
  event.name = std::move(name);
  event.start_us = std::chrono::duration_cast<Microseconds>(begin - start_).count();
  event.duration_us = std::chrono::duration_cast<Microseconds>(end - begin).count();
  return event;
}

Profiler::Open Profiler::open() {
  Open open{Clock::now(), next_number_.fetch_add(1, std::memory_order_relaxed)};
  std::shared_lock lock(observers_mutex_);
  for (ProfileObserver* observer : observers_) observer->event_begins(open.number);
  return open;
}

void Profiler::close(const Open& open, Clock::time_point end, ProfileCategory category, std::string name,
                     NodeReport report) {
  ProfileEvent event = finished(open.begin, end, category, std::move(name));
  event.args = std::move(report.args);
  event.json_args = std::move(report.json_args);
  {
    std::shared_lock lock(observers_mutex_);
    for (ProfileObserver* observer : observers_) observer->event_ends(open.number, event);
  }
  std::string text = json_of(event);
  std::lock_guard lock(mutex_);
  if (active_) events_.push_back(std::move(text));
}

void Profiler::add_session_event(std::string name, Clock::time_point begin) {
  std::vector<ProfileEvent> event;
  event.push_back(finished(begin, Clock::now(), ProfileCategory::kSession, std::move(name)));
  add(std::move(event));
}

void Profiler::add(std::vector<ProfileEvent> events) {
  std::lock_guard lock(mutex_);
  if (active_) std::ranges::transform(events, std::back_inserter(events_), json_of);
}

void Profiler::add_observer(ProfileObserver* observer) {
  std::unique_lock lock(observers_mutex_);
  if (observer != nullptr) observers_.push_back(observer);
}

void Profiler::remove_observer(ProfileObserver* observer) {
  std::unique_lock lock(observers_mutex_);
  std::erase(observers_, observer);
}

void ScopedNodeEvent::finish(const StepContext& context) {
  end_ = Profiler::Clock::now();
  report_ = report_of(context);
}

ScopedNodeEvent::~ScopedNodeEvent() {
  using Nanoseconds = std::chrono::nanoseconds;
  if (end_ < open_.begin) end_ = Profiler::Clock::now();  // compute() failed
  report_.args.insert(report_.args.begin(),
                      {{"op_name", node_.op_type}, {"provider", node_.provider}, {"node_index", join(node_.id)}});
  report_.args.emplace_back("duration_ns", join(std::chrono::duration_cast<Nanoseconds>(end_ - open_.begin).count()));
  const std::string& shown = shown_name(node_);
  std::string name = join(shown.empty() ? node_.op_type : shown, "_kernel_time");
  profiler_.close(open_, end_, ProfileCategory::kNode, std::move(name), std::move(report_));
}

std::string Profiler::end() {
  std::lock_guard lock(mutex_);
  if (!active_) return path_;
  active_ = false;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path_.c_str(), "w"), &std::fclose);
  require(file != nullptr, ErrorCode::kFail, "cannot write the profile to '", path_,
          "'; choose a prefix in a folder that can be written");
  const char* separator = "[\n";
  for (const std::string& event : events_) {
    std::fprintf(file.get(), "%s%s", separator, event.c_str());
    separator = ",\n";
  }
  std::fputs(events_.empty() ? "[]\n" : "\n]\n", file.get());
  events_.clear();
  return path_;
}

}  // namespace ortolan::runtime
