// Reading a model file with the format's messages.
#include "model_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

#include "element_type.h"
#include "error.h"
#include "onnx_format.pb.h"

namespace ortolan::tools {
namespace {

namespace pb = ortolan_onnx;
constexpr int kDeepest = 64;

std::string element_name(int type) { return type == 0 ? "undefined" : traits(type_of_file(type)).name; }

std::string type_text(const pb::TypeProto& type, int depth = 0) {
  if (depth > kDeepest) return "...";
  if (type.has_sequence_type()) return "sequence(" + type_text(type.sequence_type().elem_type(), depth + 1) + ")";
  if (type.has_optional_type()) return "optional(" + type_text(type.optional_type().elem_type(), depth + 1) + ")";
  if (type.has_map_type()) {
    const pb::TypeProto::Map& map = type.map_type();
    return "map(" + element_name(map.key_type()) + ", " + type_text(map.value_type(), depth + 1) + ")";
  }
  if (!type.has_tensor_type()) return "unknown";
  std::string text = element_name(type.tensor_type().elem_type());
  if (!type.tensor_type().has_shape()) return text + "[...]";
  text += '[';
  for (const auto& dim : type.tensor_type().shape().dim()) {
    if (text.back() != '[') text += ',';
    text += dim.has_dim_value() ? std::to_string(dim.dim_value()) : dim.dim_param().empty() ? "?" : dim.dim_param();
  }
  return text + ']';
}

uint64_t stored_bytes(const pb::TensorProto& tensor) {
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "length") return std::strtoull(entry.value().c_str(), nullptr, 10);
  }
  uint64_t bytes = tensor.raw_data().size() + 4ull * (tensor.float_data_size() + tensor.int32_data_size()) +
                   8ull * (tensor.int64_data_size() + tensor.double_data_size() + tensor.uint64_data_size());
  for (const std::string& text : tensor.string_data()) bytes += text.size();
  return bytes;
}

void add_nodes(const pb::GraphProto& graph, int depth, ModelFile& model) {
  if (depth > kDeepest) fail(model.path, ": graphs are nested more than ", kDeepest, " deep");
  for (const pb::NodeProto& proto : graph.node()) {
    ModelFile::Node node;
    node.name = proto.name();
    node.type = proto.op_type();
    node.domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
    node.inputs.assign(proto.input().begin(), proto.input().end());
    node.outputs.assign(proto.output().begin(), proto.output().end());
    node.depth = depth;
    model.nodes.push_back(std::move(node));
    for (const pb::AttributeProto& attribute : proto.attribute()) {
      if (attribute.has_g()) add_nodes(attribute.g(), depth + 1, model);
      for (const pb::GraphProto& inner : attribute.graphs()) add_nodes(inner, depth + 1, model);
    }
  }
}

void add_graph(const pb::GraphProto& graph, ModelFile& model) {
  model.graph = graph.name();
  std::set<std::string> weights;
  for (const pb::TensorProto& tensor : graph.initializer()) {
    weights.insert(tensor.name());
    model.weight_bytes += stored_bytes(tensor);
  }
  model.weight_count = size_t(graph.initializer_size() + graph.sparse_initializer_size());
  for (const auto& input : graph.input()) {
    if (!weights.count(input.name())) model.inputs.push_back({input.name(), type_text(input.type())});
  }
  for (const auto& output : graph.output()) model.outputs.push_back({output.name(), type_text(output.type())});
  add_nodes(graph, 0, model);
}

}  // namespace

ModelFile read_model_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("cannot read ", path, ": ", std::strerror(errno));
  pb::ModelProto proto;
  if (!proto.ParseFromIstream(&file) || !proto.has_graph()) fail(path, " is no ONNX model: it cannot be parsed as one");
  ModelFile model;
  model.path = path;
  model.description = proto.doc_string();
  model.producer = proto.producer_name() + (proto.producer_version().empty() ? "" : " " + proto.producer_version());
  model.ir_version = proto.ir_version();
  model.function_count = size_t(proto.functions_size());
  for (const auto& opset : proto.opset_import()) model.opsets[opset.domain()] = opset.version();
  for (const auto& entry : proto.metadata_props()) model.metadata[entry.key()] = entry.value();
  add_graph(proto.graph(), model);
  return model;
}

}  // namespace ortolan::tools
