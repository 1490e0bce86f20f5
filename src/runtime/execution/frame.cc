// The state of one run: where inputs, outputs and scratch memory of each step come from.
#include "runtime/execution/frame.h"

#include <algorithm>
#include <unordered_map>

#include "base/threads/run_scope.h"
#include "ops/schema.h"
#include "runtime/providers/devices.h"
#include "runtime/resolve.h"

namespace ortolan::runtime {
namespace {

constexpr size_t kManyOutputs = 16;  // from here on they are not searched one by one

/** True for values that hold no more than elements of a known size. */
bool is_plain(const TypeInfo& type) {
  return type.is_tensor() && type.element != ElementType::kUndefined && type.element != ElementType::kString;
}

/** The last place of each slot. */
std::unordered_map<int, size_t> last_places(std::span<const int> slots) {
  std::unordered_map<int, size_t> places;
  for (size_t i = 0; i < slots.size(); ++i) places[slots[i]] = i;
  return places;
}

/** The value without memory that anybody else may change or free. */
Value unshared(Value value, bool unshare, const RunServices& services) {
  if (const Tensor* tensor = value.tensor_if()) {
    bool borrowed = tensor->owner() == nullptr && tensor->raw() != nullptr;
    return borrowed || (unshare && tensor->owner().use_count() > 1) ? Value(duplicate(*tensor, services)) : value;
  }
  if (value.kind() != ValueKind::kSequence) return value;
  auto stays = [](const Value& item) { return item.kind() == ValueKind::kMap; };
  if (value.sequence().rows() || std::ranges::all_of(value.sequence().items(), stays)) return value;  // never written
  auto copy = std::make_shared<Sequence>(value.sequence().element_type);
  for (const Value& item : value.sequence().items()) copy->items().push_back(unshared(item, unshare, services));
  return copy;
}

}  // namespace

StepContext::StepContext(Frame& frame, const Step& step, void** pointers)
    : frame_(frame), step_(&step), scratch_(&frame.scratch()) {
  node_ = step.node;
  services_ = &frame.services();
  follows_rule_ = node_->schema != nullptr && (node_->schema->flags & ops::kCustom) == 0 && node_->subgraphs().empty();
  input_count_ = static_cast<uint32_t>(step.inputs.size());
  output_count_ = static_cast<uint32_t>(step.outputs.size());
  gives_views_ = step.reuse == Reuse::kView;
  auto slot_pointer = [&](int slot) { return slot < 0 ? nullptr : &frame.slots()[slot]; };
  auto** inputs = reinterpret_cast<Value**>(pointers);
  auto** outputs = inputs + input_count_;
  prepared_ = reinterpret_cast<Tensor**>(outputs + output_count_);
  for (size_t i = 0; i < step.inputs.size(); ++i) inputs[i] = slot_pointer(step.inputs[i]);
  bool judged = true;  // when the plan was made, which knows all output types and shapes
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    int slot = step.outputs[i];
    outputs[i] = slot_pointer(slot);
    bool fixed = slot >= 0 && frame.has_fixed_place(slot);
    prepared_[i] = fixed ? outputs[i]->tensor_if() : nullptr;
    dynamic_ |= slot >= 0 && !fixed;
    has_content_ |= slot >= 0 && !fixed && !is_plain(frame.graph().slot_value(slot).type);
    judged &= slot < 0 || frame.planned(slot).type != ElementType::kUndefined;
  }
  follows_rule_ &= !judged;
  inputs_ = inputs;
  outputs_ = outputs;
  if (frame.graph().parallel()) return;  // values die when their last reader is done, whichever that is
  for (int slot : step.dying) {
    if (!frame.has_fixed_place(slot)) dying_.push_back(slot);
  }
}

void StepContext::begin() {
  inferred_ = false;
  for (size_t i = 0; i < output_count_; ++i) {
    int slot = step_->outputs[i];
    if (slot >= 0 && !frame_.has_fixed_place(slot)) prepared_[i] = nullptr;
  }
  if (follows_rule_) infer_outputs();
}

void StepContext::infer_outputs() {
  if (inferred_) return;
  std::vector<ops::InferInput> inputs(input_count_);
  for (size_t i = 0; i < input_count_; ++i) {
    if (!has_input(i)) continue;
    inputs[i].present = true;
    inputs[i].type = type_of(*inputs_[i]);
    const Tensor* tensor = inputs_[i]->tensor_if();
    if (tensor == nullptr || !tensor->memory().on_cpu()) continue;
    bool is_released = tensor->raw() == nullptr && tensor->element_count() > 0;  // a kernel keeps it packed
    if (!is_released) inputs[i].value = tensor;
  }
  outputs_known_.assign(output_count_, {});
  for (size_t i = 0; i < output_count_; ++i) outputs_known_[i].wanted = outputs_[i] != nullptr;
  ops::InferContext context(*node_, inputs, outputs_known_);
  node_->schema->rule(context);
  inferred_ = true;
}

Tensor& StepContext::prepare_output(size_t i) {
  require(has_output(i), ErrorCode::kRuntimeException, "the kernel asks for output ", i, ", which the node lacks");
  const PlannedSlot& planned = frame_.planned(step_->outputs[i]);
  if (planned.type != ElementType::kUndefined) return make_output(i, planned.type, planned.shape);
  infer_outputs();
  const TypeInfo& type = outputs_known_[i].type;
  require(type.is_tensor() && type.element != ElementType::kUndefined && type.shape.fully_known(),
          ErrorCode::kInvalidArgument, "attributes and inputs do not determine output ", i, ": its type would be ",
          type, " of shape ", type.shape, "; check those that give a type, a size or a count");
  return make_output(i, type.element, type.shape.concrete());
}

Tensor& StepContext::allocate_output(size_t i, const Shape& shape) {
  require(has_output(i), ErrorCode::kRuntimeException, "the kernel asks for output ", i, ", which the node lacks");
  ElementType type = frame_.graph().slot_value(step_->outputs[i]).type.element;
  if (type == ElementType::kUndefined) {
    infer_outputs();
    type = outputs_known_[i].type.element;
  }
  return allocate_output(i, type, shape);
}

Tensor& StepContext::allocate_output(size_t i, ElementType type, const Shape& shape) {
  require(has_output(i), ErrorCode::kRuntimeException, "the kernel asks for output ", i, ", which the node lacks");
  if (Tensor* ready = prepared_[i]) {
    require(ready->type() == type && ready->shape() == shape, ErrorCode::kRuntimeException, "output ", i,
            " was planned as ", name_of(ready->type()), ready->shape(), ", but the kernel makes ", name_of(type),
            shape);
    return *ready;
  }
  return make_output(i, type, shape);
}

const Tensor* StepContext::reusable_input(ElementType type, const Shape& shape) const {
  if (step_->reuse != Reuse::kInPlace || type == ElementType::kString) return nullptr;
  for (size_t i = 0; i < 2 && i < input_count_; ++i) {
    const Tensor* input = inputs_[i] != nullptr ? inputs_[i]->tensor_if() : nullptr;
    if (input == nullptr || input->owner().use_count() != 1) continue;
    bool dies = std::ranges::find(dying_, step_->inputs[i]) != dying_.end();
    if (dies && input->type() == type && input->shape() == shape) return input;
  }
  return nullptr;
}

Tensor& StepContext::make_output(size_t i, ElementType type, const Shape& shape) {
  const PlannedSlot& planned = frame_.planned(step_->outputs[i]);
  require(planned.type == ElementType::kUndefined || (planned.type == type && planned.shape == shape),
          ErrorCode::kRuntimeException, "output ", i, " is ", name_of(planned.type), planned.shape,
          " by what the model says, but the kernel makes ", name_of(type), shape);
  size_t bytes = bytes_for(type, shape.element_count());
  require(bytes <= static_cast<size_t>(services_->max_tensor_bytes), ErrorCode::kFail, "output ", i, " of shape ",
          shape, " would take ", bytes, " bytes, more than the ", services_->max_tensor_bytes,
          " allowed for one tensor; raise the session entry 'ortolan.max_tensor_bytes'");
  if (const Tensor* bound = frame_.bound(step_->outputs[i])) {
    require(bound->type() == type && bound->shape() == shape, ErrorCode::kInvalidArgument, "output ", i, " is ",
            name_of(type), shape, ", but the value bound to it is ", name_of(bound->type()), bound->shape());
    *outputs_[i] = Tensor(type, shape, const_cast<void*>(bound->raw()), nullptr, bound->memory());
  } else if (const Tensor* input = reusable_input(type, shape)) {
    *outputs_[i] = Value(*input);
  } else {
    *outputs_[i] = new_tensor(step_->outputs[i], type, shape);
  }
  return *(prepared_[i] = outputs_[i]->tensor_if());
}

Tensor StepContext::new_tensor(int slot, ElementType type, const Shape& shape) const {
  const MemoryInfo* memory = frame_.graph().slot_value(slot).memory;
  if (memory == nullptr) return Tensor(type, shape, services_->allocator);
  return services_->devices->make(*memory, type, shape, services_->streams);
}

Stream* StepContext::stream() const {
  return services_->streams != nullptr ? services_->streams->of(step_->provider) : nullptr;
}

void* StepContext::scratch_bytes(size_t bytes) { return scratch_->take(bytes, services_->allocator); }

Frame::Frame(const CompiledGraph& graph, std::shared_ptr<const MemoryPlan> plan,
             const std::shared_ptr<Allocator>& allocator)
    : graph_(graph), plan_(std::move(plan)), slots_(graph.slot_count()) {
  for (const auto& [slot, value] : graph.constants()) slots_[slot] = value;
  if (plan_ != nullptr) place_planned_slots(allocator);
  make_contexts();
}

const PlannedSlot& Frame::planned(int slot) const {
  static const PlannedSlot* const kNothing = new PlannedSlot;
  return plan_ != nullptr ? plan_->slots[slot] : *kNothing;
}

void Frame::charge() {
  charge_ = base::MemoryCharge(block_.bytes());
  scratch_.charge();
}

void Frame::uncharge() {
  charge_ = base::MemoryCharge();
  scratch_.uncharge();
  lists_.clear();
  holds_lists_ = false;
}

void Frame::charge_list(int slot) {
  if (slots_[slot].kind() != ValueKind::kSequence) return;
  base::MemoryCharge charge(slots_[slot].sequence().size() * sizeof(Value));
  std::lock_guard lock(lists_mutex_);
  lists_.emplace_back(slot, std::move(charge));
  holds_lists_ = true;
}

void Frame::uncharge_lists(std::span<const int> slots) {
  std::lock_guard lock(lists_mutex_);
  std::erase_if(lists_, [&](const auto& list) { return std::ranges::find(slots, list.first) != slots.end(); });
  holds_lists_ = !lists_.empty();
}

void Frame::place_planned_slots(const std::shared_ptr<Allocator>& allocator) {
  charge_.add(plan_->block_bytes);
  block_ = RunBlock(allocator, plan_->block_bytes);
  for (int slot = 0; slot < graph_.slot_count(); ++slot) {
    const PlannedSlot& planned = plan_->slots[slot];
    if (planned.offset < 0) continue;
    slots_[slot] = Tensor(planned.type, planned.shape, block_.data() + planned.offset);
  }
}

void Frame::make_contexts() {
  size_t count = 0;
  for (const Step& step : graph_.steps()) count += step.inputs.size() + 2 * step.outputs.size();
  pointers_.resize(count);
  contexts_.reserve(graph_.steps().size());
  void** next = pointers_.data();
  for (const Step& step : graph_.steps()) {
    contexts_.emplace_back(*this, step, next);
    next += step.inputs.size() + 2 * step.outputs.size();
  }
}

void Frame::begin(const RunServices& services, std::span<const Value* const> inputs,
                  std::span<const Value* const> captured, std::span<const int> wanted, std::span<const Value> results) {
  services_ = services;
  terminate_ = base::run_scope().terminate;
  for (size_t i = 0; i < inputs.size(); ++i) slots_[graph_.input_slots()[i]] = *inputs[i];
  for (size_t i = 0; i < captured.size(); ++i) slots_[graph_.captures()[i].second] = *captured[i];
  place_outputs(wanted, results);
}

void Frame::place_outputs(std::span<const int> wanted, std::span<const Value> results) {
  bound_.clear();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (const Tensor* tensor = results[i].tensor_if()) bound_.emplace_back(graph_.output_slots()[wanted[i]], tensor);
  }
  if (bound_.size() >= kManyOutputs) std::ranges::stable_sort(bound_, {}, &Bound::first);
}

const Tensor* Frame::bound(int slot) const {
  auto found = bound_.size() < kManyOutputs ? std::ranges::find(bound_, slot, &Bound::first)
                                            : std::ranges::lower_bound(bound_, slot, {}, &Bound::first);
  return found != bound_.end() && found->first == slot ? found->second : nullptr;
}

void* ScratchArea::take(size_t bytes, const std::shared_ptr<Allocator>& allocator) {
  if (used_ == blocks_.size()) blocks_.emplace_back();
  RunBlock& block = blocks_[used_++];
  if (block.bytes() >= bytes) return block.data();
  const size_t before = block.bytes();
  charge_.add(bytes - before);
  { const RunBlock smaller = std::move(block); }
  bytes_ -= before;
  block = RunBlock(allocator, bytes);
  bytes_ += bytes;
  return block.data();
}

void Frame::collect(std::span<const int> wanted, std::span<Value> results, bool unshare) {
  for (int slot : graph_.input_slots()) {
    if (!graph_.is_output(slot)) slots_[slot] = Value();
  }
  for (const auto& [outer, slot] : graph_.captures()) {
    if (!graph_.is_output(slot)) slots_[slot] = Value();
  }
  InlinedVector<int, 16> wanted_slots;
  for (int output : wanted) wanted_slots.push_back(graph_.output_slots()[output]);
  std::unordered_map<int, size_t> last;
  const bool many = wanted.size() >= kManyOutputs;
  if (many) last = last_places({wanted_slots.data(), wanted_slots.size()});
  for (size_t i = 0; i < wanted.size(); ++i) {
    int slot = wanted_slots[i];
    bool again = many ? last.at(slot) != i
                      : std::find(wanted_slots.begin() + i + 1, wanted_slots.end(), slot) != wanted_slots.end();
    collect_one(slot, again, results[i], unshare);
  }
  for (int slot : graph_.output_slots()) slots_[slot] = Value();
  for (const auto& [slot, value] : graph_.constants()) {
    if (graph_.is_output(slot)) slots_[slot] = value;
  }
}

void Frame::collect_one(int slot, bool again, Value& result, bool unshare) {
  const Tensor* bound = result.tensor_if();
  if (bound == nullptr) {
    Value value = slots_[slot];
    if (!again) slots_[slot] = Value();
    result = unshared(std::move(value), unshare, services_);
    return;
  }
  const Tensor& made = slots_[slot].tensor();
  if (made.raw() == bound->raw()) return;
  require(made.type() == bound->type() && made.shape() == bound->shape(), ErrorCode::kInvalidArgument, "output '",
          graph_.slot_value(slot).name, "' is ", name_of(made.type()), made.shape(), ", but the value given for it is ",
          name_of(bound->type()), bound->shape());
  if (made.memory().on_cpu() && bound->memory().on_cpu()) return copy_elements(made, result.tensor());
  services_.devices->copy(made, result.tensor(), services_.streams);
}

}  // namespace ortolan::runtime
