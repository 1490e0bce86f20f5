// Sessions: what they say, every way to run them, bound values, profiles, options.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <iterator>
#include <mutex>
#include <thread>

#include "support.h"

namespace {

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::vector<char>(std::istreambuf_iterator<char>(file), {});
}

struct Add : testing::Test {
  Ort::Session session = open("add");
  std::vector<float> a{1, 2}, b{10, 20};
  const char* inputs[2] = {"a", "b"};
  const char* outputs[2] = {"sum", "scaled"};

  std::vector<Ort::Value> values() {
    std::vector<Ort::Value> out;
    out.push_back(tensor_over(a));
    out.push_back(tensor_over(b));
    return out;
  }
};

TEST_F(Add, SaysWhatItTakesAndGives) {
  Ort::AllocatorWithDefaultOptions allocator;
  EXPECT_EQ(session.GetInputNames(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(session.GetOutputNames(), (std::vector<std::string>{"sum", "scaled"}));
  EXPECT_EQ(session.GetOverridableInitializerNames(), (std::vector<std::string>{"factor"}));
  EXPECT_STREQ(session.GetInputNameAllocated(1, allocator).get(), "b");
  EXPECT_STREQ(session.GetOutputNameAllocated(1, allocator).get(), "scaled");
  EXPECT_STREQ(session.GetOverridableInitializerNameAllocated(0, allocator).get(), "factor");
  EXPECT_EQ(session.GetOverridableInitializerCount(), 1u);
  EXPECT_EQ(session.GetOverridableInitializerTypeInfo(0).GetTensorTypeAndShapeInfo().GetShape().at(0), 1);
  EXPECT_EQ(session.GetOpset(""), 17);
  const std::vector<Ort::ValueInfo> infos = session.GetInputs();
  EXPECT_EQ(infos.at(0).GetName(), "a");
  EXPECT_EQ(infos[0].TypeInfo().GetTensorTypeAndShapeInfo().GetShape(), (std::vector<int64_t>{-1}));
  EXPECT_EQ(session.GetOutputs().at(1).GetName(), "scaled");
  EXPECT_EQ(session.GetMemoryInfoForInputs().at(0).GetAllocatorName(), "Cpu");
  EXPECT_EQ(session.GetMemoryInfoForOutputs().size(), 2u);
  EXPECT_EQ(session.GetEpDeviceForInputs().size(), 2u);
  EXPECT_EQ(session.GetEpDeviceForOutputs().size(), 2u);
  const Ort::ConstSession view = session.GetConst();
  EXPECT_EQ(view.GetInputCount(), 2u);
  EXPECT_EQ(session.GetUnowned().GetOutputCount(), 2u);
}

TEST_F(Add, RunsInEveryWay) {
  const auto given = values();
  const auto results = session.Run(Ort::RunOptions{nullptr}, inputs, given.data(), 2, outputs, 2);
  EXPECT_EQ(elements<float>(results[0]), (std::vector<float>{11, 22}));

  std::vector<float> sum(2);
  std::vector<Ort::Value> places;
  places.push_back(tensor_over(sum));
  places.emplace_back(nullptr);
  session.Run(Ort::RunOptions{}, inputs, given.data(), 2, outputs, places.data(), 2);
  EXPECT_EQ(sum, (std::vector<float>{11, 22}));
  EXPECT_EQ(elements<float>(places[1]), (std::vector<float>{22, 44}));

  session.GetUnowned().Run(Ort::RunOptions{}, inputs, given.data(), 2, outputs, 1);
  std::vector<float> factor{3};
  auto three = values();
  three.push_back(tensor_over(factor));
  const char* names[] = {"a", "b", "factor"};
  const auto scaled = session.Run(Ort::RunOptions{}, names, three.data(), 3, outputs + 1, 1);
  EXPECT_EQ(elements<float>(scaled[0]), (std::vector<float>{33, 66}));
}

TEST_F(Add, RunsAsynchronously) {
  struct Waiter {
    std::mutex mutex;
    std::condition_variable done;
    bool finished = false;
    bool right = false;
  } waiter;
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(2);
  Ort::Session threaded = open("add", options);
  const auto given = values();
  std::vector<Ort::Value> results(1);
  const Ort::RunOptions run_options;
  threaded.RunAsync(
      run_options, inputs, given.data(), 2, outputs, results.data(), 1,
      [](void* data, OrtValue** values, size_t count, OrtStatusPtr status) {
        const Ort::Status owner(status);
        auto& waiter = *static_cast<Waiter*>(data);
        const std::lock_guard<std::mutex> lock(waiter.mutex);
        waiter.right = owner.IsOK() && count == 1 && Ort::UnownedValue(values[0]).At<float>({1}) == 22;
        waiter.finished = true;
        waiter.done.notify_one();
      },
      &waiter);
  std::unique_lock<std::mutex> lock(waiter.mutex);
  waiter.done.wait(lock, [&] { return waiter.finished; });
  EXPECT_TRUE(waiter.right);
}

TEST_F(Add, Bound) {
  Ort::IoBinding binding(session);
  const auto given = values();
  std::vector<float> sum(2);
  const auto place = tensor_over(sum);
  binding.BindInput("a", given[0]);
  binding.BindInput("b", given[1]);
  binding.BindOutput("scaled", cpu_memory());
  binding.BindOutput("sum", place);
  session.Run(Ort::RunOptions{nullptr}, binding);
  EXPECT_EQ(binding.GetOutputNames(), (std::vector<std::string>{"scaled", "sum"}));
  Ort::AllocatorWithDefaultOptions allocator;
  EXPECT_EQ(binding.GetConst().GetOutputNames(allocator).size(), 2u);
  EXPECT_EQ(elements<float>(binding.GetOutputValues(allocator).at(0)), (std::vector<float>{22, 44}));
  EXPECT_EQ(sum, (std::vector<float>{11, 22}));
  binding.GetUnowned().ClearBoundOutputs();
  EXPECT_TRUE(binding.GetOutputNames().empty() && binding.GetOutputValues().empty());
}

TEST_F(Add, Metadata) {
  Ort::AllocatorWithDefaultOptions allocator;
  const Ort::ModelMetadata metadata = session.GetModelMetadata();
  EXPECT_STREQ(metadata.GetProducerNameAllocated(allocator).get(), "ortolan-tests");
  EXPECT_STREQ(metadata.GetGraphNameAllocated(allocator).get(), "add_graph");
  EXPECT_STREQ(metadata.GetDomainAllocated(allocator).get(), "org.ortolan.tests");
  EXPECT_STREQ(metadata.GetDescriptionAllocated(allocator).get(), "adds – and scales");
  EXPECT_STREQ(metadata.GetGraphDescriptionAllocated(allocator).get(), "two nodes");
  EXPECT_EQ(metadata.GetVersion(), 7);
  std::vector<std::string> keys;
  for (const auto& key : metadata.GetCustomMetadataMapKeysAllocated(allocator)) keys.emplace_back(key.get());
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(keys, (std::vector<std::string>{"author", "empty"}));
  EXPECT_STREQ(metadata.LookupCustomMetadataMapAllocated("author", allocator).get(), "Ørtolan");
  EXPECT_EQ(metadata.LookupCustomMetadataMapAllocated("none", allocator), nullptr);
}

TEST(Session, FromBytesAndWithSharedWeights) {
  const auto bytes = read_file(model_path("mlp"));
  Ort::PrepackedWeightsContainer weights;
  Ort::SessionOptions options;
  Ort::Session one(test_env(), bytes.data(), bytes.size(), options);
  Ort::Session two(test_env(), bytes.data(), bytes.size(), options, weights);
  Ort::Session three(test_env(), model_path("mlp").c_str(), options, weights);
  std::vector<float> x(32, 0.5f);
  const auto input = tensor_over(x, {1, 32});
  const char *inputs[] = {"x"}, *outputs[] = {"y"};
  const auto expected = elements<float>(one.Run(Ort::RunOptions{}, inputs, &input, 1, outputs, 1)[0]);
  EXPECT_EQ(elements<float>(two.Run(Ort::RunOptions{}, inputs, &input, 1, outputs, 1)[0]), expected);
  EXPECT_EQ(elements<float>(three.Run(Ort::RunOptions{}, inputs, &input, 1, outputs, 1)[0]), expected);
}

TEST(Session, IsTerminatedFromAnotherThread) {
  Ort::Session session = open("endless");
  Ort::RunOptions run_options;
  std::vector<float> x{1};
  const auto input = tensor_over(x);
  const char *inputs[] = {"x"}, *outputs[] = {"y"};
  std::atomic<bool> ended{false};
  std::thread stopper([&] {
    while (!ended) {
      run_options.SetTerminate();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  expect_error(ORT_FAIL, "terminate is set", [&] { session.Run(run_options, inputs, &input, 1, outputs, 1); });
  ended = true;
  stopper.join();
  run_options.UnsetTerminate();
}

TEST(Session, WritesAProfile) {
  Ort::SessionOptions options;
  options.EnableProfiling("cpp_suite");
  Ort::Session session = open("add", options);
  EXPECT_GT(session.GetProfilingStartTimeNs(), 0u);
  Ort::AllocatorWithDefaultOptions allocator;
  const Ort::AllocatedStringPtr file = session.EndProfilingAllocated(allocator);
  EXPECT_EQ(std::string(file.get()).rfind("cpp_suite", 0), 0u);
  EXPECT_FALSE(read_file(file.get()).empty());
  std::remove(file.get());
}

TEST(Session, GivesAnAllocator) {
  Ort::Session session = open("add");
  const auto memory = cpu_memory();
  Ort::Allocator allocator(session, memory);
  EXPECT_EQ(allocator.GetInfo().GetAllocatorName(), "Cpu");
  Ort::MemoryAllocation allocation = allocator.GetAllocation(100);
  EXPECT_NE(allocation.get(), nullptr);
  EXPECT_EQ(allocation.size(), 100u);
  const Ort::MemoryAllocation moved = std::move(allocation);
  EXPECT_EQ(allocation.get(), nullptr);  // NOLINT: what a moved one holds is part of the interface
  void* memory_block = allocator.Alloc(10);
  allocator.Free(memory_block);
  EXPECT_FALSE(allocator.GetStats().GetKeyValuePairs().empty());
  allocator.Shrink();
}

TEST(Session, FailsWithACode) {
  const Ort::SessionOptions options;
  expect_error(ORT_NO_SUCHFILE, "none.onnx", [] { open("none"); });
  expect_error(ORT_INVALID_PROTOBUF, "broken.onnx", [] { open("broken"); });
  Ort::Session session = open("failing");
  std::vector<int64_t> index{99};
  const auto input = tensor_over(index);
  const char *inputs[] = {"index"}, *outputs[] = {"y"};
  expect_error(ORT_INVALID_ARGUMENT, "picker", [&] { session.Run(Ort::RunOptions{}, inputs, &input, 1, outputs, 1); });
}

TEST(SessionOptions, Entries) {
  Ort::SessionOptions options;
  options.AddConfigEntry("session.key", "value").SetLogId("id").SetLogSeverityLevel(3).SetDeterministicCompute(true);
  options.SetExecutionMode(ORT_PARALLEL).SetInterOpNumThreads(2).DisableMemPattern().DisableCpuMemArena();
  options.AddFreeDimensionOverrideByName("n", 2).SetGraphOptimizationLevel(ORT_DISABLE_ALL);
  EXPECT_TRUE(options.HasConfigEntry("session.key"));
  EXPECT_FALSE(options.HasConfigEntry("session.other"));
  const Ort::SessionOptions copy = options.Clone();
  EXPECT_EQ(copy.GetConfigEntry("session.key"), "value");
  EXPECT_EQ(copy.GetConst().GetConfigEntryOrDefault("session.other", "default"), "default");
  EXPECT_EQ(copy.GetConfigEntries().GetKeyValuePairs().at("session.key"), "value");
  EXPECT_EQ(copy.GetExecutionMode(), ORT_PARALLEL);
  EXPECT_FALSE(copy.GetMemPatternEnabled());
  Ort::UnownedSessionOptions view = options.GetUnowned();
  view.EnableMemPattern();
  EXPECT_TRUE(options.GetMemPatternEnabled());
  Ort::Session session = open("add", copy);
  EXPECT_EQ(session.GetInputTypeInfo(0).GetTensorTypeAndShapeInfo().GetShape().at(0), 2);
  expect_error(ORT_FAIL, "no config entry 'session.other'", [&] { options.GetConfigEntry("session.other"); });
}

TEST(SessionOptions, Initializers) {
  std::vector<float> factor{5};
  const auto value = tensor_over(factor);
  Ort::SessionOptions options;
  options.AddInitializer("factor", value);
  Ort::Session session = open("add", options);
  std::vector<float> a{1}, b{2};
  std::vector<Ort::Value> given;
  given.push_back(tensor_over(a));
  given.push_back(tensor_over(b));
  const char *inputs[] = {"a", "b"}, *outputs[] = {"scaled"};
  EXPECT_EQ(session.Run(Ort::RunOptions{}, inputs, given.data(), 2, outputs, 1)[0].At<float>({0}), 15);
  expect_error(ORT_INVALID_ARGUMENT, "not as many", [&] { options.AddExternalInitializers({"x"}, {}); });
  expect_error(ORT_INVALID_ARGUMENT, "not as many",
               [&] { options.AddExternalInitializersFromFilesInMemory({"x"}, {}, {}); });
}

TEST(SessionOptions, ProvidersThatAreNotHereFail) {
  Ort::SessionOptions options;
  options.AppendExecutionProvider_CPU(1);
  options.AppendExecutionProvider("CPU");
  expect_error(ORT_FAIL, "CUDA execution provider",
               [&] { options.AppendExecutionProvider_CUDA(OrtCUDAProviderOptions{}); });
  expect_error(ORT_FAIL, "ROCM execution provider",
               [&] { options.AppendExecutionProvider_ROCM(OrtROCMProviderOptions{}); });
  expect_error(ORT_FAIL, "TensorRT execution provider",
               [&] { options.AppendExecutionProvider_TensorRT(OrtTensorRTProviderOptions{}); });
  expect_error(ORT_FAIL, "OpenVINO execution provider",
               [&] { options.AppendExecutionProvider_OpenVINO(OrtOpenVINOProviderOptions{}); });
  expect_error(ORT_FAIL, "OpenVINO execution provider", [&] {
    options.AppendExecutionProvider_OpenVINO_V2({{"device_type", "CPU"}});
  });
  expect_error(ORT_FAIL, "VitisAI execution provider", [&] { options.AppendExecutionProvider_VitisAI(); });
  expect_error(ORT_FAIL, "XNNPACK execution provider", [&] {
    options.AppendExecutionProvider("XNNPACK", {{"threads", "2"}});
  });
  expect_error(ORT_FAIL, "onnxruntime-extensions", [&] { options.EnableOrtCustomOps(); });
  expect_error(ORT_FAIL, "no function 'NoSuchFunction'",
               [&] { options.RegisterCustomOpsUsingFunction("NoSuchFunction"); });
  expect_error(ORT_FAIL, "/no/such/library.so", [&] { options.RegisterCustomOpsLibrary("/no/such/library.so"); });
}

TEST(RunOptions, KeepsItsSettings) {
  Ort::RunOptions options;
  options.SetRunTag("tag").SetRunLogSeverityLevel(3).SetRunLogVerbosityLevel(2).AddConfigEntry("key", "value");
  EXPECT_STREQ(options.GetRunTag(), "tag");
  EXPECT_EQ(options.GetRunLogSeverityLevel(), 3);
  EXPECT_EQ(options.GetRunLogVerbosityLevel(), 2);
  EXPECT_STREQ(options.GetConfigEntry("key"), "value");
  EXPECT_EQ(options.GetConfigEntry("none"), nullptr);
  options.EnableProfiling("run_profile").DisableProfiling();
}

}  // namespace
