// The attributes of Constant.
#include "graph/constant_value.h"

namespace ortolan::graph {
namespace {

template <class T>
Tensor tensor_from(const std::vector<T>& values) {
  return vector_tensor<T>(std::span<const T>(values));
}

}  // namespace

Tensor constant_value(const Node& node) {
  for (const Attribute& attribute : node.attributes()) {
    if (attribute.name == "value") return node.tensor_of("value");
    if (attribute.name == "value_float") return scalar<float>(node.float_of("value_float"));
    if (attribute.name == "value_int") return scalar<int64_t>(node.int_of("value_int"));
    if (attribute.name == "value_string") return scalar<std::string>(node.string_of("value_string"));
    if (attribute.name == "value_floats") return tensor_from(node.floats("value_floats"));
    if (attribute.name == "value_ints") return tensor_from(node.ints("value_ints"));
    if (attribute.name == "value_strings") return tensor_from(node.strings("value_strings"));
  }
  return {};
}

}  // namespace ortolan::graph
