// Where the time of a session goes, as a Chrome trace.
#include "runtime/profiler.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <memory>

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

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') {
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

void append_field(std::string& out, std::string_view name, std::string_view value) {
  if (!out.empty()) out += ',';
  append_quoted(out, name);
  out += ':';
  append_quoted(out, value);
}

}  // namespace

Profiler::Profiler(std::string_view prefix) : path_(timestamped(prefix)), start_(Clock::now()) {}

uint64_t Profiler::start_ns() const {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(start_.time_since_epoch()).count());
}

void Profiler::add(std::string_view category, std::string_view name, Clock::time_point begin, std::string args) {
  if (!active_) return;
  auto duration = std::chrono::duration_cast<Microseconds>(Clock::now() - begin).count();
  auto offset = std::chrono::duration_cast<Microseconds>(begin - start_).count();
  std::string event = join("{\"cat\":\"", category, "\",\"pid\":", getpid(), ",\"tid\":", syscall(SYS_gettid),
                           ",\"dur\":", duration, ",\"ts\":", offset, ",\"ph\":\"X\",\"name\":");
  append_quoted(event, name);
  event += join(",\"args\":{", args, "}}");
  std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
}

void Profiler::add_node(const Node& node, Clock::time_point begin) {
  std::string args;
  append_field(args, "op_name", node.op_type);
  append_field(args, "provider", node.provider);
  append_field(args, "node_index", join(node.id));
  add("Node", join(node.name.empty() ? node.op_type : node.name, "_kernel_time"), begin, std::move(args));
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
