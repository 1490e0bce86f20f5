// Log messages: severities, where they go, and which are wanted.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace ortolan::base {

/** Numbers are those of OrtLoggingLevel. */
enum class Severity : int { kVerbose = 0, kInfo = 1, kWarning = 2, kError = 3, kFatal = 4 };

/** Where messages go; called from any thread. */
class LogSink {
 public:
  virtual ~LogSink() = default;
  /** `where` is "file.cc:12 function". */
  virtual void write(Severity severity, std::string_view log_id, std::string_view where, std::string_view text) = 0;
};

/** "2023-10-05 21:29:53.926827876 [W:onnxruntime:id, file.cc:743 f] text", in local time. */
std::string log_line(Severity severity, std::string_view log_id, std::string_view where, std::string_view text);

/** The sink that writes such lines to stderr. */
const std::shared_ptr<LogSink>& stderr_sink();

/** A sink with an id and the least severity that it lets through. Safe to use from any thread. */
class Logger {
 public:
  Logger(std::shared_ptr<LogSink> sink, std::string id, Severity least)
      : sink_(std::move(sink)), id_(std::move(id)), least_(least) {}
  Logger(const Logger& other) : sink_(other.sink_), id_(other.id_), least_(other.least()) {}
  Logger& operator=(const Logger& other) {
    sink_ = other.sink_;
    id_ = other.id_;
    set_least(other.least());
    return *this;
  }
  bool wants(Severity severity) const { return severity >= least(); }
  Severity least() const { return least_.load(std::memory_order_relaxed); }
  void set_least(Severity least) { least_.store(least, std::memory_order_relaxed); }
  const std::string& id() const { return id_; }
  const std::shared_ptr<LogSink>& sink() const { return sink_; }
  template <class... Parts>
  void log(Severity severity, std::string_view where, const Parts&... parts) const {
    if (wants(severity)) sink_->write(severity, id_, where, join(parts...));
  }

 private:
  std::shared_ptr<LogSink> sink_;
  std::string id_;
  std::atomic<Severity> least_;
};

}  // namespace ortolan::base
