// The environment, its logger and thread pools; session and run options; providers.
#include <atomic>
#include <fstream>
#include <mutex>
#include <thread>

#include "api_test_support.h"

namespace {

using ThreadingOptions = Handle<OrtThreadingOptions, &OrtApi::ReleaseThreadingOptions>;

TEST(Environment, IsOneAndCounted) {
  OrtEnv *first = nullptr, *second = nullptr;
  ASSERT_OK(api().CreateEnv(ORT_LOGGING_LEVEL_WARNING, "a", &first));
  ASSERT_OK(api().CreateEnv(ORT_LOGGING_LEVEL_ERROR, nullptr, &second));
  EXPECT_EQ(first, second);
  api().ReleaseEnv(first);
  EXPECT_OK(api().UpdateEnvWithCustomLogLevel(second, ORT_LOGGING_LEVEL_ERROR));
  EXPECT_REFUSED(api().UpdateEnvWithCustomLogLevel(second, static_cast<OrtLoggingLevel>(9)), ORT_INVALID_ARGUMENT,
                 "level 9");
  EXPECT_OK(api().EnableTelemetryEvents(second));
  EXPECT_OK(api().DisableTelemetryEvents(second));
  EXPECT_OK(api().SetLanguageProjection(second, ORT_PROJECTION_C));
  api().ReleaseEnv(second);
  api().ReleaseEnv(nullptr);
  EXPECT_REFUSED(api().CreateEnv(ORT_LOGGING_LEVEL_WARNING, "a", nullptr), ORT_INVALID_ARGUMENT, "out");
}

struct Messages {
  std::mutex mutex;
  std::vector<std::string> texts;
  static void ORT_API_CALL keep(void* param, OrtLoggingLevel severity, const char* category, const char* logid,
                                const char* location, const char* message) {
    auto& self = *static_cast<Messages*>(param);
    std::lock_guard lock(self.mutex);
    self.texts.push_back(std::to_string(severity) + " " + category + " " + logid + " " + location + " " + message);
  }
  bool any_has(const std::string& part) {
    std::lock_guard lock(mutex);
    for (const auto& text : texts) {
      if (text.find(part) != std::string::npos) return true;
    }
    return false;
  }
};

TEST(Environment, TheCallersLoggerGetsTheMessages) {
  Messages messages;
  Env env;
  ASSERT_OK(api().CreateEnvWithCustomLogger(Messages::keep, &messages, ORT_LOGGING_LEVEL_VERBOSE, "mine", env.out()));
  Session session = make_session(env, add_model().bytes());
  EXPECT_TRUE(messages.any_has("CPUExecutionProvider")) << "where nodes run is said at verbose level";
  EXPECT_TRUE(messages.any_has("0 onnxruntime mine ")) << (messages.texts.empty() ? "none" : messages.texts[0]);
  Messages sessions_own;
  SessionOptions options;
  ASSERT_OK(api().CreateSessionOptions(options.out()));
  EXPECT_OK(api().SetUserLoggingFunction(options, Messages::keep, &sessions_own));
  EXPECT_OK(api().SetSessionLogSeverityLevel(options, ORT_LOGGING_LEVEL_VERBOSE));
  EXPECT_OK(api().SetSessionLogId(options, "special"));
  size_t before = messages.texts.size();
  Session other = make_session(env, add_model().bytes(), options);
  EXPECT_TRUE(sessions_own.any_has(" special "));
  EXPECT_EQ(messages.texts.size(), before);
}

TEST(Environment, CreationOptionsAreRead) {
  Messages messages;
  OrtEnvCreationOptions options{
      ORT_API_VERSION, ORT_LOGGING_LEVEL_VERBOSE, "created", Messages::keep, &messages, nullptr, nullptr};
  Env env;
  ASSERT_OK(api().CreateEnvWithOptions(&options, env.out()));
  Session session = make_session(env, add_model().bytes());
  EXPECT_TRUE(messages.any_has(" created "));
}

std::atomic<int> threads_made{0}, threads_joined{0};
OrtCustomThreadHandle ORT_API_CALL make_thread(void* options, OrtThreadWorkerFn worker, void* param) {
  EXPECT_EQ(options, &threads_made);
  ++threads_made;
  auto* thread = new std::thread([=] { worker(param); });
  return static_cast<OrtCustomThreadHandle>(static_cast<void*>(thread));
}
void ORT_API_CALL join_thread(OrtCustomThreadHandle handle) {
  auto* thread = static_cast<std::thread*>(const_cast<void*>(static_cast<const void*>(handle)));
  thread->join();
  ++threads_joined;
  delete thread;
}

/** Runs a product large enough for several threads. */
void run_large(OrtSession* session) {
  std::vector<float> data(512 * 512, 1.0f);
  Value input = floats(data, {512, 512});
  const char *in = "x", *out = "y";
  const OrtValue* inputs[] = {input};
  OrtValue* output = nullptr;
  ASSERT_OK(api().Run(session, nullptr, &in, inputs, 1, &out, 1, &output));
  EXPECT_EQ(content<float>(Value(output))[0], 512.0f);
}

std::string product_model() {
  ModelWriter model;
  model.input("x", 1, {"512", "512"});
  model.node("MatMul", {"x", "x"}, {"y"});
  model.output("y", 1, {"512", "512"});
  return model.bytes();
}

TEST(Threads, GlobalPoolsUseTheCallersThreads) {
  threads_made = threads_joined = 0;
  {
    ThreadingOptions threads;
    ASSERT_OK(api().CreateThreadingOptions(threads.out()));
    EXPECT_OK(api().SetGlobalIntraOpNumThreads(threads, 3));
    EXPECT_OK(api().SetGlobalInterOpNumThreads(threads, 1));
    EXPECT_OK(api().SetGlobalSpinControl(threads, 0));
    EXPECT_REFUSED(api().SetGlobalSpinControl(threads, 2), ORT_INVALID_ARGUMENT, "0 or 1");
    EXPECT_OK(api().SetGlobalDenormalAsZero(threads));
    EXPECT_REFUSED(api().SetGlobalIntraOpThreadAffinity(threads, "1,x"), ORT_INVALID_ARGUMENT, "at position 2");
    EXPECT_OK(api().SetGlobalCustomCreateThreadFn(threads, make_thread));
    EXPECT_OK(api().SetGlobalCustomThreadCreationOptions(threads, &threads_made));
    EXPECT_OK(api().SetGlobalCustomJoinThreadFn(threads, join_thread));
    Env env;
    ASSERT_OK(api().CreateEnvWithGlobalThreadPools(ORT_LOGGING_LEVEL_WARNING, "t", threads, env.out()));
    SessionOptions options;
    ASSERT_OK(api().CreateSessionOptions(options.out()));
    EXPECT_OK(api().DisablePerSessionThreads(options));
    Session session = make_session(env, product_model(), options);
    run_large(session);
  }
  EXPECT_EQ(threads_made, threads_joined);
  EXPECT_GE(threads_made, 2);
}

TEST(Threads, ASessionUsesTheCallersThreads) {
  threads_made = threads_joined = 0;
  {
    Env env = make_env();
    SessionOptions options;
    ASSERT_OK(api().CreateSessionOptions(options.out()));
    EXPECT_OK(api().SetIntraOpNumThreads(options, 3));
    EXPECT_OK(api().SetInterOpNumThreads(options, 1));
    EXPECT_OK(api().SessionOptionsSetCustomCreateThreadFn(options, make_thread));
    EXPECT_OK(api().SessionOptionsSetCustomThreadCreationOptions(options, &threads_made));
    EXPECT_OK(api().SessionOptionsSetCustomJoinThreadFn(options, join_thread));
    Session session = make_session(env, product_model(), options);
    run_large(session);
  }
  EXPECT_EQ(threads_made, threads_joined);
  EXPECT_GE(threads_made, 2);
}

TEST(Threads, GlobalPoolsMustExist) {
  Env env = make_env();
  SessionOptions options;
  OrtSession* session = nullptr;
  ASSERT_OK(api().CreateSessionOptions(options.out()));
  EXPECT_OK(api().DisablePerSessionThreads(options));
  std::string bytes = product_model();
  EXPECT_REFUSED(api().CreateSessionFromArray(env, bytes.data(), bytes.size(), options, &session), ORT_FAIL,
                 "CreateEnvWithGlobalThreadPools");
}

TEST(SessionOptionsTest, SettersTakeAndRefuse) {
  SessionOptions options, copy;
  ASSERT_OK(api().CreateSessionOptions(options.out()));
  EXPECT_OK(api().SetSessionExecutionMode(options, ORT_PARALLEL));
  EXPECT_REFUSED(api().SetSessionExecutionMode(options, static_cast<ExecutionMode>(5)), ORT_INVALID_ARGUMENT, "mode 5");
  EXPECT_OK(api().SetSessionGraphOptimizationLevel(options, ORT_ENABLE_EXTENDED));
  EXPECT_REFUSED(api().SetSessionGraphOptimizationLevel(options, static_cast<GraphOptimizationLevel>(4)),
                 ORT_INVALID_ARGUMENT, "level 4");
  EXPECT_OK(api().DisableMemPattern(options));
  int enabled = 1;
  EXPECT_OK(api().GetMemPatternEnabled(options, &enabled));
  EXPECT_EQ(enabled, 0);
  EXPECT_OK(api().EnableMemPattern(options));
  EXPECT_OK(api().EnableCpuMemArena(options));
  EXPECT_OK(api().DisableCpuMemArena(options));
  EXPECT_OK(api().SetSessionLogVerbosityLevel(options, 2));
  EXPECT_OK(api().SetDeterministicCompute(options, true));
  ASSERT_OK(api().CloneSessionOptions(options, copy.out()));
  ExecutionMode mode;
  EXPECT_OK(api().GetSessionExecutionMode(copy, &mode));
  EXPECT_EQ(mode, ORT_PARALLEL);
  EXPECT_REFUSED(api().EnableOrtCustomOps(options), ORT_FAIL, "onnxruntime-extensions");
  EXPECT_REFUSED(api().SetIntraOpNumThreads(nullptr, 1), ORT_INVALID_ARGUMENT, "'options' must not be NULL");
}

TEST(SessionOptionsTest, EntriesAreKeptAndCloned) {
  SessionOptions options, copy;
  ASSERT_OK(api().CreateSessionOptions(options.out()));
  EXPECT_OK(api().AddSessionConfigEntry(options, "some.key", "value"));
  EXPECT_OK(api().AddSessionConfigEntry(options, "unknown.key", "is fine"));
  EXPECT_REFUSED(api().AddSessionConfigEntry(options, "", "value"), ORT_INVALID_ARGUMENT, "config_key is empty");
  ASSERT_OK(api().CloneSessionOptions(options, copy.out()));
  int has = 0;
  EXPECT_OK(api().HasSessionConfigEntry(copy, "some.key", &has));
  EXPECT_EQ(has, 1);
  EXPECT_OK(api().HasSessionConfigEntry(copy, "other", &has));
  EXPECT_EQ(has, 0);
  size_t size = 0;
  EXPECT_OK(api().GetSessionConfigEntry(copy, "some.key", nullptr, &size));
  EXPECT_EQ(size, 6u);
  char text[6];
  EXPECT_OK(api().GetSessionConfigEntry(copy, "some.key", text, &size));
  EXPECT_STREQ(text, "value");
  size = 2;
  EXPECT_REFUSED(api().GetSessionConfigEntry(copy, "some.key", text, &size), ORT_INVALID_ARGUMENT, "room for 2");
  EXPECT_EQ(size, 6u);
  EXPECT_REFUSED(api().GetSessionConfigEntry(copy, "other", text, &size), ORT_FAIL, "no config entry 'other'");
  KeyValuePairs entries;
  EXPECT_OK(api().GetSessionOptionsConfigEntries(copy, entries.out()));
  EXPECT_STREQ(api().GetKeyValue(entries, "unknown.key"), "is fine");
}

TEST(RunOptionsTest, AreWrittenAndRead) {
  RunOptions options;
  ASSERT_OK(api().CreateRunOptions(options.out()));
  int level = 0;
  const char* tag = nullptr;
  EXPECT_OK(api().RunOptionsSetRunLogSeverityLevel(options, 3));
  EXPECT_OK(api().RunOptionsGetRunLogSeverityLevel(options, &level));
  EXPECT_EQ(level, 3);
  EXPECT_OK(api().RunOptionsSetRunLogVerbosityLevel(options, 4));
  EXPECT_OK(api().RunOptionsGetRunLogVerbosityLevel(options, &level));
  EXPECT_EQ(level, 4);
  EXPECT_OK(api().RunOptionsSetRunTag(options, "tag"));
  EXPECT_OK(api().RunOptionsGetRunTag(options, &tag));
  EXPECT_STREQ(tag, "tag");
  EXPECT_OK(api().AddRunConfigEntry(options, "k", "v"));
  EXPECT_STREQ(api().GetRunConfigEntry(options, "k"), "v");
  EXPECT_EQ(api().GetRunConfigEntry(options, "other"), nullptr);
  EXPECT_OK(api().RunOptionsEnableProfiling(options, "prefix"));
  EXPECT_OK(api().RunOptionsDisableProfiling(options));
}

TEST(Providers, TheCpuIsThereAndOthersSayWhatIsMissing) {
  Env env = make_env();
  char** names = nullptr;
  int count = 0;
  ASSERT_OK(api().GetAvailableProviders(&names, &count));
  ASSERT_EQ(count, 1);
  EXPECT_STREQ(names[0], "CPUExecutionProvider");
  EXPECT_OK(api().ReleaseAvailableProviders(names, count));
  SessionOptions options;
  ASSERT_OK(api().CreateSessionOptions(options.out()));
  const char *key = "use_arena", *value = "1";
  EXPECT_OK(api().SessionOptionsAppendExecutionProvider(options, "CPU", &key, &value, 1));
  EXPECT_REFUSED(api().SessionOptionsAppendExecutionProvider(options, "QNN", nullptr, nullptr, 0), ORT_FAIL,
                 "QNN execution provider is not available");
  EXPECT_REFUSED(api().SessionOptionsAppendExecutionProvider(options, "Nonsense", nullptr, nullptr, 0),
                 ORT_INVALID_ARGUMENT, "'Nonsense'");
  OrtCUDAProviderOptions old_cuda{};
  EXPECT_REFUSED(api().SessionOptionsAppendExecutionProvider_CUDA(options, &old_cuda), ORT_FAIL, "CUDA");
  OrtROCMProviderOptions rocm_struct{};
  EXPECT_REFUSED(api().SessionOptionsAppendExecutionProvider_ROCM(options, &rocm_struct), ORT_FAIL, "ROCM");
  EXPECT_REFUSED(api().SessionOptionsAppendExecutionProvider_OpenVINO_V2(options, nullptr, nullptr, 0), ORT_FAIL,
                 "OpenVINO");
  EXPECT_REFUSED(api().SessionOptionsAppendExecutionProvider_VitisAI(options, nullptr, nullptr, 0), ORT_FAIL,
                 "VitisAI");
  const void* functions = nullptr;
  EXPECT_REFUSED(api().GetExecutionProviderApi("DML", 1, &functions), ORT_INVALID_ARGUMENT, "'DML'");
}

constexpr const char* kOptionKeys[] = {"device_id", "trt_fp16_enable"};
constexpr const char* kOptionValues[] = {"1", "0"};

TEST(Providers, OptionStructsOfNvidiaKeepWhatTheyAreTold) {
  Env env = make_env();
  OrtTensorRTProviderOptionsV2* tensorrt = nullptr;
  ASSERT_OK(api().CreateTensorRTProviderOptions(&tensorrt));
  EXPECT_OK(api().UpdateTensorRTProviderOptions(tensorrt, kOptionKeys, kOptionValues, 2));
  char* text = nullptr;
  EXPECT_OK(api().GetTensorRTProviderOptionsAsString(tensorrt, default_allocator(), &text));
  EXPECT_EQ(take(text), "device_id=1;trt_fp16_enable=0");
  SessionOptions options;
  ASSERT_OK(api().CreateSessionOptions(options.out()));
  EXPECT_REFUSED(api().SessionOptionsAppendExecutionProvider_TensorRT_V2(options, tensorrt), ORT_FAIL, "TensorRT");
  api().ReleaseTensorRTProviderOptions(tensorrt);
  api().ReleaseTensorRTProviderOptions(nullptr);

  OrtCUDAProviderOptionsV2* cuda = nullptr;
  int stream = 0;
  void* read = nullptr;
  ASSERT_OK(api().CreateCUDAProviderOptions(&cuda));
  EXPECT_OK(api().UpdateCUDAProviderOptionsWithValue(cuda, "user_compute_stream", &stream));
  EXPECT_OK(api().GetCUDAProviderOptionsByName(cuda, "user_compute_stream", &read));
  EXPECT_EQ(read, &stream);
  EXPECT_REFUSED(api().SessionOptionsAppendExecutionProvider_CUDA_V2(options, cuda), ORT_FAIL,
                 "CUDA execution provider");
  api().ReleaseCUDAProviderOptions(cuda);
}

TEST(Providers, OptionStructsOfOthersKeepWhatTheyAreTold) {
  Env env = make_env();
  char* text = nullptr;
  OrtROCMProviderOptions* rocm = nullptr;
  ASSERT_OK(api().CreateROCMProviderOptions(&rocm));
  EXPECT_OK(api().UpdateROCMProviderOptions(rocm, kOptionKeys, kOptionValues, 1));
  EXPECT_EQ(rocm->device_id, 1);
  EXPECT_REFUSED(api().UpdateROCMProviderOptions(rocm, kOptionKeys, kOptionValues, 2), ORT_INVALID_ARGUMENT,
                 "trt_fp16_enable");
  EXPECT_OK(api().GetROCMProviderOptionsAsString(rocm, default_allocator(), &text));
  EXPECT_NE(take(text).find("device_id=1"), std::string::npos);
  api().ReleaseROCMProviderOptions(rocm);
  OrtCANNProviderOptions* cann = nullptr;
  ASSERT_OK(api().CreateCANNProviderOptions(&cann));
  EXPECT_OK(api().UpdateCANNProviderOptions(cann, kOptionKeys, kOptionValues, 1));
  api().ReleaseCANNProviderOptions(cann);
  OrtDnnlProviderOptions* dnnl = nullptr;
  ASSERT_OK(api().CreateDnnlProviderOptions(&dnnl));
  EXPECT_OK(api().UpdateDnnlProviderOptions(dnnl, kOptionKeys, kOptionValues, 1));
  api().ReleaseDnnlProviderOptions(dnnl);
}

}  // namespace
