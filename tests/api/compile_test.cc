// Compiled models through the API, with a plugin that keeps what it compiles in EPContext nodes; whether they still
// work.
#include "compile_fixture.h"

namespace {

namespace fs = std::filesystem;

TEST_F(CompileTest, ArgumentsAreChecked) {
  const OrtCompileApi& c = compile_api();
  OrtModelCompilationOptions* none = nullptr;
  EXPECT_REFUSED(c.CreateModelCompilationOptionsFromSessionOptions(env_, nullptr, &none), ORT_INVALID_ARGUMENT,
                 "'session_options'");
  Compilation options(env_, plain_);
  EXPECT_REFUSED(c.CompileModel(env_, options), ORT_INVALID_ARGUMENT, "has no source");
  EXPECT_REFUSED(c.CompileModel(env_, nullptr), ORT_INVALID_ARGUMENT, "'model_options'");
  EXPECT_REFUSED(c.ModelCompilationOptions_SetInputModelPath(options, nullptr), ORT_INVALID_ARGUMENT, "NULL");
  EXPECT_REFUSED(c.ModelCompilationOptions_SetInputModelPath(options, ""), ORT_INVALID_ARGUMENT, "is empty");
  EXPECT_REFUSED(c.ModelCompilationOptions_SetInputModelFromBuffer(options, nullptr, 4), ORT_INVALID_ARGUMENT, "NULL");
  EXPECT_REFUSED(c.ModelCompilationOptions_SetInputModelFromBuffer(options, "abc", 0), ORT_INVALID_ARGUMENT, "is 0");
  EXPECT_REFUSED(c.ModelCompilationOptions_SetInputModel(options, nullptr), ORT_INVALID_ARGUMENT, "'model'");
  EXPECT_REFUSED(c.ModelCompilationOptions_SetOutputModelPath(options, ""), ORT_INVALID_ARGUMENT, "is empty");
  void* buffer = nullptr;
  size_t size = 0;
  EXPECT_REFUSED(c.ModelCompilationOptions_SetOutputModelBuffer(options, nullptr, &buffer, &size), ORT_INVALID_ARGUMENT,
                 "'allocator'");
  EXPECT_REFUSED(c.ModelCompilationOptions_SetOutputModelBuffer(options, default_allocator(), nullptr, &size),
                 ORT_INVALID_ARGUMENT, "output_model_buffer_ptr");
  EXPECT_REFUSED(c.ModelCompilationOptions_SetOutputModelBuffer(options, default_allocator(), &buffer, nullptr),
                 ORT_INVALID_ARGUMENT, "output_model_buffer_size_ptr");
  EXPECT_REFUSED(c.ModelCompilationOptions_SetOutputModelWriteFunc(options, nullptr, nullptr), ORT_INVALID_ARGUMENT,
                 "'write_func'");
  EXPECT_REFUSED(c.ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc(options, nullptr, nullptr),
                 ORT_INVALID_ARGUMENT, "NULL");
  EXPECT_REFUSED(c.ModelCompilationOptions_SetOutputModelExternalInitializersFile(options, "", 4), ORT_INVALID_ARGUMENT,
                 "is empty");
  EXPECT_REFUSED(c.ModelCompilationOptions_SetGraphOptimizationLevel(options, static_cast<GraphOptimizationLevel>(77)),
                 ORT_INVALID_ARGUMENT, "level 77");
  EXPECT_REFUSED(c.ModelCompilationOptions_SetEpContextBinaryInformation(options, path("none").c_str(), "m"),
                 ORT_INVALID_ARGUMENT, "is no folder");
  EXPECT_REFUSED(c.ModelCompilationOptions_SetEpContextBinaryInformation(options, folder_.c_str(), ""),
                 ORT_INVALID_ARGUMENT, "model_name");
  EXPECT_OK(c.ModelCompilationOptions_SetInputModelPath(options, path("none.onnx").c_str()));
  EXPECT_REFUSED(c.CompileModel(env_, options), ORT_INVALID_ARGUMENT, "does not exist");
}

TEST_F(CompileTest, WritesModelsThatNothingCompiles) {
  const OrtCompileApi& c = compile_api();
  Compilation options(env_, plain_);
  set_source(options);
  expect_results(compiled(options), plain_);
  EXPECT_OK(c.ModelCompilationOptions_SetFlags(options, OrtCompileApiFlags_ERROR_IF_NO_NODES_COMPILED));
  EXPECT_REFUSED(c.CompileModel(env_, options), ORT_FAIL, "no provider of the session compiled any node");
  auto fails = [](void*, const void*, size_t) { return api().CreateStatus(ORT_NO_MODEL, "no room"); };
  EXPECT_OK(c.ModelCompilationOptions_SetFlags(options, 0));
  EXPECT_OK(c.ModelCompilationOptions_SetOutputModelWriteFunc(options, fails, nullptr));
  EXPECT_REFUSED(c.CompileModel(env_, options), ORT_NO_MODEL, "no room");
}

TEST_F(CompileTest, WritesFilesAndBuffers) {
  const OrtCompileApi& c = compile_api();
  Compilation options(env_, plain_);
  EXPECT_OK(c.ModelCompilationOptions_SetInputModelPath(options, path("m.onnx").c_str()));
  ASSERT_OK(c.CompileModel(env_, options));
  EXPECT_TRUE(fs::exists(path("m_ctx.onnx")));
  ASSERT_OK(c.CompileModel(env_, options));
  EXPECT_OK(c.ModelCompilationOptions_SetFlags(options, OrtCompileApiFlags_ERROR_IF_OUTPUT_FILE_EXISTS));
  EXPECT_REFUSED(c.CompileModel(env_, options), ORT_FAIL, "exists already");
  EXPECT_OK(c.ModelCompilationOptions_SetOutputModelPath(options, folder_.c_str()));
  EXPECT_REFUSED(c.CompileModel(env_, options), ORT_INVALID_ARGUMENT, "which is a folder");
  EXPECT_OK(c.ModelCompilationOptions_SetOutputModelPath(options, path("out.onnx").c_str()));
  EXPECT_OK(c.ModelCompilationOptions_SetOutputModelExternalInitializersFile(options, "out.bin", 4));
  ASSERT_OK(c.CompileModel(env_, options));
  EXPECT_TRUE(fs::exists(path("out.bin")));
  Session session;
  ASSERT_OK(api().CreateSession(env_, path("out.onnx").c_str(), plain_, session.out()));
  expect_results(session);
  EXPECT_OK(c.ModelCompilationOptions_SetOutputModelExternalInitializersFile(options, "../out.bin", 4));
  EXPECT_OK(c.ModelCompilationOptions_SetFlags(options, 0));
  EXPECT_REFUSED(c.CompileModel(env_, options), ORT_INVALID_ARGUMENT, "must be a plain name");

  Compilation to_buffer(env_, plain_);
  set_source(to_buffer);
  EXPECT_REFUSED(c.CompileModel(env_, to_buffer), ORT_FAIL, "nothing says where the compiled model goes");
  CountingAllocator allocator(ORT_API_VERSION);
  void* buffer = nullptr;
  size_t size = 0;
  EXPECT_OK(c.ModelCompilationOptions_SetOutputModelBuffer(to_buffer, &allocator, &buffer, &size));
  ASSERT_OK(c.CompileModel(env_, to_buffer));
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(allocator.allocations, 1);
  expect_results(std::string(static_cast<char*>(buffer), size), plain_);
  allocator.Free(&allocator, buffer);
}

/** Puts w into a file and leaves the rest in the model. */
OrtStatus* place_w(void* state, const char* name, const OrtValue* value, const OrtExternalInitializerInfo* now,
                   OrtExternalInitializerInfo** place) {
  EXPECT_EQ(now, nullptr);
  EXPECT_EQ(content<float>(value).size(), 2u);
  ++*static_cast<int*>(state);
  if (std::string(name) != "w") return nullptr;
  return api().CreateExternalInitializerInfo("w.bin", 16, 8, place);
}

TEST_F(CompileTest, FunctionPlacesInitializers) {
  const OrtCompileApi& c = compile_api();
  Compilation options(env_, plain_);
  set_source(options);
  int asked = 0;
  EXPECT_OK(c.ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc(options, place_w, &asked));
  std::string bytes = compiled(options);
  EXPECT_EQ(asked, 2);
  std::ofstream(path("c.onnx"), std::ios::binary) << bytes;
  const float w[] = {0, 0, 0, 0, 2, 3};
  std::ofstream(path("w.bin"), std::ios::binary).write(reinterpret_cast<const char*>(w), sizeof w);
  Session session;
  ASSERT_OK(api().CreateSession(env_, path("c.onnx").c_str(), plain_, session.out()));
  expect_results(session);
  auto fails = [](void*, const char*, const OrtValue*, const OrtExternalInitializerInfo*,
                  OrtExternalInitializerInfo**) { return api().CreateStatus(ORT_NO_MODEL, "nowhere"); };
  EXPECT_OK(c.ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc(options, fails, nullptr));
  EXPECT_REFUSED(c.CompileModel(env_, options), ORT_NO_MODEL, "nowhere");
}

TEST_F(CompileTest, KeepsWeightlessSource) {
  const OrtEpApi& ep = *api().GetEpApi();
  const void* data = &ep;
  size_t size = 1;
  EXPECT_OK(ep.SessionOptionsGetWeightlessSourceModelBuffer(plain_, &data, &size));
  EXPECT_EQ(data, nullptr);
  EXPECT_EQ(size, 0u);
  EXPECT_REFUSED(api().SessionOptionsSetWeightlessSourceModelBuffer(plain_, nullptr, 3), ORT_INVALID_ARGUMENT, "NULL");
  EXPECT_REFUSED(api().SessionOptionsSetWeightlessSourceModelBuffer(plain_, "abc", 0), ORT_INVALID_ARGUMENT, "is 0");
  EXPECT_OK(api().SessionOptionsSetWeightlessSourceModelBuffer(plain_, source_.data(), source_.size()));
  EXPECT_OK(ep.SessionOptionsGetWeightlessSourceModelBuffer(plain_, &data, &size));
  EXPECT_EQ(data, source_.data());
  EXPECT_EQ(size, source_.size());
}

/** With the provider of the plugin beside this test. */
TEST_F(ContextPluginTest, CompilesEmbeddedAndToFiles) {
  const OrtCompileApi& c = compile_api();
  std::string embedded = compiled_with("");
  EXPECT_NE(embedded.find("EPContext"), std::string::npos);
  EXPECT_NE(embedded.find("multiply"), std::string::npos);
  expect_results(embedded, options_);
  EXPECT_REFUSED(load(embedded, plain_), ORT_NOT_IMPLEMENTED, "'ContextExecutionProvider' compiled; register");

  Compilation to_file(env_, options_);
  EXPECT_OK(c.ModelCompilationOptions_SetInputModelPath(to_file, path("m.onnx").c_str()));
  EXPECT_OK(c.ModelCompilationOptions_SetOutputModelPath(to_file, path("out.onnx").c_str()));
  EXPECT_OK(c.ModelCompilationOptions_SetFlags(to_file, OrtCompileApiFlags_ERROR_IF_NO_NODES_COMPILED));
  ASSERT_OK(c.CompileModel(env_, to_file));
  Session session;
  ASSERT_OK(api().CreateSession(env_, path("out.onnx").c_str(), options_, session.out()));
  expect_results(session);
  EXPECT_OK(c.ModelCompilationOptions_SetInputModelPath(to_file, path("out.onnx").c_str()));
  EXPECT_OK(c.ModelCompilationOptions_SetOutputModelPath(to_file, path("again.onnx").c_str()));
  EXPECT_REFUSED(c.CompileModel(env_, to_file), ORT_FAIL, "or the model is compiled already");

  Compilation named(env_, options_);
  fs::create_directory(path("sub"));
  set_source(named);
  EXPECT_OK(c.ModelCompilationOptions_SetEpContextBinaryInformation(named, path("sub").c_str(), "m.onnx"));
  std::ofstream(path("sub/m.onnx"), std::ios::binary) << compiled(named);
  ASSERT_OK(api().CreateSession(env_, path("sub/m.onnx").c_str(), options_, session.out()));
  expect_results(session);
}

/** OrtModel of y = x * x for x [2, 2]. */
OrtModel* square_model() {
  const OrtModelEditorApi& editor = *api().GetModelEditorApi();
  const int64_t dims[] = {2, 2};
  TensorInfo tensor;
  EXPECT_OK(api().CreateTensorTypeAndShapeInfo(tensor.out()));
  EXPECT_OK(api().SetTensorElementType(tensor, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT));
  EXPECT_OK(api().SetDimensions(tensor, dims, 2));
  TypeInfo type;
  EXPECT_OK(editor.CreateTensorTypeInfo(tensor, type.out()));
  OrtGraph* graph = nullptr;
  OrtValueInfo *x = nullptr, *y = nullptr;
  OrtNode* node = nullptr;
  OrtModel* model = nullptr;
  const char *in[] = {"x", "x"}, *out[] = {"y"}, *domains[] = {""};
  const int versions[] = {17};
  EXPECT_OK(editor.CreateGraph(&graph));
  EXPECT_OK(editor.CreateValueInfo("x", type, &x));
  EXPECT_OK(editor.CreateValueInfo("y", type, &y));
  EXPECT_OK(editor.SetGraphInputs(graph, &x, 1));
  EXPECT_OK(editor.SetGraphOutputs(graph, &y, 1));
  EXPECT_OK(editor.CreateNode("Mul", "", "square", in, 2, out, 1, nullptr, 0, &node));
  EXPECT_OK(editor.AddNodeToGraph(graph, node));
  EXPECT_OK(editor.CreateModel(domains, versions, 1, &model));
  EXPECT_OK(editor.AddGraphToModel(model, graph));
  return model;
}

TEST_F(ContextPluginTest, CompilesModelsInMemory) {
  Handle<OrtModel, &OrtApi::ReleaseModel> model(square_model());
  Compilation options(env_, options_);
  EXPECT_OK(compile_api().ModelCompilationOptions_SetInputModel(options, model));
  EXPECT_OK(compile_api().ModelCompilationOptions_SetEpContextEmbedMode(options, true));
  EXPECT_REFUSED(compile_api().CompileModel(env_, options), ORT_FAIL, "nothing says where");
  std::string bytes = compiled(options);
  EXPECT_NE(bytes.find("multiply"), std::string::npos);
  Session session = make_session(env_, bytes, options_);
  std::vector<float> data = {1, 2, 3, 4};
  Value x = floats(data, {2, 2});
  const char *in = "x", *out = "y";
  const OrtValue* inputs[] = {x};
  OrtValue* output = nullptr;
  ASSERT_OK(api().Run(session, nullptr, &in, inputs, 1, &out, 1, &output));
  EXPECT_EQ(content<float>(Value(output)), (std::vector<float>{1, 4, 9, 16}));
}

TEST_F(ContextPluginTest, SessionWritesCompiledModel) {
  EXPECT_OK(api().AddSessionConfigEntry(options_, "ep.context_enable", "1"));
  EXPECT_OK(api().AddSessionConfigEntry(options_, "ep.context_embed_mode", "1"));
  Session session;
  ASSERT_OK(api().CreateSession(env_, path("m.onnx").c_str(), options_, session.out()));
  expect_results(session);
  EXPECT_TRUE(fs::exists(path("m_ctx.onnx")));
  EXPECT_REFUSED(api().CreateSession(env_, path("m.onnx").c_str(), options_, session.out()), ORT_FAIL,
                 "exists already");
  SessionOptions silent = make_options();
  EXPECT_OK(api().AddSessionConfigEntry(silent, "ep.context_enable", "1"));
  EXPECT_OK(api().AddSessionConfigEntry(silent, "ep.context_file_path", path("silent.onnx").c_str()));
  EXPECT_OK(api().AddSessionConfigEntry(silent, "test.without_node", "1"));
  EXPECT_REFUSED(api().CreateSession(env_, path("m.onnx").c_str(), silent, session.out()), ORT_FAIL,
                 "gave no EPContext node");
}

TEST_F(ContextPluginTest, WeightlessNeedsTheProvider) {
  Compilation options(env_, options_);
  set_source(options);
  EXPECT_OK(compile_api().ModelCompilationOptions_SetWeightlessEnabled(options, true));
  EXPECT_OK(compile_api().ModelCompilationOptions_SetOutputModelPath(options, path("out.onnx").c_str()));
  EXPECT_REFUSED(compile_api().CompileModel(env_, options), ORT_EP_FAIL, "without weights");
}

testing::AssertionResult loads_or_says(OrtStatus* status, const std::string& refusal) {
  return refusal.empty() ? succeeded(status) : refused(status, ORT_FAIL, refusal);
}

TEST_F(ContextPluginTest, CompatibilityIsJudged) {
  SessionOptions strict = make_options();
  EXPECT_OK(api().AddSessionConfigEntry(strict, "session.fail_on_suboptimal_compiled_model", "1"));
  struct Case {
    const char* info;
    OrtCompiledModelCompatibility judgement;
    std::string refusal, strict_refusal;  // empty where it loads
  };
  const Case cases[] = {{"optimal", OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL, "", ""},
                        {"old", OrtCompiledModelCompatibility_EP_SUPPORTED_PREFER_RECOMPILATION, "", "below its best"},
                        {"too old", OrtCompiledModelCompatibility_EP_UNSUPPORTED, "cannot run what it compiled",
                         "cannot run what it compiled"},
                        {"unknown", OrtCompiledModelCompatibility_EP_NOT_APPLICABLE, "", ""}};
  for (const Case& each : cases) {
    std::string bytes = compiled_with(each.info);
    char* info = nullptr;
    EXPECT_OK(
        api().GetCompatibilityInfoFromModelBytes(bytes.data(), bytes.size(), kProvider, default_allocator(), &info));
    EXPECT_EQ(take(info), each.info);
    auto judgement = OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
    EXPECT_OK(api().GetModelCompatibilityForEpDevices(&device_, 1, each.info, &judgement));
    EXPECT_EQ(judgement, each.judgement);
    EXPECT_TRUE(loads_or_says(load(bytes, options_), each.refusal)) << each.info;
    EXPECT_TRUE(loads_or_says(load(bytes, strict), each.strict_refusal)) << each.info;
  }
  EXPECT_REFUSED(load(compiled_with("broken"), options_), ORT_FAIL, "the info is broken");
}

TEST_F(ContextPluginTest, CompatibilityArguments) {
  char nothing = 0, *info = &nothing;
  auto* allocator = default_allocator();
  EXPECT_OK(api().GetCompatibilityInfoFromModel(path("m.onnx").c_str(), kProvider, allocator, &info));
  EXPECT_EQ(info, nullptr);
  EXPECT_REFUSED(api().GetCompatibilityInfoFromModel(path("none").c_str(), "x", allocator, &info), ORT_NO_SUCHFILE,
                 "none");
  EXPECT_REFUSED(api().GetCompatibilityInfoFromModel(path("m.onnx").c_str(), "", allocator, &info),
                 ORT_INVALID_ARGUMENT, "ep_type is empty");
  EXPECT_REFUSED(api().GetCompatibilityInfoFromModelBytes("garbage", 7, "x", allocator, &info), ORT_INVALID_PROTOBUF,
                 "the file is damaged");
  EXPECT_REFUSED(api().GetCompatibilityInfoFromModelBytes("a", 0, "x", allocator, &info), ORT_INVALID_ARGUMENT,
                 "the model is empty");
  auto judgement = OrtCompiledModelCompatibility_EP_UNSUPPORTED;
  const OrtEpDevice *mixed[] = {device_, cpu_}, *null[] = {nullptr}, *twice[] = {device_, device_};
  EXPECT_REFUSED(api().GetModelCompatibilityForEpDevices(&device_, 0, "x", &judgement), ORT_INVALID_ARGUMENT, "is 0");
  EXPECT_REFUSED(api().GetModelCompatibilityForEpDevices(mixed, 2, "x", &judgement), ORT_INVALID_ARGUMENT,
                 "one provider");
  EXPECT_REFUSED(api().GetModelCompatibilityForEpDevices(null, 1, "x", &judgement), ORT_INVALID_ARGUMENT, "NULL");
  EXPECT_REFUSED(api().GetModelCompatibilityForEpDevices(twice, 2, "broken", &judgement), ORT_EP_FAIL, "is broken");
  EXPECT_OK(api().GetModelCompatibilityForEpDevices(&cpu_, 1, "x", &judgement));
  EXPECT_EQ(judgement, OrtCompiledModelCompatibility_EP_NOT_APPLICABLE);
}

}  // namespace
