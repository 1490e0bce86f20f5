// Type infos, memory infos, allocators, arenas, key-value pairs.
#include "api_test_support.h"

namespace {

TEST(TypeInfos, ATensorInfoIsWrittenAndRead) {
  TensorInfo info;
  ASSERT_OK(api().CreateTensorTypeAndShapeInfo(info.out()));
  const int64_t dims[] = {2, -1, 4};
  EXPECT_OK(api().SetTensorElementType(info, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8));
  EXPECT_OK(api().SetDimensions(info, dims, 3));
  const char* names[] = {"", "N", nullptr};
  EXPECT_OK(api().SetSymbolicDimensions(info, names, 3));
  const char* read[3] = {};
  EXPECT_OK(api().GetSymbolicDimensions(info, read, 3));
  EXPECT_STREQ(read[1], "N");
  EXPECT_STREQ(read[2], "");
  size_t count = 0;
  EXPECT_OK(api().GetTensorShapeElementCount(info, &count));
  EXPECT_EQ(count, SIZE_MAX) << "an open dimension leaves the count open";
  EXPECT_TRUE(api().TensorTypeAndShape_HasShape(info));
  EXPECT_FALSE(api().TensorTypeAndShape_HasShape(nullptr));
  const int64_t closed[] = {2, 3};
  EXPECT_OK(api().SetDimensions(info, closed, 2));
  EXPECT_OK(api().GetTensorShapeElementCount(info, &count));
  EXPECT_EQ(count, 6u);
  EXPECT_REFUSED(api().SetSymbolicDimensions(info, names, 3), ORT_INVALID_ARGUMENT, "3 names for 2 dimensions");
  EXPECT_REFUSED(api().GetDimensionsCount(info, nullptr), ORT_INVALID_ARGUMENT, "'out' must not be NULL");
}

TEST(TypeInfos, OfNothingIsNull) {
  std::vector<float> data = {1};
  Value value = floats(data, {1});
  TypeInfo info;
  ASSERT_OK(api().GetTypeInfo(value, info.out()));
  ONNXType type;
  EXPECT_OK(api().GetOnnxTypeFromTypeInfo(info, &type));
  EXPECT_EQ(type, ONNX_TYPE_TENSOR);
  const char* denotation = nullptr;
  size_t length = 1;
  EXPECT_OK(api().GetDenotationFromTypeInfo(info, &denotation, &length));
  EXPECT_EQ(length, 0u);
  const OrtOptionalTypeInfo* optional = nullptr;
  EXPECT_OK(api().CastTypeInfoToOptionalTypeInfo(info, &optional));
  EXPECT_EQ(optional, nullptr);
}

TEST(MemoryInfos, AreMadeComparedAndRead) {
  MemoryInfo cpu = cpu_memory(), same = cpu_memory(), cuda, pinned;
  int result = 7;
  EXPECT_OK(api().CompareMemoryInfo(cpu, same, &result));
  EXPECT_EQ(result, 0);
  ASSERT_OK(api().CreateMemoryInfo("Cuda", OrtDeviceAllocator, 1, OrtMemTypeDefault, cuda.out()));
  EXPECT_OK(api().CompareMemoryInfo(cpu, cuda, &result));
  EXPECT_EQ(result, -1);
  OrtMemoryInfoDeviceType device;
  api().MemoryInfoGetDeviceType(cuda, &device);
  EXPECT_EQ(device, OrtMemoryInfoDeviceType_GPU);
  int id = 0;
  OrtMemType memory_type;
  OrtAllocatorType allocator_type;
  EXPECT_OK(api().MemoryInfoGetId(cuda, &id));
  EXPECT_EQ(id, 1);
  EXPECT_OK(api().MemoryInfoGetMemType(cuda, &memory_type));
  EXPECT_EQ(memory_type, OrtMemTypeDefault);
  EXPECT_OK(api().MemoryInfoGetType(cpu, &allocator_type));
  EXPECT_EQ(allocator_type, OrtArenaAllocator);
  OrtMemoryInfo* none = nullptr;
  EXPECT_REFUSED(api().CreateMemoryInfo("Moon", OrtDeviceAllocator, 0, OrtMemTypeDefault, &none), ORT_INVALID_ARGUMENT,
                 "'Moon'");
  ASSERT_OK(api().CreateMemoryInfo_V2("Mine", OrtMemoryInfoDeviceType_NPU, 0x1234, 3,
                                      OrtDeviceMemoryType_HOST_ACCESSIBLE, 64, OrtDeviceAllocator, pinned.out()));
  EXPECT_EQ(api().MemoryInfoGetVendorId(pinned), 0x1234u);
  EXPECT_EQ(api().MemoryInfoGetDeviceMemType(pinned), OrtDeviceMemoryType_HOST_ACCESSIBLE);
  EXPECT_EQ(api().MemoryInfoGetDeviceMemType(cpu), OrtDeviceMemoryType_DEFAULT);
}

TEST(Allocators, TheDefaultOneIsSharedAndComplete) {
  OrtAllocator *first = default_allocator(), *second = default_allocator();
  EXPECT_EQ(first, second);
  EXPECT_EQ(first->version, unsigned{ORT_API_VERSION});
  EXPECT_EQ(first->Alloc(first, 0), nullptr);
  void* block = first->Alloc(first, 100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
  first->Free(first, block);
  block = first->Reserve(first, 100);
  EXPECT_NE(block, nullptr);
  first->Free(first, block);
  block = first->AllocOnStream(first, 100, nullptr);
  EXPECT_NE(block, nullptr);
  first->Free(first, block);
  EXPECT_OK(first->Shrink(first));
  const OrtMemoryInfo* info = nullptr;
  EXPECT_OK(api().AllocatorGetInfo(first, &info));
  EXPECT_EQ(info, first->Info(first));
  void* out = first;
  EXPECT_OK(api().AllocatorAlloc(first, 0, &out));
  EXPECT_EQ(out, nullptr);
  EXPECT_OK(api().AllocatorFree(first, nullptr));
  EXPECT_EQ(first->Alloc(first, SIZE_MAX), nullptr) << "no exception may come out";
  EXPECT_REFUSED(api().AllocatorAlloc(first, SIZE_MAX, &out), ORT_FAIL, "gave no block");
  api().ReleaseAllocator(first);
  api().ReleaseAllocator(nullptr);
  EXPECT_EQ(default_allocator(), first);
}

TEST(KeyValues, AreOrderedAndCanChange) {
  KeyValuePairs pairs;
  api().CreateKeyValuePairs(pairs.out());
  api().AddKeyValuePair(pairs, "b", "2");
  api().AddKeyValuePair(pairs, "a", "1");
  api().AddKeyValuePair(pairs, "b", "3");
  api().AddKeyValuePair(pairs, "", "ignored");
  EXPECT_STREQ(api().GetKeyValue(pairs, "b"), "3");
  EXPECT_EQ(api().GetKeyValue(pairs, "c"), nullptr);
  const char *const *keys = nullptr, *const *values = nullptr;
  size_t count = 0;
  api().GetKeyValuePairs(pairs, &keys, &values, &count);
  ASSERT_EQ(count, 2u);
  EXPECT_STREQ(keys[0], "a");
  EXPECT_STREQ(values[1], "3");
  api().RemoveKeyValuePair(pairs, "a");
  api().GetKeyValuePairs(pairs, &keys, &values, &count);
  EXPECT_EQ(count, 1u);
  api().GetKeyValuePairs(nullptr, &keys, &values, &count);
  EXPECT_EQ(count, 0u);
}

TEST(Arenas, AreConfiguredAndRegistered) {
  OrtArenaCfg* config = nullptr;
  const char* keys[] = {"max_mem", "arena_extend_strategy"};
  const size_t values[] = {1 << 20, 1};
  ASSERT_OK(api().CreateArenaCfgV2(keys, values, 2, &config));
  Env env = make_env();
  MemoryInfo memory = cpu_memory();
  EXPECT_OK(api().CreateAndRegisterAllocator(env, memory, config));
  EXPECT_REFUSED(api().CreateAndRegisterAllocator(env, memory, config), ORT_INVALID_ARGUMENT, "registered already");
  EXPECT_OK(api().UnregisterAllocator(env, memory));
  EXPECT_REFUSED(api().UnregisterAllocator(env, memory), ORT_INVALID_ARGUMENT, "no allocator is registered");
  EXPECT_OK(api().CreateAndRegisterAllocatorV2(env, "CPUExecutionProvider", memory, config, nullptr, nullptr, 0));
  EXPECT_OK(api().UnregisterAllocator(env, memory));
  EXPECT_REFUSED(api().CreateAndRegisterAllocatorV2(env, "CUDAExecutionProvider", memory, config, nullptr, nullptr, 0),
                 ORT_FAIL, "not available");
  api().ReleaseArenaCfg(config);
  const char* wrong[] = {"size"};
  EXPECT_REFUSED(api().CreateArenaCfgV2(wrong, values, 1, &config), ORT_INVALID_ARGUMENT, "no option 'size'");
  ASSERT_OK(api().CreateArenaCfg(0, -1, -1, -1, &config));
  api().ReleaseArenaCfg(config);
}

TEST(Arenas, SessionsUseARegisteredAllocatorWhenAsked) {
  CountingAllocator mine(ORT_API_VERSION);
  mine.Reserve = nullptr;
  mine.GetStats = nullptr;
  mine.AllocOnStream = nullptr;
  mine.Shrink = nullptr;
  Env env = make_env();
  ASSERT_OK(api().RegisterAllocator(env, &mine));
  {
    SessionOptions options;
    ASSERT_OK(api().CreateSessionOptions(options.out()));
    EXPECT_OK(api().AddSessionConfigEntry(options, "session.use_env_allocators", "1"));
    Session session = make_session(env, add_model().bytes(), options);
    std::vector<float> data = {1, 2};
    Value x = floats(data, {1, 2});
    const char *in = "x", *out = "y";
    const OrtValue* inputs[] = {x};
    OrtValue* output = nullptr;
    ASSERT_OK(api().Run(session, nullptr, &in, inputs, 1, &out, 1, &output));
    EXPECT_EQ(content<float>(Value(output))[1], 22);
    EXPECT_GE(mine.allocations, 1);
  }
  EXPECT_EQ(mine.allocations, mine.frees);
  EXPECT_OK(api().UnregisterAllocator(env, mine.info));
}

TEST(Arenas, ASessionsAllocatorKeepsStatistics) {
  Env env = make_env();
  Session session = make_session(env, add_model().bytes());
  OrtAllocator* arena = nullptr;
  ASSERT_OK(api().CreateAllocator(session, cpu_memory(), &arena));
  void* block = nullptr;
  EXPECT_OK(api().AllocatorAlloc(arena, 1000, &block));
  KeyValuePairs stats;
  ASSERT_OK(api().AllocatorGetStats(arena, stats.out()));
  EXPECT_GE(std::stoi(api().GetKeyValue(stats, "InUse")), 1000);
  EXPECT_OK(api().AllocatorFree(arena, block));
  api().ReleaseAllocator(arena);
  MemoryInfo cuda;
  ASSERT_OK(api().CreateMemoryInfo("Cuda", OrtDeviceAllocator, 0, OrtMemTypeDefault, cuda.out()));
  EXPECT_REFUSED(api().CreateAllocator(session, cuda, &arena), ORT_INVALID_ARGUMENT, "no allocator for memory 'Cuda'");
}

}  // namespace
