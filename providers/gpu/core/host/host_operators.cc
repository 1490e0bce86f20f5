// The operators of shape arithmetic.
#include "gpu/core/host/host_operators.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "gpu/core/graph/result_shapes.h"
#include "gpu/core/host/host_broadcast.h"
#include "gpu/device/error.h"

namespace ortolan::gpu {
namespace {

using Result = std::optional<HostTensor>;

/** A node with its inputs, all of them known. */
struct Call {
  const Node& node;
  const HostInputs& inputs;
  int64_t most;  // elements of a result

  bool has(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  const HostTensor& input(size_t i) const {
    if (!has(i)) fail("input " + std::to_string(i) + " is missing");
    return *inputs[i];
  }
  std::vector<int64_t> integers(size_t i) const { return input(i).integers(); }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::kInvalid, describe(node) + ": " + what);
  }
  size_t axis(int64_t axis, size_t rank) const { return checked_axis(node, axis, rank); }
};

bool is_host_type(ElementType type) { return type == ElementType::kFloat || is_integer(type); }

/** A tensor of the elements at these places of another one. */
HostTensor picked(const HostTensor& from, Shape shape, const std::vector<int64_t>& places) {
  size_t size = element_bytes(from.type);
  auto bytes = std::make_shared<std::vector<std::byte>>(places.size() * size);
  for (size_t i = 0; i < places.size(); i++) {
    auto source = from.elements.bytes.begin() + places[i] * static_cast<int64_t>(size);
    std::copy(source, source + static_cast<int64_t>(size), bytes->begin() + static_cast<int64_t>(i * size));
  }
  return {from.type, std::move(shape), {*bytes, bytes}};
}

HostTensor reshaped(const HostTensor& from, Shape shape) {
  HostTensor result = from;
  result.shape = std::move(shape);
  return result;
}

Result shape_of(const Call& call) {
  const Shape& shape = call.input(0).shape;
  int64_t rank = static_cast<int64_t>(shape.size());
  auto bounded = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  int64_t start = bounded(call.node.integer("start", 0)), end = bounded(call.node.integer("end", rank));
  Shape part(shape.begin() + start, shape.begin() + std::max(start, end));
  return HostTensor::of_integers(ElementType::kInt64, {static_cast<int64_t>(part.size())}, part);
}

Result size_of(const Call& call) {
  return HostTensor::of_integers(ElementType::kInt64, {}, {element_count(call.input(0).shape)});
}

Result identity(const Call& call) { return call.input(0); }

Result cast(const Call& call) {
  ElementType to = static_cast<ElementType>(call.node.integer("to", 0));
  const HostTensor& from = call.input(0);
  if (!is_host_type(to)) return {};
  if (to == ElementType::kFloat) return HostTensor::of_floats(to, from.shape, from.floats());
  if (from.type != ElementType::kFloat) return HostTensor::of_integers(to, from.shape, from.integers());
  std::vector<int64_t> values;
  for (float value : from.floats()) {
    if (to == ElementType::kBool) values.push_back(value != 0.0f);
    if (to != ElementType::kBool && !(std::fabs(value) < 9.2e18f)) return {};
    if (to != ElementType::kBool) values.push_back(static_cast<int64_t>(value));
  }
  return HostTensor::of_integers(to, from.shape, values);
}

Result gather(const Call& call) {
  const HostTensor& data = call.input(0);
  size_t axis = call.axis(call.node.integer("axis", 0), data.shape.size());
  int64_t dimension = data.shape[axis], inner = element_count(data.shape, axis + 1, data.shape.size());
  std::vector<int64_t> indices = call.integers(1), places;
  if (element_count(data.shape) * static_cast<int64_t>(indices.size()) > call.most * std::max<int64_t>(dimension, 1)) {
    return {};
  }
  for (int64_t outer = 0; outer < element_count(data.shape, 0, axis); outer++) {
    for (int64_t index : indices) {
      if (index < -dimension || index >= dimension) {
        call.fail("index " + std::to_string(index) + " is outside of axis " + std::to_string(axis) + " of size " +
                  std::to_string(dimension));
      }
      int64_t row = outer * dimension + (index < 0 ? index + dimension : index);
      for (int64_t i = 0; i < inner; i++) places.push_back(row * inner + i);
    }
  }
  Shape shape(data.shape.begin(), data.shape.begin() + axis);
  shape.insert(shape.end(), call.input(1).shape.begin(), call.input(1).shape.end());
  shape.insert(shape.end(), data.shape.begin() + axis + 1, data.shape.end());
  return picked(data, shape, places);
}

Result concat(const Call& call) {
  Shape shape = call.input(0).shape;
  if (shape.size() != 1) return {};
  auto bytes = std::make_shared<std::vector<std::byte>>();
  for (size_t i = 0; i < call.inputs.size(); i++) {
    std::span<const std::byte> part = call.input(i).elements.bytes;
    bytes->insert(bytes->end(), part.begin(), part.end());
  }
  shape[0] = static_cast<int64_t>(bytes->size() / element_bytes(call.input(0).type));
  return HostTensor{call.input(0).type, shape, {*bytes, bytes}};
}

/** Starts, ends, axes and steps: attributes before opset 10, inputs since. */
Result slice(const Call& call) {
  const HostTensor& data = call.input(0);
  if (data.shape.size() != 1) return {};
  bool by_input = call.node.since_version >= 10;
  std::vector<int64_t> starts = by_input ? call.integers(1) : call.node.integers("starts");
  std::vector<int64_t> ends = by_input ? call.integers(2) : call.node.integers("ends");
  std::vector<int64_t> steps = by_input && call.has(4) ? call.integers(4) : std::vector<int64_t>{1};
  if (starts.size() != 1 || ends.size() != 1 || steps.size() != 1 || steps[0] == 0) return {};
  int64_t size = data.shape[0], step = std::clamp(steps[0], -size - 1, size + 1);  // further leads outside as well
  auto bounded = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + size : at, step > 0 ? 0 : -1, step > 0 ? size : size - 1);
  };
  std::vector<int64_t> places;
  int64_t end = ends[0] < -size && step < 0 ? -1 : bounded(ends[0]);
  for (int64_t i = bounded(starts[0]); step > 0 ? i < end : i > end; i += step) places.push_back(i);
  return picked(data, {static_cast<int64_t>(places.size())}, places);
}

std::optional<std::vector<int64_t>> axes_of(const Call& call) {
  if (call.has(1)) return call.integers(1);
  if (call.node.has_attribute("axes")) return call.node.integers("axes");
  return {};
}

Result squeeze(const Call& call) {
  return reshaped(call.input(0), squeezed_shape(call.node, call.input(0).shape, axes_of(call)));
}

Result unsqueeze(const Call& call) {
  std::vector<int64_t> axes = axes_of(call).value_or(std::vector<int64_t>());
  return reshaped(call.input(0), unsqueezed_shape(call.node, call.input(0).shape, axes));
}

Result reshape(const Call& call) {
  return reshaped(call.input(0), reshaped_shape(call.node, call.input(0).shape, call.integers(1)));
}

template <class T>
std::vector<T> numbers(const HostTensor& tensor) {
  if constexpr (std::is_same_v<T, float>)
    return tensor.floats();
  else
    return tensor.integers();
}

template <class T, class Function>
std::vector<T> combined(const Broadcast& broadcast, const HostTensor& a, const HostTensor& b, Function function) {
  std::vector<T> left = numbers<T>(a), right = numbers<T>(b),
                 result(static_cast<size_t>(element_count(broadcast.shape)));
  for (size_t i = 0; i < result.size(); i++) {
    auto element = static_cast<int64_t>(i);
    result[i] =
        static_cast<T>(function(left[broadcast.place(a.shape, element)], right[broadcast.place(b.shape, element)]));
  }
  return result;
}

template <class Function>
Result binary(const Call& call, Function function) {
  const HostTensor &a = call.input(0), &b = call.input(1);
  Broadcast broadcast(call.node, a.shape, b.shape);
  if (element_count(broadcast.shape) > call.most) return {};
  if (a.type == ElementType::kFloat) {
    return HostTensor::of_floats(a.type, broadcast.shape, combined<float>(broadcast, a, b, function));
  }
  return HostTensor::of_integers(a.type, broadcast.shape, combined<int64_t>(broadcast, a, b, function));
}

template <class Function>
Result comparison(const Call& call, Function function) {
  const HostTensor &a = call.input(0), &b = call.input(1);
  Broadcast broadcast(call.node, a.shape, b.shape);
  if (element_count(broadcast.shape) > call.most) return {};
  if (a.type != ElementType::kFloat) {
    return HostTensor::of_integers(ElementType::kBool, broadcast.shape, combined<int64_t>(broadcast, a, b, function));
  }
  std::vector<float> truths = combined<float>(broadcast, a, b, function);
  return HostTensor::of_integers(ElementType::kBool, broadcast.shape, {truths.begin(), truths.end()});
}

// Integers wrap like those of the operators; a division by zero is left to the device.
int64_t wrapped(uint64_t value) { return static_cast<int64_t>(value); }
struct Plus {
  float operator()(float a, float b) const { return a + b; }
  int64_t operator()(int64_t a, int64_t b) const {
    return wrapped(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};
struct Minus {
  float operator()(float a, float b) const { return a - b; }
  int64_t operator()(int64_t a, int64_t b) const {
    return wrapped(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }
};
struct Times {
  float operator()(float a, float b) const { return a * b; }
  int64_t operator()(int64_t a, int64_t b) const {
    return wrapped(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
};
struct Over {
  float operator()(float a, float b) const { return a / b; }
  int64_t operator()(int64_t a, int64_t b) const { return b == -1 ? wrapped(0 - static_cast<uint64_t>(a)) : a / b; }
};

Result divide(const Call& call) {
  if (call.input(1).type != ElementType::kFloat) {
    for (int64_t divisor : call.integers(1)) {
      if (divisor == 0) return {};
    }
  }
  return binary(call, Over());
}

Result where(const Call& call) {
  const HostTensor &condition = call.input(0), &a = call.input(1), &b = call.input(2);
  Broadcast both(call.node, a.shape, b.shape), all(call.node, condition.shape, both.shape);
  if (element_count(all.shape) > call.most || a.type == ElementType::kFloat) return {};
  std::vector<int64_t> takes = condition.integers(), left = a.integers(), right = b.integers(), result;
  for (int64_t i = 0; i < element_count(all.shape); i++) {
    result.push_back(takes[all.place(condition.shape, i)] != 0 ? left[all.place(a.shape, i)]
                                                               : right[all.place(b.shape, i)]);
  }
  return HostTensor::of_integers(a.type, all.shape, result);
}

Result range(const Call& call) {
  if (call.input(0).type == ElementType::kFloat) return {};
  int64_t start = call.integers(0).at(0), limit = call.integers(1).at(0), delta = call.integers(2).at(0);
  if (delta == 0) call.fail("delta is 0");
  uint64_t count = count_of_steps(start, limit, delta);
  if (count > static_cast<uint64_t>(call.most)) return {};
  std::vector<int64_t> values(count);
  for (size_t i = 0; i < count; i++) values[i] = start + static_cast<int64_t>(i) * delta;
  return HostTensor::of_integers(call.input(0).type, {static_cast<int64_t>(values.size())}, values);
}

Result constant_of_shape(const Call& call) {
  Shape shape = call.integers(0);
  int64_t count = element_count(shape);
  if (count > call.most) return {};
  auto given = call.node.attributes.find("value");
  HostTensor value = given == call.node.attributes.end() ? HostTensor::of_floats(ElementType::kFloat, {1}, {0.0f})
                                                         : std::get<HostTensor>(given->second);
  if (value.elements.bytes.empty()) call.fail("its value has no element");
  return picked(value, shape, std::vector<int64_t>(static_cast<size_t>(count), 0));
}

Result expand(const Call& call) {
  Broadcast broadcast(call.node, call.input(0).shape, call.integers(1));
  int64_t count = element_count(broadcast.shape);
  if (count > call.most) return {};
  std::vector<int64_t> places;
  for (int64_t i = 0; i < count; i++) places.push_back(broadcast.place(call.input(0).shape, i));
  return picked(call.input(0), broadcast.shape, places);
}

/** Over all elements of a list. */
template <class Function>
Result reduction(const Call& call, int64_t start, Function function) {
  const HostTensor& data = call.input(0);
  if (data.shape.size() != 1 || data.type == ElementType::kFloat) return {};
  int64_t result = start;
  for (int64_t value : data.integers()) result = function(result, value);
  bool keeps = call.node.integer("keepdims", 1) != 0;
  return HostTensor::of_integers(data.type, keeps ? Shape{1} : Shape{}, {result});
}

template <class Function>
Result unary_float(const Call& call, Function function) {
  const HostTensor& data = call.input(0);
  if (data.type != ElementType::kFloat) return {};
  std::vector<float> values = data.floats();
  for (float& value : values) value = function(value);
  return HostTensor::of_floats(data.type, data.shape, values);
}

Result negate(const Call& call) {
  const HostTensor& data = call.input(0);
  if (data.type == ElementType::kFloat) return unary_float(call, std::negate<float>());
  std::vector<int64_t> values = data.integers();
  for (int64_t& value : values) value = Minus()(int64_t{0}, value);
  return HostTensor::of_integers(data.type, data.shape, values);
}

Result logical_not(const Call& call) {
  std::vector<int64_t> values = call.integers(0);
  for (int64_t& value : values) value = value == 0;
  return HostTensor::of_integers(ElementType::kBool, call.input(0).shape, values);
}

struct Row {
  std::string_view op;
  Result (*evaluate)(const Call&);
};

constexpr Row kRows[] = {
    {"Shape", shape_of},
    {"Size", size_of},
    {"Identity", identity},
    {"Cast", cast},
    {"Gather", gather},
    {"Concat", concat},
    {"Slice", slice},
    {"Squeeze", squeeze},
    {"Unsqueeze", unsqueeze},
    {"Reshape", reshape},
    {"Add", [](const Call& call) { return binary(call, Plus()); }},
    {"Sub", [](const Call& call) { return binary(call, Minus()); }},
    {"Mul", [](const Call& call) { return binary(call, Times()); }},
    {"Div", divide},
    {"Equal", [](const Call& call) { return comparison(call, std::equal_to<>()); }},
    {"Less", [](const Call& call) { return comparison(call, std::less<>()); }},
    {"Greater", [](const Call& call) { return comparison(call, std::greater<>()); }},
    {"LessOrEqual", [](const Call& call) { return comparison(call, std::less_equal<>()); }},
    {"GreaterOrEqual", [](const Call& call) { return comparison(call, std::greater_equal<>()); }},
    {"And", [](const Call& call) { return comparison(call, std::logical_and<>()); }},
    {"Or", [](const Call& call) { return comparison(call, std::logical_or<>()); }},
    {"Not", logical_not},
    {"Neg", negate},
    {"Floor", [](const Call& call) { return unary_float(call, [](float x) { return std::floor(x); }); }},
    {"Ceil", [](const Call& call) { return unary_float(call, [](float x) { return std::ceil(x); }); }},
    {"Sqrt", [](const Call& call) { return unary_float(call, [](float x) { return std::sqrt(x); }); }},
    {"Where", where},
    {"Range", range},
    {"ConstantOfShape", constant_of_shape},
    {"Expand", expand},
    {"ReduceProd", [](const Call& call) { return reduction(call, 1, Times()); }},
    {"ReduceSum", [](const Call& call) { return reduction(call, 0, Plus()); }},
};

const Row* find_row(const Node& node) {
  if (!node.domain.empty()) return nullptr;
  for (const Row& row : kRows) {
    if (row.op == node.op) return &row;
  }
  return nullptr;
}

}  // namespace

bool has_host_operator(const Node& node) { return find_row(node) != nullptr; }

bool reads_shapes_alone(const Node& node) { return node.domain.empty() && (node.op == "Shape" || node.op == "Size"); }

std::optional<std::vector<HostTensor>> evaluate_on_host(const Node& node, const HostInputs& inputs, int64_t most) {
  const Row* row = find_row(node);
  if (row == nullptr) return {};
  for (const HostTensor* input : inputs) {
    if (input == nullptr || reads_shapes_alone(node)) continue;
    if (!is_host_type(input->type) || element_count(input->shape) > most) return {};
  }
  Result result = row->evaluate({node, inputs, most});
  if (!result) return {};
  return std::vector<HostTensor>{std::move(*result)};
}

}  // namespace ortolan::gpu
