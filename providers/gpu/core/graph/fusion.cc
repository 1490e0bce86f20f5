// Chains that grow node by node.
#include "gpu/core/graph/fusion.h"

#include <algorithm>

#include "gpu/core/elements/moves.h"
#include "gpu/core/host/host_operators.h"

namespace ortolan::gpu {
namespace {

bool is_ternary(const ElementwiseStep& step) { return step.row == "Where"; }

bool gives_truth(const Chain& chain) {
  if (chain.steps.empty()) return false;
  const ElementwiseRow* row = find_elementwise_row(chain.steps.back().row, false);
  return row != nullptr && row->gives_truth();
}

/** Whether steps that follow see the same value in memory as before it is stored, but for rounding to float16. */
bool keeps_value(const Chain& chain) {
  if (is_float(chain.arithmetic) && is_float(chain.type)) return true;
  return chain.type == chain.arithmetic || (chain.type == ElementType::kBool && gives_truth(chain));
}

/** Makes the chain one of another view of the same elements. */
bool view_as(Chain& chain, const Shape& shape) {
  if (chain.shape == shape) return true;
  int64_t count = element_count(shape);
  if (count == 0 || count != element_count(chain.shape)) return false;
  for (ElementwiseOperand& operand : chain.operands) {
    int64_t own = element_count(operand.shape);
    if (own != count && own != 1) return false;
    operand.shape = own == count ? shape : Shape();
  }
  chain.shape = shape;
  return true;
}

/** The place of an operand in the chain, where it is added unless it is there. */
int place_operand(Chain& chain, const ElementwiseOperand& operand) {
  for (size_t i = 1; i < chain.operands.size(); i++) {
    const ElementwiseOperand& there = chain.operands[i];
    if (there.memory.block == operand.memory.block && there.type == operand.type && there.shape == operand.shape)
      return static_cast<int>(i);
  }
  chain.operands.push_back(operand);
  return static_cast<int>(chain.operands.size()) - 1;
}

/** Whether operand k is the first step's alone, so that it can change places with operand 0. */
bool can_begin(const Chain& chain, size_t k) {
  for (size_t i = 0; i < chain.steps.size(); i++) {
    const ElementwiseStep& step = chain.steps[i];
    bool uses = !step.number && step.operand == static_cast<int>(k);
    if (is_ternary(step) || uses != (i == 0)) return false;
  }
  return !chain.steps.empty();
}

/** Exchanges operands 0 and k, which can begin. */
void begin_with(Chain& chain, size_t k) {
  std::swap(chain.operands[0], chain.operands[k]);
  chain.steps[0].turned = !chain.steps[0].turned;
}

/** The steps of `next`, whose operand 0 is the result of `first`, behind it; nothing where they do not fit together. */
std::optional<Chain> joined(const Chain& first, const Chain& next) {
  Chain result = first;
  if (!view_as(result, next.shape)) return {};
  result.type = next.type;
  std::vector<int> places(1, 0);
  for (size_t i = 1; i < next.operands.size(); i++) places.push_back(place_operand(result, next.operands[i]));
  for (ElementwiseStep step : next.steps) {
    if (is_ternary(step) && places[step.operand + 1] != places[step.operand] + 1) return {};
    step.operand = places[step.operand];
    result.steps.push_back(step);
  }
  return result;
}

/** The operand whose value the node takes over: one that is open, for this node alone, of values that it can go on
 * with. -1: none. What kernels other than elementwise ones make comes first. */
int operand_to_join(Lowering& l, const Chain& chain) {
  int found = -1;
  for (size_t k = 0; k < chain.operands.size(); k++) {
    const ElementwiseOperand& operand = chain.operands[k];
    const OpenValue* value = operand.input < 0 ? nullptr : l.open_input(static_cast<size_t>(operand.input));
    if (value == nullptr || value->layout || value->readers != 1 || (k > 0 && !can_begin(chain, k))) continue;
    if (value->chain.arithmetic != chain.arithmetic || !keeps_value(value->chain)) continue;
    bool is_head = value->chain.operands[0].memory.block < 0;
    if (found < 0 || is_head) found = static_cast<int>(k);
  }
  return found;
}

/** Adds the chain to that of the open value which is its operand k; says whether that was done. */
bool join(Lowering& l, Chain chain, int k, size_t output) {
  if (k > 0) begin_with(chain, static_cast<size_t>(k));
  const OpenValue& value = *l.open_input(static_cast<size_t>(chain.operands[0].input));
  std::optional<Chain> whole = joined(value.chain, chain);
  if (!whole || !value.head.takes(*whole)) return false;
  l.open(output, {value.head, value.lowering, std::move(*whole), 0});
  return true;
}

/** The number that an operand is for floats; nothing where it is a tensor or not known. */
std::optional<float> known_number(const Lowering& l, const ElementwiseOperand& operand) {
  if (operand.input < 0 || !is_float(operand.type) || element_count(operand.shape) != 1) return {};
  const HostTensor* host = l.host(static_cast<size_t>(operand.input));
  if (host == nullptr) return {};
  return host->floats()[0];
}

/** Whether the step can have a number in the place of an operand, if it has that at all. */
bool takes_number(const ElementwiseStep& step, int operand) {
  if (step.number) return true;
  if (is_ternary(step)) return step.operand != operand && step.operand + 1 != operand;
  return step.operand != operand || (step.p == 0 && step.q == 0);
}

void remove_operand(Chain& chain, int k, float number) {
  chain.operands.erase(chain.operands.begin() + k);
  for (ElementwiseStep& step : chain.steps) {
    if (step.number) continue;
    if (step.operand == k) {
      step.operand = 0;
      step.number = true;
      step.p = number;
    } else if (step.operand > k) {
      step.operand--;
    }
  }
}

/** Operands that are known numbers become numbers of the steps. */
void take_numbers(const Lowering& l, Chain& chain) {
  if (chain.arithmetic != ElementType::kFloat) return;
  if (chain.operands.size() > 1 && known_number(l, chain.operands[0]) && can_begin(chain, 1)) begin_with(chain, 1);
  for (int k = static_cast<int>(chain.operands.size()) - 1; k > 0; k--) {
    std::optional<float> number = known_number(l, chain.operands[k]);
    auto takes = [k](const ElementwiseStep& step) { return takes_number(step, k); };
    if (number && std::all_of(chain.steps.begin(), chain.steps.end(), takes)) remove_operand(chain, k, *number);
  }
}

}  // namespace

Memory OpenValue::store() {
  if (!memory) {
    memory = lowering.scratch(static_cast<size_t>(element_count(chain.shape)) * element_bytes(chain.type));
    memory->bytes = static_cast<size_t>(element_count(chain.shape)) * element_bytes(chain.type);
    Recording& recording = lowering.recording();
    int node = recording.node();
    recording.at_node(lowering.number());
    head.launch(lowering, chain, *memory);
    recording.at_node(node);
  }
  return *memory;
}

void open_output(Lowering& l, size_t i, const Shape& shape, Head head) {
  for (size_t input = 0; input < l.node().inputs.size(); input++) {
    if (l.has(input) && !layout_of(l, input)) l.store_input(input);
  }
  ElementType type = l.type(0);
  l.open(i, {std::move(head), l, Chain{{{{}, type, shape}}, {}, ElementType::kFloat, type, shape}, 0});
}

void open_layout(Lowering& l, size_t output, const Shape& shape, Layout layout) {
  ElementType type = l.type(0);
  auto takes = [](const Chain&) { return false; };
  auto launch = [layout](Lowering& l, const Chain& chain, Memory result) {
    StridedCopy copy{chain.shape, layout.strides, strides_of(chain.shape), layout.first, 0};
    copy_strided(l, layout.memory, result, element_bytes(chain.type), std::move(copy));
  };
  Chain chain{{{{}, type, shape}}, {}, ElementType::kFloat, type, shape};
  l.open(output, {{takes, launch}, l, std::move(chain), 0, {}, std::move(layout)});
}

std::optional<Layout> layout_of(Lowering& l, size_t input) {
  const OpenValue* value = l.open_input(input);
  if (value == nullptr || !value->layout) return {};
  std::optional<std::vector<int64_t>> strides = strides_as(value->chain.shape, value->layout->strides, l.shape(input));
  if (!strides) return {};
  return Layout{value->layout->memory, std::move(*strides), value->layout->first};
}

ElementwiseOperand elementwise_operand(const Lowering& l, size_t input) {
  return {{}, l.type(input), l.shape(input), static_cast<int>(input)};
}

void store_operands(Lowering& l, std::vector<ElementwiseOperand>& operands, int but) {
  for (int i = 0; i < static_cast<int>(operands.size()); i++) {
    if (operands[i].input < 0 || i == but) continue;
    operands[i].memory = l.input(static_cast<size_t>(operands[i].input));
    operands[i].input = -1;
  }
}

void lower_elementwise_output(Lowering& l, const std::vector<ElementwiseOperand>& operands,
                              const std::vector<ElementwiseStep>& steps, ElementType type, ElementType arithmetic,
                              size_t output) {
  Chain chain{operands, steps, arithmetic, type, broadcast_shape(l, operands)};
  take_numbers(l, chain);
  int k = operand_to_join(l, chain);
  store_operands(l, chain.operands, k);
  if (k >= 0 && join(l, chain, k, output)) return;
  store_operands(l, chain.operands);
  l.open(output, {{is_one_launch, lower_chain}, l, std::move(chain), 0});
}

std::vector<int> count_readers(const Graph& graph) {
  std::vector<int> readers(graph.values.size());
  auto count = [&](const Node& node) {
    for (int input : node.inputs) {
      if (input != kMissing && !reads_shapes_alone(node)) readers[input]++;
    }
  };
  for (const Node& node : graph.nodes) {
    if (node.parts.empty()) count(node);
    for (const Node& part : node.parts) count(part);
  }
  for (int output : graph.outputs) readers[output]++;
  return readers;
}

}  // namespace ortolan::gpu
