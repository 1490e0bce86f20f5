// Batches in parts: which operators allow it, by what each makes of the first dimension, and where it gains.
#include "runtime/execution/batch_parts.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "runtime/execution/compiled_graph.h"

namespace ortolan::runtime {
namespace {

constexpr size_t kRank = 4;
constexpr const char* kCpuProvider = "CPUExecutionProvider";

/** An operator whose inputs with a bit are items, or constants that all items share; its other inputs are constants. */
struct ItemOperator {
  std::string_view name;
  uint32_t inputs;
};

constexpr uint32_t kFirst = 1, kFirstTwo = 3, kAll = UINT32_MAX;

// The fourth input of Conv is an addend; of QLinearAdd the other operand.
constexpr ItemOperator kOperators[] = {
    {"Abs", kFirst},
    {"Activation", kFirst},
    {"Add", kFirstTwo},
    {"AveragePool", kFirst},
    {"BatchNormalization", kFirst},
    {"Cast", kFirst},
    {"Clip", kFirst},
    {"Concat", kAll},
    {"Conv", kFirst | 1 << 3},
    {"DequantizeLinear", kFirst},
    {"Div", kFirstTwo},
    {"ElementwiseChain", kAll},
    {"Elu", kFirst},
    {"Exp", kFirst},
    {"Gelu", kFirst},
    {"GlobalAveragePool", kFirst},
    {"GlobalMaxPool", kFirst},
    {"HardSigmoid", kFirst},
    {"HardSwish", kFirst},
    {"Identity", kFirst},
    {"InstanceNormalization", kFirst},
    {"LRN", kFirst},
    {"LeakyRelu", kFirst},
    {"Max", kAll},
    {"MaxPool", kFirst},
    {"Min", kAll},
    {"Mish", kFirst},
    {"Mul", kFirstTwo},
    {"Neg", kFirst},
    {"PRelu", kFirstTwo},
    {"PointwiseDepthwiseConv", kFirst},
    {"Pow", kFirstTwo},
    {"QLinearAdd", kFirst | 1 << 3},
    {"QLinearConv", kFirst},
    {"QuantizeLinear", kFirst},
    {"QuickGelu", kFirst},
    {"Relu", kFirst},
    {"Resize", kFirst},
    {"Sigmoid", kFirst},
    {"Softplus", kFirst},
    {"Split", kFirst},
    {"Sqrt", kFirst},
    {"Sub", kFirstTwo},
    {"Sum", kAll},
    {"Tanh", kFirst},
    {"Transpose", kFirst},
};

static_assert(std::ranges::is_sorted(kOperators, {}, &ItemOperator::name));

const ItemOperator* find_operator(const Node& node) {
  if (node.domain != "" && node.domain != "ortolan" && node.domain != "com.microsoft") return nullptr;
  const std::string_view name = node.op_type;
  const auto* found = std::ranges::lower_bound(kOperators, name, {}, &ItemOperator::name);
  return found != std::end(kOperators) && found->name == name ? found : nullptr;
}

bool has_items(const ValueInfo& value) {
  const TypeInfo& type = value.type;
  const bool is_plain = type.is_tensor() && type.element != ElementType::kUndefined &&
                        type.element != ElementType::kString && bits_of(type.element) >= 8;
  return is_plain && type.shape.has_rank() && type.shape.rank() == kRank;
}

/** Whether the constant is the same for every item. */
bool is_shared(const Tensor& constant) { return constant.rank() < kRank || constant.shape()[0] == 1; }

bool is_batch_axis(int64_t axis) { return axis % static_cast<int64_t>(kRank) == 0; }

/** Whether the scales of a Resize leave the batch as it is. */
bool resizes_items(const Node& node) {
  const Tensor* scales = node.input(2) != nullptr ? node.input(2)->stored_constant() : nullptr;
  if (node.has_attribute("axes") || node.input(3) != nullptr || scales == nullptr || scales->raw() == nullptr)
    return false;
  if (scales->type() != ElementType::kFloat || scales->element_count() != static_cast<int64_t>(kRank)) return false;
  float first;
  std::memcpy(&first, scales->raw(), sizeof first);
  return first == 1;
}

/** Whether the attributes of the operator keep items apart. */
bool keeps_apart(const Node& node) {
  const std::string& name = node.op_type;
  if (name == "Concat") return !is_batch_axis(node.int_or("axis", 1));  // as opset 1 has it
  if (name == "Split") return !is_batch_axis(node.int_or("axis", 0));
  if (name == "Transpose") return !node.ints("perm").empty() && node.ints("perm")[0] == 0;
  if (name == "Resize") return resizes_items(node);
  if (name == "BatchNormalization") return node.int_or("training_mode", 0) == 0;
  if (name == "QuantizeLinear" || name == "DequantizeLinear") return !is_batch_axis(node.int_or("axis", 1));
  return true;
}

/** Slots whose values have a place for each item, as far as the steps so far make them. */
class ItemSlots {
 public:
  explicit ItemSlots(const CompiledGraph& graph) : graph_(graph), holds_(graph.slot_count()) {
    for (int slot : graph.input_slots()) holds_[slot] = has_items(graph.slot_value(slot));
  }

  /** Whether the step keeps items apart; then its outputs have them too. */
  bool take(const Step& step) {
    const Node& node = *step.node;
    const ItemOperator* op = find_operator(node);
    if (op == nullptr || node.provider != kCpuProvider || !step.captured.empty() || !keeps_apart(node)) return false;
    bool has_any = false;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const bool may_be_items = (op->inputs >> std::min<size_t>(i, 31) & 1) != 0;
      if (!fits(step.inputs[i], may_be_items)) return false;
      has_any = has_any || (step.inputs[i] >= 0 && holds_[step.inputs[i]]);
    }
    const bool first = !step.inputs.empty() && step.inputs[0] >= 0 && holds_[step.inputs[0]];
    const bool several = node.op_type == "Split";
    if (!has_any || ((op->inputs & 2) == 0 && !first) || (!several && step.outputs.size() != 1)) return false;
    for (int slot : step.outputs) {
      if (slot >= 0 && !has_items(graph_.slot_value(slot))) return false;
    }
    for (int slot : step.outputs) {
      if (slot >= 0) holds_[slot] = true;
    }
    return true;
  }

 private:
  bool fits(int slot, bool may_be_items) const {
    if (slot < 0) return true;
    if (holds_[slot]) return may_be_items;
    const Tensor* constant = graph_.slot_value(slot).stored_constant();
    return constant != nullptr && (!may_be_items || is_shared(*constant));
  }

  const CompiledGraph& graph_;
  std::vector<bool> holds_;
};

/** What a step reads and writes, of the batch and of constants, and how often it multiplies. */
struct StepWork {
  double items = 0, constants = 0, multiplications = 0;
};

int64_t elements_of(const PlannedSlot& slot) { return slot.shape.element_count(); }

double bytes_of(const PlannedSlot& slot) { return static_cast<double>(bytes_for(slot.type, elements_of(slot))); }

/** Multiplications for each element of the result: those of a filter, or one. */
double multiplications_each(const CompiledGraph& graph, const Step& step) {
  const std::string& name = step.node->op_type;
  const size_t weights = name == "QLinearConv" ? 3 : name == "PointwiseDepthwiseConv" ? 2 : 1;
  const bool is_conv = weights > 1 || name == "Conv";
  const bool has_filters = is_conv && step.inputs.size() > weights && step.inputs[weights] >= 0;
  const Tensor* filters = has_filters ? graph.slot_value(step.inputs[weights]).stored_constant() : nullptr;
  if (filters == nullptr || filters->element_count() == 0) return 1;
  return static_cast<double>(filters->element_count() / filters->shape()[0]);
}

/** Nothing where the plan does not know its results to have the batch. */
std::optional<StepWork> work_of(const CompiledGraph& graph, const MemoryPlan& plan, const Step& step, int64_t batch) {
  StepWork work;
  for (int slot : step.inputs) {
    if (slot < 0) continue;
    const Tensor* constant = graph.slot_value(slot).stored_constant();
    if (constant != nullptr) work.constants += static_cast<double>(constant->byte_count());
    if (constant == nullptr && plan.slots[slot].type != ElementType::kUndefined)
      work.items += bytes_of(plan.slots[slot]);
  }
  for (int slot : step.outputs) {
    if (slot < 0) continue;
    const PlannedSlot& planned = plan.slots[slot];
    if (planned.type == ElementType::kUndefined || planned.shape[0] != batch) return std::nullopt;
    work.items += bytes_of(planned);
    work.multiplications += static_cast<double>(elements_of(planned)) * multiplications_each(graph, step);
  }
  return work;
}

constexpr double kFarByteNs = 0.13, kNearByteNs = 0.04, kMultiplyNs = 0.012, kMeetingNs = 5000, kUneven = 0.1,
                 kWorthwhile = 0.1;

/** What values of the whole batch cost more than those of a part, in nanoseconds: they come from far, which
   multiplications hide in part. */
double far_ns(const StepWork& work, const BatchMachine& machine) {
  if (work.items < 2 * static_cast<double>(machine.cache_bytes)) return 0;
  const double memory = kFarByteNs * work.items, arithmetic = kMultiplyNs * work.multiplications;
  return memory * memory / (memory + arithmetic) / machine.threads;
}

double whole_ns(const StepWork& work, const BatchMachine& machine) {
  return (kFarByteNs * work.items + kMultiplyNs * work.multiplications) / machine.threads;
}

/** What parts cost more than the whole: constants are read again, threads meet more often and share less evenly. */
double parts_ns(const StepWork& work, int64_t parts, const BatchMachine& machine) {
  const double again = static_cast<double>(parts - 1) * kNearByteNs * work.constants / machine.threads;
  if (machine.threads == 1) return again;
  const double uneven = kUneven * kMultiplyNs * work.multiplications / machine.threads;
  return again + static_cast<double>(parts - 1) * kMeetingNs + uneven;
}

/** The batch that all these inputs have; 0 where they differ. */
int64_t batch_of(const MemoryPlan& plan, const std::vector<size_t>& inputs) {
  int64_t batch = 0;
  for (size_t input : inputs) {
    const Shape& shape = plan.key[input];
    if (shape.rank() != kRank || (batch != 0 && shape[0] != batch)) return 0;
    batch = shape[0];
  }
  return batch;
}

}  // namespace

ItemSteps item_steps(const CompiledGraph& graph) {
  ItemSteps result;
  ItemSlots slots(graph);
  const auto& steps = graph.steps();
  while (result.count < steps.size() && slots.take(steps[result.count])) ++result.count;
  std::vector<bool> is_read(graph.slot_count());
  for (size_t i = 0; i < result.count; ++i) {
    for (int slot : steps[i].inputs) {
      if (slot >= 0) is_read[slot] = true;
    }
  }
  for (size_t i = 0; i < graph.input_slots().size(); ++i) {
    if (is_read[graph.input_slots()[i]]) result.inputs.push_back(i);
  }
  return result;
}

BatchParts part_batch(const CompiledGraph& graph, const ItemSteps& steps, const MemoryPlan& plan,
                      const BatchMachine& machine) {
  const int64_t batch = steps.count == 0 ? 0 : batch_of(plan, steps.inputs);
  if (batch < 2) return {};
  BatchParts best;
  double gained = 0, most = 0, spent = 0;
  int64_t widest = 1;  // of an item
  for (size_t i = 0; i < steps.count; ++i) {
    const auto work = work_of(graph, plan, graph.steps()[i], batch);
    if (!work) break;
    widest = std::max(widest, static_cast<int64_t>(work->items) / batch);
    const int64_t items = std::clamp<int64_t>(machine.cache_bytes / widest, 1, batch);
    const int64_t parts = (batch + items - 1) / items;
    gained += far_ns(*work, machine) - parts_ns(*work, parts, machine);
    spent += whole_ns(*work, machine);
    if (parts == 1 || gained <= most || gained < kWorthwhile * spent) continue;
    most = gained;
    best = {i + 1, (batch + parts - 1) / parts, batch};
  }
  return best;
}

std::vector<StepOutput> values_beyond(const CompiledGraph& graph, size_t steps) {
  std::vector<bool> dead(graph.slot_count());
  for (size_t i = 0; i < steps; ++i) {
    for (int slot : graph.steps()[i].dying) dead[slot] = true;
  }
  std::vector<StepOutput> values;
  for (size_t i = 0; i < steps; ++i) {
    const std::vector<int>& outputs = graph.steps()[i].outputs;
    for (size_t o = 0; o < outputs.size(); ++o) {
      if (outputs[o] >= 0 && !dead[outputs[o]]) values.emplace_back(i, o);
    }
  }
  return values;
}

}  // namespace ortolan::runtime
