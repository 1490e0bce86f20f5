// The model editor: models built in memory and run, loaded ones changed, and every wrong use.
#include <cmath>

#include "api_test_support.h"

namespace {

const OrtModelEditorApi& editor() { return *api().GetModelEditorApi(); }

using Graph = Handle<OrtGraph, &OrtApi::ReleaseGraph>;
using Model = Handle<OrtModel, &OrtApi::ReleaseModel>;
using Node = Handle<OrtNode, &OrtApi::ReleaseNode>;
using ValueInfo = Handle<OrtValueInfo, &OrtApi::ReleaseValueInfo>;

TypeInfo float_type(const std::vector<int64_t>& dims, std::vector<const char*> symbols = {}) {
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

OrtValueInfo* value_info(const char* name, const std::vector<int64_t>& dims, std::vector<const char*> symbols = {}) {
  OrtValueInfo* value = nullptr;
  EXPECT_OK(editor().CreateValueInfo(name, float_type(dims, std::move(symbols)), &value));
  return value;
}

OrtNode* node(const char* op, const char* name, std::vector<const char*> in, std::vector<const char*> out,
              std::vector<OrtOpAttr*> attributes = {}, const char* domain = "") {
  OrtNode* made = nullptr;
  EXPECT_OK(editor().CreateNode(op, domain, name, in.data(), in.size(), out.data(), out.size(), attributes.data(),
                                attributes.size(), &made));
  return made;
}

OrtOpAttr* int_attribute(const char* name, int64_t value) {
  OrtOpAttr* attribute = nullptr;
  EXPECT_OK(api().CreateOpAttr(name, &value, 1, ORT_OP_ATTR_INT, &attribute));
  return attribute;
}

Graph graph(std::vector<OrtValueInfo*> inputs, std::vector<OrtValueInfo*> outputs, std::vector<OrtNode*> nodes) {
  Graph made;
  EXPECT_OK(editor().CreateGraph(made.out()));
  EXPECT_OK(editor().SetGraphInputs(made, inputs.data(), inputs.size()));
  EXPECT_OK(editor().SetGraphOutputs(made, outputs.data(), outputs.size()));
  for (OrtNode* item : nodes) EXPECT_OK(editor().AddNodeToGraph(made, item));
  return made;
}

/** A graph that now belongs to someone else. */
OrtGraph* given(Graph& graph) {
  OrtGraph* handle = graph;
  new (&graph) Graph;
  return handle;
}

Model model(Graph graph, int opset = 17) {
  Model made;
  const char* domains[] = {""};
  EXPECT_OK(editor().CreateModel(domains, &opset, 1, made.out()));
  EXPECT_OK(editor().AddGraphToModel(made, given(graph)));
  return made;
}

/** An initializer of which the graph takes the value. */
OrtStatus* add_initializer(OrtGraph* graph, const char* name, const std::vector<float>& data,
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

TEST_F(ModelEditorTest, BuildsAndRunsAPerceptron) {
  // Nodes come in the wrong order: values are known by name only.
  Graph built = graph({value_info("x", {-1, 2}, {"N", ""})}, {value_info("y", {-1, 3})},
                      {node("Softmax", "probabilities", {"h2"}, {"y"}, {int_attribute("axis", 1)}),
                       node("Gemm", "second", {"h1", "w2", ""}, {"h2"}, {int_attribute("transB", 1)}),
                       node("Relu", "activation", {"h0"}, {"h1"}), node("MatMul", "first", {"x", "w1"}, {"h0"})});
  EXPECT_OK(add_initializer(built, "w1", {1, -1, 0, 2}, {2, 2}));
  EXPECT_OK(add_initializer(built, "w2", {1, 0, 0, 1, 1, 1}, {3, 2}));
  Model made = model(std::move(built));
  Session session, again;
  ASSERT_OK(create(made, session));
  ASSERT_OK(create(made, again)) << "a model makes any number of sessions";
  made = Model();
  double x[] = {3, 1}, h[2], logits[3], sum = 0;
  h[0] = x[0] * 1 + x[1] * 0;
  h[1] = std::max(0.0, x[0] * -1 + x[1] * 2);
  logits[0] = h[0], logits[1] = h[1], logits[2] = h[0] + h[1];
  for (double logit : logits) sum += std::exp(logit);
  for (OrtSession* each : {static_cast<OrtSession*>(session), static_cast<OrtSession*>(again)}) {
    auto y = run(each, {3, 1}, {1, 2}, "y");
    ASSERT_EQ(y.size(), 3u);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(y[i], std::exp(logits[i]) / sum, 1e-6);
  }
  TypeInfo type;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  const char* symbols[2] = {};
  ASSERT_OK(api().SessionGetInputTypeInfo(session, 0, type.out()));
  EXPECT_OK(api().CastTypeInfoToTensorInfo(type, &tensor));
  EXPECT_OK(api().GetSymbolicDimensions(tensor, symbols, 2));
  EXPECT_STREQ(symbols[0], "N");
}

TEST_F(ModelEditorTest, ExternalDataIsUsedInPlace) {
  std::vector<float> weights(64, 2.0f);
  Value value = floats(weights, {64});
  Graph built = graph({value_info("x", {64})}, {value_info("y", {64})}, {node("Mul", "m", {"x", "w"}, {"y"})});
  ASSERT_OK(editor().AddInitializerToGraph(built, "w", value, true));
  new (&value) Value;
  Session session;
  ASSERT_OK(create(model(std::move(built)), session));
  EXPECT_EQ(run(session, std::vector<float>(64, 3), {64}, "y"), std::vector<float>(64, 6));
}

TEST_F(ModelEditorTest, CopiedDataMayChangeAfterwards) {
  std::vector<float> weights(64, 2.0f);
  Value value = floats(weights, {64});
  Graph built = graph({value_info("x", {64})}, {value_info("y", {64})}, {node("Mul", "m", {"x", "w"}, {"y"})});
  ASSERT_OK(editor().AddInitializerToGraph(built, "w", value, false));
  new (&value) Value;
  Session session;
  ASSERT_OK(create(model(std::move(built)), session));
  weights.assign(64, -1);
  EXPECT_EQ(run(session, std::vector<float>(64, 3), {64}, "y"), std::vector<float>(64, 6));
}

TEST_F(ModelEditorTest, AnInitializerOfAnInputIsItsDefault) {
  Graph built = graph({value_info("x", {2}), value_info("w", {2})}, {value_info("y", {2})},
                      {node("Add", "a", {"x", "w"}, {"y"})});
  EXPECT_OK(add_initializer(built, "w", {10, 20}, {2}));
  Session session;
  ASSERT_OK(create(model(std::move(built)), session));
  size_t count = 0;
  EXPECT_OK(api().SessionGetInputCount(session, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(run(session, {1, 2}, {2}, "y"), (std::vector<float>{11, 22}));
}

TEST_F(ModelEditorTest, TakesNamesOfDomains) {
  Session session;
  ASSERT_OK(create(model(graph({value_info("x", {2})}, {value_info("y", {2})},
                               {node("Gelu", "g", {"x"}, {"h"}, {}, "com.microsoft"),
                                node("Relu", "r", {"h"}, {"y"}, {}, "ai.onnx")})),
                   session));
  EXPECT_EQ(run(session, {0, -100}, {2}, "y"), (std::vector<float>{0, 0}));
  int opset = 0;
  EXPECT_OK(editor().SessionGetOpsetForDomain(session, "", &opset));
  EXPECT_EQ(opset, 17);
  EXPECT_REFUSED(editor().SessionGetOpsetForDomain(session, "nobody", &opset), ORT_FAIL, "no operator set 'nobody'");
}

TEST_F(ModelEditorTest, TypesContainTypes) {
  TensorInfo tensor;
  ASSERT_OK(api().CreateTensorTypeAndShapeInfo(tensor.out()));
  ASSERT_OK(api().SetTensorElementType(tensor, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64));
  TypeInfo base, sparse, map, sequence, optional;
  ASSERT_OK(editor().CreateTensorTypeInfo(tensor, base.out()));
  ASSERT_OK(editor().CreateSparseTensorTypeInfo(tensor, sparse.out()));
  ASSERT_OK(editor().CreateMapTypeInfo(ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, base, map.out()));
  ASSERT_OK(editor().CreateSequenceTypeInfo(map, sequence.out()));
  ASSERT_OK(editor().CreateOptionalTypeInfo(sequence, optional.out()));
  base = TypeInfo();
  auto kind = [](const OrtTypeInfo* info) {
    ONNXType type = ONNX_TYPE_UNKNOWN;
    EXPECT_OK(api().GetOnnxTypeFromTypeInfo(info, &type));
    return type;
  };
  EXPECT_EQ(kind(sparse), ONNX_TYPE_SPARSETENSOR);
  EXPECT_EQ(kind(optional), ONNX_TYPE_OPTIONAL);
  const OrtOptionalTypeInfo* of_optional = nullptr;
  const OrtSequenceTypeInfo* of_sequence = nullptr;
  const OrtMapTypeInfo* of_map = nullptr;
  TypeInfo inner, innermost, value;
  ONNXTensorElementDataType key = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  EXPECT_OK(api().CastTypeInfoToOptionalTypeInfo(optional, &of_optional));
  EXPECT_OK(api().GetOptionalContainedTypeInfo(of_optional, inner.out()));
  EXPECT_OK(api().CastTypeInfoToSequenceTypeInfo(inner, &of_sequence));
  EXPECT_OK(api().GetSequenceElementType(of_sequence, innermost.out()));
  EXPECT_OK(api().CastTypeInfoToMapTypeInfo(innermost, &of_map));
  EXPECT_OK(api().GetMapKeyType(of_map, &key));
  EXPECT_EQ(key, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
  EXPECT_OK(api().GetMapValueType(of_map, value.out()));
  EXPECT_EQ(kind(value), ONNX_TYPE_TENSOR);
}

TEST_F(ModelEditorTest, DraftsAnswerWhatTheyKnow) {
  Node add(node("Add", "n1", {"x", "", "y"}, {"z"}));
  const char* text = nullptr;
  size_t count = 0;
  int version = 0;
  const OrtValueInfo* values[3] = {};
  EXPECT_OK(api().Node_GetName(add, &text));
  EXPECT_STREQ(text, "n1");
  EXPECT_OK(api().Node_GetOperatorType(add, &text));
  EXPECT_STREQ(text, "Add");
  EXPECT_OK(api().Node_GetNumInputs(add, &count));
  EXPECT_EQ(count, 3u);
  EXPECT_OK(api().Node_GetNumOutputs(add, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_REFUSED(api().Node_GetInputs(add, values, 3), ORT_NOT_IMPLEMENTED, "knows its values by name only");
  EXPECT_REFUSED(api().Node_GetNumImplicitInputs(add, &count), ORT_NOT_IMPLEMENTED, "node 'n1' is being built");
  EXPECT_REFUSED(api().Node_GetNumSubgraphs(add, &count), ORT_NOT_IMPLEMENTED, "node 'n1' is being built");
  EXPECT_REFUSED(api().Node_GetSinceVersion(add, &version), ORT_NOT_IMPLEMENTED, "node 'n1' is being built");
  ValueInfo value(value_info("x", {2}));
  EXPECT_OK(api().GetValueInfoName(value, &text));
  EXPECT_STREQ(text, "x");
  EXPECT_REFUSED(api().ValueInfo_GetValueNumConsumers(value, &count), ORT_NOT_IMPLEMENTED, "value 'x' is being built");
  Graph built = graph({value_info("x", {2})}, {value_info("y", {2})}, {node("Relu", "r", {"x"}, {"y"})});
  EXPECT_OK(add_initializer(built, "w", {1}, {1}));
  EXPECT_OK(api().Graph_GetNumInputs(built, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_OK(api().Graph_GetNumInitializers(built, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_OK(api().Graph_GetNumNodes(built, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_REFUSED(api().Graph_GetNumOperatorSets(built, &count), ORT_NOT_IMPLEMENTED, "the graph is being built");
}

TEST_F(ModelEditorTest, WrongArgumentsAreRefused) {
  Graph built = graph({}, {}, {});
  Model made;
  OrtValueInfo* value = nullptr;
  OrtNode* added = nullptr;
  const char* names[] = {"x"};
  const char* domains[] = {"", ""};
  int opsets[] = {17, 0};
  EXPECT_REFUSED(editor().CreateValueInfo("", float_type({2}), &value), ORT_INVALID_ARGUMENT, "name");
  EXPECT_REFUSED(editor().CreateValueInfo("x", nullptr, &value), ORT_INVALID_ARGUMENT, "type_info");
  EXPECT_REFUSED(editor().CreateNode("", "", "n", names, 1, names, 1, nullptr, 0, &added), ORT_INVALID_ARGUMENT,
                 "operator_name");
  EXPECT_REFUSED(editor().CreateNode("Relu", "", "n", nullptr, 1, names, 1, nullptr, 0, &added), ORT_INVALID_ARGUMENT,
                 "input_names");
  EXPECT_REFUSED(editor().CreateModel(domains + 1, opsets + 1, 1, made.out()), ORT_INVALID_ARGUMENT, "not above 0");
  EXPECT_REFUSED(editor().CreateModel(domains, opsets, 2, made.out()), ORT_INVALID_ARGUMENT,
                 "version 0 of operator set");
  EXPECT_REFUSED(editor().SetGraphInputs(built, nullptr, 1), ORT_INVALID_ARGUMENT, "inputs");
  EXPECT_REFUSED(editor().AddNodeToGraph(built, nullptr), ORT_INVALID_ARGUMENT, "node");
  EXPECT_REFUSED(add_initializer(built, "", {1}, {1}), ORT_INVALID_ARGUMENT, "name");
  EXPECT_OK(add_initializer(built, "w", {1}, {1}));
  EXPECT_REFUSED(add_initializer(built, "w", {1}, {1}), ORT_INVALID_ARGUMENT, "already has an initializer 'w'");
}

TEST_F(ModelEditorTest, AttributesOfARefusedNodeStayTheCallers) {
  OrtOpAttr* attributes[] = {int_attribute("axis", 1), int_attribute("axis", 2)};
  const char* names[] = {"x"};
  OrtNode* added = nullptr;
  EXPECT_REFUSED(editor().CreateNode("Softmax", "", "n", names, 1, names, 1, attributes, 2, &added),
                 ORT_INVALID_ARGUMENT, "attribute 'axis' is given twice");
  for (OrtOpAttr* attribute : attributes) {
    ASSERT_NE(attribute, nullptr);
    api().ReleaseOpAttr(attribute);
  }
}

TEST_F(ModelEditorTest, NothingIsOwnedTwice) {
  Graph first = graph({}, {}, {}), second = graph({}, {}, {});
  OrtValueInfo* value = value_info("x", {2});
  OrtValueInfo* twice[] = {value, value};
  EXPECT_REFUSED(editor().SetGraphInputs(first, twice, 2), ORT_INVALID_ARGUMENT, "'x' already belongs to a graph");
  ASSERT_OK(editor().SetGraphInputs(first, twice, 1));
  EXPECT_EQ(twice[0], nullptr) << "taken over";
  twice[0] = value;
  EXPECT_REFUSED(editor().SetGraphOutputs(second, twice, 1), ORT_INVALID_ARGUMENT, "already belongs to a graph");
  api().ReleaseValueInfo(value);  // the graph's: nothing happens
  OrtNode* relu = node("Relu", "r", {"x"}, {"y"});
  ASSERT_OK(editor().AddNodeToGraph(first, relu));
  EXPECT_REFUSED(editor().AddNodeToGraph(first, relu), ORT_INVALID_ARGUMENT, "already");
  api().ReleaseNode(relu);
  Model made = model(std::move(first));
  OrtGraph* owned = second;
  ASSERT_OK(editor().SetGraphInputs(owned, nullptr, 0));
  EXPECT_REFUSED(editor().AddGraphToModel(made, owned), ORT_INVALID_ARGUMENT, "already has a graph");
}

TEST_F(ModelEditorTest, WrongModelsAreRefused) {
  auto refuse = [&](Graph graph, OrtErrorCode code, const char* part) {
    Session session;
    EXPECT_REFUSED(create(model(std::move(graph)), session), code, part);
  };
  auto x = [] { return value_info("x", {2}); };
  auto y = [] { return value_info("y", {2}); };
  refuse(graph({x()}, {y()}, {node("Relu", "r", {"nope"}, {"y"})}), ORT_INVALID_GRAPH,
         "node 'r' (Relu): its input 'nope' is no input or initializer of the graph and no node's output");
  refuse(graph({x()}, {value_info("z", {2})}, {node("Relu", "r", {"x"}, {"y"})}), ORT_INVALID_GRAPH,
         "the output 'z' is made by no node");
  refuse(graph({x()}, {y()}, {node("Relu", "a", {"x"}, {"y"}), node("Relu", "b", {"x"}, {"y"})}), ORT_INVALID_GRAPH,
         "node 'b' (Relu): its output 'y' is already");
  refuse(graph({x()}, {y()}, {node("Add", "a", {"x", "z"}, {"y"}), node("Relu", "b", {"y"}, {"z"})}), ORT_INVALID_GRAPH,
         "cycle");
  refuse(graph({x(), x()}, {y()}, {node("Relu", "r", {"x"}, {"y"})}), ORT_INVALID_GRAPH, "two inputs 'x'");
  refuse(graph({x()}, {y(), y()}, {node("Relu", "r", {"x"}, {"y"})}), ORT_INVALID_GRAPH, "two outputs 'y'");
  refuse(graph({x()}, {}, {node("Relu", "r", {"x"}, {"y"})}), ORT_INVALID_ARGUMENT, "no outputs");
  refuse(graph({x()}, {y()}, {node("Relu", "r", {"x"}, {"y"}, {}, "unheard.of")}), ORT_INVALID_GRAPH,
         "no operator set of domain 'unheard.of'");
  refuse(graph({x()}, {y()}, {node("Reluu", "r", {"x"}, {"y"})}), ORT_NOT_IMPLEMENTED, "'Reluu'");
  Graph both = graph({x()}, {y()}, {node("Relu", "r", {"x"}, {"y"})});
  EXPECT_OK(add_initializer(both, "y", {1}, {1}));
  refuse(std::move(both), ORT_INVALID_GRAPH, "its output 'y' is already");
  Model empty, without_opset;
  Session session;
  ASSERT_OK(editor().CreateModel(nullptr, nullptr, 0, empty.out()));
  EXPECT_REFUSED(create(empty, session), ORT_INVALID_ARGUMENT, "no graph");
  Graph fine = graph({x()}, {y()}, {node("Relu", "r", {"x"}, {"y"})});
  ASSERT_OK(editor().AddGraphToModel(empty, given(fine)));
  EXPECT_REFUSED(create(empty, session), ORT_INVALID_ARGUMENT, "standard operator set");
}

class LoadedModelTest : public ModelEditorTest {
 protected:
  Session load() {
    std::string bytes = add_model().bytes();
    Session session;
    EXPECT_OK(editor().CreateModelEditorSessionFromArray(env_, bytes.data(), bytes.size(), options_, session.out()));
    return session;
  }
};

TEST_F(LoadedModelTest, KnowsItsValuesBeforeItIsReady) {
  Session session = load();
  size_t count = 0;
  char* name = nullptr;
  int opset = 0;
  EXPECT_OK(api().SessionGetInputCount(session, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_OK(api().SessionGetOutputCount(session, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_OK(api().SessionGetInputName(session, 0, default_allocator(), &name));
  EXPECT_EQ(take(name), "x");
  EXPECT_OK(editor().SessionGetOpsetForDomain(session, "", &opset));
  EXPECT_EQ(opset, 17);
  std::vector<float> data = {1, 2};
  Value x = floats(data, {1, 2}), y;
  const OrtValue* inputs[] = {x};
  const char* in = "x";
  const char* out = "y";
  EXPECT_REFUSED(api().Run(session, nullptr, &in, inputs, 1, &out, 1, y.out()), ORT_FAIL,
                 "the session is not ready yet");
  ASSERT_OK(editor().FinalizeModelEditorSession(session, options_, nullptr));
  EXPECT_EQ(run(session, {1, 2}, {1, 2}, "z"), (std::vector<float>{121, 484}));
}

TEST_F(LoadedModelTest, NewNodesGoBeforeAndAfter) {
  Session session = load();
  Graph after = graph({}, {value_info("sum", {-1, 1}), value_info("z", {-1, 2})},
                      {node("ReduceSum", "total", {"y", "axes"}, {"sum"})});
  int64_t one = 1, axis = 1;
  Value axes;
  ASSERT_OK(
      api().CreateTensorAsOrtValue(default_allocator(), &one, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, axes.out()));
  void* memory = nullptr;
  ASSERT_OK(api().GetTensorMutableData(axes, &memory));
  std::memcpy(memory, &axis, sizeof axis);
  ASSERT_OK(editor().AddInitializerToGraph(after, "axes", axes, false));
  new (&axes) Value;
  Model change = model(std::move(after));
  ASSERT_OK(editor().ApplyModelToModelEditorSession(session, change));
  Model before = model(graph({value_info("raw", {-1, 2}, {"N", ""})}, {}, {node("Neg", "negate", {"raw"}, {"x"})}));
  ASSERT_OK(editor().ApplyModelToModelEditorSession(session, before));
  char* name = nullptr;
  EXPECT_OK(api().SessionGetInputName(session, 0, default_allocator(), &name));
  EXPECT_EQ(take(name), "raw");
  ASSERT_OK(editor().FinalizeModelEditorSession(session, nullptr, nullptr));
  EXPECT_EQ(run(session, {-1, -2}, {1, 2}, "sum", "raw"), (std::vector<float>{33}));
  EXPECT_EQ(run(session, {-1, -2}, {1, 2}, "z", "raw"), (std::vector<float>{121, 484}));
}

TEST_F(LoadedModelTest, ANewNodeFeedsWhatSubgraphsUse) {
  ModelWriter loaded, then_branch, else_branch;
  then_branch.node("Neg", {"x"}, {"minus"});
  then_branch.output("minus", 1, {"2"});
  else_branch.node("Relu", {"x"}, {"plus"});
  else_branch.output("plus", 1, {"2"});
  loaded.input("x", 1, {"2"});
  loaded.node("ReduceSum", {"x"}, {"sum"}, ModelWriter::int_attribute("keepdims", 0));
  loaded.node("Cast", {"sum"}, {"any"}, ModelWriter::int_attribute("to", ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL));
  loaded.node("If", {"any"}, {"y"},
              ModelWriter::graph_attribute("then_branch", then_branch) +
                  ModelWriter::graph_attribute("else_branch", else_branch));
  loaded.output("y", 1, {"2"});
  std::string bytes = loaded.bytes();
  Session session;
  ASSERT_OK(editor().CreateModelEditorSessionFromArray(env_, bytes.data(), bytes.size(), options_, session.out()));
  Model change = model(graph({value_info("raw", {2})}, {}, {node("Add", "twice", {"raw", "raw"}, {"x"})}));
  ASSERT_OK(editor().ApplyModelToModelEditorSession(session, change));
  ASSERT_OK(editor().FinalizeModelEditorSession(session, options_, nullptr));
  EXPECT_EQ(run(session, {1, 2}, {2}, "y", "raw"), (std::vector<float>{-2, -4}));
  EXPECT_EQ(run(session, {-3, 3}, {2}, "y", "raw"), (std::vector<float>{0, 6}));
}

TEST_F(LoadedModelTest, WrongChangesAreRefused) {
  Session session = load();
  Model nothing;
  ASSERT_OK(editor().CreateModel(nullptr, nullptr, 0, nothing.out()));
  EXPECT_REFUSED(editor().ApplyModelToModelEditorSession(session, nothing), ORT_INVALID_ARGUMENT, "no graph");
  EXPECT_REFUSED(editor().ApplyModelToModelEditorSession(session, model(graph({}, {}, {}), 13)), ORT_INVALID_ARGUMENT,
                 "uses version 17 of the operator set '', but the model to apply version 13");
  Model lost = model(graph({value_info("other", {2})}, {}, {}));
  EXPECT_REFUSED(editor().ApplyModelToModelEditorSession(session, lost), ORT_INVALID_GRAPH,
                 "the input 'x' is no more among the graph's inputs, but still used");
  EXPECT_REFUSED(editor().FinalizeModelEditorSession(session, options_, nullptr), ORT_FAIL, "create the session again");
  Session ready = load();
  ASSERT_OK(editor().FinalizeModelEditorSession(ready, options_, nullptr));
  EXPECT_REFUSED(editor().FinalizeModelEditorSession(ready, options_, nullptr), ORT_INVALID_ARGUMENT, "ready to run");
  EXPECT_REFUSED(editor().ApplyModelToModelEditorSession(ready, lost), ORT_INVALID_ARGUMENT, "ready to run");
  Session none;
  EXPECT_REFUSED(editor().CreateModelEditorSession(env_, "/nowhere.onnx", options_, none.out()), ORT_NO_SUCHFILE,
                 "/nowhere.onnx");
}

}  // namespace
