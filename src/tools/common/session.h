// A loaded model: its options, what goes in and comes out, and runs.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "value.h"

namespace ortolan::tools {

struct SessionConfig {
  int level = 99;         // optimisation: 0, 1, 2, 3 or 99
  int threads = 0;        // inside an operator; 0: the library's choice
  int inter_threads = 0;  // between operators
  bool parallel = false;  // operators may run side by side
  bool arena = true;
  bool memory_pattern = true;
  int log_severity = -1;               // -1: the library's choice
  std::vector<std::string> providers;  // names, the first asked first; none: cpu
  std::string plugins;                 // plugin libraries, "name|path name|path"
  std::vector<std::pair<std::string, std::string>> provider_options;
  std::vector<std::pair<std::string, std::string>> entries;  // session config entries
  std::vector<std::pair<std::string, int64_t>> dimensions;   // free dimension overrides by name
  std::vector<std::pair<std::string, int64_t>> denotations;  // ... by denotation
  std::string optimized_path;                                // write the optimised model here
  std::string profile_prefix;                                // profile, files start with this
  std::string custom_ops_library;
  bool in_memory = false;                   // read the file first, and create the session from the bytes
  std::vector<const OrtEpDevice*> devices;  // run on these, by way of their plugin libraries
};

struct Port {
  std::string name;
  TypeSpec type;
};

class Session {
 public:
  Session(const Library& library, OrtEnv* environment, const std::string& model_path, const SessionConfig& config);

  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  // Null values are inputs that are not given. Outputs come in the model's order.
  std::vector<Handle<OrtValue>> run(const std::vector<const OrtValue*>& inputs, const OrtRunOptions* options = nullptr);
  std::map<std::string, std::string> metadata() const;
  // Ends profiling; gives the path of the file.
  std::string end_profiling();
  OrtSession* get() const { return session_.get(); }
  const Library& library() const { return library_; }

 private:
  const Library& library_;
  Handle<OrtSession> session_;
  std::vector<Port> inputs_, outputs_;
};

// One call of a session, made ready: nothing but the library's own work is between the call and its return.
class PreparedRun {
 public:
  // The values must live as long as this.
  PreparedRun(Session& session, const std::vector<const OrtValue*>& inputs, const OrtRunOptions* options = nullptr);
  // Milliseconds that the call took. The outputs are released after the clock has stopped.
  double operator()();

 private:
  Session& session_;
  const OrtRunOptions* options_;
  std::vector<const char*> input_names_, output_names_;
  std::vector<const OrtValue*> inputs_;
  std::vector<OrtValue*> outputs_;
};

Handle<OrtSessionOptions> make_session_options(const Library& library, OrtEnv* environment,
                                               const SessionConfig& config);
// An environment in which the plugin libraries are registered that the config lists, and those of the providers it
// names: a provider `name` comes from libonnxruntime_ep_<name>.so beside the runtime's library,
// or in the folder ortolan-1/providers there.
Handle<OrtEnv> environment_for(const Library& library, const SessionConfig& config,
                               OrtLoggingLevel level = ORT_LOGGING_LEVEL_ERROR);
// The name of a provider as the ABI has it: "cpu" gives CPUExecutionProvider.
std::string provider_name(const std::string& given);

}  // namespace ortolan::tools
