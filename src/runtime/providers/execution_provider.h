// The interface between the session and whatever executes nodes: the CPU provider, plugin providers, test fakes.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/kernels/kernel_registry.h"
#include "tensor/device.h"

namespace ortolan::runtime {

class Profiler;
struct RunOptions;

/** Which weights compiled data can leave out; numbers are those of OrtWeightlessSupport. kUnknown: it does not say. */
enum class WeightlessSupport : int { kUnknown = -1, kNone = 0, kExternalOnly = 1, kAll = 2 };

/** A set of nodes that a provider takes as one: a single node for a kernel, several to compile together. */
struct NodeGroup {
  std::vector<const Node*> nodes;
  bool compile = false;         // true: one fused node made by compile(); false: a kernel each from the registry
  bool drop_constants = false;  // of a compiled group: the provider keeps its own copies of constant initializers
};

/** Why a provider leaves a node to the next one. */
struct Declined {
  const Node* node;
  std::string reason;
};

struct Capability {
  std::vector<NodeGroup> groups;
  std::vector<Declined> declined;
};

/** A group of nodes on its way to become one. */
struct FusedGroup {
  const Graph* graph = nullptr;     // that all its nodes are in
  std::vector<const Node*> nodes;   // producers first
  std::vector<ValueInfo*> inputs;   // what the fused node reads, each once
  std::vector<ValueInfo*> outputs;  // what later nodes or the graph's outputs read
  std::string name;                 // of the fused node, unique in the model
  bool drop_constants = false;      // constant initializers are not among the inputs
};

/** What a provider makes of a group. */
struct CompiledGroup {
  std::unique_ptr<OpKernel> kernel;
  std::shared_ptr<Graph> context;  // holds the EPContext node that stands for the group in a saved model; may be NULL
};

/** A kernel with what the runtime must know of it. */
struct ChosenKernel {
  std::unique_ptr<OpKernel> kernel;
  Reuse reuse = Reuse::kNone;
};

/** Executes nodes on one device. Made once a session; calls come from the thread that creates the session, except
    those of a run, which come from the running threads. */
class ExecutionProvider {
 public:
  virtual ~ExecutionProvider() = default;
  /** The provider's registered name, as "CPUExecutionProvider". */
  virtual const std::string& type() const = 0;
  virtual const std::vector<std::pair<std::string, std::string>>& options() const = 0;

  /** The model of the session, before anything else is asked about it. */
  virtual void learn_model(const Model& model) {}
  /** Which nodes of `graph` not yet assigned it takes; `graph` may be a subgraph. */
  virtual Capability get_capability(const Graph& graph) = 0;
  /** Whether it takes operators rather in the form of ops::kChannelsLastDomain: those of its nodes that have one are
      changed, and it is asked for its nodes again. */
  virtual bool prefers_channels_last() const { return false; }
  /** Then: whether that operator is to be changed; nothing leaves it to the runtime. */
  virtual std::optional<bool> converts_to_channels_last(const std::string& domain, const std::string& op) const {
    return std::nullopt;
  }
  /** How many bytes the weights and results of its nodes may take together: what goes beyond goes to the next provider.
      Asked once, when it first takes any; nothing: any number. */
  virtual std::optional<uint64_t> free_bytes() const { return std::nullopt; }
  /** Connected nodes that it takes go back to the next provider when they are fewer. */
  virtual size_t least_island() const { return 1; }
  /** Makes what computes each group, in order. All groups of one graph come in one call. */
  virtual std::vector<CompiledGroup> compile(std::span<const FusedGroup> groups) { return {}; }
  /** A text to be kept in a compiled model, which the provider's factory can judge later. Asked before compile(), of a
      model's main graph; empty: nothing to keep. */
  virtual std::string compatibility_info(const Graph& graph) { return {}; }
  /** Which weights the data behind its EPContext nodes can leave out. */
  virtual WeightlessSupport weightless_support() const { return WeightlessSupport::kUnknown; }
  /** Its kernels as rows; NULL for a provider that only compiles or finds kernels in another way. */
  virtual const KernelRegistry* kernel_registry() const { return nullptr; }
  /** The kernel of a node that it took; by default from the rows. Throws when there is none. */
  virtual ChosenKernel make_kernel(const KernelInfo& info) const;

  /** Where inputs and outputs of its nodes are, apart from those that it reads and writes on the CPU. */
  virtual const MemoryInfo& memory() const { return cpu_allocator()->info(); }
  virtual bool input_on_cpu(const Node& node, size_t i) const { return false; }
  virtual bool output_on_cpu(const Node& node, size_t i) const { return false; }
  /** Of all its memories, that of memory() first. */
  virtual std::vector<std::shared_ptr<Allocator>> allocators() const { return {cpu_allocator()}; }
  /** Copies between its memories and the CPU's; NULL when all are the CPU's. */
  virtual const DataTransfer* data_transfer() const { return nullptr; }
  /** A queue for one run at a time, kept for later runs; NULL when its kernels are done when they return. */
  virtual std::unique_ptr<Stream> make_stream() { return nullptr; }

  /** Called when the session is complete. */
  virtual void on_session_ready() {}
  /** False: the session lets one run after the other. */
  virtual bool concurrent_runs() const { return true; }
  virtual void on_run_start(const RunOptions& options) {}
  /** `synchronize`: all work of the run must be done when this returns. */
  virtual void on_run_end(const RunOptions& options, bool synchronize) {}
  virtual void set_dynamic_option(const std::string& key, const std::string& value) {}
  /** Waits for all work on its devices. */
  virtual void synchronize() {}

  /** Whether it records a run to replay it, whether that of this number is recorded, and running and forgetting it. */
  virtual bool captures_graphs() const { return false; }
  /** Whether what it recorded stands for nodes on the CPU too that compute from shapes and constants alone. */
  virtual bool records_beside_shapes() const { return false; }
  virtual bool graph_captured(int annotation) const { return false; }
  virtual void replay_graph(int annotation) {}
  virtual void release_captured_graph(int annotation) {}

  /** The instruction set that its kernels are made for, for profiles; empty where that says nothing. */
  virtual std::string_view instruction_set() const { return {}; }
  /** Begin and end of a profile; at the end it adds its own events. */
  virtual void start_profiling(Profiler& profiler) {}
  virtual void end_profiling(Profiler& profiler) {}
};

/** The built-in provider that takes every node with a kernel of its own or a custom operator's; always the last. */
std::unique_ptr<ExecutionProvider> make_cpu_execution_provider();

}  // namespace ortolan::runtime
