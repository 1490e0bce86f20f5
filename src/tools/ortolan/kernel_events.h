// The events of kernels in a profile, which come when all runs are over, put to the runs that they are of.
#pragma once

#include <map>
#include <tuple>

#include "time_report.h"

namespace ortolan::tools {

class KernelEvents {
 public:
  // Runs come in order; times are the profile's, in microseconds.
  void begin_run(int64_t start) { runs_.push_back(start); }
  void add(KernelTime kernel, int64_t start, double us);
  // Kernels of no run are left out: those that began before the first.
  DeviceTimes times() const;

 private:
  struct Event {
    size_t kernel;
    int64_t start;
    double us;
  };
  std::vector<int64_t> runs_;  // when each began
  std::map<std::tuple<std::string, std::string, std::string, std::string>, size_t> numbers_;
  std::vector<KernelTime> kernels_;
  std::vector<Event> events_;
};

}  // namespace ortolan::tools
