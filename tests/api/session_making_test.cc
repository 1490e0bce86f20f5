// Sessions made from files and bytes, and what their options change.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "session_fixture.h"

namespace {

TEST_F(SessionTest, MayOutliveItsOptionsAndEnvironment) {
  SessionOptions options;
  ASSERT_OK(api().CreateSessionOptions(options.out()));
  session_ = make_session(env_, add_model().bytes(), options);
  options = SessionOptions();
  env_ = Env();
  EXPECT_EQ(content<float>(run("y"))[0], 11);
}

TEST_F(SessionTest, BadModelsAreRefused) {
  OrtSession* session = session_;
  EXPECT_REFUSED(api().CreateSession(env_, "/nonexistent/model.onnx", nullptr, &session), ORT_NO_SUCHFILE,
                 "/nonexistent/model.onnx");
  EXPECT_EQ(session, nullptr);
  EXPECT_REFUSED(api().CreateSession(env_, nullptr, nullptr, &session), ORT_INVALID_ARGUMENT, "model_path");
  EXPECT_REFUSED(api().CreateSession(nullptr, "m.onnx", nullptr, &session), ORT_INVALID_ARGUMENT, "env");
  EXPECT_REFUSED(api().CreateSessionFromArray(env_, "garbage!", 8, nullptr, &session), ORT_INVALID_PROTOBUF,
                 "the file is damaged");
  EXPECT_REFUSED(api().CreateSessionFromArray(env_, "", 0, nullptr, &session), ORT_INVALID_ARGUMENT,
                 "the model is empty");
  ModelWriter unknown;
  unknown.input("x", 1, {"1"});
  unknown.node("NoSuchOperator", {"x"}, {"y"});
  unknown.output("y", 1, {"1"});
  std::string bytes = unknown.bytes();
  EXPECT_REFUSED(api().CreateSessionFromArray(env_, bytes.data(), bytes.size(), nullptr, &session), ORT_NOT_IMPLEMENTED,
                 "operator 'NoSuchOperator' of domain 'ai.onnx' is unknown");
}

TEST_F(SessionTest, TakesDimensionsAndInitializersFromTheOptions) {
  SessionOptions options;
  ASSERT_OK(api().CreateSessionOptions(options.out()));
  EXPECT_OK(api().AddFreeDimensionOverrideByName(options, "N", 2));
  EXPECT_OK(api().AddFreeDimensionOverride(options, "BATCH", 2));
  EXPECT_REFUSED(api().AddFreeDimensionOverrideByName(options, "N", -2), ORT_INVALID_ARGUMENT, "-2");
  std::vector<float> w = {100, 200};
  Value weights = floats(w, {2});
  EXPECT_OK(api().AddInitializer(options, "w", weights));
  EXPECT_REFUSED(api().AddInitializer(options, "w", weights), ORT_INVALID_ARGUMENT, "added already");
  session_ = make_session(env_, add_model().bytes(), options);
  EXPECT_EQ(content<float>(run("y")), (std::vector<float>{101, 202, 103, 204}));
  TypeInfo info;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  int64_t dims[2] = {};
  ASSERT_OK(api().SessionGetInputTypeInfo(session_, 0, info.out()));
  EXPECT_OK(api().CastTypeInfoToTensorInfo(info, &tensor));
  EXPECT_OK(api().GetDimensions(tensor, dims, 2));
  EXPECT_EQ(dims[0], 2);
}

TEST_F(SessionTest, TakesExternalInitializersOnlyForThoseOfTheModel) {
  std::vector<float> w = {100, 200};
  std::vector<double> doubles = {100, 200};
  const auto with = [&](const char* name, const OrtValue* value) {
    SessionOptions options;
    EXPECT_OK(api().CreateSessionOptions(options.out()));
    EXPECT_OK(api().AddExternalInitializers(options, &name, &value, 1));
    const std::string model = add_model().bytes();
    return api().CreateSessionFromArray(env_, model.data(), model.size(), options, session_.out());
  };
  EXPECT_REFUSED(with("v", floats(w, {2})), ORT_FAIL, "the model has no initializer 'v'");
  EXPECT_REFUSED(with("x", floats(w, {2})), ORT_FAIL, "the model has no initializer 'x'");
  EXPECT_REFUSED(with("w", floats(w, {1, 2})), ORT_FAIL,
                 "is float of shape [1,2], but the model has float of shape [2]");
  EXPECT_REFUSED(with("w", tensor_around(doubles, {2}, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE)), ORT_FAIL, "is double");
  ASSERT_OK(with("w", floats(w, {2})));
  EXPECT_EQ(content<float>(run("y")), (std::vector<float>{101, 202, 103, 204}));
}

TEST_F(SessionTest, TakesDimensionsByDenotation) {
  SessionOptions options;
  ASSERT_OK(api().CreateSessionOptions(options.out()));
  EXPECT_OK(api().AddFreeDimensionOverride(options, "DATA_BATCH", 3));
  Session session = make_session(env_, add_model().bytes(), options);
  TypeInfo info;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  int64_t dims[2] = {};
  ASSERT_OK(api().SessionGetInputTypeInfo(session, 0, info.out()));
  EXPECT_OK(api().CastTypeInfoToTensorInfo(info, &tensor));
  EXPECT_OK(api().GetDimensions(tensor, dims, 2));
  EXPECT_EQ(dims[0], 3);
}

TEST_F(SessionTest, SharesPackedWeights) {
  Handle<OrtPrepackedWeightsContainer, &OrtApi::ReleasePrepackedWeightsContainer> container;
  ASSERT_OK(api().CreatePrepackedWeightsContainer(container.out()));
  std::string bytes = add_model().bytes();
  Session first, second;
  ASSERT_OK(api().CreateSessionFromArrayWithPrepackedWeightsContainer(env_, bytes.data(), bytes.size(), nullptr,
                                                                      container, first.out()));
  ASSERT_OK(api().CreateSessionFromArrayWithPrepackedWeightsContainer(env_, bytes.data(), bytes.size(), nullptr,
                                                                      container, second.out()));
  session_ = std::move(second);
  EXPECT_EQ(content<float>(run("y"))[0], 11);
  first = Session();
  session_ = Session();
}

TEST_F(SessionTest, ProfilesWhenAsked) {
  SessionOptions options;
  ASSERT_OK(api().CreateSessionOptions(options.out()));
  std::string prefix = ::testing::TempDir() + "ortolan_profile_" + std::to_string(getpid());
  EXPECT_OK(api().EnableProfiling(options, prefix.c_str()));
  session_ = make_session(env_, add_model().bytes(), options);
  run("y");
  uint64_t start = 0;
  EXPECT_OK(api().SessionGetProfilingStartTimeNs(session_, &start));
  EXPECT_NE(start, 0u);
  char* name = nullptr;
  ASSERT_OK(api().SessionEndProfiling(session_, default_allocator(), &name));
  std::string path = take(name);
  EXPECT_EQ(path.find(prefix), 0u);
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(text.find("\"model_run\""), std::string::npos);
  EXPECT_NE(text.find("Add"), std::string::npos);
  unlink(path.c_str());
}

TEST_F(SessionTest, ProfilesOneRun) {
  RunOptions options;
  ASSERT_OK(api().CreateRunOptions(options.out()));
  std::string folder = ::testing::TempDir() + "ortolan_run_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  EXPECT_OK(api().RunOptionsEnableProfiling(options, (folder + "/run").c_str()));
  EXPECT_OK(api().AddRunConfigEntry(options, "memory.enable_memory_arena_shrinkage", "cpu:0"));
  run("y", options);
  EXPECT_OK(api().RunOptionsDisableProfiling(options));
  run("y", options);
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_NE(text.find("Add_node_kernel_time"), std::string::npos) << text;
    ++files;
  }
  EXPECT_EQ(files, 1u);
  std::filesystem::remove_all(folder);
}

TEST_F(SessionTest, TellsWhereNodesRun) {
  const OrtEpAssignedSubgraph* const* subgraphs = nullptr;
  size_t count = 0;
  EXPECT_REFUSED(api().Session_GetEpGraphAssignmentInfo(session_, &subgraphs, &count), ORT_INVALID_ARGUMENT,
                 "session.record_ep_graph_assignment_info");
  SessionOptions options;
  ASSERT_OK(api().CreateSessionOptions(options.out()));
  EXPECT_OK(api().AddSessionConfigEntry(options, "session.record_ep_graph_assignment_info", "1"));
  EXPECT_OK(api().SetSessionGraphOptimizationLevel(options, ORT_DISABLE_ALL));
  Session session = make_session(env_, add_model().bytes(), options);
  ASSERT_OK(api().Session_GetEpGraphAssignmentInfo(session, &subgraphs, &count));
  ASSERT_EQ(count, 2u);
  const char* text = nullptr;
  EXPECT_OK(api().EpAssignedSubgraph_GetEpName(subgraphs[0], &text));
  EXPECT_STREQ(text, "CPUExecutionProvider");
  const OrtEpAssignedNode* const* nodes = nullptr;
  ASSERT_OK(api().EpAssignedSubgraph_GetNodes(subgraphs[1], &nodes, &count));
  ASSERT_EQ(count, 1u);
  EXPECT_OK(api().EpAssignedNode_GetName(nodes[0], &text));
  EXPECT_STREQ(text, "Mul_node");
  EXPECT_OK(api().EpAssignedNode_GetOperatorType(nodes[0], &text));
  EXPECT_STREQ(text, "Mul");
  EXPECT_OK(api().EpAssignedNode_GetDomain(nodes[0], &text));
  EXPECT_STREQ(text, "");
}

TEST_F(SessionTest, LoadsFromAFile) {
  std::string path = ::testing::TempDir() + "ortolan_session_test_" + std::to_string(getpid()) + ".onnx";
  std::ofstream(path, std::ios::binary) << add_model().bytes();
  EXPECT_OK(api().CreateSession(env_, path.c_str(), nullptr, session_.out()));
  EXPECT_EQ(content<float>(run("y"))[0], 11);
  EXPECT_OK(api().CreateSessionWithPrepackedWeightsContainer(env_, path.c_str(), nullptr, nullptr, session_.out()));
  unlink(path.c_str());
}

TEST_F(SessionTest, LoadingCanBeCancelled) {
  SessionOptions options;
  ASSERT_OK(api().CreateSessionOptions(options.out()));
  EXPECT_OK(api().SessionOptionsSetLoadCancellationFlag(options, true));
  std::string bytes = add_model().bytes();
  OrtSession* session = nullptr;
  EXPECT_REFUSED(api().CreateSessionFromArray(env_, bytes.data(), bytes.size(), options, &session),
                 ORT_MODEL_LOAD_CANCELED, "cancel");
  EXPECT_OK(api().SessionOptionsSetLoadCancellationFlag(options, false));
  EXPECT_OK(api().CreateSessionFromArray(env_, bytes.data(), bytes.size(), options, session_.out()));
}

}  // namespace
