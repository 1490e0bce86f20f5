// conformance_host LIBRARY PLUGIN API: what a runtime must do for plugin providers, checked through the C ABI alone.
// The exit code is the number of checks that failed.
#include <cstdlib>

#include "runtime.h"

using namespace ortolan::plugin_test;

namespace {

int run(char** argv) {
  setenv("ORT_EXAMPLE_EP_API", argv[3], 1);  // the plugin asks for the same level
  auto level = static_cast<uint32_t>(std::atoi(argv[3]));
  Runtime runtime = open_runtime(argv[1], level);
  runtime.plugin = argv[2];
  runtime.ok(runtime.api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "conformance", &runtime.env));
  Suite suite(level);
  check_registration(suite, runtime);
  check_devices(suite, runtime);
  check_options(suite, runtime);
  check_placement(suite, runtime);
  check_results(suite, runtime);
  check_memory(suite, runtime);
  check_streams(suite, runtime);
  check_hooks(suite, runtime);
  check_errors(suite, runtime);
  check_concurrency(suite, runtime);
  check_unregistration(suite, runtime);
  runtime.api->ReleaseEnv(runtime.env);
  return suite.summary();
}

}  // namespace

int main(int argc, char** argv) { return run_checks(argc, argv, "conformance_host LIBRARY PLUGIN API", run); }
