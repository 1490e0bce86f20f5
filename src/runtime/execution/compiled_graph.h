// A graph made ready to run: kernels in order, the slots that values live in, and memory plans by input shape.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/execution/batch_parts.h"
#include "runtime/execution/memory_plan.h"
#include "runtime/providers/execution_provider.h"

namespace ortolan::runtime {

class Frame;
class FramePool;
class Profiler;
class StepContext;
class CompiledGraph;

/** What kernels of a session may ask for while they are made. */
struct CompileServices {
  ThreadPool* threads = nullptr;
  ThreadPool* inter_threads = nullptr;  // not NULL: the main graph's nodes run at the same time where they can
  PackedWeights* weights = nullptr;
  const std::map<std::string, std::string>* config = nullptr;
  std::span<const std::unique_ptr<ExecutionProvider>> providers;
  const Logger* logger = nullptr;
  const ExecutionProvider* provider = nullptr;  // where `providers` is empty: the one that all nodes are on
  std::span<const std::shared_ptr<base::MappedFile>> files;  // that initializers may be views into
  bool plan_memory = true;
  bool keep_constants = false;  // those that no run reads are still needed after compilation
};

/** One node, ready: its kernel and where its values are. Slot -1 stands for a value left out. */
struct Step {
  const Node* node = nullptr;
  size_t provider = 0;                    // its place in the session's list
  std::string_view instruction_set = {};  // of the provider's kernels, for profiles
  std::unique_ptr<OpKernel> kernel;
  Reuse reuse = Reuse::kNone;
  std::vector<int> inputs;
  std::vector<int> outputs;
  std::vector<int> captured;  // slots that its subgraphs read
  std::vector<int> dying;     // slots that no later step reads and no output needs
  std::vector<std::pair<std::string_view, std::unique_ptr<CompiledGraph>>> subgraphs;
};

class GraphCompiler;

/** Immutable once made, apart from its pool of frames; any number of threads may run it at once. */
class CompiledGraph final : public SubgraphRunner {
 public:
  /** Makes a kernel for every node of the graph (each assigned to a provider), and for subgraphs. The graph must
      outlive it. `outer` compiles the graph around this one; NULL at the top. */
  CompiledGraph(Graph& graph, const CompileServices& services, GraphCompiler* outer = nullptr);
  ~CompiledGraph() override;

  /** Runs with a value for each graph input. `wanted` lists indices of graph outputs and `results` gets their values;
      a result given with a value is written in place. Results share memory with nothing else. `profiler` records the
      nodes' times; NULL if nobody asked. */
  void run(const RunServices& services, std::span<const Value* const> inputs, std::span<const int> wanted,
           std::span<Value> results, Profiler* profiler = nullptr) const;

  size_t input_count() const override { return graph_.inputs.size(); }
  size_t output_count() const override { return graph_.outputs.size(); }
  std::vector<Value> run(KernelContext& context, std::span<const Value> inputs) const override;

  const Graph& graph() const { return graph_; }
  const std::vector<Step>& steps() const { return steps_; }
  int slot_count() const { return static_cast<int>(slot_values_.size()); }
  const ValueInfo& slot_value(int slot) const { return *slot_values_[slot]; }
  const std::vector<int>& input_slots() const { return input_slots_; }
  const std::vector<int>& output_slots() const { return output_slots_; }
  const std::vector<std::pair<int, Value>>& constants() const { return constants_; }
  /** Pairs of (slot of the enclosing graph, slot here). */
  const std::vector<std::pair<int, int>>& captures() const { return captures_; }
  /** Gives back the memory of constants that kernels keep packed, in this graph and its subgraphs. The graph's own
      constants lose their elements, so nothing may be compiled from it afterwards. */
  void release_packed_constants();
  /** Gives back the memory that it and its subgraphs keep for the next run. */
  void drop_free_frames() const;
  /** How runs by that plan, whose types and shapes are known, part the batch. */
  BatchParts parts_of(const MemoryPlan& plan) const { return part_batch(*this, item_steps_, plan, machine_); }
  bool is_output(int slot) const { return is_output_[slot]; }
  bool parallel() const { return inter_threads_ != nullptr; }
  /** Runs one step in its context: the kernel and what the profile says of it. Adds the node to errors. */
  void run_step(StepContext& context) const;

 private:
  friend class GraphCompiler;

  /** What one run is given. */
  struct Feeds {
    std::span<const Value* const> inputs;
    std::span<const Value* const> captured;
  };
  std::unique_ptr<Frame> take_frame(const RunServices& services, const Feeds& feeds) const;
  void give_back(std::unique_ptr<Frame> frame) const;
  std::shared_ptr<const MemoryPlan> plan_for(const Feeds& feeds) const;
  std::unique_ptr<Frame> take_free(const Feeds& feeds, bool planned) const;
  void execute(Frame& frame, const Feeds& feeds) const;
  /** Runs the steps from `begin` to before `end`. */
  void run_steps(Frame& frame, size_t begin, size_t end) const;
  /** Runs the first steps of the plan's parts on one part of the batch after the other; what later steps and the
      caller need of them is then in the frame. */
  void run_parts(Frame& frame, const Feeds& feeds) const;
  struct Items {
    int64_t first, count;
  };
  void run_part(Frame& frame, const Feeds& feeds, Items items, std::span<const StepOutput> beyond) const;

  Graph& graph_;
  ThreadPool* inter_threads_;
  bool plan_memory_;
  BatchMachine machine_;
  ItemSteps item_steps_;
  bool static_inputs_ = false;  // all input shapes are fixed by the model
  std::vector<Step> steps_;
  std::vector<const ValueInfo*> slot_values_;
  std::vector<bool> is_output_;
  std::vector<int> input_slots_;
  std::vector<int> output_slots_;
  std::vector<std::pair<int, Value>> constants_;
  std::vector<int> unread_;  // constants that no kernel reads, packed elsewhere
  std::vector<std::pair<int, int>> captures_;

  mutable std::mutex mutex_;
  const std::unique_ptr<FramePool> free_frames_;
  mutable PlanCache plans_;
};

}  // namespace ortolan::runtime
