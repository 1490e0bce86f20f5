// Operators whose result is made of a few numbers: Range, ConstantOfShape, EyeLike, OneHot, and Trilu, which keeps a
// part.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "gpu/core/elements/moves.h"
#include "gpu/core/graph/result_shapes.h"

namespace ortolan::gpu {
namespace {

bool knows_all(const Node&, size_t) { return true; }
bool knows_second(const Node&, size_t i) { return i == 1; }

int32_t word_of(const std::vector<int64_t>& values, int word) { return static_cast<int32_t>(values[0] >> (32 * word)); }

// Range: start, start + delta, ... up to limit, which is left out.

std::string refuse_range(const Candidate& candidate) {
  return refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kInt32, ElementType::kInt64});
}

void require_scalars(const Lowering& l) {
  for (size_t i = 0; i < l.node().inputs.size(); i++) {
    if (l.has(i) && l.count(i) != 1) l.fail("input " + std::to_string(i) + " must be a scalar");
  }
}

void launch_range(Lowering& l, int kind, int64_t count, const std::array<int32_t, 4>& words) {
  Memory y = l.output(0, {count});
  Grain grain = grain_of(l.traits(), count);
  l.call("range")
      .group(grain.group)
      .constant("KIND", kind)
      .write(y)
      .params(count, grain.chunk, words[0], words[1], words[2], words[3])
      .run_items(grain.items());
}

void lower_float_range(Lowering& l) {
  float start = l.floats(0)[0], delta = l.has(2) ? l.floats(2)[0] : 1.0f;
  double count = std::ceil((static_cast<double>(l.floats(1)[0]) - start) / delta);
  if (delta == 0.0f || std::isnan(count)) l.fail("start, limit and delta must be numbers, and delta not 0");
  if (count > INT32_MAX) l.fail("the range has too many elements");
  int32_t first = 0, step = 0;
  std::memcpy(&first, &start, sizeof start);
  std::memcpy(&step, &delta, sizeof delta);
  launch_range(l, 0, std::max<int64_t>(0, static_cast<int64_t>(count)), {first, 0, step, 0});
}

void lower_range(Lowering& l) {
  require_scalars(l);
  if (l.type(0) == ElementType::kFloat) return lower_float_range(l);
  std::vector<int64_t> start = l.integers(0), delta = l.has(2) ? l.integers(2) : std::vector<int64_t>{1};
  if (delta[0] == 0) l.fail("delta is 0; it must not be 0");
  uint64_t steps = count_of_steps(start[0], l.integers(1)[0], delta[0]);
  auto count = static_cast<int64_t>(std::min<uint64_t>(steps, uint64_t{INT32_MAX} + 1));
  int kind = l.type(0) == ElementType::kInt32 ? 1 : 2;
  launch_range(l, kind, count, {word_of(start, 0), word_of(start, 1), word_of(delta, 0), word_of(delta, 1)});
}

// ConstantOfShape.

const HostTensor* value_of(const Node& node) {
  auto found = node.attributes.find("value");
  return found == node.attributes.end() ? nullptr : std::get_if<HostTensor>(&found->second);
}

std::string refuse_constant(const Candidate& candidate) {
  const HostTensor* value = value_of(candidate.node());
  if (value == nullptr || element_bytes(value->type) > 0) return "";
  return std::string("its value is of ") + type_name(value->type) + ", which cannot lie on a device";
}

void lower_constant(Lowering& l) {
  const HostTensor* value = value_of(l.node());
  ElementType type = value == nullptr ? ElementType::kFloat : value->type;
  Shape shape = l.integers(0);
  if (std::any_of(shape.begin(), shape.end(), [](int64_t size) { return size < 0; })) l.fail("a dimension is negative");
  if (value != nullptr && value->elements.bytes.size() != element_bytes(type)) l.fail("its value must be one element");
  Memory y = l.output(0, type, shape);
  fill(l, y, element_bytes(type), element_count(shape),
       value == nullptr ? std::span<const std::byte>() : value->elements.bytes);
}

// EyeLike: ones on a diagonal.

ElementType eye_type(const Node& node, ElementType input) {
  return node.has_attribute("dtype") ? static_cast<ElementType>(node.integer("dtype", 0)) : input;
}

std::string refuse_eye(const Candidate& candidate) {
  ElementType type = eye_type(candidate.node(), candidate.type(0));
  bool knows_one = is_integer(type) || is_float(type);
  return knows_one ? "" : std::string("its result is of ") + type_name(type) + "; floats and integers are supported";
}

HostTensor one_of(ElementType type) {
  return is_float(type) ? HostTensor::of_floats(type, {}, {1.0f}) : HostTensor::of_integers(type, {}, {1});
}

void lower_eye(Lowering& l) {
  const Shape shape = l.shape(0);
  if (shape.size() != 2) l.fail("the input has " + std::to_string(shape.size()) + " axes; it must have 2");
  ElementType type = eye_type(l.node(), l.type(0));
  Memory y = l.output(0, type, shape);
  int32_t words[2] = {0, 0};
  HostTensor one = one_of(type);
  std::memcpy(words, one.elements.bytes.data(), one.elements.bytes.size());
  int64_t count = element_count(shape), diagonal = std::clamp(l.node().integer("k", 0), -shape[0], shape[1]);
  Grain grain = grain_of(l.traits(), count);
  l.call("eye")
      .group(grain.group)
      .constant("BYTES", static_cast<int>(element_bytes(type)))
      .write(y)
      .params(count, grain.chunk, shape[1], diagonal, words[0], words[1])
      .run_items(grain.items());
}

// OneHot.

std::string refuse_one_hot(const Candidate& candidate) {
  std::string refusal = refuse_unless(candidate, 0, {ElementType::kInt32, ElementType::kInt64, ElementType::kFloat});
  bool reads_depth = is_integer(candidate.type(1)) || is_float(candidate.type(1));
  if (refusal.empty() && !reads_depth) refusal = std::string("its depth is ") + type_name(candidate.type(1));
  return refusal.empty() ? refuse_unstorable(candidate, 2) : refusal;
}

int64_t depth_of(const Lowering& l) {
  const HostTensor* depth = l.host(1);
  if (depth == nullptr) l.fail("the depth is not known before the run");
  bool whole = is_integer(depth->type);
  if (l.count(1) != 1) l.fail("the depth must be one number");
  return whole ? depth->integers()[0] : static_cast<int64_t>(depth->floats()[0]);
}

void lower_one_hot(Lowering& l) {
  Shape shape = l.shape(0);
  size_t axis = l.axis(l.node().integer("axis", -1), shape.size() + 1);
  int64_t depth = depth_of(l), inner = element_count(shape, axis, shape.size());
  if (depth < 0) l.fail("the depth is " + std::to_string(depth) + "; it must not be negative");
  if (l.count(2) != 2) l.fail("values must hold two elements, off and on");
  shape.insert(shape.begin() + static_cast<int64_t>(axis), depth);
  Memory indices = l.input(0), values = l.input(2), y = l.output(0, l.type(2), shape);
  int64_t count = element_count(shape);
  int kind = l.type(0) == ElementType::kInt32 ? 0 : l.type(0) == ElementType::kInt64 ? 1 : 2;
  Grain grain = grain_of(l.traits(), count);
  l.call("one_hot")
      .group(grain.group)
      .constant("BYTES", static_cast<int>(element_bytes(l.type(2))))
      .constant("KIND", kind)
      .read(values)
      .write(y)
      .read(indices)
      .params(count, grain.chunk, depth, inner)
      .run_items(grain.items());
}

// Trilu.

std::string refuse_trilu(const Candidate& candidate) { return refuse_unstorable(candidate, 0); }

void lower_trilu(Lowering& l) {
  const Shape& shape = l.shape(0);
  if (shape.size() < 2) l.fail("the input has " + std::to_string(shape.size()) + " axes; it must have 2 or more");
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  std::vector<int64_t> k = l.has(1) ? l.integers(1) : std::vector<int64_t>{0};
  if (k.size() != 1) l.fail("k must be one number");
  Memory x = l.input(0), y = l.output(0, shape);
  bool upper = l.node().integer("upper", 1) != 0;
  int64_t diagonal = std::clamp(k[0], -rows - 1, columns + 1);
  Grain grain = grain_of(l.traits(), element_count(shape));
  l.call("trilu")
      .group(grain.group)
      .constant("BYTES", static_cast<int>(element_bytes(l.type(0))))
      .constant("UPPER", upper)
      .read(x)
      .write(y)
      .params(element_count(shape), grain.chunk, rows, columns, diagonal)
      .run_items(grain.items());
}

constexpr Operator kRows[] = {
    {"", "Range", 11, kNewest, refuse_range, lower_range, knows_all},
    {"com.microsoft", "Range", 1, kNewest, refuse_range, lower_range, knows_all},
    {"", "ConstantOfShape", 9, kNewest, refuse_constant, lower_constant, knows_all},
    {"", "EyeLike", 9, kNewest, refuse_eye, lower_eye},
    {"", "OneHot", 9, kNewest, refuse_one_hot, lower_one_hot, knows_second},
    {"", "Trilu", 14, kNewest, refuse_trilu, lower_trilu, knows_second},
};

}  // namespace

std::span<const Operator> generators_operators() { return kRows; }

}  // namespace ortolan::gpu
