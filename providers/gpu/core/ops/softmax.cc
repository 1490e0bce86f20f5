// Softmax, LogSoftmax, Hardmax: over an axis, from opset 13; before it over all axes from that one on. ArgMax, ArgMin.
#include "gpu/core/elements/row_items.h"
#include "gpu/core/operators.h"

namespace ortolan::gpu {
namespace {

std::string refuse_floats(const Candidate& candidate) {
  return refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kFloat16});
}

std::string refuse_numbers(const Candidate& candidate) {
  return refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kFloat16, ElementType::kInt32});
}

Rows rows_of(const Lowering& l) {
  const Shape& shape = l.shape(0);
  bool one_axis = l.node().since_version >= 13;
  int64_t given = l.node().integer("axis", one_axis ? -1 : 1);
  bool past_the_end = !one_axis && given == static_cast<int64_t>(shape.size());
  size_t axis = shape.empty() || past_the_end ? shape.size() : l.axis(given, shape.size());
  return {shape, axis, one_axis ? std::min(axis + 1, shape.size()) : shape.size()};
}

void lower_softmax(Lowering& l, bool logarithm) {
  Rows rows = rows_of(l);
  bool half = l.type(0) == ElementType::kFloat16;
  Memory x = l.input(0), y = l.output(0, l.shape(0));
  l.call("softmax")
      .row_group(rows.cols)
      .constant("LOGARITHM", logarithm)
      .constant("HALF", half)
      .constant("WIDE", l.traits().kind == DeviceClass::kWide && !half && rows.inner == 1)
      .read(x)
      .write(y)
      .params(rows.cols, rows.inner)
      .run(rows.count);
}

int kind_of(ElementType type) { return type == ElementType::kFloat ? 0 : type == ElementType::kFloat16 ? 1 : 2; }

void find_extremes(Lowering& l, const Rows& rows, Memory y, bool least, bool hardmax) {
  bool last = l.node().since_version >= 12 && l.node().integer("select_last_index", 0) != 0;
  l.call("extreme")
      .row_group(rows.cols)
      .constant("KIND", kind_of(l.type(0)))
      .constant("LEAST", least)
      .constant("LAST", !hardmax && last)
      .constant("HARDMAX", hardmax)
      .read(l.input(0))
      .write(y)
      .params(rows.cols, rows.inner)
      .run(rows.count);
}

void lower_arg(Lowering& l, bool least) {
  Shape shape = l.shape(0);
  size_t axis = l.axis(l.node().integer("axis", 0), shape.size());
  Rows rows(shape, axis, axis + 1);
  auto place = shape.begin() + static_cast<int64_t>(axis);
  bool keeps = l.node().integer("keepdims", 1) != 0;
  if (keeps) {
    *place = 1;
  } else {
    shape.erase(place);
  }
  if (rows.cols == 0 && element_count(shape) > 0) {
    l.fail("axis " + std::to_string(axis) + " is empty, so it has no " + (least ? "smallest" : "largest") + " element");
  }
  find_extremes(l, rows, l.output(0, ElementType::kInt64, shape), least, false);
}

constexpr Operator kRows[] = {
    {"", "Softmax", 1, kNewest, refuse_floats, [](Lowering& l) { lower_softmax(l, false); }},
    {"", "LogSoftmax", 1, kNewest, refuse_floats, [](Lowering& l) { lower_softmax(l, true); }},
    {"", "Hardmax", 1, kNewest, refuse_floats,
     [](Lowering& l) { find_extremes(l, rows_of(l), l.output(0, l.shape(0)), false, true); }},
    {"", "ArgMax", 1, kNewest, refuse_numbers, [](Lowering& l) { lower_arg(l, false); }},
    {"", "ArgMin", 1, kNewest, refuse_numbers, [](Lowering& l) { lower_arg(l, true); }},
};

}  // namespace

std::span<const Operator> softmax_operators() { return kRows; }

}  // namespace ortolan::gpu
