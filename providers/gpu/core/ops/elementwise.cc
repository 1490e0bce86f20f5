// Elementwise operators in float: a row of kernels/elementwise_rows.k each, and those that are several steps.
#include "gpu/core/graph/fusion.h"

#include <cmath>
#include <optional>

#include "gpu/core/operators.h"

namespace ortolan::gpu {
namespace {

bool combines_truths(const Node& node) {
  return node.op == "And" || node.op == "Or" || node.op == "Xor" || node.op == "Not";
}

std::string refuse_floats(const Candidate& candidate, size_t i) {
  return refuse_unless(candidate, i, {ElementType::kFloat, ElementType::kFloat16});
}

/** By the rows that there are of the operator. */
std::string refuse_type(const Candidate& candidate, size_t i) {
  std::string_view name = candidate.node().op;
  ElementType type = candidate.type(i);
  if (combines_truths(candidate.node())) return refuse_unless(candidate, i, {ElementType::kBool});
  if (name == "Equal" && type == ElementType::kBool) return "";
  if (is_whole(type) && find_elementwise_row(name, true) != nullptr) {
    return refuse_long_integers(candidate, type);
  }
  if (find_elementwise_row(name, false) != nullptr) return refuse_floats(candidate, i);
  return std::string("input ") + std::to_string(i) + " is " + type_name(type) + "; integers are supported";
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
  for (size_t i = 0; i < candidate.node().inputs.size(); i++) {
    std::string refusal = candidate.has(i) ? refuse_type(candidate, i) : "";
    if (!refusal.empty()) return refusal;
  }
  return "";
}

/** For operators that are several steps. */
std::string refuse_floats(const Candidate& candidate) {
  for (size_t i = 0; i < candidate.node().inputs.size(); i++) {
    std::string refusal = candidate.has(i) ? refuse_floats(candidate, i) : "";
    if (!refusal.empty()) return refusal;
  }
  return "";
}

std::string refuse_many_floats(const Candidate& candidate) {
  return first_of({refuse_floats(candidate), refuse_old_broadcast(candidate), refuse_many_axes(candidate)});
}

std::string refuse_clip(const Candidate& candidate) {
  ElementType type = candidate.type(0);
  return is_whole(type) ? refuse_long_integers(candidate, type) : refuse_floats(candidate);
}

std::string refuse_binary(const Candidate& candidate) {
  return first_of({refuse_unary(candidate), refuse_old_broadcast(candidate), refuse_many_axes(candidate)});
}

std::vector<ElementwiseOperand> operands_from(Lowering& l, std::initializer_list<size_t> inputs) {
  std::vector<ElementwiseOperand> operands;
  for (size_t i : inputs) operands.push_back(elementwise_operand(l, i));
  return operands;
}

/** What the node computes in. */
ElementType arithmetic_of(const Lowering& l) { return is_whole(l.type(0)) ? l.type(0) : ElementType::kFloat; }

ElementType result_type(const Lowering& l, std::string_view row) {
  const ElementwiseRow* found = find_elementwise_row(row, false);
  return found != nullptr && found->gives_truth() ? ElementType::kBool : l.type(0);
}

/** A step of input 0 alone. */
void lower_step(Lowering& l, const ElementwiseStep& step) {
  lower_elementwise_output(l, operands_from(l, {0}), {step}, result_type(l, step.row), arithmetic_of(l));
}

void lower_unary(Lowering& l) {
  const ElementwiseRow* row = find_elementwise_row(l.node().op, is_whole(l.type(0)));
  float p = l.node().number(row->first, row->first_default), q = l.node().number(row->second, row->second_default);
  lower_step(l, {row->name, 0, false, p, q});
}

/** The steps as memory, from which more steps begin. */
ElementwiseOperand lower_part(Lowering& l, const std::vector<ElementwiseOperand>& operands,
                              const std::vector<ElementwiseStep>& steps) {
  Chain chain{operands, steps, arithmetic_of(l), arithmetic_of(l), broadcast_shape(l, operands)};
  store_operands(l, chain.operands);
  Memory memory = l.scratch(static_cast<size_t>(element_count(chain.shape)) * element_bytes(chain.type));
  lower_chain(l, chain, memory);
  return {memory, chain.type, chain.shape};
}

/** Joins the inputs by a binary row, as many in one launch as it takes; `last` comes after all of them. */
void lower_join(Lowering& l, std::string_view row, const std::vector<ElementwiseStep>& last) {
  std::vector<ElementwiseOperand> operands = operands_from(l, {0});
  std::vector<ElementwiseStep> steps;
  for (size_t i = 1; i < l.node().inputs.size(); i++) {
    if (operands.size() == kMostElementwiseOperands) {
      operands = {lower_part(l, operands, steps)};
      steps.clear();
    }
    steps.push_back({row, static_cast<int>(operands.size())});
    operands.push_back(elementwise_operand(l, i));
  }
  steps.insert(steps.end(), last.begin(), last.end());
  lower_elementwise_output(l, operands, steps, result_type(l, row), arithmetic_of(l));
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
  if (low && high && !is_whole(l.type(0))) return lower_step(l, {"Clamp", 0, false, *low, *high});
  std::vector<ElementwiseOperand> operands = operands_from(l, {0});
  std::vector<ElementwiseStep> steps;
  for (size_t i : {1, 2}) {
    if (!l.has(i)) continue;
    steps.push_back({i == 1 ? "Max" : "Min", static_cast<int>(operands.size())});
    operands.push_back({{}, l.type(i), {}, static_cast<int>(i)});
  }
  lower_elementwise_output(l, operands, steps, l.type(0), arithmetic_of(l));
}

std::string_view gelu_row(const Node& node) { return node.text("approximate", "none") == "tanh" ? "GeluTanh" : "Gelu"; }

void lower_gelu(Lowering& l) { lower_step(l, {gelu_row(l.node())}); }

void lower_quick_gelu(Lowering& l) { lower_step(l, {"Swish", 0, false, l.node().number("alpha", 1.702f), 0}); }

/** Input 1 is a bias that may be missing. */
void lower_biased(Lowering& l, std::string_view row) {
  if (!l.has(1)) return lower_step(l, {row});
  lower_elementwise_output(l, operands_from(l, {0, 1}), {{"Add", 1}, {row}}, l.type(0));
}

void lower_bias_gelu(Lowering& l) { lower_biased(l, "Gelu"); }
void lower_fast_gelu(Lowering& l) { lower_biased(l, "GeluTanh"); }

/** An integer is not divided by zero. */
void check_divisors(Lowering& l) {
  if (!is_whole(l.type(0)) || l.count(0) == 0 || l.count(1) == 0) return;
  const char* what = "an integer is divided by zero (input 1)";
  if (l.host(1) != nullptr && l.type(1) != ElementType::kUint64) {
    for (int64_t divisor : l.integers(1)) {
      if (divisor == 0) l.fail(what);
    }
    return;
  }
  int chunk = l.traits().kind == DeviceClass::kWide ? 4096 : 4;
  ErrorBit error = l.error(what);
  KernelCall call = l.call("find_zero");
  call.group(l.traits().kind == DeviceClass::kWide ? 1 : 64).constant("TYPE", static_cast<int>(l.type(1)));
  call.read(l.input(1)).write(error.word).params(l.count(1), chunk, error.bit);
  call.run_items((l.count(1) + chunk - 1) / chunk);
}

void lower_div(Lowering& l) {
  check_divisors(l);
  lower_binary(l);
}

std::string refuse_mod(const Candidate& candidate) {
  if (is_float(candidate.type(0)) && candidate.node().integer("fmod", 0) == 0) {
    return "floats are divided with fmod = 0, which is for integers";
  }
  if (!is_whole(candidate.type(0))) return first_of({refuse_floats(candidate), refuse_many_axes(candidate)});
  return first_of({refuse_long_integers(candidate, candidate.type(0)), refuse_many_axes(candidate)});
}

void lower_mod(Lowering& l) {
  check_divisors(l);
  lower_join(l, l.node().integer("fmod", 0) != 0 ? "Remainder" : "Modulo", {});
}

std::string refuse_bit_shift(const Candidate& candidate) {
  return first_of(
      {refuse_unless(candidate, 0,
                     {ElementType::kUint8, ElementType::kUint16, ElementType::kUint32, ElementType::kUint64}),
       refuse_long_integers(candidate, candidate.type(0)), refuse_many_axes(candidate)});
}

void lower_bit_shift(Lowering& l) {
  lower_join(l, l.node().text("direction", "") == "LEFT" ? "ShiftLeft" : "ShiftRight", {});
}

std::string refuse_pow(const Candidate& candidate) {
  ElementType base = candidate.type(0), exponent = candidate.type(1);
  if (is_whole(base) && is_float(exponent)) return "integers are raised to floats, which the CPU does in double";
  if (!is_float(exponent) && !(is_integer(exponent) && is_whole(exponent))) {
    return std::string("the exponents are ") + type_name(exponent) + "; float, float16 and integers are supported";
  }
  return first_of({refuse_type(candidate, 0), is_whole(exponent) ? refuse_long_integers(candidate, exponent) : "",
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
  if (is_whole(l.type(0))) return lower_join(l, "Pow", {});
  if (exponent == 0.5f) return lower_step(l, {"SquareRootPower"});
  if (exponent == -1.0f) return lower_step(l, {"Reciprocal"});
  lower_join(l, "Pow", {});
}

/** a sigmoid(alpha a) b. */
void lower_swiglu(Lowering& l) {
  ElementwiseStep swish{"Swish", 0, false, l.node().number("alpha", 1), 0};
  lower_elementwise_output(l, operands_from(l, {0, 1}), {swish, {"Mul", 1}}, l.type(0));
}

void lower_is_inf(Lowering& l) {
  float negative = static_cast<float>(l.node().integer("detect_negative", 1));
  float positive = static_cast<float>(l.node().integer("detect_positive", 1));
  lower_elementwise_output(l, operands_from(l, {0}), {{"IsInf", 0, false, negative, positive}}, ElementType::kBool);
}

#define K_UNARY(number, name, value) {"", #name, 1, kNewest, refuse_unary, lower_unary},
#define K_UNARY_P(number, name, first, first_default, second, second_default, value) K_UNARY(number, name, value)
#define K_TEST(number, name, value) K_UNARY(number, name, value)
#define K_BINARY(number, name, value) {"", #name, 1, kNewest, refuse_binary, lower_binary},
#define K_COMPARE(number, name, value) K_BINARY(number, name, value)
#define K_STEP(number, name, value)
#define K_INTEGER(number, name, value)
#define K_INTEGER_UNARY(number, name, value) K_UNARY(number, name, value)
#define K_INTEGER_BINARY(number, name, value) K_BINARY(number, name, value)
#define K_INTEGER_STEP(number, name, value)

constexpr Operator kRows[] = {
    {"", "Sum", 1, kNewest, refuse_many_floats, lower_sum},
    {"", "Mean", 1, kNewest, refuse_many_floats, lower_mean},
    {"", "Clip", 1, kNewest, refuse_clip, lower_clip},
    {"", "Div", 1, kNewest, refuse_binary, lower_div},
    {"", "Mod", 1, kNewest, refuse_mod, lower_mod},
    {"", "Pow", 1, kNewest, refuse_pow, lower_pow},
    {"", "BitShift", 1, kNewest, refuse_bit_shift, lower_bit_shift},
    {"", "SwiGLU", 1, kNewest, refuse_many_floats, lower_swiglu},
    {"", "Gelu", 1, kNewest, refuse_floats, lower_gelu},
    {"", "IsInf", 1, kNewest, refuse_floats, lower_is_inf},
    {"com.microsoft", "Gelu", 1, kNewest, refuse_floats, lower_gelu},
    {"com.microsoft", "FastGelu", 1, kNewest, refuse_many_floats, lower_fast_gelu},
    {"com.microsoft", "BiasGelu", 1, kNewest, refuse_many_floats, lower_bias_gelu},
    {"com.microsoft", "QuickGelu", 1, kNewest, refuse_floats, lower_quick_gelu},
#include "gpu/kernels/elementwise_rows.k"
};

}  // namespace

std::span<const Operator> elementwise_operators() { return kRows; }

}  // namespace ortolan::gpu
