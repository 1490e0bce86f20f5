// The nodes of one graph, split into names and messages that still lie in the file.
#pragma once

#include "onnx/graph_reader.h"

namespace ortolan::onnx {

struct GraphReader::NodeParts {
  std::string_view name, op, domain, overload;
  size_t first_input = 0, input_count = 0;
  size_t first_output = 0, output_count = 0;
  size_t first_attribute = 0, attribute_count = 0;

  bool is_constant() const { return domain.empty() && op == "Constant"; }
};

/** All nodes of a graph; the parts' ranges index the shared lists. */
struct GraphReader::NodeList {
  std::vector<NodeParts> nodes;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> output_names;
  std::vector<ValueInfo*> outputs;  // one a name, NULL for an empty one
  std::vector<Bytes> attributes;

  void add(Bytes message);
  std::span<const std::string_view> inputs_of(const NodeParts& node) const {
    return std::span(inputs).subspan(node.first_input, node.input_count);
  }
  std::span<ValueInfo* const> outputs_of(const NodeParts& node) const {
    return std::span(outputs).subspan(node.first_output, node.output_count);
  }
  std::span<const Bytes> attributes_of(const NodeParts& node) const {
    return std::span(attributes).subspan(node.first_attribute, node.attribute_count);
  }
};

}  // namespace ortolan::onnx
