// The state of one run of a graph: slots, the block that a plan lays out, and a kernel context for each step.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/memory/memory_budget.h"
#include "ops/infer_context.h"
#include "runtime/execution/compiled_graph.h"
#include "runtime/execution/run_block.h"

namespace ortolan::runtime {

class Frame;

/** Blocks for the time of one compute(), kept for the next. The run that uses them is charged. Used by one thread at a
    time. */
class ScratchArea {
 public:
  void* take(size_t bytes, const std::shared_ptr<Allocator>& allocator);
  /** Makes all blocks free again. */
  void reset() { used_ = 0; }
  /** Charges the calling thread's run with all blocks, or gives back what was charged. */
  void charge() { charge_ = base::MemoryCharge(bytes_); }
  void uncharge() { charge_ = base::MemoryCharge(); }
  size_t bytes() const { return bytes_; }

 private:
  std::vector<RunBlock> blocks_;
  size_t used_ = 0;
  size_t bytes_ = 0;
  base::MemoryCharge charge_;
};

/** The executor's side of a KernelContext: where outputs come from. */
class StepContext final : public KernelContext {
 public:
  /** `pointers` has room for inputs, outputs and prepared outputs of the step. */
  StepContext(Frame& frame, const Step& step, void** pointers);

  Stream* stream() const override;
  const Step& step() const { return *step_; }
  Frame& frame() const { return frame_; }
  /** True when an output must be made during the run, so that begin() is needed. */
  bool dynamic() const { return dynamic_; }
  /** True when outputs may hold more than a tensor's elements: strings, lists. */
  bool has_content() const { return has_content_; }
  /** Slots to empty after this step: those that die here and own memory. */
  const std::vector<int>& dying() const { return dying_; }
  /** Forgets the outputs of the last run, and lets the operator's rule judge the inputs before the kernel sees them. */
  void begin();
  /** Where scratch memory comes from, when not from the frame: steps that run at the same time need areas of their
      own. NULL goes back to the frame's. */
  void set_scratch(ScratchArea* scratch) { scratch_ = scratch; }

 protected:
  Tensor& prepare_output(size_t i) override;
  Tensor& allocate_output(size_t i, const Shape& shape) override;
  Tensor& allocate_output(size_t i, ElementType type, const Shape& shape) override;
  void* scratch_bytes(size_t bytes) override;

 private:
  void infer_outputs();
  Tensor& make_output(size_t i, ElementType type, const Shape& shape);
  Tensor new_tensor(int slot, ElementType type, const Shape& shape) const;
  /** An input that dies here and whose memory the output may take; NULL if none. */
  const Tensor* reusable_input(ElementType type, const Shape& shape) const;

  Frame& frame_;
  const Step* step_;
  bool dynamic_ = false;
  bool has_content_ = false;
  bool inferred_ = false;
  bool follows_rule_ = false;  // it has a rule that costs little: no custom operator, no subgraphs
  std::vector<int> dying_;
  std::vector<ops::InferOutput> outputs_known_;
  ScratchArea* scratch_;
};

/** Used by one run at a time, then pooled. */
class Frame {
 public:
  /** Takes the memory that the plan needs from `allocator`, charged to the calling thread's run. */
  Frame(const CompiledGraph& graph, std::shared_ptr<const MemoryPlan> plan,
        const std::shared_ptr<Allocator>& allocator);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  const CompiledGraph& graph() const { return graph_; }
  const MemoryPlan* plan() const { return plan_.get(); }
  /** The place that the plan gives a slot; its type is kUndefined when nothing is known. */
  const PlannedSlot& planned(int slot) const;
  bool has_fixed_place(int slot) const { return planned(slot).offset >= 0; }

  /** Puts inputs, captured values and the memory of outputs in their slots. */
  void begin(const RunServices& services, std::span<const Value* const> inputs, std::span<const Value* const> captured,
             std::span<const int> wanted, std::span<const Value> results);
  /** Takes the results out. At the top level they are copied where something else holds their memory. */
  void collect(std::span<const int> wanted, std::span<Value> results, bool unshare);

  std::vector<Value>& slots() { return slots_; }
  std::vector<StepContext>& contexts() { return contexts_; }
  const RunServices& services() const { return services_; }
  /** Of this run; NULL if none. */
  Profiler* profiler() const { return profiler_; }
  void set_profiler(Profiler* profiler) { profiler_ = profiler; }
  /** The caller's tensor to write graph output `slot` to; NULL if none. */
  const Tensor* bound(int slot) const;
  ScratchArea& scratch() { return scratch_; }
  /** What it keeps between runs. */
  size_t bytes() const { return block_.bytes() + scratch_.bytes(); }
  /** Charges the calling thread's run with that, or gives back what was charged. */
  void charge();
  void uncharge();
  /** Charges the run with the list of items in that slot, if it holds a sequence; until uncharge(), or before that
      when the slot is emptied. Safe for steps that run at the same time. */
  void charge_list(int slot);
  void uncharge_lists(std::span<const int> slots);
  /** Whether the run is asked to stop. */
  bool is_asked_to_stop() const { return terminate_ != nullptr && terminate_->load(std::memory_order_relaxed); }
  bool holds_lists() const { return holds_lists_.load(std::memory_order_relaxed); }

 private:
  void place_planned_slots(const std::shared_ptr<Allocator>& allocator);
  void make_contexts();
  void place_outputs(std::span<const int> wanted, std::span<const Value> results);
  /** `again`: another result needs the slot after this one. */
  void collect_one(int slot, bool again, Value& result, bool unshare);

  const CompiledGraph& graph_;
  std::shared_ptr<const MemoryPlan> plan_;
  base::MemoryCharge charge_;  // for the block
  std::mutex lists_mutex_;
  std::vector<std::pair<int, base::MemoryCharge>> lists_;  // by slot
  std::atomic<bool> holds_lists_ = false;
  RunBlock block_;
  std::vector<Value> slots_;
  std::vector<void*> pointers_;
  std::vector<StepContext> contexts_;
  using Bound = std::pair<int, const Tensor*>;
  std::vector<Bound> bound_;  // many are sorted by slot
  ScratchArea scratch_;
  RunServices services_;
  const std::atomic<bool>* terminate_ = nullptr;  // of the run's scope
  Profiler* profiler_ = nullptr;
};

}  // namespace ortolan::runtime
