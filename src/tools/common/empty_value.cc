// Builds the one-node model that gives an empty sequence, and runs it.
#include "empty_value.h"

#include "onnx_format.pb.h"

namespace ortolan::tools {
namespace {

namespace pb = ortolan_onnx;

std::string model_of(const TypeSpec& type) {
  if (type.kind != ONNX_TYPE_SEQUENCE || type.inner.at(0).kind != ONNX_TYPE_TENSOR) {
    fail("cannot make an empty value of type ", to_text(type));
  }
  int element = traits(type.inner[0].element).file_type;
  pb::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(15);
  pb::GraphProto& graph = *model.mutable_graph();
  graph.set_name("empty");
  pb::NodeProto& node = *graph.add_node();
  node.set_op_type("SequenceEmpty");
  node.add_output("empty");
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("dtype");
  attribute.set_type(pb::AttributeProto::INT);
  attribute.set_i(element);
  pb::ValueInfoProto& output = *graph.add_output();
  output.set_name("empty");
  pb::TypeProto& item = *output.mutable_type()->mutable_sequence_type()->mutable_elem_type();
  item.mutable_tensor_type()->set_elem_type(element);
  return model.SerializeAsString();
}

}  // namespace

Handle<OrtValue> make_empty(const Library& library, const OrtEnv* environment, const TypeSpec& type) {
  std::string model = model_of(type);
  auto options = library.make<OrtSessionOptions>(library->CreateSessionOptions, library->ReleaseSessionOptions);
  auto session = library.make<OrtSession>(library->CreateSessionFromArray, library->ReleaseSession, environment,
                                          static_cast<const void*>(model.data()), model.size(), options.get());
  const char* output = "empty";
  OrtValue* value = nullptr;
  library.check(library->Run(session.get(), nullptr, nullptr, nullptr, 0, &output, 1, &value));
  return Handle<OrtValue>(value, library->ReleaseValue);
}

}  // namespace ortolan::tools
