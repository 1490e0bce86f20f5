// Layout-free nodes: by broadcasting, or with axes, pads or slices that follow the dimensions.
#include "passes/layout_free.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "passes/edit.h"

namespace ortolan::passes {
namespace {

constexpr std::string_view kUnary[] = {"Abs",   "Acos",           "Acosh",     "Asin",    "Asinh",      "Atan",
                                       "Atanh", "BitwiseNot",     "Cast",      "Ceil",    "Celu",       "Clip",
                                       "Cos",   "Cosh",           "Elu",       "Erf",     "Exp",        "Floor",
                                       "Gelu",  "HardSigmoid",    "HardSwish", "IsInf",   "IsNaN",      "LeakyRelu",
                                       "Log",   "Mish",           "Neg",       "Not",     "Reciprocal", "Relu",
                                       "Round", "Selu",           "Shrink",    "Sigmoid", "Sign",       "Sin",
                                       "Sinh",  "Softplus",       "Softsign",  "Sqrt",    "Swish",      "Tan",
                                       "Tanh",  "ThresholdedRelu"};
constexpr std::string_view kBroadcasting[] = {"Add",        "And",         "BitShift", "BitwiseAnd", "BitwiseOr",
                                              "BitwiseXor", "Div",         "Equal",    "Greater",    "GreaterOrEqual",
                                              "Less",       "LessOrEqual", "Max",      "Mean",       "Min",
                                              "Mod",        "Mul",         "Or",       "PRelu",      "Pow",
                                              "Sub",        "Sum",         "Where",    "Xor"};
constexpr std::string_view kReductions[] = {"ReduceL1",  "ReduceL2",       "ReduceLogSum", "ReduceLogSumExp",
                                            "ReduceMax", "ReduceMean",     "ReduceMin",    "ReduceProd",
                                            "ReduceSum", "ReduceSumSquare"};
constexpr size_t kMostNumbers = 2 * 64;  // of pads for the highest rank
constexpr int kFirstBroadcast = 8;       // opset in which all of them broadcast by numpy's rule

enum class Kind { kNone, kElementwise, kAxis, kScale, kPad, kSlice, kReduction, kArgument };

Kind kind_of(const Node& node) {
  if (!node.domain.empty() || node.opset < kFirstBroadcast) return Kind::kNone;
  if (is_one_of(node, kUnary) || is_one_of(node, kBroadcasting)) return Kind::kElementwise;
  if (is_op(node, "Concat") || is_op(node, "Split")) return Kind::kAxis;
  if (is_op(node, "QuantizeLinear") || is_op(node, "DequantizeLinear")) return Kind::kScale;
  if (is_op(node, "Pad")) return Kind::kPad;
  if (is_op(node, "Slice")) return Kind::kSlice;
  if (is_one_of(node, kReductions)) return Kind::kReduction;
  return is_op(node, "ArgMax") || is_op(node, "ArgMin") ? Kind::kArgument : Kind::kNone;
}

bool has_rank(const ValueInfo* value, size_t rank) {
  return value && value->type.is_tensor() && value->type.shape.has_rank() && value->type.shape.rank() == rank;
}

bool is_one_element(const ValueInfo& value) {
  return value.type.is_tensor() && value.type.shape.has_rank() && value.type.shape.element_count().is(1);
}

bool has_index_type(const ValueInfo* value) {
  return value && value->type.is_tensor() &&
         (value->type.element == ElementType::kInt64 || value->type.element == ElementType::kInt32);
}

/** The numbers of a small constant input. */
std::optional<std::vector<int64_t>> numbers_of(const Node& node, size_t i) {
  const Tensor* tensor = stored_input(node, i);
  if (!tensor || !has_index_type(node.input(i)) || tensor->rank() != 1 ||
      tensor->element_count() > static_cast<int64_t>(kMostNumbers))
    return std::nullopt;
  return to_int64s(*constant_input(node, i));
}

/** The same of an attribute; nothing where it is missing. */
std::optional<std::vector<int64_t>> numbers_of(const Node& node, std::string_view attribute) {
  const std::vector<int64_t>& numbers = node.ints(attribute);
  return numbers.empty() || numbers.size() > kMostNumbers ? std::nullopt : std::optional(numbers);
}

bool are_axes(std::span<const int64_t> axes, size_t rank) {
  auto limit = static_cast<int64_t>(rank);
  return std::ranges::all_of(axes, [&](int64_t axis) { return axis >= -limit && axis < limit; });
}

int64_t moved(int64_t axis, std::span<const int64_t> order) {
  return order[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(order.size()) : axis)];
}

std::vector<int64_t> all_moved(std::vector<int64_t> axes, std::span<const int64_t> order) {
  for (int64_t& axis : axes) axis = moved(axis, order);
  return axes;
}

/** The axes of a Slice or reduction, from the input or the attribute that has them; nothing where they are not known
    or all are meant. */
std::optional<std::vector<int64_t>> axes_of(const Node& node) {
  if (kind_of(node) == Kind::kArgument) return std::vector<int64_t>{node.int_or("axis", 0)};
  if (node.has_attribute("axes")) return numbers_of(node, "axes");
  const size_t place = kind_of(node) == Kind::kSlice ? 3 : 1;
  if (node.input(place)) return numbers_of(node, place);
  if (kind_of(node) != Kind::kSlice) return std::nullopt;
  auto starts = node.opset < 10 ? numbers_of(node, "starts") : numbers_of(node, 1);
  if (!starts || starts->empty()) return std::nullopt;
  std::vector<int64_t> axes(starts->size());
  std::iota(axes.begin(), axes.end(), int64_t{0});
  return axes;
}

std::optional<std::vector<int64_t>> pads_of(const Node& node) {
  if (node.input(3)) return std::nullopt;
  return node.opset < 11 ? numbers_of(node, "pads") : numbers_of(node, 1);
}

ValueInfo* add_numbers(Node& node, std::string_view stem, ElementType type, std::span<const int64_t> numbers) {
  Tensor tensor(type, Shape{static_cast<int64_t>(numbers.size())});
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (type == ElementType::kInt64) tensor.mutable_data<int64_t>()[i] = numbers[i];
    if (type == ElementType::kInt32) tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(numbers[i]);
  }
  return node.graph().add_initializer(node.graph().unique_name(stem), std::move(tensor));
}

bool broadcasts(const Node& node, size_t rank) {
  bool any = false;
  for (const ValueInfo* input : node.inputs()) {
    if (!input || is_one_element(*input)) continue;
    bool fits = has_rank(input, rank);
    any = any || (fits && !input->is_fixed());
    const Tensor* constant = input->stored_constant();
    if (!fits && !(constant && constant->rank() < rank)) return false;
  }
  return any;
}

/** Whether a reduction leaves the other dimensions in their order. */
bool keeps_order(const Node& node, std::span<const int64_t> order) {
  auto axes = all_moved(*axes_of(node), order);
  std::vector<int64_t> left;
  for (int64_t axis : order) {
    if (std::ranges::find(axes, axis) == axes.end()) left.push_back(axis);
  }
  return std::ranges::is_sorted(left);
}

bool follows_axes(const Node& node, std::span<const int64_t> order) {
  auto axes = axes_of(node);
  if (!axes || axes->empty() || !are_axes(*axes, order.size()) || !has_rank(node.input(0), order.size())) return false;
  if (is_op(node, "Slice") && node.opset >= 10 && !has_index_type(node.input(1))) return false;
  return has_laid_out_results(node) || keeps_order(node, order);
}

bool scales(const Node& node, size_t rank) {
  const ValueInfo* scale = node.input(1);
  if (!has_rank(node.input(0), rank) || !scale || node.int_or("block_size", 0) != 0) return false;
  const int64_t axis = node.int_or("axis", 1);
  return is_one_element(*scale) || (node.opset >= 13 && has_rank(scale, 1) && are_axes({&axis, 1}, rank));
}

bool joins_or_splits(const Node& node, size_t rank) {
  const int64_t axis = node.int_or("axis", 0);
  const size_t tensors = is_op(node, "Split") ? 1 : node.inputs().size();
  for (size_t i = 0; i < tensors; ++i) {
    if (!has_rank(node.input(i), rank)) return false;
  }
  return are_axes({&axis, 1}, rank);
}

bool pads(const Node& node, size_t rank) {
  auto pads = pads_of(node);
  return has_rank(node.input(0), rank) && pads && pads->size() == 2 * rank;
}

bool results_fit(const Node& node, size_t rank) {
  if (!has_laid_out_results(node)) return node.output(0) != nullptr;
  return std::ranges::all_of(node.outputs(), [&](const ValueInfo* y) { return !y || has_rank(y, rank); });
}

}  // namespace

bool is_layout_free(const Node& node, std::span<const int64_t> order) {
  const size_t rank = order.size();
  const Kind kind = kind_of(node);
  if (kind == Kind::kNone || !results_fit(node, rank)) return false;
  switch (kind) {
    case Kind::kElementwise:
      return broadcasts(node, rank);
    case Kind::kAxis:
      return joins_or_splits(node, rank);
    case Kind::kScale:
      return scales(node, rank);
    case Kind::kPad:
      return pads(node, rank);
    default:
      return follows_axes(node, order);
  }
}

bool is_laid_out(const Node& node, size_t i) {
  if (!node.input(i)) return false;
  if (kind_of(node) == Kind::kElementwise) return !is_one_element(*node.input(i));
  return i == 0 || is_op(node, "Concat");
}

bool has_laid_out_results(const Node& node) {
  const Kind kind = kind_of(node);
  return (kind != Kind::kReduction && kind != Kind::kArgument) || node.int_or("keepdims", 1) != 0;
}

void take_order(Node& node, std::span<const int64_t> order) {
  const size_t rank = order.size();
  switch (kind_of(node)) {
    case Kind::kAxis:
      return node.set_attribute("axis", moved(node.int_or("axis", 0), order));
    case Kind::kScale:
      if (!is_one_element(*node.input(1))) node.set_attribute("axis", moved(node.int_or("axis", 1), order));
      return;
    case Kind::kArgument:
      return node.set_attribute("axis", moved(node.int_or("axis", 0), order));
    case Kind::kPad: {
      std::vector<int64_t> before = *pads_of(node), after(before.size());
      for (size_t i = 0; i < 2 * rank; ++i) after[static_cast<size_t>(order[i % rank]) + i / rank * rank] = before[i];
      if (node.opset < 11) return node.set_attribute("pads", std::move(after));
      return node.set_input(1, add_numbers(node, "pads", ElementType::kInt64, after));
    }
    case Kind::kSlice:
    case Kind::kReduction: {
      const bool slice = is_op(node, "Slice");
      std::vector<int64_t> axes = all_moved(*axes_of(node), order);
      if (node.has_attribute("axes") || (slice && node.opset < 10)) return node.set_attribute("axes", std::move(axes));
      const ElementType type = slice ? node.input(1)->type.element : ElementType::kInt64;
      return node.set_input(slice ? 3 : 1, add_numbers(node, "axes", type, axes));
    }
    default:
      return;
  }
}

}  // namespace ortolan::passes
