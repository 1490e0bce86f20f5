// What libonnx infers, and models edited with its classes.
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "known_type.h"

namespace shape_oracle {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

onnx::ModelProto parse(const std::string& bytes) {
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes)) throw std::runtime_error("the model cannot be parsed");
  return model;
}

KnownType known_type(const onnx::TypeProto& type) {
  KnownType known;
  if (!type.has_tensor_type()) return known;
  known.element = type.tensor_type().elem_type();
  known.has_rank = type.tensor_type().has_shape();
  for (const auto& dim : type.tensor_type().shape().dim())
    known.dims.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
  return known;
}

constexpr int kMostConstantElements = 64;

/** The tensor in a file of test data when it is small and may decide about shapes. */
bool read_small(const std::string& path, onnx::TensorProto& tensor) {
  if (!std::filesystem::exists(path) || !tensor.ParseFromString(read_file(path))) return false;
  int64_t count = tensor.dims_size() == 1 ? tensor.dims(0) : 1;
  bool integer = tensor.data_type() == onnx::TensorProto::INT64 || tensor.data_type() == onnx::TensorProto::INT32;
  bool scales = tensor.data_type() == onnx::TensorProto::FLOAT && tensor.name() == "scales";
  return tensor.dims_size() <= 1 && count <= kMostConstantElements && (integer || scales);
}

void name_dimensions(onnx::ValueInfoProto& input) {
  if (!input.type().has_tensor_type() || !input.type().tensor_type().has_shape()) return;
  auto* shape = input.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < shape->dim_size(); ++i)
    shape->mutable_dim(i)->set_dim_param(input.name() + "_" + std::to_string(i));
}

void add_input(onnx::GraphProto& graph, const std::string& name, const RandomNode::Input& input, bool symbolic) {
  if (!input.ints.empty() || !input.floats.empty() || input.is_constant) {
    auto& tensor = *graph.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(input.element);
    for (int64_t dim : input.dims) tensor.add_dims(dim);
    for (int64_t value : input.ints) tensor.add_int64_data(value);
    for (float value : input.floats) tensor.add_float_data(value);
    return;
  }
  auto& value = *graph.add_input();
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(input.element);
  type.mutable_shape();
  for (int64_t dim : input.dims) type.mutable_shape()->add_dim()->set_dim_value(dim);
  if (symbolic) name_dimensions(value);
}

void add_attribute(onnx::NodeProto& node, const RandomNode::Attribute& given) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(given.name);
  if (given.kind == 'i') {
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(given.ints.at(0));
  } else if (given.kind == 'I') {
    attribute.set_type(onnx::AttributeProto::INTS);
    for (int64_t value : given.ints) attribute.add_ints(value);
  } else if (given.kind == 'F') {
    attribute.set_type(onnx::AttributeProto::FLOATS);
    for (float value : given.floats) attribute.add_floats(value);
  } else {
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(given.text);
  }
}

}  // namespace

std::string RandomNode::model(bool symbolic) const {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(opset);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("random");
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(op);
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string name = inputs[i].element ? "x" + std::to_string(i) : "";
    node.add_input(name);
    if (!name.empty()) add_input(graph, name, inputs[i], symbolic);
  }
  for (const Attribute& attribute : attributes) add_attribute(node, attribute);
  for (int i = 0; i < outputs; ++i) {
    node.add_output("y" + std::to_string(i));
    graph.add_output()->set_name("y" + std::to_string(i));
  }
  return model.SerializeAsString();
}

std::string RandomNode::text() const {
  onnx::ModelProto proto;
  proto.ParseFromString(model(false));
  return proto.graph().ShortDebugString() + " opset " + std::to_string(opset);
}

Inferred infer_by_libonnx(const std::string& bytes, bool strict) {
  Inferred result;
  try {
    onnx::ModelProto model = parse(bytes);
    onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), {false, strict, true});
    const onnx::GraphProto& graph = model.graph();
    for (const auto* list : {&graph.value_info(), &graph.input(), &graph.output()}) {
      for (const auto& value : *list) result.values[value.name()] = known_type(value.type());
    }
  } catch (const std::exception& error) {
    result.error = error.what();
    result.values.clear();
  }
  return result;
}

ModelVariants::ModelVariants(const std::string& path, const std::string& data) : data_(data) {
  onnx::ModelProto model = parse(read_file(path));
  model.mutable_graph()->clear_value_info();
  for (auto& output : *model.mutable_graph()->mutable_output()) output.clear_type();
  model_ = model.SerializeAsString();
}

void ModelVariants::lower_versions() {
  onnx::ModelProto model = parse(model_);
  const auto& newest = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  for (auto& entry : *model.mutable_opset_import()) {
    auto found = newest.find(entry.domain() == "ai.onnx" ? "" : entry.domain());
    if (found != newest.end()) entry.set_version(std::min<int64_t>(entry.version(), found->second.second));
  }
  model_ = model.SerializeAsString();
}

std::string ModelVariants::bytes(bool constants, bool symbolic) const {
  onnx::ModelProto model = parse(model_);
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::GraphProto kept = graph;
  kept.clear_input();
  for (int i = 0; i < graph.input_size(); ++i) {
    onnx::TensorProto tensor;
    if (constants && read_small(data_ + "/input_" + std::to_string(i) + ".pb", tensor)) {
      tensor.set_name(graph.input(i).name());
      *kept.add_initializer() = tensor;
      continue;
    }
    *kept.add_input() = graph.input(i);
    if (symbolic) name_dimensions(*kept.mutable_input(kept.input_size() - 1));
  }
  graph = kept;
  return model.SerializeAsString();
}

std::map<std::string, KnownType> ModelVariants::expected_outputs() const {
  std::map<std::string, KnownType> result;
  onnx::ModelProto model = parse(model_);
  for (int i = 0; i < model.graph().output_size(); ++i) {
    std::string path = data_ + "/output_" + std::to_string(i) + ".pb";
    onnx::TensorProto tensor;
    if (!std::filesystem::exists(path) || !tensor.ParseFromString(read_file(path)) || !tensor.data_type()) continue;
    if (tensor.name() != model.graph().output(i).name()) continue;
    // Data of that time holds bfloat16 as uint16.
    int element = tensor.data_type() == onnx::TensorProto::UINT16 ? 0 : tensor.data_type();
    result[tensor.name()] = {element, true, {tensor.dims().begin(), tensor.dims().end()}};
  }
  return result;
}

}  // namespace shape_oracle
