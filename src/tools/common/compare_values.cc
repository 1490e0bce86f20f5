// Element by element comparison of host values.
#include "compare_values.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ortolan::tools {
namespace {

const char* kind_name(Value::Kind kind) {
  constexpr const char* kNames[] = {"none", "tensor", "sequence", "map"};
  return kNames[int(kind)];
}

bool is_complex(ElementType type) {
  return type == ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64 || type == ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128;
}

size_t number_count(const Value& value) { return value.elements() * (is_complex(value.type) ? 2 : 1); }

bool special(double number) { return std::isnan(number) || std::isinf(number); }

bool same_special(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

bool close(double expected, double actual, const Tolerance& tolerance) {
  if (special(expected) || special(actual)) return same_special(expected, actual);
  return std::abs(actual - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected);
}

std::string float_difference(const Value& expected, const Value& actual, const Tolerance& tolerance) {
  size_t misses = 0, count = number_count(expected), worst = 0;
  double worst_error = -1;
  for (size_t i = 0; i < count; ++i) {
    double e = number_at(expected.type, expected.bytes.data(), i), a = number_at(actual.type, actual.bytes.data(), i);
    if (close(e, a, tolerance)) continue;
    ++misses;
    double error = special(e) || special(a) ? INFINITY : std::abs(a - e);
    if (error > worst_error) worst_error = error, worst = i;
  }
  if (misses <= tolerance.share * double(count)) return {};
  return join(misses, " of ", count, " numbers are off, most at element ", worst, ": ",
              number_at(actual.type, actual.bytes.data(), worst), ", expected ",
              number_at(expected.type, expected.bytes.data(), worst));
}

std::string integer_difference(const Value& expected, const Value& actual, const Tolerance& tolerance) {
  size_t misses = 0, count = expected.elements(), first = count;
  for (size_t i = 0; i < count; ++i) {
    if (integer_at(expected.type, expected.bytes.data(), i) == integer_at(actual.type, actual.bytes.data(), i))
      continue;
    if (!misses++) first = i;
  }
  if (misses <= tolerance.share * double(count)) return {};
  return join(misses, " of ", count, " integers differ, first at element ", first, ": ",
              integer_at(actual.type, actual.bytes.data(), first), ", expected ",
              integer_at(expected.type, expected.bytes.data(), first));
}

std::string string_difference(const Value& expected, const Value& actual) {
  for (size_t i = 0; i < expected.strings.size(); ++i) {
    if (expected.strings[i] == actual.strings[i]) continue;
    return join("string ", i, " is '", actual.strings[i], "', expected '", expected.strings[i], "'");
  }
  return {};
}

std::string tensor_difference(const Value& expected, const Value& actual, const Tolerance& tolerance) {
  if (expected.type != actual.type || expected.shape != actual.shape) {
    return join("is ", to_text(actual.type, actual.shape), ", expected ", to_text(expected.type, expected.shape));
  }
  if (expected.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return string_difference(expected, actual);
  if (traits(expected.type).floating) return float_difference(expected, actual, tolerance);
  return integer_difference(expected, actual, tolerance);
}

// A tensor of one dimension with its elements in another order.
Value reordered(const Value& tensor, const std::vector<size_t>& order) {
  Value out = make_tensor(tensor.type, tensor.shape);
  size_t width = traits(tensor.type).bits / 8;
  for (size_t i = 0; i < order.size(); ++i) {
    if (tensor.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
      out.strings[i] = tensor.strings[order[i]];
    } else {
      std::copy_n(&tensor.bytes[order[i] * width], width, &out.bytes[i * width]);
    }
  }
  return out;
}

// Maps have no order: sorts by key.
std::vector<Value> sorted_map(const Value& map) {
  const Value& keys = map.items.at(0);
  std::vector<size_t> order(keys.elements());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (!keys.strings.empty()) return keys.strings[a] < keys.strings[b];
    return integer_at(keys.type, keys.bytes.data(), a) < integer_at(keys.type, keys.bytes.data(), b);
  });
  if (map.items.at(1).elements() != order.size()) return map.items;
  return {reordered(keys, order), reordered(map.items[1], order)};
}

void add_tensor(const Value& a, const Value& b, Distance& total) {
  if (a.type != b.type || a.shape != b.shape) {
    total.comparable = false;
    return;
  }
  for (size_t i = 0; i < a.strings.size(); ++i) total.mismatches += a.strings[i] != b.strings[i];
  if (a.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return;
  bool floating = traits(a.type).floating;
  for (size_t i = 0, count = number_count(a); i < count; ++i) {
    double x = number_at(a.type, a.bytes.data(), i), y = number_at(b.type, b.bytes.data(), i);
    if (special(x) || special(y)) {
      total.mismatches += !same_special(x, y);
      continue;
    }
    total.mismatches += !floating && x != y;
    total.absolute = std::max(total.absolute, std::abs(x - y));
    total.largest = std::max(total.largest, std::abs(y));
  }
}

void add(const Value& a, const Value& b, Distance& total) {
  if (a.kind != b.kind || a.items.size() != b.items.size()) {
    total.comparable = false;
  } else if (a.kind == Value::Kind::kTensor) {
    add_tensor(a, b, total);
  } else {
    for (size_t i = 0; i < a.items.size(); ++i) add(a.items[i], b.items[i], total);
  }
}

}  // namespace

std::string difference(const Value& expected, const Value& actual, const Tolerance& tolerance) {
  if (expected.kind != actual.kind)
    return join("is a ", kind_name(actual.kind), ", expected a ", kind_name(expected.kind));
  if (expected.kind == Value::Kind::kTensor) return tensor_difference(expected, actual, tolerance);
  bool map = expected.kind == Value::Kind::kMap;
  std::vector<Value> wanted = map ? sorted_map(expected) : expected.items;
  std::vector<Value> given = map ? sorted_map(actual) : actual.items;
  if (wanted.size() != given.size()) return join("has ", given.size(), " items, expected ", wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    std::string text = difference(wanted[i], given[i], tolerance);
    if (!text.empty()) return join(map ? (i ? "values" : "keys") : join("item ", i), ": ", text);
  }
  return {};
}

Distance distance(const Value& a, const Value& b) {
  Distance total;
  add(a, b, total);
  total.relative = total.largest > 0 ? total.absolute / total.largest : total.absolute;
  return total;
}

}  // namespace ortolan::tools
