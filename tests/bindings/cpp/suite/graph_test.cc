// Models built in memory, changed sessions, and a plugin written in C++ that looks at their graphs.
#include "support.h"

namespace {

Ort::TypeInfo matrix(int64_t rows, int64_t columns) {
  const Ort::TensorTypeAndShapeInfo tensor(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, {rows, columns});
  return Ort::TypeInfo::CreateTensorInfo(tensor.GetConst());
}

Ort::OpAttr integer(const char* name, int64_t value) { return Ort::OpAttr(name, &value, 1, ORT_OP_ATTR_INT); }
Ort::OpAttr number(const char* name, float value) { return Ort::OpAttr(name, &value, 1, ORT_OP_ATTR_FLOAT); }

// y = relu(0.5 * x * transposed w), with w = [[2, 0], [0, -2]]. The memory of w must live as long as the model.
Ort::Model relu_model(std::vector<float>& weights) {
  std::vector<Ort::ValueInfo> inputs, outputs;
  inputs.emplace_back("x", matrix(-1, 2).GetConst());
  outputs.emplace_back("y", matrix(-1, 2).GetConst());
  Ort::Graph graph;
  graph.SetInputs(inputs);
  graph.SetOutputs(outputs);
  EXPECT_EQ(static_cast<OrtValueInfo*>(inputs[0]), nullptr);
  Ort::Value w = tensor_over(weights, {2, 2});
  graph.AddInitializer("w", w, true);
  EXPECT_EQ(static_cast<OrtValue*>(w), nullptr);

  std::vector<Ort::OpAttr> attributes;
  attributes.push_back(number("alpha", 0.5f));
  attributes.push_back(integer("transB", 1));
  Ort::Node gemm("Gemm", "", "product", {"x", "w"}, {"h"}, attributes);
  EXPECT_EQ(static_cast<OrtOpAttr*>(attributes[0]), nullptr);
  Ort::Node relu("Relu", "", "rectifier", {"h"}, {"y"});
  EXPECT_EQ(gemm.GetName(), "product");
  EXPECT_EQ(relu.GetOperatorType(), "Relu");
  graph.AddNode(gemm);
  graph.AddNode(relu);
  Ort::Model model(std::vector<Ort::Model::DomainOpsetPair>{{"", 17}});
  model.AddGraph(graph);
  EXPECT_EQ(static_cast<OrtGraph*>(graph), nullptr);
  return model;
}

struct Built : testing::Test {
  std::vector<float> weights{2, 0, 0, -2}, x{1, 2, -3, -4};
  Ort::Model model = relu_model(weights);

  void expect_result(Ort::Session& session) {
    const auto input = tensor_over(x, {2, 2});
    const char *inputs[] = {"x"}, *outputs[] = {"y"};
    const auto y = session.Run(Ort::RunOptions{}, inputs, &input, 1, outputs, 1);
    EXPECT_EQ(elements<float>(y[0]), (std::vector<float>{1, 0, 0, 4}));
  }
};

TEST_F(Built, Runs) {
  Ort::Session session(test_env(), model, Ort::SessionOptions());
  expect_result(session);
}

TEST_F(Built, AttributesReadBack) {
  const char text[] = "text";
  const int64_t numbers[] = {4, 5};
  const char* words[] = {"one", "three"};
  std::vector<int64_t> list;
  std::vector<std::string> strings;
  std::string string;
  EXPECT_TRUE(Ort::OpAttr("s", text, 4, ORT_OP_ATTR_STRING).GetValue(string).IsOK());
  EXPECT_EQ(string, "text");
  EXPECT_TRUE(Ort::OpAttr("i", numbers, 2, ORT_OP_ATTR_INTS).GetValueArray(list).IsOK());
  EXPECT_EQ(list, (std::vector<int64_t>{4, 5}));
  const Ort::OpAttr many("t", words, 2, ORT_OP_ATTR_STRINGS);
  EXPECT_TRUE(many.GetConst().GetValueArray(strings).IsOK());
  EXPECT_EQ(strings, (std::vector<std::string>{"one", "three"}));
  EXPECT_TRUE(Ort::OpAttr("none", numbers, 0, ORT_OP_ATTR_INTS).GetValueArray(list).IsOK());
  EXPECT_TRUE(list.empty());
  std::vector<float> floats;
  EXPECT_TRUE(refused(many.GetValueArray(floats), ORT_INVALID_ARGUMENT, "'t' has type 6, not 4"));
  Ort::Value tensor{nullptr};
  EXPECT_TRUE(refused(many.GetTensorAttributeAsOrtValue(tensor), ORT_INVALID_ARGUMENT, "'t' is not a tensor"));
}

TEST_F(Built, PluginInCppLooksAtEverything) {
  test_env().RegisterExecutionProviderLibrary("cpp_plugin", CPP_PLUGIN);
  std::vector<Ort::ConstEpDevice> devices;
  for (const auto& device : test_env().GetEpDevices()) {
    if (std::string(device.EpName()) == "CppTestExecutionProvider") devices.push_back(device);
  }
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_STREQ(devices[0].EpVendor(), "Ortolan tests");
  {
    Ort::SessionOptions options;
    options.AddConfigEntry("session.record_ep_graph_assignment_info", "1");
    options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
    options.AppendExecutionProvider_V2(test_env(), devices, Ort::KeyValuePairs());
    Ort::Session session(test_env(), model, options);
    size_t claimed = 0;
    for (const auto& part : session.GetEpGraphAssignmentInfo()) {
      if (part.GetEpName() == "CppTestExecutionProvider") claimed += part.GetNodes().size();
    }
    EXPECT_EQ(claimed, 1u);
    expect_result(session);
  }
  test_env().UnregisterExecutionProviderLibrary("cpp_plugin");
}

TEST(ModelEditor, ChangesALoadedModel) {
  Ort::Session session =
      Ort::Session::CreateModelEditorSession(test_env(), model_path("mlp").c_str(), Ort::SessionOptions());
  EXPECT_EQ(session.GetOpset(""), 17);
  std::vector<Ort::ValueInfo> inputs, outputs;
  inputs.emplace_back("x", matrix(1, 32).GetConst());
  outputs.emplace_back("negated", matrix(1, 32).GetConst());
  Ort::Graph graph;
  graph.SetInputs(inputs);
  graph.SetOutputs(outputs);
  Ort::Node node("Neg", "", "negation", {"y"}, {"negated"});
  graph.AddNode(node);
  Ort::Model model(std::vector<Ort::Model::DomainOpsetPair>{{"", 17}});
  model.AddGraph(graph);
  session.FinalizeModelEditorSession(model, Ort::SessionOptions());

  Ort::Session original = open("mlp");
  std::vector<float> x(32, 0.5f);
  const auto input = tensor_over(x, {1, 32});
  const char *names[] = {"x"}, *negated[] = {"negated"}, *y[] = {"y"};
  const auto changed = elements<float>(session.Run(Ort::RunOptions{}, names, &input, 1, negated, 1)[0]);
  const auto expected = elements<float>(original.Run(Ort::RunOptions{}, names, &input, 1, y, 1)[0]);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(changed[i], -expected[i]);
}

TEST(ExternalInitializerInfo, SaysWhere) {
  Ort::ExternalInitializerInfo info("weights.bin", 64, 128);
  EXPECT_EQ(info.GetFilePath(), "weights.bin");
  EXPECT_EQ(info.GetConst().GetFileOffset(), 64);
  EXPECT_EQ(info.GetByteSize(), 128u);
  EXPECT_TRUE(Ort::ExternalInitializerInfo::Create("other.bin", 0, 1, info).IsOK());
  EXPECT_EQ(info.GetFilePath(), "other.bin");
}

TEST(KernelDefs, AreBuiltAndRegistered) {
  const OrtDataType* type = nullptr;
  Ort::ThrowOnError(Ort::GetEpApi().GetTensorDataType(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &type));
  Ort::KernelDefBuilder builder;
  builder.SetOperatorType("Mul").SetDomain("").SetSinceVersion(7, 14).SetExecutionProvider("SomeProvider");
  builder.SetInputMemType(1, OrtMemTypeCPUInput).SetOutputMemType(0, OrtMemTypeCPUOutput);
  builder.AddTypeConstraint("T", type).AddInputOutputMutableAlias(0, 0).AddInputOutputAlias(1, 1);
  builder.AddInputOutputAliases({0}, {0}).AddInputOutputMutableAliases({1}, {0}).AddTypeConstraint("U", {type, type});
  expect_error(ORT_INVALID_ARGUMENT, "not as many", [&] { builder.AddInputOutputAliases({0, 1}, {0}); });
  const Ort::KernelDef def = builder.Build();
  EXPECT_STREQ(def.GetOperatorType(), "Mul");
  EXPECT_STREQ(def.GetConst().GetDomain(), "");
  EXPECT_EQ(def.GetSinceVersion(), std::make_pair(7, 14));
  EXPECT_STREQ(def.GetExecutionProvider(), "SomeProvider");
  EXPECT_EQ(def.GetInputMemType(1), OrtMemTypeCPUInput);
  EXPECT_EQ(def.GetOutputMemType(0), OrtMemTypeCPUOutput);
  Ort::KernelRegistry registry;
  EXPECT_TRUE(registry
                  .AddKernel(
                      def, [](void*, const OrtKernelInfo*, OrtKernelImpl**) -> OrtStatus* { return nullptr; }, nullptr)
                  .IsOK());
}

}  // namespace
