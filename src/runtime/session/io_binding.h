// Inputs and outputs bound to a session once, for many runs.
#pragma once

#include <string>
#include <vector>

#include "runtime/session/session.h"

namespace ortolan::runtime {

/** Not safe for use by several threads at once. The session must outlive it. */
class IoBinding {
 public:
  explicit IoBinding(const Session& session) : session_(session) {}
  /** Throws when the session has no such input (initializers included). */
  void bind_input(const std::string& name, Value value);
  /** The output is written into `value`. */
  void bind_output(const std::string& name, Value value);
  /** The output is made anew in each run, in that memory, which must live as long as the process (see interned). */
  void bind_output(const std::string& name, const MemoryInfo& memory);
  void clear_inputs();
  void clear_outputs();
  void run(RunOptions* options);

  const std::vector<std::string>& output_names() const { return output_names_; }
  /** The values of the last run, in the order of binding. */
  const std::vector<Value>& outputs() const { return outputs_; }
  const Session& session() const { return session_; }

 private:
  size_t output_index(const std::string& name);

  const Session& session_;
  std::unordered_map<std::string, size_t, base::TextHash> input_places_, output_places_;  // by name
  std::vector<std::string> input_names_;
  std::vector<Value> inputs_;
  std::vector<std::string> output_names_;
  std::vector<Value> outputs_;
  std::vector<bool> bound_;                // output i was given by the caller
  std::vector<const MemoryInfo*> places_;  // where output i is made; NULL: the CPU's memory
};

}  // namespace ortolan::runtime
