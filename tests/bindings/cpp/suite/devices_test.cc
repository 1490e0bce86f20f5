// Devices and memory: descriptions, lists, allocators, plugin providers, copies, compiling.
#include <cstring>
#include <unordered_map>

#include "support.h"

namespace {

TEST(KeyValuePairs, AreALists) {
  Ort::KeyValuePairs pairs({{"one", "1"}, {"two", "2"}});
  pairs.Add("three", "3");
  pairs.Add("one", "eins");
  pairs.Remove("two");
  EXPECT_STREQ(pairs.GetValue("one"), "eins");
  EXPECT_EQ(pairs.GetValue("two"), nullptr);
  EXPECT_EQ(pairs.GetConst().GetKeyValuePairs(),
            (std::unordered_map<std::string, std::string>{{"one", "eins"}, {"three", "3"}}));
  std::vector<const char*> keys, values;
  Ort::KeyValuePairs().GetKeyValuePairs(keys, values);
  EXPECT_TRUE(keys.empty() && values.empty());
}

TEST(MemoryInfo, OfEveryKind) {
  const auto cpu = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  EXPECT_EQ(cpu.GetAllocatorName(), "Cpu");
  EXPECT_EQ(cpu.GetAllocatorType(), OrtArenaAllocator);
  EXPECT_EQ(cpu.GetDeviceId(), 0);
  EXPECT_EQ(cpu.GetMemoryType(), OrtMemTypeDefault);
  EXPECT_EQ(cpu.GetDeviceType(), OrtMemoryInfoDeviceType_CPU);
  const Ort::MemoryInfo gpu("Toy", OrtMemoryInfoDeviceType_GPU, 0x1234, 2, OrtDeviceMemoryType_HOST_ACCESSIBLE, 64,
                            OrtDeviceAllocator);
  EXPECT_EQ(gpu.GetVendorId(), 0x1234u);
  EXPECT_EQ(gpu.GetDeviceId(), 2);
  EXPECT_EQ(gpu.GetDeviceMemoryType(), OrtDeviceMemoryType_HOST_ACCESSIBLE);
  EXPECT_FALSE(gpu == cpu);
  EXPECT_TRUE(cpu.GetConst() == cpu);
  expect_error(ORT_INVALID_ARGUMENT, "Nowhere",
               [] { Ort::MemoryInfo("Nowhere", OrtDeviceAllocator, 0, OrtMemTypeDefault); });
}

TEST(Allocators, OfTheEnvironment) {
  Ort::ArenaCfg arena(0, -1, -1, -1);
  const Ort::ArenaCfg by_key({{"max_mem", 1 << 20}, {"arena_extend_strategy", 1}});
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  test_env().CreateAndRegisterAllocator(memory, arena);
  Ort::SessionOptions options;
  options.AddConfigEntry("session.use_env_allocators", "1");
  EXPECT_EQ(open("add", options).GetInputCount(), 2u);
  test_env().UnregisterAllocator(memory);
  test_env().CreateAndRegisterAllocatorV2("CPUExecutionProvider", memory, {}, by_key);
  test_env().UnregisterAllocator(memory);
  expect_error(ORT_INVALID_ARGUMENT, "no option 'no_such_key'", [] { Ort::ArenaCfg({{"no_such_key", 1}}); });
}

struct Plugin : testing::Test {
  void SetUp() override {
    test_env().RegisterExecutionProviderLibrary("suite_example", plugin_path("libonnxruntime_ep_example.so"));
    for (const Ort::ConstEpDevice& device : test_env().GetEpDevices()) {
      if (std::strcmp(device.EpName(), "ExampleKernelExecutionProvider") == 0) example = device;
    }
    ASSERT_NE(static_cast<const OrtEpDevice*>(example), nullptr);
  }
  void TearDown() override { test_env().UnregisterExecutionProviderLibrary("suite_example"); }

  Ort::ConstEpDevice example;
};

TEST_F(Plugin, DevicesSayWhatTheyAre) {
  EXPECT_NE(std::string(example.EpVendor()), "");
  EXPECT_FALSE(example.EpMetadata().GetKeyValuePairs().empty());
  static_cast<void>(example.EpOptions().GetKeyValuePairs());
  const Ort::ConstHardwareDevice device = example.Device();
  EXPECT_NE(device.Vendor(), nullptr);
  static_cast<void>(device.Metadata().GetKeyValuePairs());
  EXPECT_EQ(test_env().GetHardwareDevices().size(), test_env().GetNumHardwareDevices());
  const auto details = test_env().GetHardwareDeviceEpIncompatibilityDetails(example.EpName(), device);
  EXPECT_EQ(details.GetReasonsBitmask(), 0u);
  EXPECT_EQ(details.GetErrorCode(), 0);
  EXPECT_EQ(details.GetNotes(), nullptr);
}

TEST_F(Plugin, TensorsAreCopiedToItsMemoryAndBack) {
  const Ort::ConstMemoryInfo memory = example.GetMemoryInfo(OrtDeviceMemoryType_DEFAULT);
  ASSERT_NE(static_cast<const OrtMemoryInfo*>(memory), nullptr);
  Ort::UnownedAllocator allocator =
      test_env().CreateSharedAllocator(example, OrtDeviceMemoryType_DEFAULT, OrtDeviceAllocator, nullptr);
  EXPECT_EQ(static_cast<OrtAllocator*>(test_env().GetSharedAllocator(memory)), static_cast<OrtAllocator*>(allocator));
  {
    std::vector<float> data{1, 2, 3}, back(3);
    std::vector<Ort::Value> host, device, result;
    host.push_back(tensor_over(data));
    const int64_t three = 3;
    device.push_back(Ort::Value::CreateTensor<float>(allocator, &three, 1));
    EXPECT_TRUE(device[0].GetTensorMemoryInfo() == memory);
    result.push_back(tensor_over(back));
    Ort::SyncStream stream = example.CreateSyncStream();
    EXPECT_NE(stream.GetHandle(), nullptr);
    EXPECT_TRUE(test_env().CopyTensors(host, device, stream).IsOK());
    EXPECT_TRUE(test_env().CopyTensors(device, result, nullptr).IsOK());
    EXPECT_EQ(back, data);
    EXPECT_TRUE(refused(test_env().CopyTensors(host, {}, nullptr), ORT_INVALID_ARGUMENT,
                        "not as many sources as destinations"));
    EXPECT_TRUE(test_env().CopyTensor(host[0], device[0], nullptr).IsOK());
  }
  test_env().ReleaseSharedAllocator(example, OrtDeviceMemoryType_DEFAULT);
}

TEST_F(Plugin, PoliciesChooseAmongDevices) {
  Ort::SessionOptions by_rule;
  by_rule.SetEpSelectionPolicy(OrtExecutionProviderDevicePolicy_PREFER_CPU);
  EXPECT_EQ(open("add", by_rule).GetInputCount(), 2u);

  struct State {
    size_t devices = 0;
  } state;
  Ort::SessionOptions by_function;
  by_function.AddConfigEntry("session.record_ep_graph_assignment_info", "1");
  by_function.SetEpSelectionPolicy(
      [](const OrtEpDevice** devices, size_t count, const OrtKeyValuePairs*, const OrtKeyValuePairs*,
         const OrtEpDevice** selected, size_t, size_t* num_selected, void* state) -> OrtStatus* {
        static_cast<State*>(state)->devices = count;
        *num_selected = 0;
        for (size_t i = 0; i < count; ++i) {
          const Ort::ConstEpDevice device(devices[i]);
          if (std::strcmp(device.EpName(), "ExampleKernelExecutionProvider") == 0) {
            selected[(*num_selected)++] = device;
          }
        }
        return nullptr;
      },
      &state);
  Ort::Session session = open("add", by_function);
  EXPECT_GE(state.devices, 2u);
  const auto parts = session.GetEpGraphAssignmentInfo();
  ASSERT_FALSE(parts.empty());
  EXPECT_EQ(parts[0].GetEpName(), "ExampleKernelExecutionProvider");
}

TEST_F(Plugin, IsAppendedByItsDevices) {
  Ort::SessionOptions options;
  expect_error(ORT_INVALID_ARGUMENT, "give at least one device",
               [&] { options.AppendExecutionProvider_V2(test_env(), {}, Ort::KeyValuePairs()); });
}

TEST(Compilation, WithoutACompilingProviderCopiesTheModel) {
  Ort::SessionOptions session_options;
  Ort::ModelCompilationOptions options(test_env(), session_options);
  Ort::AllocatorWithDefaultOptions allocator;
  void* bytes = nullptr;
  size_t size = 0;
  options.SetInputModelPath(model_path("add").c_str()).SetEpContextEmbedMode(true).SetFlags(OrtCompileApiFlags_NONE);
  options.SetOutputModelBuffer(allocator, &bytes, &size).SetGraphOptimizationLevel(ORT_ENABLE_BASIC);
  const Ort::Status status = Ort::CompileModel(test_env(), options);
  ASSERT_TRUE(status.IsOK()) << status.GetErrorMessage();
  EXPECT_EQ(Ort::Session(test_env(), bytes, size, session_options).GetInputCount(), 2u);
  EXPECT_EQ(Ort::GetCompatibilityInfoFromModelBytesAllocated(bytes, size, "NoProvider", allocator), nullptr);
  EXPECT_EQ(Ort::GetCompatibilityInfoFromModelAllocated(model_path("add").c_str(), "NoProvider", allocator), nullptr);
  allocator.Free(bytes);

  Ort::ModelCompilationOptions strict(test_env(), session_options.GetConst());
  size_t written = 0;
  strict.SetInputModelPath(model_path("add").c_str()).SetFlags(OrtCompileApiFlags_ERROR_IF_NO_NODES_COMPILED);
  strict.SetOutputModelWriteFunc(
      [](void* state, const void*, size_t bytes) -> OrtStatus* {
        *static_cast<size_t*>(state) += bytes;
        return nullptr;
      },
      &written);
  EXPECT_TRUE(refused(Ort::CompileModel(test_env(), strict), ORT_FAIL, "no provider of the session compiled any node"));
}

TEST(LoraAdapter, NeedsAFile) {
  expect_error(ORT_NO_SUCHFILE, "/no/such.onnx_adapter",
               [] { Ort::LoraAdapter::CreateLoraAdapter("/no/such.onnx_adapter", nullptr); });
  const char bytes[] = "not an adapter";
  expect_error(ORT_FAIL, "these 15 bytes are no adapter",
               [&] { Ort::LoraAdapter::CreateLoraAdapterFromArray(bytes, sizeof(bytes), nullptr); });
}

}  // namespace
