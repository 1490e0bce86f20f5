// faulty_host LIBRARY PLUGIN [FAULT]: uses a plugin that fails in one way, for every way that it knows, each in a
// process of its own. The library must answer with a status or go on without the provider and say so: no crash, no
// wrong result, no object of the plugin left. The exit code is the number of faults that are not borne.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "conformance_host/runtime.h"

using namespace ortolan::plugin_test;

namespace {

constexpr int kNotNoticed = 3, kWrong = 4, kLeft = 5;
constexpr int kBaseline = 100;  // and more: what was said without a fault
constexpr const char* kBaselineVariable = "FAULTY_HOST_BASELINE";

/** What was said while a fault was at work. */
struct Notes {
  int errors = 0;
  int warnings = 0;
};
Notes notes;

void log_line(void*, OrtLoggingLevel severity, const char*, const char*, const char*, const char* line) {
  if (severity < ORT_LOGGING_LEVEL_WARNING) return;
  notes.warnings++;
  std::printf("      log: %s\n", line);
}

/** Counts a failure; true when the call succeeded. */
bool good(const Runtime& runtime, const char* call, OrtStatus* status) {
  if (!status) return true;
  notes.errors++;
  std::printf("      %s: %s\n", call, runtime.api->GetErrorMessage(status));
  runtime.api->ReleaseStatus(status);
  return false;
}

GraphText mixed() {
  GraphText graph;
  graph.input("x", {-1}).output("z", {-1}).weights("w", {1}, {3});
  graph.node("Mul", {"x", "w"}, {"a"}).node("Neg", {"a"}, {"b"}).node("Add", {"b", "x"}, {"z"});
  return graph;
}

void run(const Runtime& runtime, OrtSession* session, OrtSyncStream* stream) {
  Array x = ramp({5});
  Handle<OrtValue> value = runtime.value(x);
  OrtRunOptions* made = nullptr;
  runtime.ok(runtime.api->CreateRunOptions(&made));
  Handle<OrtRunOptions> options(made, runtime.api->ReleaseRunOptions);
  if (stream) runtime.api->RunOptionsSetSyncStream(made, stream);
  std::vector<OrtValue*> results;
  if (!good(runtime, "Run", runtime.try_run(session, {{"x", value.get()}}, {"z"}, results, made))) return;
  Handle<OrtValue> z(results[0], runtime.api->ReleaseValue);
  expect_near(runtime.array(z.get()), add(negate(multiply(x, {{1}, {3}})), x), "z");
}

void use_memory(const Runtime& runtime, const OrtEpDevice* device) {
  const OrtApi& api = *runtime.api;
  const OrtMemoryInfo* info = api.EpDevice_MemoryInfo(device, OrtDeviceMemoryType_DEFAULT);
  OrtAllocator* allocator = nullptr;
  if (!info || !good(runtime, "GetSharedAllocator", api.GetSharedAllocator(runtime.env, info, &allocator))) return;
  if (!allocator && !good(runtime, "CreateSharedAllocator",
                          api.CreateSharedAllocator(runtime.env, device, OrtDeviceMemoryType_DEFAULT,
                                                    OrtDeviceAllocator, nullptr, &allocator))) {
    return;
  }
  if (!allocator) return;
  OrtKeyValuePairs* stats = nullptr;
  if (good(runtime, "AllocatorGetStats", api.AllocatorGetStats(allocator, &stats))) api.ReleaseKeyValuePairs(stats);
  int64_t dim = 4;
  OrtValue* tensor = nullptr;
  if (!good(runtime, "CreateTensorAsOrtValue",
            api.CreateTensorAsOrtValue(allocator, &dim, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &tensor))) {
    return;
  }
  Handle<OrtValue> owner(tensor, api.ReleaseValue), source = runtime.value(ramp({4})),
                                                    target = runtime.value(ramp({4}));
  const OrtValue* from = source.get();
  OrtValue* to = target.get();
  if (!good(runtime, "CopyTensors", api.CopyTensors(runtime.env, &from, &tensor, nullptr, 1))) return;
  from = tensor;
  if (!good(runtime, "CopyTensors", api.CopyTensors(runtime.env, &from, &to, nullptr, 1))) return;
  expect_near(runtime.array(to), ramp({4}), "the copy");
}

void use_session(const Runtime& runtime, const OrtEpDevice* device) {
  const OrtApi& api = *runtime.api;
  Handle<OrtSessionOptions> options = runtime.options();
  if (!good(runtime, "AppendExecutionProvider_V2", runtime.append(options.get(), {device}))) return;
  runtime.ok(api.EnableProfiling(options.get(), "faulty_profile"));
  std::string model = mixed().model();
  OrtSession* made = nullptr;
  if (!good(runtime, "CreateSession",
            api.CreateSessionFromArray(runtime.env, model.data(), model.size(), options.get(), &made))) {
    return;
  }
  Handle<OrtSession> session(made, api.ReleaseSession);
  for (int i = 0; i < 2; i++) run(runtime, made, nullptr);
  OrtSyncStream* stream = nullptr;
  if (good(runtime, "CreateSyncStreamForEpDevice", api.CreateSyncStreamForEpDevice(device, nullptr, &stream))) {
    run(runtime, made, stream);
    api.ReleaseSyncStream(stream);
  }
  const char *key = "gather", *value = "1";
  good(runtime, "SetEpDynamicOptions", api.SetEpDynamicOptions(made, &key, &value, 1));
  OrtAllocator* allocator = nullptr;
  runtime.ok(api.GetAllocatorWithDefaultOptions(&allocator));
  char* profile = nullptr;
  if (good(runtime, "SessionEndProfiling", api.SessionEndProfiling(made, allocator, &profile))) {
    std::remove(profile);
    runtime.ok(api.AllocatorFree(allocator, profile));
  }
}

void use_all(const Runtime& runtime) {
  // A name that a broken plugin gives may be anything.
  for (const OrtEpDevice* device : runtime.devices()) {
    const char* name = runtime.api->EpDevice_EpName(device);
    if (name && std::strcmp(name, "CPUExecutionProvider") == 0) continue;
    use_memory(runtime, device);
    use_session(runtime, device);
  }
}

/** Objects of the plugin that live although the library has been unregistered. */
int count_left(void* plugin) {
  auto* counters = reinterpret_cast<ortolan::example::Counters* (*)()>(dlsym(plugin, "FaultCounters"))();
  int left = 0;
  for (int kind = 0; kind < static_cast<int>(Live::kKinds); kind++) {
    if (counters->live[kind] == 0) continue;
    std::printf("      %d objects of kind %d are left\n", static_cast<int>(counters->live[kind]), kind);
    left++;
  }
  return left;
}

/** Whether a provider has computed in its queues, with values that were copied to its device. */
bool has_worked(void* plugin) {
  auto* counters = reinterpret_cast<ortolan::example::Counters* (*)()>(dlsym(plugin, "FaultCounters"))();
  bool worked = true;
  for (Event event : {Event::kRunStart, Event::kToDevice, Event::kCompute, Event::kRunEnd, Event::kFlush}) {
    if (counters->times[static_cast<int>(event)] != 0) continue;
    std::printf("      event %d never came\n", static_cast<int>(event));
    worked = false;
  }
  return worked;
}

int try_fault(const char* library, const char* plugin, const std::string& fault) {
  alarm(120);
  setvbuf(stdout, nullptr, _IOLBF, 0);
  setenv("ORT_FAULT", fault.c_str(), 1);
  void* handle = dlopen(plugin, RTLD_NOW);
  if (!handle) throw Mismatch{dlerror()};
  Runtime runtime = open_runtime(library, 30);
  runtime.ok(runtime.api->CreateEnvWithCustomLogger(log_line, nullptr, ORT_LOGGING_LEVEL_WARNING, "", &runtime.env));
  if (good(runtime, "RegisterExecutionProviderLibrary",
           runtime.api->RegisterExecutionProviderLibrary(runtime.env, "faulty", plugin))) {
    use_all(runtime);
    good(runtime, "UnregisterExecutionProviderLibrary",
         runtime.api->UnregisterExecutionProviderLibrary(runtime.env, "faulty"));
  }
  runtime.api->ReleaseEnv(runtime.env);
  if (count_left(handle)) return kLeft;
  if (fault.empty()) return notes.errors ? kWrong : kBaseline + notes.warnings;
  if (fault.back() == '=') return notes.errors == 0 && has_worked(handle) ? 0 : kWrong;
  const char* baseline = std::getenv(kBaselineVariable);
  bool noticed = notes.errors > 0 || notes.warnings > (baseline ? std::atoi(baseline) : 0);
  return noticed || fault.back() == '?' ? 0 : kNotNoticed;
}

/** Runs the program again for one fault; gives what is wrong, empty when it is borne. */
std::string outcome(char** argv, const char* fault) {
  std::fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", argv[0], argv[1], argv[2], fault, static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return std::string("crashed: ") + strsignal(WTERMSIG(status));
  if (WEXITSTATUS(status) >= kBaseline && !*fault) {
    setenv(kBaselineVariable, std::to_string(WEXITSTATUS(status) - kBaseline).c_str(), 1);
    return "";
  }
  switch (WEXITSTATUS(status)) {
    case 0:
      return "";
    case kNotNoticed:
      return "nobody noticed";
    case kWrong:
      return "wrong result";
    case kLeft:
      return "objects are left";
  }
  return "ended with code " + std::to_string(WEXITSTATUS(status));
}

int try_all(char** argv) {
  void* handle = dlopen(argv[2], RTLD_NOW);
  if (!handle) throw Mismatch{dlerror()};
  auto* names = reinterpret_cast<const char* const* (*)()>(dlsym(handle, "FaultNames"))();
  int faults = 0, failed = 0;
  std::string none = outcome(argv, "");
  if (!none.empty()) std::printf("FAIL  without a fault: %s\n", none.c_str()), failed++;
  std::printf("      without a fault there are %s warnings\n", std::getenv(kBaselineVariable));
  for (; *names; names++, faults++) {
    std::string wrong = outcome(argv, *names);
    std::printf("%s  %s%s%s\n", wrong.empty() ? "ok  " : "FAIL", *names, wrong.empty() ? "" : ": ", wrong.c_str());
    failed += !wrong.empty();
  }
  std::printf("%d faults, %d not borne\n", faults, failed);
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 3) return try_all(argv);
    if (argc == 4) return try_fault(argv[1], argv[2], argv[3]);
    std::fprintf(stderr, "usage: faulty_host LIBRARY PLUGIN [FAULT]\n");
    return 2;
  } catch (const Mismatch& mismatch) {
    std::printf("      %s\n", mismatch.text.c_str());
    return kWrong;
  }
}
