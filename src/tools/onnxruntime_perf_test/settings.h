// What the command line of onnxruntime_perf_test asks for.
#pragma once

#include <string>
#include <vector>

#include "common/options.h"
#include "common/random_value.h"
#include "common/session.h"

namespace ortolan::tools {

struct PerfSettings {
  SessionConfig session;
  RandomRules rules;
  bool by_time = false;  // -m duration: repeat for seconds; times: repeat a count
  int repeats = 1000;
  double seconds = 600;
  int concurrent = 1;
  bool statistics = false, verbose = false, made_up = false, session_only = false, json = false, list_devices = false;
  std::string plugin_providers, plugin_options, selected_devices, compile_path, library_path;
};

CommandLine perf_command_line(PerfSettings& settings);

}  // namespace ortolan::tools
