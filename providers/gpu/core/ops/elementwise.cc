// Elementwise operators in float: a row of kernels/elementwise_rows.k each, and those that are several steps.
#include "gpu/core/elementwise.h"

#include <cmath>
#include <optional>

#include "gpu/core/operators.h"

namespace ortolan::gpu {
namespace {

std::string refuse_floats(const Candidate& candidate) {
  for (size_t i = 0; i < candidate.node().inputs.size(); i++) {
    if (!candidate.has(i)) continue;
    std::string refusal = refuse_unless(candidate, i, {ElementType::kFloat, ElementType::kFloat16});
    if (!refusal.empty()) return refusal;
  }
  return "";
}

std::string refuse_truths(const Candidate& candidate) {
  for (size_t i = 0; i < candidate.node().inputs.size(); i++) {
    std::string refusal = refuse_unless(candidate, i, {ElementType::kBool});
    if (!refusal.empty()) return refusal;
  }
  return "";
}

bool combines_truths(const Node& node) {
  return node.op == "And" || node.op == "Or" || node.op == "Xor" || node.op == "Not";
}

/** Before opset 7 an attribute says which axes broadcast. */
std::string refuse_old_broadcast(const Candidate& candidate) {
  const Node& node = candidate.node();
  if (node.since_version >= 7 || (node.integer("broadcast", 0) == 0 && node.op != "PRelu")) return "";
  return "opset " + std::to_string(node.since_version) +
         " broadcasts by attributes; convert the model to opset 7 or later";
}

std::string refuse_many_axes(const Candidate& candidate) {
  for (size_t i = 0; i < candidate.node().inputs.size(); i++) {
    if (candidate.has(i) && candidate.rank(i) > kMostElementwiseAxes) {
      return "input " + std::to_string(i) + " has " + std::to_string(candidate.rank(i)) + " axes; broadcasts of " +
             std::to_string(kMostElementwiseAxes) + " are supported";
    }
  }
  return "";
}

std::string first_of(std::initializer_list<std::string> refusals) {
  for (const std::string& refusal : refusals) {
    if (!refusal.empty()) return refusal;
  }
  return "";
}

std::string refuse_unary(const Candidate& candidate) {
  return combines_truths(candidate.node()) ? refuse_truths(candidate) : refuse_floats(candidate);
}

std::string refuse_binary(const Candidate& candidate) {
  return first_of({refuse_unary(candidate), refuse_old_broadcast(candidate), refuse_many_axes(candidate)});
}

ElementwiseOperand operand(Lowering& l, size_t i) { return {l.input(i), l.type(i), l.shape(i)}; }

std::vector<ElementwiseOperand> operands_from(Lowering& l, std::initializer_list<size_t> inputs) {
  std::vector<ElementwiseOperand> operands;
  for (size_t i : inputs) operands.push_back(operand(l, i));
  return operands;
}

/** The chain over these operands is output 0. */
void lower_to_output(Lowering& l, const std::vector<ElementwiseOperand>& operands,
                     const std::vector<ElementwiseStep>& steps, ElementType type) {
  std::vector<Shape> shapes;
  for (const ElementwiseOperand& operand : operands) shapes.push_back(operand.shape);
  Shape shape = broadcast_shape(l, shapes);
  lower_elementwise(l, operands, steps, {l.output(0, type, shape), type, shape});
}

/** A step of input 0 alone. */
void lower_step(Lowering& l, const ElementwiseStep& step) {
  lower_to_output(l, operands_from(l, {0}), {step}, l.type(0));
}

void lower_unary(Lowering& l) {
  const ElementwiseRow& row = elementwise_row(l.node().op);
  float p = l.node().number(row.first, row.first_default), q = l.node().number(row.second, row.second_default);
  lower_to_output(l, operands_from(l, {0}), {{row.name, 0, false, p, q}},
                  row.gives_truth() ? ElementType::kBool : l.type(0));
}

/** Joins the inputs by a binary row, as many in one launch as it takes; `last` comes after all of them. */
void lower_join(Lowering& l, std::string_view row, const std::vector<ElementwiseStep>& last) {
  std::vector<ElementwiseOperand> operands = operands_from(l, {0});
  std::vector<ElementwiseStep> steps;
  for (size_t i = 1; i < l.node().inputs.size(); i++) {
    if (operands.size() == kMostElementwiseOperands) {
      std::vector<Shape> shapes;
      for (const ElementwiseOperand& operand : operands) shapes.push_back(operand.shape);
      ElementwiseOperand part{{}, ElementType::kFloat, broadcast_shape(l, shapes)};
      part.memory = l.scratch(static_cast<size_t>(element_count(part.shape)) * sizeof(float));
      lower_elementwise(l, operands, steps, part);
      operands = {part};
      steps.clear();
    }
    steps.push_back({row, static_cast<int>(operands.size())});
    operands.push_back(operand(l, i));
  }
  steps.insert(steps.end(), last.begin(), last.end());
  bool truth = elementwise_row(row).gives_truth();
  lower_to_output(l, operands, steps, truth ? ElementType::kBool : l.type(0));
}

void lower_binary(Lowering& l) { lower_join(l, l.node().op, {}); }
void lower_sum(Lowering& l) { lower_join(l, "Add", {}); }
void lower_mean(Lowering& l) {
  lower_join(l, "Add", {{"Scale", 0, false, 1.0f / static_cast<float>(l.node().inputs.size()), 0}});
}

/** The bound that input i is; nothing where it is not known before the run. */
std::optional<float> known_bound(const Lowering& l, size_t i, float fallback) {
  if (!l.has(i)) return fallback;
  if (l.count(i) != 1) l.fail("a bound has " + std::to_string(l.count(i)) + " elements; it has one");
  if (l.host(i) == nullptr) return {};
  return l.floats(i)[0];
}

// The bounds are attributes before opset 11, then inputs of one element.
void lower_clip(Lowering& l) {
  if (l.node().since_version < 11) {
    return lower_step(l, {"Clamp", 0, false, l.node().number("min", -INFINITY), l.node().number("max", INFINITY)});
  }
  std::optional<float> low = known_bound(l, 1, -INFINITY), high = known_bound(l, 2, INFINITY);
  if (low && high) return lower_step(l, {"Clamp", 0, false, *low, *high});
  std::vector<ElementwiseOperand> operands = operands_from(l, {0});
  std::vector<ElementwiseStep> steps;
  for (size_t i : {1, 2}) {
    if (!l.has(i)) continue;
    steps.push_back({i == 1 ? "Max" : "Min", static_cast<int>(operands.size())});
    operands.push_back({l.input(i), l.type(i), {}});
  }
  lower_to_output(l, operands, steps, l.type(0));
}

std::string_view gelu_row(const Node& node) { return node.text("approximate", "none") == "tanh" ? "GeluTanh" : "Gelu"; }

void lower_gelu(Lowering& l) { lower_step(l, {gelu_row(l.node())}); }

void lower_quick_gelu(Lowering& l) { lower_step(l, {"Swish", 0, false, l.node().number("alpha", 1.702f), 0}); }

/** Input 1 is a bias that may be missing. */
void lower_biased(Lowering& l, std::string_view row) {
  if (!l.has(1)) return lower_step(l, {row});
  lower_to_output(l, operands_from(l, {0, 1}), {{"Add", 1}, {row}}, l.type(0));
}

void lower_bias_gelu(Lowering& l) { lower_biased(l, "Gelu"); }
void lower_fast_gelu(Lowering& l) { lower_biased(l, "GeluTanh"); }

std::string refuse_mod(const Candidate& candidate) {
  if (candidate.node().integer("fmod", 0) == 0) return "floats are divided with fmod = 0, which is for integers";
  return refuse_binary(candidate);
}

void lower_mod(Lowering& l) { lower_join(l, "Remainder", {}); }

std::string refuse_pow(const Candidate& candidate) {
  return first_of(
      {refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kFloat16}),
       is_float(candidate.type(1)) || is_integer(candidate.type(1)) ? "" : "the exponents are no floats or integers",
       refuse_old_broadcast(candidate), refuse_many_axes(candidate)});
}

/** The exponent where it is one number that is known. */
std::optional<float> known_exponent(const Lowering& l) {
  if (l.host(1) == nullptr || l.count(1) != 1 || l.shape(1).size() > l.shape(0).size()) return {};
  return l.floats(1)[0];
}

void lower_pow(Lowering& l) {
  std::optional<float> exponent = known_exponent(l);
  if (exponent == 2.0f) return lower_step(l, {"Mul"});
  if (exponent == 0.5f) return lower_step(l, {"Sqrt"});
  if (exponent == -1.0f) return lower_step(l, {"Reciprocal"});
  lower_join(l, "Pow", {});
}

void lower_is_inf(Lowering& l) {
  float negative = static_cast<float>(l.node().integer("detect_negative", 1));
  float positive = static_cast<float>(l.node().integer("detect_positive", 1));
  lower_to_output(l, operands_from(l, {0}), {{"IsInf", 0, false, negative, positive}}, ElementType::kBool);
}

#define K_UNARY(number, name, value) {"", #name, 1, kNewest, refuse_unary, lower_unary},
#define K_UNARY_P(number, name, first, first_default, second, second_default, value) K_UNARY(number, name, value)
#define K_TEST(number, name, value) K_UNARY(number, name, value)
#define K_BINARY(number, name, value) {"", #name, 1, kNewest, refuse_binary, lower_binary},
#define K_COMPARE(number, name, value) K_BINARY(number, name, value)
#define K_STEP(number, name, value)

constexpr Operator kRows[] = {
    {"", "Sum", 1, kNewest, refuse_binary, lower_sum},
    {"", "Mean", 1, kNewest, refuse_binary, lower_mean},
    {"", "Clip", 1, kNewest, refuse_floats, lower_clip},
    {"", "Gelu", 1, kNewest, refuse_floats, lower_gelu},
    {"", "Mod", 1, kNewest, refuse_mod, lower_mod},
    {"", "Pow", 1, kNewest, refuse_pow, lower_pow},
    {"", "IsInf", 1, kNewest, refuse_floats, lower_is_inf},
    {"com.microsoft", "Gelu", 1, kNewest, refuse_floats, lower_gelu},
    {"com.microsoft", "FastGelu", 1, kNewest, refuse_binary, lower_fast_gelu},
    {"com.microsoft", "BiasGelu", 1, kNewest, refuse_binary, lower_bias_gelu},
    {"com.microsoft", "QuickGelu", 1, kNewest, refuse_floats, lower_quick_gelu},
#include "gpu/kernels/elementwise_rows.k"
};

}  // namespace

std::span<const Operator> elementwise_operators() { return kRows; }

}  // namespace ortolan::gpu
