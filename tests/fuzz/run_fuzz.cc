// Fuzz target: any bytes become a session at both ends of the optimisation levels, which runs on made-up inputs within
// limits of memory and time. Nothing but a status may come of it.
#include "session_run.h"

using namespace ortolan::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (GraphOptimizationLevel level : {ORT_DISABLE_ALL, ORT_ENABLE_ALL}) {
    OrtSessionOptions* options = limited_options(level);
    load_and_run({data, size}, options);
    api().ReleaseSessionOptions(options);
  }
  return 0;
}
