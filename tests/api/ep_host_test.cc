// Plugin libraries as a program sees them: devices, choosing among them, memory, and what keeps a library loaded.
#include <dlfcn.h>

#include <atomic>
#include <thread>

#include "ep_test_support.h"
#include "ortolan.h"

namespace {

const std::string kLibraries = ORTOLAN_BINARY_DIR "/lib/";
const std::string kExample = kLibraries + "libonnxruntime_ep_example.so";
const std::string kZoo = kLibraries + "libortolan_test_zoo.so";
const std::string kModel = ORTOLAN_SOURCE_DIR "/tests/models/digits.onnx";
constexpr const char* kCompile = "ExampleCompileExecutionProvider";

class Plugins : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(api().CreateEnv(ORT_LOGGING_LEVEL_FATAL, "plugins", env_.out())); }

  void add(const std::string& path, const char* name = "plugin") {
    ASSERT_OK(api().RegisterExecutionProviderLibrary(env_, name, path.c_str()));
  }
  void add_zoo(const char* description) {
    setenv("ORTOLAN_ZOO", description, 1);
    add(kZoo);
    zoo_ = dlopen(kZoo.c_str(), RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(zoo_, nullptr);
  }
  void remove(const char* name = "plugin") {
    if (zoo_ != nullptr) dlclose(std::exchange(zoo_, nullptr));
    EXPECT_OK(api().UnregisterExecutionProviderLibrary(env_, name));
  }
  std::vector<const OrtEpDevice*> devices() {
    const OrtEpDevice* const* list = nullptr;
    size_t count = 0;
    EXPECT_OK(api().GetEpDevices(env_, &list, &count));
    return {list, list + count};
  }
  const OrtEpDevice* device(const std::string& provider) {
    for (const OrtEpDevice* known : devices()) {
      if (api().EpDevice_EpName(known) == provider) return known;
    }
    return nullptr;
  }
  std::string chosen() {
    auto* ask = reinterpret_cast<const char* (*)()>(dlsym(zoo_, "zoo_chosen"));
    return ask();
  }
  SessionOptions options() {
    SessionOptions made;
    EXPECT_OK(api().CreateSessionOptions(made.out()));
    return made;
  }
  void make_session(const OrtSessionOptions* options) {
    Session session;
    ASSERT_OK(api().CreateSession(env_, kModel.c_str(), options, session.out()));
  }

  Env env_;
  void* zoo_ = nullptr;
};

TEST_F(Plugins, TheMachineHasACpu) {
  size_t count = 0;
  ASSERT_OK(api().GetNumHardwareDevices(env_, &count));
  ASSERT_GE(count, 1u);
  std::vector<const OrtHardwareDevice*> hardware(count);
  ASSERT_OK(api().GetHardwareDevices(env_, hardware.data(), count));
  EXPECT_EQ(api().HardwareDevice_Type(hardware[0]), OrtHardwareDeviceType_CPU);
  EXPECT_REFUSED(api().GetHardwareDevices(env_, hardware.data(), count - 1), ORT_INVALID_ARGUMENT, "there are");
  ASSERT_EQ(devices().size(), 1u);
  EXPECT_STREQ(api().EpDevice_EpName(devices()[0]), "CPUExecutionProvider");
  EXPECT_EQ(api().EpDevice_Device(devices()[0]), hardware[0]);
  EXPECT_EQ(api().EpDevice_MemoryInfo(devices()[0], OrtDeviceMemoryType_DEFAULT), nullptr);
}

TEST_F(Plugins, AreKnownByName) {
  add(kExample);
  EXPECT_REFUSED(api().RegisterExecutionProviderLibrary(env_, "plugin", kExample.c_str()), ORT_FAIL, "already");
  EXPECT_REFUSED(api().RegisterExecutionProviderLibrary(env_, "other", "/missing.so"), ORT_FAIL, "/missing.so");
  EXPECT_REFUSED(api().UnregisterExecutionProviderLibrary(env_, "other"), ORT_FAIL, "'other'");
  EXPECT_EQ(devices().size(), 3u);
  const OrtEpDevice* gone = device(kCompile);
  remove();
  EXPECT_EQ(devices().size(), 1u);
  auto made = options();
  EXPECT_REFUSED(api().SessionOptionsAppendExecutionProvider_V2(made, env_, &gone, 1, nullptr, nullptr, 0),
                 ORT_INVALID_ARGUMENT, "no device of the environment");
}

TEST_F(Plugins, DevicesComeInOrderOfPreference) {
  add_zoo(
      "b,Other,1|1,1,X,-|1,1,X,1|1,2,Y,1;a,Y,2|1,1,X,-|1,2,Y,1|1,1,X,0|0,7,P,-;c,P,7|0,7,P,-;d,Microsoft,1414|2,5,Z,-");
  auto made = options();
  std::string order;
  auto choose = [](const OrtEpDevice** given, size_t count, const OrtKeyValuePairs*, const OrtKeyValuePairs*,
                   const OrtEpDevice** selected, size_t, size_t* selected_count, void* state) -> OrtStatus* {
    for (size_t i = 0; i < count; ++i) {
      std::string name = api().EpDevice_EpName(given[i]);
      if (name.size() > 1) continue;
      *static_cast<std::string*>(state) +=
          name + std::to_string(api().HardwareDevice_DeviceId(api().EpDevice_Device(given[i]))) + " ";
    }
    selected[0] = given[0];
    *selected_count = 1;
    return nullptr;
  };
  ASSERT_OK(api().SessionOptionsSetEpSelectionPolicyDelegate(made, choose, &order));
  make_session(made);
  EXPECT_EQ(order, "d0 a1 b1 b2 b0 a0 a2 c0 a3 ");
  EXPECT_EQ(chosen(), "d: 0;");
  remove();
}

TEST_F(Plugins, PoliciesChooseTheKindThatTheyPrefer) {
  add_zoo("a,N,1|1,1,N,1|2,3,I,-;b,I,3|1,3,I,0|2,3,I,-|0,9,C,-");
  const char* expected[] = {"b: 2;", "b: 2;", "b: 1 2;", "a: 0;b: 2;", "a: 0;b: 2;", "b: 1 2;", "b: 1 2;"};
  for (int policy = 0; policy < 7; ++policy) {
    auto made = options();
    ASSERT_OK(api().SessionOptionsSetEpSelectionPolicy(made, static_cast<OrtExecutionProviderDevicePolicy>(policy)));
    make_session(made);
    EXPECT_EQ(chosen(), expected[policy]) << "policy " << policy;
  }
  auto made = options();
  EXPECT_REFUSED(api().SessionOptionsSetEpSelectionPolicy(made, static_cast<OrtExecutionProviderDevicePolicy>(7)),
                 ORT_INVALID_ARGUMENT, "policy 7");
  remove();
}

TEST_F(Plugins, AFunctionMustChooseWell) {
  using Choose = OrtStatus* (*)(const OrtEpDevice**, size_t, const OrtKeyValuePairs*, const OrtKeyValuePairs*,
                                const OrtEpDevice**, size_t, size_t*, void*);
  std::pair<Choose, const char*> wrong[] = {
      {[](auto, size_t, auto, auto, auto, size_t, size_t*, void*) -> OrtStatus* { return nullptr; }, "no device"},
      {[](auto, size_t, auto, auto, auto, size_t max, size_t* count, void*) -> OrtStatus* {
         *count = max + 1;
         return nullptr;
       },
       "9 devices"},
      {[](auto, size_t, auto, auto, auto, size_t, size_t* count, void*) -> OrtStatus* {
         *count = 1;
         return nullptr;
       },
       "none of the devices"},
      {[](auto, size_t, auto, auto, auto, size_t, size_t*, void*) {
         return api().CreateStatus(ORT_NOT_FOUND, "I cannot decide");
       },
       "I cannot decide"}};
  for (const auto& [choose, text] : wrong) {
    auto made = options();
    ASSERT_OK(api().SessionOptionsSetEpSelectionPolicyDelegate(made, choose, nullptr));
    Session session;
    EXPECT_REFUSED(api().CreateSession(env_, kModel.c_str(), made, session.out()), ORT_FAIL, text);
  }
}

TEST_F(Plugins, SettingsAreSessionEntries) {
  add(kExample);
  auto made = options();
  const OrtEpDevice* first = device(kCompile);
  const char *key = "gather", *value = "3";
  ASSERT_OK(api().SessionOptionsAppendExecutionProvider_V2(made, env_, &first, 1, &key, &value, 1));
  KeyValuePairs entries;
  ASSERT_OK(api().GetSessionOptionsConfigEntries(made, entries.out()));
  EXPECT_STREQ(api().GetKeyValue(entries, "ep.examplecompileexecutionprovider.gather"), "3");
  EXPECT_STREQ(api().GetKeyValue(entries, "ep.examplecompileexecutionprovider.prepack"), "1");
  auto by_name = options();
  ASSERT_OK(api().SessionOptionsAppendExecutionProvider(by_name, kCompile, &key, &value, 1));
  ASSERT_OK(api().GetSessionOptionsConfigEntries(by_name, entries.out()));
  EXPECT_STREQ(api().GetKeyValue(entries, "ep.examplecompileexecutionprovider.gather"), "3");
  EXPECT_STREQ(api().GetKeyValue(entries, "ep.examplecompileexecutionprovider.prepack"), "1");
  make_session(by_name);
  remove();
}

TEST_F(Plugins, OfTheEnvironmentServeSessionsThatNameNone) {
  add_zoo("a,N,1|1,1,N,1;b,I,3|1,3,I,0");
  const char *key = "speed", *value = " fast";
  ASSERT_OK(OrtEnvAppendExecutionProvider(env_, "a", &key, &value, 1, 1));
  EXPECT_REFUSED(OrtEnvAppendExecutionProvider(env_, "a", nullptr, nullptr, 0, 1), ORT_INVALID_ARGUMENT, "already");
  ASSERT_OK(OrtEnvAppendExecutionProvider(env_, "missing", nullptr, nullptr, 0, 0));
  make_session(nullptr);
  EXPECT_EQ(chosen(), "a fast: 0;");
  auto made = options();
  const OrtEpDevice* other = device("b");
  ASSERT_OK(api().SessionOptionsAppendExecutionProvider_V2(made, env_, &other, 1, nullptr, nullptr, 0));
  make_session(made);
  EXPECT_EQ(chosen(), "b: 0;");
  ASSERT_OK(OrtEnvAppendExecutionProvider(env_, "needed", nullptr, nullptr, 0, 1));
  Session session;
  EXPECT_REFUSED(api().CreateSession(env_, kModel.c_str(), nullptr, session.out()), ORT_FAIL, "needed");
  ASSERT_OK(OrtEnvClearExecutionProviders(env_));
  chosen();
  make_session(nullptr);
  EXPECT_EQ(chosen(), "");
  remove();
}

/** A tensor of the shape on the device, from the environment's allocator. */
Value device_tensor(OrtEnv* env, const OrtEpDevice* device, const std::vector<int64_t>& shape) {
  OrtAllocator* allocator = nullptr;
  EXPECT_OK(api().GetSharedAllocator(env, api().EpDevice_MemoryInfo(device, OrtDeviceMemoryType_DEFAULT), &allocator));
  Value value;
  EXPECT_OK(api().CreateTensorAsOrtValue(allocator, shape.data(), shape.size(), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                         value.out()));
  return value;
}

TEST_F(Plugins, TensorsOnDevicesAreCopiedNotTouched) {
  add(kExample);
  Value there = device_tensor(env_, device(kCompile), {3});
  int64_t place = 1;
  void* element = nullptr;
  EXPECT_REFUSED(api().TensorAt(there, &place, 1, &element), ORT_INVALID_ARGUMENT, "CopyTensors");
  std::vector<float> sent{1, 2, 3}, received(3);
  Value from = floats(sent, {3}), to = floats(received, {3});
  const OrtValue* sources[] = {from, there};
  OrtValue* targets[] = {there, to};
  for (int i = 0; i < 2; ++i) ASSERT_OK(api().CopyTensors(env_, &sources[i], &targets[i], nullptr, 1));
  EXPECT_EQ(received, sent);
  std::vector<float> four(4);
  Value other = floats(four, {4});
  targets[1] = other;
  EXPECT_REFUSED(api().CopyTensors(env_, &sources[1], &targets[1], nullptr, 1), ORT_INVALID_ARGUMENT, "cannot copy");
  remove();
}

TEST_F(Plugins, SessionsOfTheCpuRefuseTheMemoryOfDevices) {
  add(kExample);
  ModelWriter model;
  model.input("x", 1, {"3"});
  model.output("z", 1, {"3"});
  model.node("Neg", {"x"}, {"z"});
  std::string bytes = model.bytes();
  Session session;
  ASSERT_OK(api().CreateSessionFromArray(env_, bytes.data(), bytes.size(), nullptr, session.out()));
  Value there = device_tensor(env_, device(kCompile), {3});
  std::vector<float> data{1, 2, 3};
  Value here = floats(data, {3});
  const char *input = "x", *output = "z";
  const OrtValue* given = there;
  OrtValue* made = nullptr;
  EXPECT_REFUSED(api().Run(session, nullptr, &input, &given, 1, &output, 1, &made), ORT_INVALID_ARGUMENT,
                 "CopyTensors");
  EXPECT_EQ(made, nullptr);
  given = here;
  made = there;
  EXPECT_REFUSED(api().Run(session, nullptr, &input, &given, 1, &output, 1, &made), ORT_INVALID_ARGUMENT, "CPU alone");
  remove();
}

TEST_F(Plugins, WhatWasMadeOfThemKeepsThemLoaded) {
  add(kExample);
  Value there = device_tensor(env_, device(kCompile), {2});
  OrtSyncStream* stream = nullptr;
  ASSERT_OK(api().CreateSyncStreamForEpDevice(device(kCompile), nullptr, &stream));
  auto made = options();
  const OrtEpDevice* first = device(kCompile);
  ASSERT_OK(api().SessionOptionsAppendExecutionProvider_V2(made, env_, &first, 1, nullptr, nullptr, 0));
  Session session;
  ASSERT_OK(api().CreateSession(env_, kModel.c_str(), made, session.out()));
  remove();
  EXPECT_EQ(devices().size(), 1u);
  void* loaded = dlopen(kExample.c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(loaded, nullptr);
  dlclose(loaded);
  EXPECT_NE(api().SyncStream_GetHandle(stream), nullptr);
  size_t inputs = 0;
  ASSERT_OK(api().SessionGetInputCount(session, &inputs));
  std::vector<const OrtEpDevice*> places(inputs);
  EXPECT_OK(api().SessionGetEpDeviceForInputs(session, places.data(), inputs));
  Session{std::move(session)};
  SessionOptions{std::move(made)};
  Value{std::move(there)};
  api().ReleaseSyncStream(stream);
}

TEST_F(Plugins, NobodyUsesAnyMoreAreUnloaded) {
  add_zoo("a,N,1|1,1,N,1");
  make_session(nullptr);
  remove();
  EXPECT_EQ(dlopen(kZoo.c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr);
}

TEST_F(Plugins, ComeAndGoWhileSessionsRun) {
  std::atomic<bool> stop = false;
  std::thread runner([&] {
    while (!stop) {
      const OrtEpDevice* const* list = nullptr;
      size_t count = 0;
      EXPECT_OK(api().GetEpDevices(env_, &list, &count));
      make_session(nullptr);
    }
  });
  std::vector<std::thread> registrars;
  for (int thread = 0; thread < 2; ++thread) {
    registrars.emplace_back([&, name = "plugin" + std::to_string(thread)] {
      for (int i = 0; i < 500; ++i) {
        EXPECT_OK(api().RegisterExecutionProviderLibrary(env_, name.c_str(), kExample.c_str()));
        EXPECT_OK(api().UnregisterExecutionProviderLibrary(env_, name.c_str()));
      }
    });
  }
  for (std::thread& registrar : registrars) registrar.join();
  stop = true;
  runner.join();
  EXPECT_EQ(devices().size(), 1u);
}

}  // namespace
