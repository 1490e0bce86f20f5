// The library under test, and the everyday calls to it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "example/counters.h"
#include "model.h"
#include "onnxruntime_c_api.h"
#include "suite.h"

namespace ortolan::plugin_test {

using example::Event;
using example::Live;

constexpr const char* kCompileProvider = "ExampleCompileExecutionProvider";
constexpr const char* kKernelProvider = "ExampleKernelExecutionProvider";

/** A tensor on the host. */
struct Array {
  Dims dims;
  std::vector<float> values;
};
using Arrays = std::map<std::string, Array>;

/** An object of the runtime with its release function. */
template <class Object>
using Handle = std::unique_ptr<Object, void (*)(Object*)>;

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Runtime {
  const OrtApiBase* base = nullptr;
  const OrtApi* api = nullptr;
  uint32_t level = 0;
  bool ours = false;    // the official library has defects that some checks have to step around
  std::string plugin;   // path
  std::string library;  // path
  OrtEnv* env = nullptr;

  /** Throws Mismatch with the text of a status that is not NULL. */
  void ok(OrtStatus* status) const;
  /** Throws Mismatch unless the status is an error that mentions the words; gives its text. */
  std::string fails(OrtStatus* status, const std::string& words) const;

  std::vector<const OrtEpDevice*> devices() const;
  std::vector<const OrtEpDevice*> devices(const std::string& provider) const;
  /** The one device of a provider. */
  const OrtEpDevice* device(const std::string& provider) const;
  /** The counters of the plugin; it must be or have been registered. */
  example::Counters& counters();
  int64_t times(Event event) { return counters().times[static_cast<int>(event)]; }
  int64_t last(Event event) { return counters().last[static_cast<int>(event)]; }
  int64_t live(Live kind) { return counters().live[static_cast<int>(kind)]; }

  Handle<OrtSessionOptions> options() const;
  /** Options with a provider of the plugin, and what placement needs. */
  Handle<OrtSessionOptions> options_with(const std::string& provider, const Pairs& settings = {}) const;
  OrtStatus* append(OrtSessionOptions* options, const std::vector<const OrtEpDevice*>& devices,
                    const Pairs& settings = {}) const;
  Handle<OrtSession> session(const GraphText& graph, const OrtSessionOptions* options) const;
  OrtStatus* try_session(const GraphText& graph, const OrtSessionOptions* options) const;

  Handle<OrtValue> value(const Array& array) const;
  Handle<OrtValue> value(const std::vector<int64_t>& integers) const;
  Handle<OrtValue> value(bool truth) const;
  Array array(const OrtValue* value) const;
  /** Runs with inputs on the host; results are copies. */
  OrtStatus* try_run(OrtSession* session, const std::map<std::string, const OrtValue*>& inputs, const Names& outputs,
                     std::vector<OrtValue*>& results, const OrtRunOptions* options = nullptr) const;
  std::vector<Array> run(OrtSession* session, const Arrays& inputs, const Names& outputs) const;
  /** Which provider has which nodes: "Provider: node node; …", sorted. Needs API 24. */
  std::map<std::string, std::vector<std::string>> placement(const OrtSession* session) const;

 private:
  example::Counters* counters_ = nullptr;
};

/** Opens the library and takes its function table of that level. */
Runtime open_runtime(const std::string& library, uint32_t level);

/** Throws Mismatch where shapes differ, or values by more than rounding. */
void expect_near(const Array& found, const Array& wanted, const std::string& what);

/** Values 1, 1.5, 2, … of that shape, moved by `offset`. */
Array ramp(const Dims& dims, float offset = 1);
/** Elementwise, with broadcasting of dimensions of one and of missing ones in front. */
Array multiply(const Array& left, const Array& right);
Array add(const Array& left, const Array& right);
Array negate(const Array& array);

/** The groups of checks, in the order in which they run. */
void check_registration(Suite& suite, Runtime& runtime);
void check_devices(Suite& suite, Runtime& runtime);
void check_options(Suite& suite, Runtime& runtime);
void check_placement(Suite& suite, Runtime& runtime);
void check_results(Suite& suite, Runtime& runtime);
void check_memory(Suite& suite, Runtime& runtime);
void check_streams(Suite& suite, Runtime& runtime);
void check_hooks(Suite& suite, Runtime& runtime);
void check_errors(Suite& suite, Runtime& runtime);
void check_concurrency(Suite& suite, Runtime& runtime);
void check_unregistration(Suite& suite, Runtime& runtime);

}  // namespace ortolan::plugin_test
