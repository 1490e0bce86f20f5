// Conversion of host values between any two element types, and comparison across them.
#include "convert.h"

#include <algorithm>
#include <cmath>

namespace ortolan::type_matrix {
namespace {

bool is_complex(ElementType type) {
  return type == ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64 || type == ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128;
}

bool is_narrow(ElementType type) {
  int bits = traits(type).bits;
  return bits > 0 && bits <= 8 && type != ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL;
}

std::byte code_at(int bits, size_t index, unsigned code) { return std::byte(code << (index % (8 / bits) * bits)); }

/** The bit pattern of a type of at most 8 bits whose number is nearest. */
unsigned nearest_code(ElementType type, double number) {
  unsigned best = 0;
  double least = INFINITY;
  for (unsigned code = 0; code < 1u << traits(type).bits; ++code) {
    std::byte byte{static_cast<unsigned char>(code)};
    double value = number_at(type, &byte, 0);
    double distance = std::isnan(value) && std::isnan(number) ? 0 : std::abs(value - number);
    if (distance < least) least = distance, best = code;
  }
  return best;
}

double limit_of(ElementType type) {
  switch (traits(type).bits) {
    case 16:
      return 32767;
    case 32:
      return 2147483647;
    default:
      return 9e15;
  }
}

bool is_unsigned(ElementType type) { return std::string(traits(type).name).starts_with("uint"); }

void put(ElementType type, std::vector<std::byte>& bytes, size_t index, double number) {
  if (is_unsigned(type)) number = std::abs(number);
  if (is_narrow(type)) {
    int bits = traits(type).bits;
    bytes[index * bits / 8] |= code_at(bits, index, nearest_code(type, number));
  } else if (class_of(type) == Class::kInteger) {
    number = std::isnan(number) ? 0 : std::clamp(std::nearbyint(number), -limit_of(type), limit_of(type));
    set_number(type, bytes.data(), index, number);
  } else if (is_complex(type)) {
    ElementType part = type == ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64 ? ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
                                                                       : ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE;
    set_number(part, bytes.data(), 2 * index, number);
  } else {
    set_number(type, bytes.data(), index, number);
  }
}

std::vector<double> numbers(const Value& value) {
  std::vector<double> result(value.elements());
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = value.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING
                    ? double(i % 5)
                    : number_at(value.type, value.bytes.data(), is_complex(value.type) ? 2 * i : i);
  }
  return result;
}

bool has_small_fractions(const std::vector<double>& values) {
  bool fraction = false;
  for (double value : values) {
    if (!(std::abs(value) <= 2)) return false;
    fraction |= value != std::nearbyint(value);
  }
  return fraction;
}

Value converted_tensor(const Value& value, ElementType type) {
  Value result = make_tensor(type, value.shape);
  std::vector<double> all = numbers(value);
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    for (size_t i = 0; i < all.size(); ++i) result.strings[i] = join(all[i]);
    return result;
  }
  double scale = class_of(type) == Class::kInteger && has_small_fractions(all) ? 3 : 1;
  for (size_t i = 0; i < all.size(); ++i) put(type, result.bytes, i, scale * all[i]);
  return result;
}

/** How far a result may be off, as a share of its size. */
double tolerance_of(ElementType type) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
      return 4e-3;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
      return 3e-2;
    default:
      return traits(type).bits <= 8 && traits(type).floating ? 0.3 : 1e-4;
  }
}

bool holds(ElementType type, double number) {
  if (!std::isfinite(number)) return class_of(type) == Class::kFloat && traits(type).bits >= 16;
  if (class_of(type) != Class::kInteger) return type != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 || std::abs(number) < 6e4;
  double low = is_unsigned(type) ? 0 : -std::ldexp(1.0, traits(type).bits - 1);
  double high = std::ldexp(1.0, traits(type).bits - (is_unsigned(type) ? 0 : 1)) - 1;
  return number >= low && number <= high && std::abs(number) < 1e7;
}

bool near(double expected, double actual, double tolerance, double size, ElementType type) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (expected == actual || !holds(type, expected)) return true;
  if (class_of(type) == Class::kInteger && expected != std::nearbyint(expected))
    return std::abs(expected - actual) <= 1;
  return std::abs(expected - actual) <= tolerance * (std::abs(expected) + size / 4);
}

/** Texts that are the same, or numbers that are near. */
bool same_text(const std::string& expected, const std::string& actual, double tolerance) {
  char* end = nullptr;
  double wanted = std::strtod(expected.c_str(), &end), given = std::strtod(actual.c_str(), nullptr);
  return expected == actual || (*end == '\0' && std::abs(wanted - given) <= tolerance * std::abs(wanted));
}

std::string tensor_difference(const Value& expected, const Value& actual, ElementType computed_in) {
  if (expected.shape != actual.shape) {
    return join("is ", to_text(actual.type, actual.shape), ", expected ", to_text(expected.type, expected.shape));
  }
  bool texts = expected.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING;
  if (texts != (actual.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)) return "";
  double tolerance = std::max({tolerance_of(expected.type), tolerance_of(actual.type), tolerance_of(computed_in)});
  for (size_t i = 0; texts && i < expected.strings.size(); ++i) {
    if (same_text(expected.strings[i], actual.strings[i], tolerance)) continue;
    return join("text ", i, " is '", actual.strings[i], "', expected '", expected.strings[i], "'");
  }
  if (texts) return "";
  std::vector<double> wanted = numbers(expected), given = numbers(actual);
  double size = 0;
  for (double number : wanted) {
    if (std::isfinite(number)) size = std::max(size, std::abs(number));
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (near(wanted[i], given[i], tolerance, size, actual.type)) continue;
    return join("element ", i, " is ", given[i], ", expected ", wanted[i]);
  }
  return "";
}

}  // namespace

Class class_of(ElementType type) {
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING || type == ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL || is_complex(type)) {
    return Class::kOther;
  }
  return traits(type).floating ? Class::kFloat : Class::kInteger;
}

Value converted(const Value& value, ElementType type) {
  if (value.kind == Value::Kind::kTensor) return value.type == type ? value : converted_tensor(value, type);
  Value result = value;
  if (value.kind == Value::Kind::kMap) fail("maps are not converted");
  for (Value& item : result.items) item = converted(item, type);
  return result;
}

std::string spec_name(ElementType type) {
  std::string name = traits(type).name;
  return name == "float32" ? "float" : name == "float64" ? "double" : name;
}

ElementType type_of_spec_name(const std::string& name) {
  return type_of_name(name == "float" ? "float32" : name == "double" ? "float64" : name);
}

ElementType type_of_declaration(const std::string& declared) {
  size_t begin = declared.rfind("tensor(");
  if (begin == std::string::npos || declared.starts_with("sparse")) return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  begin += 7;
  return type_of_spec_name(declared.substr(begin, declared.find(')', begin) - begin));
}

std::string difference_across(const Value& expected, const Value& actual, ElementType computed_in) {
  if (expected.kind != actual.kind || expected.items.size() != actual.items.size())
    return "is of another kind or length";
  if (expected.kind == Value::Kind::kTensor) return tensor_difference(expected, actual, computed_in);
  for (size_t i = 0; i < expected.items.size(); ++i) {
    std::string text = difference_across(expected.items[i], actual.items[i], computed_in);
    if (!text.empty()) return join("item ", i, ": ", text);
  }
  return "";
}

}  // namespace ortolan::type_matrix
