// Running a compiled graph: a frame is taken from the pool, its steps run in order, its results are taken out.
#include "runtime/execution/compiled_graph.h"

#include <algorithm>
#include <new>
#include <unordered_set>

#include "base/cpu_features.h"
#include "base/threads/run_scope.h"
#include "base/threads/thread_pool.h"
#include "runtime/execution/frame.h"
#include "runtime/execution/frame_pool.h"
#include "runtime/execution/graph_compiler.h"
#include "runtime/execution/parallel_executor.h"
#include "runtime/execution/profiler.h"
#include "runtime/resolve.h"
#include "tensor/tensor_memory.h"

namespace ortolan::runtime {
namespace {

const Shape& no_shape() {
  static const Shape* const kShape = new Shape{-1};
  return *kShape;
}

const Shape& shape_of(const Value& value) {
  const Tensor* tensor = value.tensor_if();
  return tensor != nullptr ? tensor->shape() : no_shape();
}

bool plan_fits(const MemoryPlan& plan, std::span<const Value* const> inputs, std::span<const Value* const> captured) {
  if (plan.key.size() != inputs.size() + captured.size()) return false;
  const Shape* key = plan.key.data();
  for (const Value* value : inputs) {
    if (!(shape_of(*value) == *key++)) return false;
  }
  for (const Value* value : captured) {
    if (!(shape_of(*value) == *key++)) return false;
  }
  return true;
}

std::vector<TypeInfo> types_of(std::span<const Value* const> values) {
  std::vector<TypeInfo> types;
  for (const Value* value : values) types.push_back(type_of(*value));
  return types;
}

/** Adds the node to an error that a kernel threw. */
[[noreturn]] void rethrow_within(const Node& node) {
  try {
    throw;
  } catch (const Error& error) {
    throw error.within(node.label());
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::kFail, node.label(), ": out of memory; use smaller inputs or a machine with more memory");
  } catch (const std::exception& error) {
    fail(ErrorCode::kRuntimeException, node.label(), ": ", error.what());
  }
}

[[gnu::noinline]] void compute_profiled(Profiler& profiler, StepContext& context) {
  ScopedNodeEvent event(profiler, context.node());
  context.step().kernel->compute(context);
  event.finish(context);
}

void compute(StepContext& context) {
  Profiler* profiler = context.frame().profiler();
  if (profiler != nullptr) [[unlikely]]
    return compute_profiled(*profiler, context);
  context.step().kernel->compute(context);
}

/** Charges the run with the strings and lists that the node makes, while it does and for as long as they live. */
[[gnu::noinline]] void compute_charged(StepContext& context) {
  base::RunScope scope = base::run_scope();
  if (scope.memory == nullptr) return compute(context);
  {
    base::StringTally tally(*scope.memory);
    scope.strings = &tally;
    const base::ScopedRunScope tallied(scope);
    compute(context);
  }
  const std::vector<int>& outputs = context.step().outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!context.has_output(i)) continue;
    charge_strings(context.output_value(i));
    context.frame().charge_list(outputs[i]);
  }
}

size_t limit_of_run() {
  const base::MemoryBudget* budget = base::run_scope().memory;
  return budget != nullptr ? budget->limit() : SIZE_MAX;
}

size_t room_of_run() {
  const base::MemoryBudget* budget = base::run_scope().memory;
  return budget != nullptr ? budget->limit() - std::min(budget->limit(), budget->in_use()) : SIZE_MAX;
}

/** The node that makes the largest value of the plan's block; NULL if none. */
const Node* largest_producer(const CompiledGraph& graph, const MemoryPlan& plan) {
  const Node* largest = nullptr;
  size_t most = 0;
  for (int slot = 0; slot < graph.slot_count(); ++slot) {
    const PlannedSlot& planned = plan.slots[slot];
    if (planned.offset < 0) continue;
    size_t bytes = bytes_for(planned.type, planned.shape.element_count());
    if (bytes <= most) continue;
    most = bytes;
    largest = graph.slot_value(slot).producer;
  }
  return largest;
}

/** Adds to an error that the block of the plan, if any, met who needs most of it. */
[[noreturn]] void rethrow_for_block(const CompiledGraph& graph, const MemoryPlan* plan) {
  try {
    throw;
  } catch (const Error& error) {
    const Node* node = plan != nullptr ? largest_producer(graph, *plan) : nullptr;
    if (node == nullptr) throw;
    throw error.within(join(node->label(), ", which makes the largest of the values that lie in one block"));
  }
}

/** Items [first, first + items) of a tensor, in its memory, which must outlive the result. */
Tensor items_of(const Tensor& tensor, int64_t first, int64_t items) {
  Shape shape = tensor.shape();
  const size_t item_bytes = tensor.byte_count() / static_cast<size_t>(shape[0]);
  shape[0] = items;
  auto* data = static_cast<std::byte*>(const_cast<void*>(tensor.raw())) + static_cast<size_t>(first) * item_bytes;
  return Tensor(tensor.type(), shape, data, nullptr, tensor.memory());
}

std::shared_ptr<WaitingBytes> waiting_of(const GraphCompiler* outer) {
  return outer != nullptr ? outer->waiting_frames() : std::make_shared<WaitingBytes>(0);
}

}  // namespace

CompiledGraph::CompiledGraph(Graph& graph, const CompileServices& services, GraphCompiler* outer)
    : graph_(graph),
      inter_threads_(outer == nullptr ? services.inter_threads : nullptr),
      plan_memory_(services.plan_memory && inter_threads_ == nullptr),
      free_frames_(std::make_unique<FramePool>(waiting_of(outer))) {
  GraphCompiler(*this, services, outer).compile();
  const auto is_placed = [](const ValueInfo* value) { return value->memory != nullptr; };
  if (outer != nullptr || !plan_memory_ || services.threads == nullptr) return;
  if (std::ranges::any_of(slot_values_, is_placed)) return;  // runs with devices compute whole batches
  const int threads = services.threads->degree();
  machine_ = {base::cpu_features().l2_bytes * threads, threads};
  item_steps_ = item_steps(*this);
}

CompiledGraph::~CompiledGraph() = default;

std::unique_ptr<Frame> CompiledGraph::take_free(const Feeds& feeds, bool planned) const {
  return free_frames_->take([&](const Frame& frame) {
    const MemoryPlan* plan = frame.plan();
    return planned ? plan != nullptr && plan_fits(*plan, feeds.inputs, feeds.captured) : plan == nullptr;
  });
}

std::unique_ptr<Frame> CompiledGraph::take_frame(const RunServices& services, const Feeds& feeds) const {
  std::shared_ptr<const MemoryPlan> plan;
  std::unique_ptr<Frame> frame;
  {
    std::lock_guard lock(mutex_);
    if (plan_memory_) {
      frame = take_free(feeds, true);
      if (frame == nullptr) plan = plan_for(feeds);
    }
    if (frame == nullptr && plan == nullptr) frame = take_free(feeds, false);
    if (frame == nullptr && plan != nullptr) free_frames_->make_room(plan->block_bytes, room_of_run());
  }
  try {
    if (frame == nullptr) return std::make_unique<Frame>(*this, plan, services.allocator);
    frame->charge();
    return frame;
  } catch (...) {
    rethrow_for_block(*this, frame != nullptr ? frame->plan() : plan.get());
  }
}

void CompiledGraph::give_back(std::unique_ptr<Frame> frame) const {
  frame->uncharge();
  std::lock_guard lock(mutex_);
  free_frames_->keep(std::move(frame), limit_of_run());
}

void CompiledGraph::drop_free_frames() const {
  {
    std::lock_guard lock(mutex_);
    free_frames_->clear();
  }
  for (const Step& step : steps_) {
    for (const auto& [name, subgraph] : step.subgraphs) subgraph->drop_free_frames();
  }
}

std::shared_ptr<const MemoryPlan> CompiledGraph::plan_for(const Feeds& feeds) const {
  std::vector<Shape> key;
  for (const Value* value : feeds.inputs) key.push_back(shape_of(*value));
  for (const Value* value : feeds.captured) key.push_back(shape_of(*value));
  bool seen_before = false;
  auto plan = plans_.find(key, seen_before);
  if (plan != nullptr || !(seen_before || (static_inputs_ && graph_.outer() == nullptr))) return plan;
  plan = make_plan(*this, types_of(feeds.inputs), types_of(feeds.captured));
  plans_.add(plan);
  return plan;
}

void CompiledGraph::run_step(StepContext& context) const {
  try {
    if (context.frame().is_asked_to_stop()) base::fail_terminated();
    if (context.dynamic()) context.begin();
    if (context.has_content()) [[unlikely]]
      return compute_charged(context);
    compute(context);
  } catch (...) {
    rethrow_within(context.node());
  }
}

void CompiledGraph::run_steps(Frame& frame, size_t begin, size_t end) const {
  auto& slots = frame.slots();
  for (size_t i = begin; i < end; ++i) {
    StepContext& context = frame.contexts()[i];
    run_step(context);
    for (int slot : context.dying()) slots[slot] = Value();
    if (frame.holds_lists()) [[unlikely]]
      frame.uncharge_lists(context.dying());
    frame.scratch().reset();
  }
}

void CompiledGraph::run_part(Frame& frame, const Feeds& feeds, Items items, std::span<const StepOutput> beyond) const {
  std::vector<Value> slices;
  slices.reserve(item_steps_.inputs.size());
  InlinedVector<const Value*, 16> inputs;
  for (const Value* input : feeds.inputs) inputs.push_back(input);
  for (size_t input : item_steps_.inputs) {
    slices.emplace_back(items_of(inputs[input]->tensor(), items.first, items.count));
    inputs[input] = &slices.back();
  }
  auto part = take_frame(frame.services(), {inputs, {}});
  part->set_profiler(frame.profiler());
  part->begin(frame.services(), inputs, {}, {}, {});
  run_steps(*part, 0, frame.plan()->parts.steps);
  for (const auto& [step, output] : beyond) {
    const int slot = steps_[step].outputs[output];
    Tensor target = items_of(frame.slots()[slot].tensor(), items.first, items.count);
    copy_elements(part->slots()[slot].tensor(), target);
    if (!part->has_fixed_place(slot)) part->slots()[slot] = Value();
  }
  part->collect({}, {}, /*unshare=*/false);
  give_back(std::move(part));
}

void CompiledGraph::run_parts(Frame& frame, const Feeds& feeds) const {
  const BatchParts& parts = frame.plan()->parts;
  const std::vector<StepOutput> beyond = values_beyond(*this, parts.steps);
  for (const auto& [step, output] : beyond) {
    StepContext& context = frame.contexts()[step];
    if (context.dynamic()) context.begin();
    context.output(output);
  }
  for (int64_t first = 0; first < parts.all; first += parts.items) {
    run_part(frame, feeds, {first, std::min(parts.items, parts.all - first)}, beyond);
  }
}

void CompiledGraph::execute(Frame& frame, const Feeds& feeds) const {
  if (parallel()) return run_in_parallel(frame, *inter_threads_);
  const size_t in_parts =
      frame.plan() != nullptr && frame.services().devices == nullptr ? frame.plan()->parts.steps : 0;
  if (in_parts > 0) run_parts(frame, feeds);
  run_steps(frame, in_parts, steps_.size());
}

void CompiledGraph::release_packed_constants() {
  const std::unordered_set<int> unread(unread_.begin(), unread_.end());
  for (auto& [slot, value] : constants_) {
    if (!unread.contains(slot)) continue;
    auto& constant = const_cast<ValueInfo*>(slot_values_[slot])->constant;
    constant = Tensor(constant->type(), constant->shape(), nullptr);
    value = *constant;
  }
  for (Step& step : steps_) {
    for (auto& [name, subgraph] : step.subgraphs) subgraph->release_packed_constants();
  }
}

void CompiledGraph::run(const RunServices& services, std::span<const Value* const> inputs, std::span<const int> wanted,
                        std::span<Value> results, Profiler* profiler) const {
  auto frame = take_frame(services, {inputs, {}});
  frame->set_profiler(profiler);
  frame->begin(services, inputs, {}, wanted, results);
  execute(*frame, {inputs, {}});
  frame->collect(wanted, results, /*unshare=*/true);
  give_back(std::move(frame));
}

std::vector<Value> CompiledGraph::run(KernelContext& context, std::span<const Value> inputs) const {
  require(inputs.size() == graph_.inputs.size(), ErrorCode::kInvalidGraph, "the subgraph takes ", graph_.inputs.size(),
          " inputs, but gets ", inputs.size());
  Frame& outer = static_cast<StepContext&>(context).frame();
  auto& outer_slots = outer.slots();
  InlinedVector<const Value*, 16> feeds;
  for (const Value& value : inputs) feeds.push_back(&value);
  InlinedVector<const Value*, 16> captured;
  for (const auto& [outer_slot, slot] : captures_) captured.push_back(&outer_slots[outer_slot]);
  InlinedVector<int, 16> wanted;
  for (size_t i = 0; i < graph_.outputs.size(); ++i) wanted.push_back(static_cast<int>(i));
  std::vector<Value> results(graph_.outputs.size());

  auto frame = take_frame(context.services(), {feeds, captured});
  frame->set_profiler(outer.profiler());
  frame->begin(context.services(), feeds, captured, wanted, results);
  execute(*frame, {feeds, captured});
  frame->collect(wanted, results, /*unshare=*/false);
  give_back(std::move(frame));
  return results;
}

}  // namespace ortolan::runtime
