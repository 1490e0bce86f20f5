// A session: a model made ready to run on its providers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads/run_scope.h"
#include "graph/graph.h"
#include "runtime/environment.h"
#include "runtime/kernels/packed_weights.h"
#include "runtime/providers/execution_provider.h"
#include "runtime/session/session_options.h"

namespace ortolan::runtime {

class CompiledGraph;
class PendingRun;
class PendingRuns;
class Profiler;
class SessionDevices;

/** Where a node of the model runs, and why the providers before that one left it. */
struct NodeAssignment {
  std::string node_name;
  std::string op_type;
  std::string domain;
  std::string provider;
  std::vector<std::pair<std::string, std::string>> declined;  // provider, reason
  int group = -1;                   // nodes of one number were made one by their provider; -1: a kernel of its own
  std::vector<std::string> inputs;  // names of the values it reads and makes, where the session records them
  std::vector<std::string> outputs;
};

/** A value that a run copies because a node reads it in another memory than the one it is made in. */
struct PlacedCopy {
  std::string value;
  std::string from;  // the type of the provider that makes it
  std::string to;    // of the provider that needs it
};

/** An input, output or overridable initializer as the caller sees it. */
struct SessionValue {
  std::string name;
  TypeInfo type;
};

/** Made once, then run by any number of threads at once. */
class Session {
 public:
  /** Loads, rewrites, partitions and compiles. Throws Error with the file's name, node and value names in it.
      `weights` shares packed weights with other sessions; NULL for a cache of its own. */
  static std::unique_ptr<Session> from_file(std::shared_ptr<Environment> environment, const std::string& path,
                                            const SessionOptions& options,
                                            std::shared_ptr<PackedWeightsCache> weights = nullptr);
  /** The bytes are copied unless the config says session.use_ort_model_bytes_directly = 1. */
  static std::unique_ptr<Session> from_bytes(std::shared_ptr<Environment> environment, std::span<const std::byte> bytes,
                                             const SessionOptions& options,
                                             std::shared_ptr<PackedWeightsCache> weights = nullptr);
  static std::unique_ptr<Session> from_model(std::shared_ptr<Environment> environment, std::unique_ptr<Model> model,
                                             const SessionOptions& options,
                                             std::shared_ptr<PackedWeightsCache> weights = nullptr);
  /** Waits for the runs that run_async began, and for what they call; so none of those may end the session so. */
  ~Session();
  /** Ends the session from anywhere. Within a run that run_async began, of whatever session, it goes on to exist until
      the last of its own such runs is over. */
  static void end(std::unique_ptr<Session> session);

  const std::vector<SessionValue>& inputs() const { return inputs_; }
  const std::vector<SessionValue>& outputs() const { return outputs_; }
  const std::vector<SessionValue>& overridable_initializers() const { return overridable_; }
  /** Whether the model has such an input (initializers that can be overridden included), or such an output. */
  bool has_input(std::string_view name) const { return feed_places_.contains(name); }
  bool has_output(std::string_view name) const { return output_places_.contains(name); }
  /** What describes the model: names, versions, metadata. Its graph may be gone. */
  const Model& model() const { return *model_; }
  const SessionOptions& options() const { return options_; }
  const Logger& logger() const { return logger_; }
  const std::shared_ptr<Environment>& environment() const { return environment_; }
  const std::vector<NodeAssignment>& assignments() const { return assignments_; }
  /** The copies between devices of every run, those of outputs that the caller wants on the CPU included. */
  const std::vector<PlacedCopy>& copies() const { return copies_; }
  /** Types of the providers in priority order, CPU last. */
  std::vector<std::string> provider_types() const;
  std::span<const std::unique_ptr<ExecutionProvider>> providers() const { return providers_; }
  /** Where the nodes that read input i expect it, and where output i is made. */
  const MemoryInfo& input_memory(size_t i) const;
  const MemoryInfo& output_memory(size_t i) const;
  /** The provider of the node that reads input i, and of that which makes output i; of the CPU where none does. */
  const ExecutionProvider& input_provider(size_t i) const;
  const ExecutionProvider& output_provider(size_t i) const;
  /** Waits for all work on the devices. */
  void synchronize() const;
  /** Copies between the memories of the session's providers; NULL when all are the CPU's. */
  const DeviceMemories* devices() const;
  void set_dynamic_options(std::span<const std::pair<std::string, std::string>> options) const;
  void release_captured_graph(int annotation) const;
  /** The allocator of the session for that memory; NULL when no provider has one. */
  std::shared_ptr<Allocator> allocator(const MemoryInfo& memory) const;

  /** Runs the model. An output given with a value is written in place (its type and shape must fit), others are
      made, in the memory that `places` names for it, the CPU's where it is empty or NULL. Throws Error; outputs are
     then as they were. */
  void run(RunOptions* options, std::span<const char* const> input_names, std::span<const Value* const> inputs,
           std::span<const char* const> output_names, std::span<Value> outputs,
           std::span<const MemoryInfo* const> places = {}) const;
  /** Runs later on a thread of the session's pool and calls `done` with NULL or the error. `done` may end the
      session. */
  void run_async(RunOptions* options, std::vector<std::string> input_names, std::vector<const Value*> inputs,
                 std::vector<std::string> output_names, std::span<Value> outputs,
                 std::function<void(const Error*)> done) const;

  /** The profile's start, ns since the epoch of the steady clock; and its end: writes the file and gives its name. */
  uint64_t profiling_start() const;
  std::string end_profiling();

 private:
  friend class SessionBuilder;
  struct LaterRun;
  Session(std::shared_ptr<Environment> environment, const SessionOptions& options);
  base::RunScope scope_of_run(const RunOptions* options, base::MemoryBudget& budget) const;
  size_t feed_index(const char* name, size_t guess) const;
  int output_index(const char* name, size_t guess) const;
  void check_feed(size_t i, const Value& value) const;
  void run_on_devices(const RunOptions& options, RunServices& services, std::span<const Value* const> feeds,
                      std::span<const int> wanted, std::span<Value> outputs, std::span<const MemoryInfo* const> places,
                      Profiler* profiler) const;
  ExecutionProvider* replaying_provider(int annotation) const;
  const ValueInfo* required_feed(size_t i) const;
  const ExecutionProvider& provider_of(const Node* node) const;

  std::shared_ptr<Environment> environment_;
  SessionOptions options_;
  Logger logger_;
  std::unique_ptr<Model> model_;
  std::shared_ptr<PackedWeightsCache> weights_;
  std::vector<std::unique_ptr<ExecutionProvider>> providers_;
  std::unique_ptr<Profiler> profiler_;
  std::unique_ptr<SessionDevices> devices_;                 // NULL where the CPU is the only provider
  std::vector<std::unique_ptr<CustomOperator>> operators_;  // of fused nodes and of copies between devices
  std::unique_ptr<CompiledGraph> compiled_;
  std::shared_ptr<Allocator> allocator_;  // for outputs and values of a run
  int64_t max_tensor_bytes_ = 0;
  size_t max_run_bytes_ = SIZE_MAX;
  const char* more_run_bytes_ = "";         // how to raise it
  base::RunScope scope_;                    // of every run, and of making the session, apart from what is one run's own
  std::vector<const ValueInfo*> feeds_;     // the graph's inputs, initializers among them, in its order
  std::vector<const ValueInfo*> required_;  // those of them that have no default
  std::vector<bool> feeds_cpu_;             // feed i is read by nodes on the CPU
  std::vector<ExecutionProvider*> recorders_;  // whose recorded runs are whole ones
  std::vector<Value> defaults_;  // the value of feed i when the caller gives none; empty for required ones
  std::vector<SessionValue> inputs_;
  std::vector<SessionValue> outputs_;
  std::vector<SessionValue> overridable_;
  using Places = std::unordered_map<std::string_view, size_t, base::TextHash>;
  Places feed_places_, output_places_;  // in feeds_ and outputs_, by name
  std::vector<NodeAssignment> assignments_;
  std::vector<PlacedCopy> copies_;
  std::shared_ptr<PendingRuns> pending_;
  std::shared_ptr<ThreadPool> intra_pool_;  // the pools end first: late tasks may read what stands above
  std::shared_ptr<ThreadPool> inter_pool_;
};

}  // namespace ortolan::runtime
