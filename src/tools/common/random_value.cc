// Making up inputs.
#include "random_value.h"

#include <random>

#include "files.h"

namespace ortolan::tools {
namespace {

uint64_t mixed(uint64_t seed, const std::string& name) {
  for (unsigned char c : name) seed = (seed ^ c) * 0x100000001b3ull;
  return seed;
}

std::vector<int64_t> concrete_shape(const std::string& name, const TypeSpec& type, const RandomRules& rules) {
  if (auto found = rules.shapes.find(name); found != rules.shapes.end()) return found->second;
  std::vector<int64_t> shape = type.shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] >= 0) continue;
    auto found = rules.dims.find(type.symbols[i]);
    shape[i] = found == rules.dims.end() ? 1 : found->second;
  }
  return shape;
}

}  // namespace

void add_shapes(const std::string& text, const char* option, RandomRules& rules) {
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    auto [name, dims] = parse_pair(word, ':', option);
    for (const std::string& dim : split(dims, ',')) {
      rules.shapes[name].push_back(parse_integer(dim, "a dimension of " + name));
      if (rules.shapes[name].back() < 0) fail_usage(option, ": '", name, "' has a negative dimension");
    }
  }
}

Value random_value(const std::string& name, const TypeSpec& type, const RandomRules& rules) {
  if (type.kind != ONNX_TYPE_TENSOR) {
    fail("input '", name, "' is ", to_text(type), ": only tensors can be made up; give a test data folder instead");
  }
  Value value = make_tensor(type.element, concrete_shape(name, type, rules));
  std::mt19937_64 generator(mixed(rules.seed, name));
  auto bound = rules.bounds.find(name);
  int64_t top = bound == rules.bounds.end() ? 2 : std::max<int64_t>(1, bound->second);
  std::uniform_int_distribution<int64_t> integers(0, top - 1);
  std::uniform_real_distribution<double> reals(-1, 1);
  bool floating = traits(type.element).floating;
  size_t count = value.elements();
  for (size_t i = 0; i < count; ++i) {
    if (type.element == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
      value.strings[i] = "text" + std::to_string(integers(generator));
    } else {
      set_number(type.element, value.bytes.data(), i, floating ? reals(generator) : double(integers(generator)));
    }
  }
  return value;
}

}  // namespace ortolan::tools
