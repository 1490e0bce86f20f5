// The model editor: models built in memory and run, and every wrong use.
#include <cmath>

#include "model_editor_fixture.h"

namespace {

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

}  // namespace
