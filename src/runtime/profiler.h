// Where the time of a session goes, as a Chrome trace.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace ortolan::runtime {
using namespace graph;

/** Collects events from any thread; end() writes them as the JSON array that ONNX Runtime writes, and that
    chrome://tracing and Perfetto open. Times are microseconds since the profiler was made. */
class Profiler {
 public:
  /** The file will be `<prefix>_<date>_<time>.json`. */
  explicit Profiler(std::string_view prefix);
  /** Writes the file once and gives its name; later calls only give the name. */
  std::string end();
  /** Nanoseconds of the steady clock at which the profiler was made. */
  uint64_t start_ns() const;
  bool active() const { return active_; }

  using Clock = std::chrono::steady_clock;
  /** A span of the session ("model_loading", "model_run") or of a node; `args` is the inside of a JSON object. */
  void add(std::string_view category, std::string_view name, Clock::time_point begin, std::string args = {});
  void add_node(const Node& node, Clock::time_point begin);

 private:
  std::string path_;
  Clock::time_point start_;
  std::atomic<bool> active_ = true;
  std::mutex mutex_;
  std::vector<std::string> events_;
};

/** Records the time of one node's compute() when there is a profiler. */
class ScopedNodeEvent {
 public:
  ScopedNodeEvent(Profiler* profiler, const Node& node) : profiler_(profiler), node_(node) {
    if (profiler_ != nullptr) [[unlikely]]
      begin_ = Profiler::Clock::now();
  }
  ~ScopedNodeEvent() {
    if (profiler_ != nullptr) [[unlikely]]
      profiler_->add_node(node_, begin_);
  }

 private:
  Profiler* profiler_;
  const Node& node_;
  Profiler::Clock::time_point begin_;
};

}  // namespace ortolan::runtime
