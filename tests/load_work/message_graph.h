// Writes models of any size, node by node, as the bytes of a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/wire_writer.h"

namespace ortolan::test {
using onnx::WireWriter;
using Names = std::vector<std::string>;
using Dims = std::vector<int64_t>;

enum Type : int { kFloat = 1, kInt8 = 3, kInt32 = 6, kInt64 = 7, kBool = 9, kHalf = 10 };

/** "x7" */
inline std::string numbered(const char* stem, size_t i) { return stem + std::to_string(i); }

/** An attribute of that AttributeType, whose value `put_value` writes. */
template <class PutValue>
WireWriter attribute(const std::string& name, int64_t type, PutValue put_value) {
  WireWriter out;
  out.text(1, name);
  put_value(out);
  out.integer(20, type);
  return out;
}
inline WireWriter int_attribute(const std::string& name, int64_t value) {
  return attribute(name, 2, [&](WireWriter& out) { out.integer(3, value); });
}
inline WireWriter ints_attribute(const std::string& name, const Dims& values) {
  return attribute(name, 7, [&](WireWriter& out) {
    for (int64_t value : values) out.integer(8, value);
  });
}
inline WireWriter graph_attribute(const std::string& name, WireWriter graph) {
  return attribute(name, 5, [&](WireWriter& out) { out.message(6, std::move(graph)); });
}
inline WireWriter tensor_attribute(const std::string& name, WireWriter tensor) {
  return attribute(name, 4, [&](WireWriter& out) { out.message(5, std::move(tensor)); });
}

/** A tensor of `type` whose elements are all `number`. */
inline WireWriter filled_tensor(const std::string& name, const Dims& dims, float number, Type type = kFloat) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  WireWriter out;
  out.packed(1, dims);
  out.integer(2, type);
  if (type == kFloat) {
    for (int64_t i = 0; i < count; ++i) out.real(4, number);
  } else {
    for (int64_t i = 0; i < count; ++i) out.integer(type == kInt64 ? 7 : 5, static_cast<int64_t>(number));
  }
  out.text(8, name);
  return out;
}

/** Dimensions below zero are left unknown. */
inline WireWriter typed_value(const std::string& name, const Dims& dims, Type type = kFloat,
                              const std::string& first_dimension = "") {
  WireWriter shape, tensor, whole, info;
  for (size_t i = 0; i < dims.size(); ++i) {
    WireWriter dim;
    if (i == 0 && !first_dimension.empty()) {
      dim.text(2, first_dimension);
    } else if (dims[i] >= 0) {
      dim.integer(1, dims[i]);
    }
    shape.message(1, std::move(dim));
  }
  tensor.integer(1, type);
  tensor.message(2, std::move(shape));
  whole.message(1, std::move(tensor));
  info.text(1, name);
  info.message(2, std::move(whole));
  return info;
}

inline WireWriter node_message(const std::string& op, const Names& inputs, const Names& outputs,
                               std::vector<WireWriter> attributes = {}, const std::string& domain = "",
                               const std::string& name = "") {
  WireWriter out;
  for (const std::string& input : inputs) out.bytes(1, input);
  for (const std::string& output : outputs) out.bytes(2, output);
  out.text(3, name);
  out.text(4, op);
  for (WireWriter& attribute : attributes) out.message(5, std::move(attribute));
  out.text(7, domain);
  return out;
}

/** A GraphProto. */
struct MessageGraph {
  WireWriter out;

  MessageGraph() { out.text(2, "g"); }
  std::string node(const std::string& op, const Names& inputs, const std::string& output,
                   std::vector<WireWriter> attributes = {}, const std::string& domain = "") {
    out.message(1, node_message(op, inputs, {output}, std::move(attributes), domain));
    return output;
  }
  std::string constant(const std::string& name, const Dims& dims, float number, Type type = kFloat) {
    out.message(5, filled_tensor(name, dims, number, type));
    return name;
  }
  std::string input(const std::string& name, const Dims& dims, Type type = kFloat) {
    out.message(11, typed_value(name, dims, type));
    return name;
  }
  void output(const std::string& name, const Dims& dims, Type type = kFloat) {
    out.message(12, typed_value(name, dims, type));
  }
};

/** A ModelProto of that graph. */
struct MessageModel {
  WireWriter out;

  explicit MessageModel(MessageGraph graph, int64_t opset = 17) {
    out.integer(1, 8);
    out.message(7, std::move(graph.out));
    import("", opset);
    import("com.microsoft", 1);
  }
  void import(const std::string& domain, int64_t version) {
    WireWriter message;
    message.text(1, domain);
    message.integer(2, version);
    out.message(8, std::move(message));
  }
  std::string bytes() const {
    std::string all;
    for (onnx::Bytes piece : out.pieces()) all.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return all;
  }
};

}  // namespace ortolan::test
