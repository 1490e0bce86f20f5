// Laying values out in one block by the time in which they live.
#include "runtime/execution/memory_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "ops/infer_context.h"
#include "runtime/execution/compiled_graph.h"
#include "runtime/providers/device_placement.h"
#include "runtime/resolve.h"

namespace ortolan::runtime {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kMostPlans = 8;
constexpr size_t kMostSeen = 64;

/** Types of all slots, inferred from concrete inputs without touching the graph. */
class ShapeTable {
 public:
  explicit ShapeTable(const CompiledGraph& graph)
      : graph_(graph), types_(graph.slot_count()), content_(types_.size()) {}

  void start(std::span<const TypeInfo> inputs, std::span<const TypeInfo> captured) {
    for (const auto& [slot, value] : graph_.constants()) {
      types_[slot] = graph_.slot_value(slot).type;
      content_[slot] = graph_.slot_value(slot).content;
    }
    for (size_t i = 0; i < inputs.size(); ++i) types_[graph_.input_slots()[i]] = inputs[i];
    for (size_t i = 0; i < captured.size(); ++i) types_[graph_.captures()[i].second] = captured[i];
  }

  void infer(const Step& step) {
    std::vector<ops::InferInput> inputs;
    for (int slot : step.inputs) inputs.push_back(input(slot));
    std::vector<ops::InferOutput> outputs(step.outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i].wanted = step.outputs[i] >= 0;
    ops::InferContext context(*step.node, inputs, outputs);
    ops::infer(context);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (step.outputs[i] < 0) continue;
      types_[step.outputs[i]] = std::move(outputs[i].type);
      content_[step.outputs[i]] = std::move(outputs[i].content);
    }
  }

  const TypeInfo& operator[](int slot) const { return types_[slot]; }

 private:
  ops::InferInput input(int slot) const {
    if (slot < 0) return {};
    ops::InferInput result;
    result.present = true;
    result.type = types_[slot];
    result.value = known_elements(graph_.slot_value(slot));
    result.content = content_[slot] ? &*content_[slot] : nullptr;
    return result;
  }

  const CompiledGraph& graph_;
  std::vector<TypeInfo> types_;
  std::vector<std::optional<DimVector>> content_;
};

/** Hands out ranges of a block that grows as needed; the tightest free range wins. */
class RangeAllocator {
 public:
  size_t take(size_t bytes) {
    auto best = by_size_.lower_bound({bytes, 0});
    if (best == by_size_.end()) return grow(bytes);
    auto [size, offset] = *best;
    remove(free_.find(offset));
    if (size > bytes) add(offset + bytes, size - bytes);
    return offset;
  }

  void give_back(size_t offset, size_t bytes) {
    auto next = free_.lower_bound(offset);
    if (next != free_.end() && offset + bytes == next->first) {
      bytes += next->second;
      next = remove(next);
    }
    if (next != free_.begin()) {
      auto previous = std::prev(next);
      if (previous->first + previous->second == offset) {
        offset = previous->first;
        bytes += previous->second;
        remove(previous);
      }
    }
    add(offset, bytes);
  }

  size_t size() const { return end_; }

 private:
  using Ranges = std::map<size_t, size_t>;

  void add(size_t offset, size_t bytes) {
    free_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }
  Ranges::iterator remove(Ranges::iterator range) {
    by_size_.erase({range->second, range->first});
    return free_.erase(range);
  }

  size_t grow(size_t bytes) {
    if (!free_.empty()) {
      auto last = std::prev(free_.end());
      if (last->first + last->second == end_) {  // the last range reaches the end: extend it
        size_t offset = last->first;
        end_ = checked_add(offset, bytes);
        remove(last);
        return offset;
      }
    }
    size_t offset = end_;
    end_ = checked_add(end_, bytes);
    return offset;
  }

  Ranges free_;                                  // sizes by offset
  std::set<std::pair<size_t, size_t>> by_size_;  // the same, as sizes and offsets
  size_t end_ = 0;
};

/** Decides which slots get a place and walks the steps once. */
class Layout {
 public:
  Layout(const CompiledGraph& graph, MemoryPlan& plan)
      : graph_(graph), plan_(plan), root_(graph.slot_count()), uses_left_(graph.slot_count(), 0), home_(root_.size()) {
    for (size_t i = 0; i < root_.size(); ++i) root_[i] = static_cast<int>(i);
  }

  void run() {
    follow_views();
    find_shared();
    const auto& steps = graph_.steps();
    place_beyond_parts();
    for (size_t i = plan_.parts.steps; i < steps.size(); ++i) place(steps[i]);
    plan_.block_bytes = ranges_.size();
  }

 private:
  /** A view's memory is its input's: both must live until the last use of either. */
  void follow_views() {
    for (const Step& step : graph_.steps()) {
      for (int slot : step.inputs) count_use(slot);
      for (int slot : step.captured) count_use(slot);
      if (step.reuse == Reuse::kView && !step.inputs.empty() && step.inputs[0] >= 0 && step.outputs[0] >= 0) {
        root_[step.outputs[0]] = root_[step.inputs[0]];
      }
    }
  }

  void count_use(int slot) {
    if (slot >= 0) ++uses_left_[root_[slot]];
  }

  /** Values that may outlive their last step, because something else keeps them, get memory of their own: so do those
      that copies to devices read, which may be done after the step. */
  void find_shared() {
    shared_.assign(root_.size(), false);
    for (int slot : graph_.output_slots()) shared_[root_[slot]] = true;
    for (const Step& step : graph_.steps()) {
      for (int slot : step.captured) shared_[root_[slot]] = true;
      bool keeps_inputs = !step.subgraphs.empty() || !all_outputs_tensors(step) || is_copy(*step.node);
      if (!keeps_inputs) continue;
      for (int slot : step.inputs) {
        if (slot >= 0) shared_[root_[slot]] = true;
      }
    }
  }

  bool all_outputs_tensors(const Step& step) const {
    return std::ranges::all_of(step.outputs,
                               [&](int slot) { return slot < 0 || graph_.slot_value(slot).type.is_tensor(); });
  }

  /** Of the steps that run on parts, only what is needed afterwards has a place; the rest is in the parts' own blocks.
   */
  void place_beyond_parts() {
    const size_t steps = plan_.parts.steps;
    for (const auto& [step, output] : values_beyond(graph_, steps)) place_beyond(graph_.steps()[step].outputs[output]);
    for (size_t i = 0; i < steps; ++i) release_uses(graph_.steps()[i]);
  }

  void place_beyond(int slot) {
    if (root_[slot] == slot && may_have_place(slot)) place_alone(slot);  // a view is made during the run
  }

  void place(const Step& step) {
    if (step.reuse != Reuse::kView && step.subgraphs.empty()) {
      for (size_t i = 0; i < step.outputs.size(); ++i) place_output(step, i);
    }
    release_uses(step);
  }

  void release_uses(const Step& step) {
    for (int slot : step.inputs) release_use(slot);
    for (int slot : step.captured) release_use(slot);
    for (int slot : step.outputs) {
      if (slot >= 0 && uses_left_[root_[slot]] == 0) release(root_[slot]);
    }
  }

  void place_output(const Step& step, size_t i) {
    int slot = step.outputs[i];
    if (slot < 0 || !may_have_place(slot)) return;
    if (i == 0 && step.reuse == Reuse::kInPlace && take_over_input(step, slot)) return;
    place_alone(slot);
  }

  bool may_have_place(int slot) const {
    const PlannedSlot& planned = plan_.slots[slot];
    bool plain = planned.type != ElementType::kUndefined && planned.type != ElementType::kString;
    return plain && !shared_[slot] && graph_.slot_value(slot).memory == nullptr;
  }

  void place_alone(int slot) {
    PlannedSlot& planned = plan_.slots[slot];
    size_t bytes = rounded(bytes_for(planned.type, planned.shape.element_count()));
    Home home{ranges_.take(bytes), bytes};
    home_[slot] = home;
    planned.offset = static_cast<int64_t>(home.offset);
  }

  /** Gives the output the place of an input that dies in this step and has the same type and shape. */
  bool take_over_input(const Step& step, int output) {
    for (size_t i = 0; i < step.inputs.size() && i < 2; ++i) {
      int input = step.inputs[i];
      if (input < 0) continue;
      int root = root_[input];
      bool dies =
          uses_left_[root] == std::ranges::count_if(step.inputs, [&](int s) { return s >= 0 && root_[s] == root; });
      const PlannedSlot& from = plan_.slots[input];
      PlannedSlot& to = plan_.slots[output];
      if (!dies || !home_[root].taken() || from.type != to.type || !(from.shape == to.shape)) continue;
      home_[output] = home_[root];
      home_[root] = {};
      to.offset = static_cast<int64_t>(home_[output].offset);
      return true;
    }
    return false;
  }

  void release_use(int slot) {
    if (slot >= 0 && --uses_left_[root_[slot]] == 0) release(root_[slot]);
  }

  void release(int root) {
    if (!home_[root].taken()) return;
    ranges_.give_back(home_[root].offset, home_[root].bytes);
    home_[root] = {};
  }

  static size_t rounded(size_t bytes) {
    return std::max<size_t>(kAlignment, checked_add(bytes, kAlignment - 1) / kAlignment * kAlignment);
  }

  struct Home {
    size_t offset = 0;
    size_t bytes = 0;
    bool taken() const { return bytes != 0; }
  };

  const CompiledGraph& graph_;
  MemoryPlan& plan_;
  std::vector<int> root_;
  std::vector<int> uses_left_;
  std::vector<Home> home_;
  std::vector<bool> shared_;
  RangeAllocator ranges_;
};

void append_shape(std::vector<Shape>& key, const TypeInfo& type) {
  key.push_back(type.is_tensor() && type.shape.fully_known() ? type.shape.concrete() : Shape{-1});
}

uint64_t hash_of(std::span<const Shape> key) {
  uint64_t hash = 1469598103934665603u;
  for (const Shape& shape : key) {
    hash = (hash ^ shape.rank()) * 1099511628211u;
    for (int64_t dim : shape) hash = (hash ^ static_cast<uint64_t>(dim)) * 1099511628211u;
  }
  return hash;
}

}  // namespace

std::shared_ptr<const MemoryPlan> make_plan(const CompiledGraph& graph, std::span<const TypeInfo> inputs,
                                            std::span<const TypeInfo> captured) {
  auto plan = std::make_shared<MemoryPlan>();
  for (const TypeInfo& type : inputs) append_shape(plan->key, type);
  for (const TypeInfo& type : captured) append_shape(plan->key, type);
  ShapeTable table(graph);
  table.start(inputs, captured);
  for (const Step& step : graph.steps()) table.infer(step);
  plan->slots.resize(graph.slot_count());
  for (int slot = 0; slot < graph.slot_count(); ++slot) {
    const TypeInfo& type = table[slot];
    if (!type.is_tensor() || !type.shape.fully_known() || type.element == ElementType::kUndefined) continue;
    plan->slots[slot].type = type.element;
    plan->slots[slot].shape = type.shape.concrete();
  }
  plan->parts = graph.parts_of(*plan);
  Layout(graph, *plan).run();
  return plan;
}

std::shared_ptr<const MemoryPlan> PlanCache::find(std::span<const Shape> key, bool& seen_before) {
  auto found = std::ranges::find_if(plans_, [&](const auto& plan) { return std::ranges::equal(plan->key, key); });
  seen_before = true;
  if (found != plans_.end()) {
    std::rotate(plans_.begin(), found, found + 1);
    return plans_.front();
  }
  uint64_t hash = hash_of(key);
  seen_before = std::ranges::find(seen_, hash) != seen_.end();
  if (!seen_before) {
    if (seen_.size() == kMostSeen) seen_.erase(seen_.begin());
    seen_.push_back(hash);
  }
  return nullptr;
}

void PlanCache::add(std::shared_ptr<const MemoryPlan> plan) {
  if (plans_.size() == kMostPlans) plans_.pop_back();
  plans_.insert(plans_.begin(), std::move(plan));
}

}  // namespace ortolan::runtime
