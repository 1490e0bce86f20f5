// Writes small models in the ONNX format: messages are strings of bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace ortolan::plugin_test {

/** A protobuf message under construction. */
class Message {
 public:
  Message& number(int field, int64_t value) {
    varint(static_cast<uint64_t>(field) << 3);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message& text(int field, const std::string& bytes) {
    varint(static_cast<uint64_t>(field) << 3 | 2);
    varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  Message& message(int field, const Message& inner) { return text(field, inner.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value % 128 + 128);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

using Dims = std::vector<int64_t>;  // -1: a dimension without a value
using Names = std::vector<std::string>;
constexpr int kFloat = 1, kInt64 = 7, kBool = 9;  // element types of the format

inline Message value_info(const std::string& name, const Dims& dims, int type = kFloat) {
  Message shape, tensor, outer, info;
  for (int64_t dim : dims) {
    Message one;
    dim < 0 ? one.text(2, name + std::to_string(shape.bytes().size())) : one.number(1, dim);
    shape.message(1, one);
  }
  tensor.number(1, type).message(2, shape);
  outer.message(1, tensor);
  info.text(1, name).message(2, outer);
  return info;
}

class GraphText {
 public:
  GraphText& input(const std::string& name, const Dims& dims, int type = kFloat) {
    graph_.message(11, value_info(name, dims, type));
    return *this;
  }
  GraphText& output(const std::string& name, const Dims& dims, int type = kFloat) {
    graph_.message(12, value_info(name, dims, type));
    return *this;
  }
  template <class Element>
  GraphText& initializer(const std::string& name, const Dims& dims, const std::vector<Element>& values, int type) {
    Message tensor;
    for (int64_t dim : dims) tensor.number(1, dim);
    tensor.number(2, type).text(8, name);
    tensor.text(9, std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Element)));
    graph_.message(5, tensor);
    return *this;
  }
  GraphText& weights(const std::string& name, const Dims& dims, const std::vector<float>& values) {
    return initializer(name, dims, values, kFloat);
  }
  /** A node called like its first output; subgraphs are attributes. */
  GraphText& node(const std::string& type, const Names& inputs, const Names& outputs,
                  const std::vector<std::pair<std::string, GraphText>>& subgraphs = {}) {
    Message node;
    for (const std::string& input : inputs) node.text(1, input);
    for (const std::string& output : outputs) node.text(2, output);
    node.text(3, "make_" + outputs[0]).text(4, type);
    for (const auto& [name, graph] : subgraphs) {
      Message attribute;
      attribute.text(1, name).message(6, graph.message()).number(20, 5);
      node.message(5, attribute);
    }
    graph_.message(1, node);
    return *this;
  }
  Message message() const { return Message(graph_).text(2, "graph"); }
  /** The whole model, with operator set 17. */
  std::string model() const {
    Message opset, model;
    opset.text(1, "").number(2, 17);
    model.number(1, 8).message(7, message()).message(8, opset);
    return model.bytes();
  }

 private:
  Message graph_;
};

}  // namespace ortolan::plugin_test
