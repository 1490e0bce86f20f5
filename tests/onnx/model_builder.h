// Builds models, also wrong ones, message by message.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "onnx/reader.h"
#include "onnx/wire_writer.h"

namespace ortolan::onnx {

inline std::string bytes_of(const WireWriter& writer) {
  std::string bytes;
  for (Bytes piece : writer.pieces()) bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return bytes;
}

using Names = std::initializer_list<std::string_view>;

struct NodeText {
  WireWriter out;
  NodeText(std::string_view op, Names inputs, Names outputs, std::string_view name = "", std::string_view domain = "") {
    for (std::string_view input : inputs) out.bytes(1, input);
    for (std::string_view output : outputs) out.bytes(2, output);
    out.text(3, name);
    out.text(4, op);
    out.text(7, domain);
  }
  NodeText& attribute(WireWriter message) {
    out.message(5, std::move(message));
    return *this;
  }
  NodeText& graph(std::string_view name, WireWriter subgraph) {
    WireWriter message;
    message.text(1, name);
    message.message(6, std::move(subgraph));
    message.integer(20, 5);
    return attribute(std::move(message));
  }
  NodeText& integer(std::string_view name, int64_t value) {
    WireWriter message;
    message.text(1, name);
    message.integer(3, value);
    message.integer(20, 2);
    return attribute(std::move(message));
  }
  NodeText& reference(std::string_view name, std::string_view to) {
    WireWriter message;
    message.text(1, name);
    message.text(21, to);
    message.integer(20, 2);
    return attribute(std::move(message));
  }
};

/** A TensorProto of float (1) or another type with raw bytes. */
inline WireWriter raw_tensor(std::string_view name, std::initializer_list<int64_t> dims, std::string_view raw,
                             int type = 1) {
  WireWriter out;
  out.packed(1, std::vector<int64_t>(dims));
  out.integer(2, type);
  out.text(8, name);
  out.text(9, raw);
  return out;
}

struct GraphText {
  WireWriter out;
  GraphText() { out.text(2, "g"); }
  GraphText& node(NodeText node) { return add(1, std::move(node.out)); }
  GraphText& input(std::string_view name) { return add(11, value(name)); }
  GraphText& output(std::string_view name) { return add(12, value(name)); }
  GraphText& initializer(WireWriter tensor) { return add(5, std::move(tensor)); }
  GraphText& add(uint32_t field, WireWriter message) {
    out.message(field, std::move(message));
    return *this;
  }
  /** A ValueInfoProto of tensor(float) with shape [N, 2]. */
  static WireWriter value(std::string_view name) {
    WireWriter named, two;
    named.text(2, "N");
    two.integer(1, 2);
    return value(name, {std::move(named), std::move(two)});
  }
  /** One of tensor(float) with shape [size]. */
  static WireWriter vector(std::string_view name, int64_t size) {
    WireWriter dim;
    dim.integer(1, size);
    return value(name, {std::move(dim)});
  }
  static WireWriter value(std::string_view name, std::vector<WireWriter> sizes) {
    WireWriter shape, tensor, type, info;
    for (WireWriter& size : sizes) shape.message(1, std::move(size));
    tensor.integer(1, 1);
    tensor.message(2, std::move(shape));
    type.message(1, std::move(tensor));
    info.text(1, name);
    info.message(2, std::move(type));
    return info;
  }
};

inline WireWriter opset(std::string_view domain, int64_t version) {
  WireWriter out;
  out.text(1, domain);
  out.integer(2, version);
  return out;
}

struct FunctionText {
  WireWriter out;
  FunctionText(std::string_view name, Names inputs, Names outputs, Names attributes = {}) {
    out.text(1, name);
    for (std::string_view input : inputs) out.bytes(4, input);
    for (std::string_view output : outputs) out.bytes(5, output);
    for (std::string_view attribute : attributes) out.bytes(6, attribute);
    out.message(9, opset("", 17));
    out.message(9, opset("own", 1));
    out.text(10, "own");
  }
  FunctionText& node(NodeText node) {
    out.message(7, std::move(node.out));
    return *this;
  }
};

struct ModelText {
  WireWriter out;
  explicit ModelText(GraphText graph, int64_t ir = 8) {
    out.integer(1, ir);
    out.message(7, std::move(graph.out));
    out.message(8, opset("", 17));
  }
  ModelText& import(std::string_view domain, int64_t version) {
    out.message(8, opset(domain, version));
    return *this;
  }
  ModelText& function(FunctionText function) {
    out.message(25, std::move(function.out));
    return *this;
  }
  std::string bytes() const { return bytes_of(out); }
};

inline std::unique_ptr<Model> read(const std::string& bytes, const ReadOptions& options = {}) {
  auto copy = std::make_shared<std::string>(bytes);
  return read_model_bytes({std::as_bytes(std::span(*copy)), copy}, options);
}

struct Refusal {
  ErrorCode code = ErrorCode::kOk;
  std::string text;
};

/** How the reader refuses `bytes`; code kOk when it does not. */
inline Refusal refusal(const std::string& bytes, const ReadOptions& options = {}) {
  try {
    read(bytes, options);
  } catch (const Error& error) {
    return {error.code(), error.text()};
  }
  return {};
}

}  // namespace ortolan::onnx
