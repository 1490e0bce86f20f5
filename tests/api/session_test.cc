// Sessions: made from files and bytes, described, run at once, later and with bound values.
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "api_test_support.h"

namespace {

class SessionTest : public ::testing::Test {
 protected:
  Env env_ = make_env();
  Session session_ = make_session(env_, add_model().bytes());
  std::vector<float> data_ = {1, 2, 3, 4};
  Value x_ = floats(data_, {2, 2});

  /** Runs with x and gives the output called `name`. */
  Value run(const char* name, OrtRunOptions* options = nullptr) {
    const char* in = "x";
    const OrtValue* inputs[] = {x_};
    OrtValue* output = nullptr;
    EXPECT_OK(api().Run(session_, options, &in, inputs, 1, &name, 1, &output));
    return Value(output);
  }
};

TEST_F(SessionTest, DescribesInputsAndOutputs) {
  size_t inputs = 0, outputs = 0, overridable = 0;
  EXPECT_OK(api().SessionGetInputCount(session_, &inputs));
  EXPECT_OK(api().SessionGetOutputCount(session_, &outputs));
  EXPECT_OK(api().SessionGetOverridableInitializerCount(session_, &overridable));
  EXPECT_EQ(inputs, 1u);
  EXPECT_EQ(outputs, 2u);
  EXPECT_EQ(overridable, 1u);
  char* name = nullptr;
  EXPECT_OK(api().SessionGetInputName(session_, 0, default_allocator(), &name));
  EXPECT_EQ(take(name), "x");
  EXPECT_OK(api().SessionGetOutputName(session_, 1, default_allocator(), &name));
  EXPECT_EQ(take(name), "z");
  EXPECT_OK(api().SessionGetOverridableInitializerName(session_, 0, default_allocator(), &name));
  EXPECT_EQ(take(name), "w");
  EXPECT_REFUSED(api().SessionGetInputName(session_, 1, default_allocator(), &name), ORT_FAIL,
                 "index 1 is out of range; the session has 1 inputs");
  TypeInfo info;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  int64_t dims[2] = {};
  const char* symbols[2] = {};
  ASSERT_OK(api().SessionGetInputTypeInfo(session_, 0, info.out()));
  EXPECT_OK(api().CastTypeInfoToTensorInfo(info, &tensor));
  EXPECT_OK(api().GetDimensions(tensor, dims, 2));
  EXPECT_OK(api().GetSymbolicDimensions(tensor, symbols, 2));
  EXPECT_EQ(dims[0], -1);
  EXPECT_EQ(dims[1], 2);
  EXPECT_STREQ(symbols[0], "N");
  EXPECT_STREQ(symbols[1], "");
  EXPECT_OK(api().SessionGetOutputTypeInfo(session_, 0, info.out()));
  EXPECT_OK(api().SessionGetOverridableInitializerTypeInfo(session_, 0, info.out()));
  const OrtMemoryInfo* memory[2] = {};
  EXPECT_OK(api().SessionGetMemoryInfoForInputs(session_, memory, 1));
  EXPECT_OK(api().SessionGetMemoryInfoForOutputs(session_, memory, 2));
  EXPECT_NE(memory[1], nullptr);
}

TEST_F(SessionTest, Runs) {
  EXPECT_EQ(content<float>(run("y")), (std::vector<float>{11, 22, 13, 24}));
  EXPECT_EQ(content<float>(run("z")), (std::vector<float>{121, 484, 169, 576}));
}

TEST_F(SessionTest, WritesIntoTheCallersOutput) {
  std::vector<float> result(4, -1);
  Value mine = floats(result, {2, 2});
  const char *in = "x", *out = "y";
  const OrtValue* inputs[] = {x_};
  OrtValue* outputs[] = {mine};
  ASSERT_OK(api().Run(session_, nullptr, &in, inputs, 1, &out, 1, outputs));
  EXPECT_EQ(outputs[0], static_cast<OrtValue*>(mine));
  EXPECT_EQ(result, (std::vector<float>{11, 22, 13, 24}));
}

TEST_F(SessionTest, OverridesInitializers) {
  std::vector<float> w = {1, 1};
  Value weights = floats(w, {2});
  const char *in[] = {"x", "w"}, *out = "y";
  const OrtValue* inputs[] = {x_, weights};
  OrtValue* output = nullptr;
  ASSERT_OK(api().Run(session_, nullptr, in, inputs, 2, &out, 1, &output));
  EXPECT_EQ(content<float>(Value(output)), (std::vector<float>{2, 3, 4, 5}));
}

TEST_F(SessionTest, RefusesBadRuns) {
  const char *x = "x", *y = "y", *wrong = "nope", *empty = "";
  const OrtValue* inputs[] = {x_};
  const OrtValue* none[] = {nullptr};
  OrtValue* output = nullptr;
  auto run = [&](const char* const* in, const OrtValue* const* values, size_t count, const char* const* out,
                 size_t outs) { return api().Run(session_, nullptr, in, values, count, out, outs, &output); };
  EXPECT_REFUSED(run(&wrong, inputs, 1, &y, 1), ORT_INVALID_ARGUMENT, "the model has no input 'nope'");
  EXPECT_REFUSED(run(&x, inputs, 1, &wrong, 1), ORT_INVALID_ARGUMENT, "the model has no output 'nope'");
  EXPECT_REFUSED(run(&x, inputs, 1, &y, 0), ORT_INVALID_ARGUMENT, "no output is asked for");
  EXPECT_REFUSED(run(&x, inputs, 0, &y, 1), ORT_INVALID_ARGUMENT, "input 'x' is missing");
  EXPECT_REFUSED(run(&empty, inputs, 1, &y, 1), ORT_INVALID_ARGUMENT, "empty name");
  EXPECT_REFUSED(run(&x, none, 1, &y, 1), ORT_INVALID_ARGUMENT, "must not be NULL");
  EXPECT_REFUSED(run(nullptr, inputs, 1, &y, 1), ORT_INVALID_ARGUMENT, "input_names");
  std::vector<float> three = {1, 2, 3};
  Value bad_shape = floats(three, {1, 3});
  const OrtValue* bad[] = {bad_shape};
  EXPECT_REFUSED(run(&x, bad, 1, &y, 1), ORT_INVALID_ARGUMENT, "input 'x' has shape");
  std::vector<double> doubles = {1, 2};
  Value bad_type = tensor_around(doubles, {1, 2}, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE);
  bad[0] = bad_type;
  EXPECT_REFUSED(run(&x, bad, 1, &y, 1), ORT_INVALID_ARGUMENT, "holds double");
  EXPECT_EQ(output, nullptr);
}

TEST_F(SessionTest, StopsWhenToldTo) {
  RunOptions options;
  ASSERT_OK(api().CreateRunOptions(options.out()));
  EXPECT_OK(api().RunOptionsSetTerminate(options));
  const char *in = "x", *out = "y";
  const OrtValue* inputs[] = {x_};
  OrtValue* output = nullptr;
  EXPECT_REFUSED(api().Run(session_, options, &in, inputs, 1, &out, 1, &output), ORT_FAIL, "terminate");
  EXPECT_OK(api().RunOptionsUnsetTerminate(options));
  EXPECT_EQ(content<float>(run("y", options))[0], 11);
}

TEST_F(SessionTest, RunsFromManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) EXPECT_EQ(content<float>(run("z"))[3], 576);
    });
  }
  for (auto& thread : threads) thread.join();
}

struct AsyncResult {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  OrtStatus* status = nullptr;
  static void ORT_API_CALL finish(void* user_data, OrtValue**, size_t, OrtStatusPtr status) {
    auto& self = *static_cast<AsyncResult*>(user_data);
    std::lock_guard lock(self.mutex);
    self.status = status;
    self.done = true;
    self.changed.notify_all();
  }
  OrtStatus* wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done; });
    done = false;
    return status;
  }
};

TEST_F(SessionTest, RunsLater) {
  AsyncResult result;
  const char *in = "x", *out = "y", *wrong = "nope";
  const OrtValue* inputs[] = {x_};
  OrtValue* output = nullptr;
  ASSERT_OK(api().RunAsync(session_, nullptr, &in, inputs, 1, &out, 1, &output, AsyncResult::finish, &result));
  EXPECT_OK(result.wait());
  EXPECT_EQ(content<float>(Value(output))[0], 11);
  output = nullptr;
  ASSERT_OK(api().RunAsync(session_, nullptr, &in, inputs, 1, &wrong, 1, &output, AsyncResult::finish, &result));
  EXPECT_REFUSED(result.wait(), ORT_INVALID_ARGUMENT, "nope");
  EXPECT_EQ(output, nullptr);
  EXPECT_REFUSED(api().RunAsync(session_, nullptr, &in, inputs, 1, &out, 1, &output, nullptr, nullptr),
                 ORT_INVALID_ARGUMENT, "run_async_callback");
}

TEST_F(SessionTest, RunsWithBinding) {
  Handle<OrtIoBinding, &OrtApi::ReleaseIoBinding> binding;
  ASSERT_OK(api().CreateIoBinding(session_, binding.out()));
  std::vector<float> result(4);
  Value mine = floats(result, {2, 2});
  EXPECT_OK(api().BindInput(binding, "x", x_));
  EXPECT_OK(api().BindOutput(binding, "y", mine));
  EXPECT_OK(api().BindOutputToDevice(binding, "z", cpu_memory()));
  EXPECT_OK(api().SynchronizeBoundInputs(binding));
  ASSERT_OK(api().RunWithBinding(session_, nullptr, binding));
  EXPECT_OK(api().SynchronizeBoundOutputs(binding));
  EXPECT_EQ(result[0], 11);
  char* names = nullptr;
  size_t *lengths = nullptr, count = 0;
  ASSERT_OK(api().GetBoundOutputNames(binding, default_allocator(), &names, &lengths, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(std::string(names, lengths[0] + lengths[1]), "yz");
  EXPECT_OK(api().AllocatorFree(default_allocator(), names));
  EXPECT_OK(api().AllocatorFree(default_allocator(), lengths));
  OrtValue** values = nullptr;
  ASSERT_OK(api().GetBoundOutputValues(binding, default_allocator(), &values, &count));
  ASSERT_EQ(count, 2u);
  Value y(values[0]), z(values[1]);
  EXPECT_OK(api().AllocatorFree(default_allocator(), values));
  EXPECT_EQ(content<float>(z)[3], 576);
  EXPECT_REFUSED(api().BindInput(binding, "nope", x_), ORT_INVALID_ARGUMENT, "'nope'");
  EXPECT_REFUSED(api().BindOutput(binding, "nope", x_), ORT_INVALID_ARGUMENT, "'nope'");
  api().ClearBoundInputs(binding);
  api().ClearBoundOutputs(binding);
  EXPECT_OK(api().GetBoundOutputValues(binding, default_allocator(), &values, &count));
  EXPECT_EQ(count, 0u);
  Session other = make_session(env_, add_model().bytes());
  EXPECT_REFUSED(api().RunWithBinding(other, nullptr, binding), ORT_INVALID_ARGUMENT, "another session");
}

TEST_F(SessionTest, TellsTheModelsMetadata) {
  Handle<OrtModelMetadata, &OrtApi::ReleaseModelMetadata> metadata;
  ASSERT_OK(api().SessionGetModelMetadata(session_, metadata.out()));
  OrtAllocator* allocator = default_allocator();
  char* text = nullptr;
  EXPECT_OK(api().ModelMetadataGetProducerName(metadata, allocator, &text));
  EXPECT_EQ(take(text), "ortolan tests");
  EXPECT_OK(api().ModelMetadataGetGraphName(metadata, allocator, &text));
  EXPECT_EQ(take(text), "test graph");
  EXPECT_OK(api().ModelMetadataGetGraphDescription(metadata, allocator, &text));
  EXPECT_EQ(take(text), "graph doc");
  EXPECT_OK(api().ModelMetadataGetDomain(metadata, allocator, &text));
  EXPECT_EQ(take(text), "tests.domain");
  EXPECT_OK(api().ModelMetadataGetDescription(metadata, allocator, &text));
  EXPECT_EQ(take(text), "model doc");
  int64_t version = 0, count = 0;
  EXPECT_OK(api().ModelMetadataGetVersion(metadata, &version));
  EXPECT_EQ(version, 7);
  EXPECT_OK(api().ModelMetadataLookupCustomMetadataMap(metadata, allocator, "author", &text));
  EXPECT_EQ(take(text), "somebody");
  EXPECT_OK(api().ModelMetadataLookupCustomMetadataMap(metadata, allocator, "nobody", &text));
  EXPECT_EQ(text, nullptr);
  char** keys = nullptr;
  EXPECT_OK(api().ModelMetadataGetCustomMetadataMapKeys(metadata, allocator, &keys, &count));
  ASSERT_EQ(count, 2);
  EXPECT_EQ(take(keys[0]), "author");
  EXPECT_EQ(take(keys[1]), "empty");
  EXPECT_OK(api().AllocatorFree(allocator, keys));
}

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

TEST_F(SessionTest, NamesDimensionsWhenAnInputDoesNotFit) {
  std::vector<float> data(6);
  Value wide = floats(data, {2, 3});
  const char *input = "x", *output = "y";
  const OrtValue* given = wide;
  OrtValue* result = nullptr;
  EXPECT_REFUSED(api().Run(session_, nullptr, &input, &given, 1, &output, 1, &result), ORT_INVALID_ARGUMENT,
                 "input 'x' has shape [N,2] in the model, but the value given has [2,3]");
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

TEST_F(SessionTest, DynamicOptionsAreChecked) {
  const char *key = "ep.dynamic.workload_type", *value = "Efficient", *other = "something";
  EXPECT_OK(api().SetEpDynamicOptions(session_, &key, &value, 1));
  EXPECT_REFUSED(api().SetEpDynamicOptions(session_, &other, &value, 1), ORT_INVALID_ARGUMENT, "'something'");
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
