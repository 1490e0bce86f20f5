// Logging: the form of a line, and the sink that writes to stderr.
#include "base/log.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace ortolan::base {
namespace {

/** "2026-01-31 12:00:00.123456789", local time. */
std::string timestamp() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  localtime_r(&now.tv_sec, &parts);
  char text[64];
  size_t length = std::strftime(text, sizeof text, "%F %T", &parts);
  std::snprintf(text + length, sizeof text - length, ".%09ld", now.tv_nsec);
  return text;
}

/** One write a line, so that lines of several threads do not mix. */
class StderrSink : public LogSink {
 public:
  void write(Severity severity, std::string_view log_id, std::string_view where, std::string_view text) override {
    std::string line = log_line(severity, log_id, where, text) + '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
};

}  // namespace

std::string log_line(Severity severity, std::string_view log_id, std::string_view where, std::string_view text) {
  constexpr char kLetters[] = {'V', 'I', 'W', 'E', 'F'};
  int index = std::clamp(static_cast<int>(severity), 0, 4);
  return join(timestamp(), " [", kLetters[index], ":onnxruntime:", log_id, ", ", where, "] ", text);
}

const std::shared_ptr<LogSink>& stderr_sink() {
  static auto* sink = new std::shared_ptr<LogSink>(std::make_shared<StderrSink>());
  return *sink;
}

}  // namespace ortolan::base
