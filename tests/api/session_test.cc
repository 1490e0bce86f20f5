// Sessions: described, run at once, later and with bound values.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "session_fixture.h"

namespace {

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

TEST_F(SessionTest, NamesDimensionsWhenAnInputDoesNotFit) {
  std::vector<float> data(6);
  Value wide = floats(data, {2, 3});
  const char *input = "x", *output = "y";
  const OrtValue* given = wide;
  OrtValue* result = nullptr;
  EXPECT_REFUSED(api().Run(session_, nullptr, &input, &given, 1, &output, 1, &result), ORT_INVALID_ARGUMENT,
                 "input 'x' has shape [N,2] in the model, but the value given has [2,3]");
}

TEST_F(SessionTest, DynamicOptionsAreChecked) {
  const char *key = "ep.dynamic.workload_type", *value = "Efficient", *other = "something";
  EXPECT_OK(api().SetEpDynamicOptions(session_, &key, &value, 1));
  EXPECT_REFUSED(api().SetEpDynamicOptions(session_, &other, &value, 1), ORT_INVALID_ARGUMENT, "'something'");
}

}  // namespace
