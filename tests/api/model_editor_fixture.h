// Parts of models for the model editor, and sessions of what is built of them.
#pragma once

#include "api_test_support.h"

inline const OrtModelEditorApi& editor() { return *api().GetModelEditorApi(); }

using Graph = Handle<OrtGraph, &OrtApi::ReleaseGraph>;
using Model = Handle<OrtModel, &OrtApi::ReleaseModel>;
using Node = Handle<OrtNode, &OrtApi::ReleaseNode>;
using ValueInfo = Handle<OrtValueInfo, &OrtApi::ReleaseValueInfo>;

inline TypeInfo float_type(const std::vector<int64_t>& dims, std::vector<const char*> symbols = {}) {
  TensorInfo tensor;
  TypeInfo type;
  EXPECT_OK(api().CreateTensorTypeAndShapeInfo(tensor.out()));
  EXPECT_OK(api().SetTensorElementType(tensor, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT));
  EXPECT_OK(api().SetDimensions(tensor, dims.data(), dims.size()));
  if (!symbols.empty()) {
    EXPECT_OK(api().SetSymbolicDimensions(tensor, symbols.data(), symbols.size()));
  }
  EXPECT_OK(editor().CreateTensorTypeInfo(tensor, type.out()));
  return type;
}

inline OrtValueInfo* value_info(const char* name, const std::vector<int64_t>& dims,
                                std::vector<const char*> symbols = {}) {
  OrtValueInfo* value = nullptr;
  EXPECT_OK(editor().CreateValueInfo(name, float_type(dims, std::move(symbols)), &value));
  return value;
}

inline OrtNode* node(const char* op, const char* name, std::vector<const char*> in, std::vector<const char*> out,
                     std::vector<OrtOpAttr*> attributes = {}, const char* domain = "") {
  OrtNode* made = nullptr;
  EXPECT_OK(editor().CreateNode(op, domain, name, in.data(), in.size(), out.data(), out.size(), attributes.data(),
                                attributes.size(), &made));
  return made;
}

inline OrtOpAttr* int_attribute(const char* name, int64_t value) {
  OrtOpAttr* attribute = nullptr;
  EXPECT_OK(api().CreateOpAttr(name, &value, 1, ORT_OP_ATTR_INT, &attribute));
  return attribute;
}

inline Graph graph(std::vector<OrtValueInfo*> inputs, std::vector<OrtValueInfo*> outputs, std::vector<OrtNode*> nodes) {
  Graph made;
  EXPECT_OK(editor().CreateGraph(made.out()));
  EXPECT_OK(editor().SetGraphInputs(made, inputs.data(), inputs.size()));
  EXPECT_OK(editor().SetGraphOutputs(made, outputs.data(), outputs.size()));
  for (OrtNode* item : nodes) EXPECT_OK(editor().AddNodeToGraph(made, item));
  return made;
}

/** A graph that now belongs to someone else. */
inline OrtGraph* given(Graph& graph) {
  OrtGraph* handle = graph;
  new (&graph) Graph;
  return handle;
}

inline Model model(Graph graph, int opset = 17) {
  Model made;
  const char* domains[] = {""};
  EXPECT_OK(editor().CreateModel(domains, &opset, 1, made.out()));
  EXPECT_OK(editor().AddGraphToModel(made, given(graph)));
  return made;
}

/** An initializer of which the graph takes the value. */
inline OrtStatus* add_initializer(OrtGraph* graph, const char* name, const std::vector<float>& data,
                                  std::vector<int64_t> shape) {
  Value value;
  EXPECT_OK(api().CreateTensorAsOrtValue(default_allocator(), shape.data(), shape.size(),
                                         ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, value.out()));
  void* memory = nullptr;
  EXPECT_OK(api().GetTensorMutableData(value, &memory));
  std::memcpy(memory, data.data(), data.size() * sizeof(float));
  OrtStatus* status = editor().AddInitializerToGraph(graph, name, value, false);
  if (status == nullptr) new (&value) Value;
  return status;
}

class ModelEditorTest : public ::testing::Test {
 protected:
  OrtStatus* create(const OrtModel* model, Session& session) {
    return editor().CreateSessionFromModel(env_, model, options_, session.out());
  }
  /** Runs a session with one input and gives the output called `name`. */
  std::vector<float> run(OrtSession* session, std::vector<float> data, std::vector<int64_t> shape, const char* name,
                         const char* input = "x") {
    Value x = floats(data, std::move(shape)), y;
    const OrtValue* inputs[] = {x};
    EXPECT_OK(api().Run(session, nullptr, &input, inputs, 1, &name, 1, y.out()));
    return y == nullptr ? std::vector<float>() : content<float>(y);
  }
  SessionOptions make_options() {
    SessionOptions options;
    EXPECT_OK(api().CreateSessionOptions(options.out()));
    return options;
  }

  Env env_ = make_env();
  SessionOptions options_ = make_options();
};
