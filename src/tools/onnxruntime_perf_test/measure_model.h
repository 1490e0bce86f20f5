// The measurement: session creation, first run, then runs from one or more threads.
#pragma once

#include <string>
#include <vector>

#include "settings.h"

namespace ortolan::tools {

struct PerfResult {
  double create_ms = 0, first_run_ms = 0;
  double total_seconds = 0;    // of all runs, wall clock
  std::vector<double> run_ms;  // sorted
  double processor_share = 0;  // of one processor, during the runs
  long peak_kilobytes = 0;
  std::string profile;  // the profile's file, if one was asked for

  double average() const;
  double percentile(double share) const;
};

PerfResult measure_model(const Library& library, OrtEnv* environment, const std::string& model,
                         const PerfSettings& settings);

std::string text_report(const PerfResult& result, const PerfSettings& settings);
std::string json_report(const PerfResult& result);
// model, provider, runs, average, P50, P90, P95, P99, session creation: all times in seconds.
std::string result_line(const PerfResult& result, const std::string& model, const std::vector<std::string>& providers);

}  // namespace ortolan::tools
