// The GPU provider under test, a plugin library whose path the variable ORTOLAN_TESTED_PLUGIN has, and the digits
// model.
#pragma once

#include <dlfcn.h>

#include <map>
#include <string>
#include <vector>

#include "../../api/api_test_support.h"

/** An environment with the tested provider; each one opens its device anew. */
class Provider {
 public:
  using Entries = std::map<std::string, std::string>;

  Provider() {
    EXPECT_OK(api().CreateEnv(ORT_LOGGING_LEVEL_WARNING, "sessions", env_.out()));
    EXPECT_OK(api().RegisterExecutionProviderLibrary(env_, "tested", std::getenv("ORTOLAN_TESTED_PLUGIN")));
    const OrtEpDevice* const* devices = nullptr;
    size_t count = 0;
    EXPECT_OK(api().GetEpDevices(env_, &devices, &count));
    for (size_t i = 0; i < count && device_ == nullptr; i++) {
      if (std::string(api().EpDevice_EpName(devices[i])) != "CPUExecutionProvider") device_ = devices[i];
    }
    EXPECT_NE(device_, nullptr);
  }
  ~Provider() { EXPECT_OK(api().UnregisterExecutionProviderLibrary(env_, "tested")); }
  Provider(const Provider&) = delete;
  Provider& operator=(const Provider&) = delete;

  /** What the provider says of its device. */
  std::string metadata(const char* key) const {
    const char* value = api().GetKeyValue(api().EpDevice_EpMetadata(device_), key);
    return value == nullptr ? "(none)" : value;
  }
  /** The digits model, on the device alone. `profile`: where profiles go; NULL: none is made. */
  OrtStatus* create(Session& session, const Entries& options, const char* profile = nullptr) {
    SessionOptions made;
    EXPECT_OK(api().CreateSessionOptions(made.out()));
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    EXPECT_OK(api().AddSessionConfigEntry(made, "session.disable_cpu_ep_fallback", "1"));
    if (profile != nullptr) {
      EXPECT_OK(api().EnableProfiling(made, profile));
    }
    OrtStatus* status = api().SessionOptionsAppendExecutionProvider_V2(made, env_, &device_, 1, keys.data(),
                                                                       values.data(), keys.size());
    return status != nullptr ? status : api().CreateSession(env_, kModel, made, session.out());
  }
  Session session(const Entries& options = {}, const char* profile = nullptr) {
    Session made;
    EXPECT_OK(create(made, options, profile));
    return made;
  }
  Session cpu_session() {
    Session made;
    EXPECT_OK(api().CreateSession(env_, kModel, nullptr, made.out()));
    return made;
  }

 private:
  static constexpr const char* kModel = ORTOLAN_SOURCE_DIR "/tests/models/digits.onnx";
  Env env_;
  const OrtEpDevice* device_ = nullptr;
};

/** Only the test device's library has such functions; NULL in others. Once a provider is there. */
inline void* function_of_tested_plugin(const char* name) {
  void* library = dlopen(std::getenv("ORTOLAN_TESTED_PLUGIN"), RTLD_NOW | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, name);
}

/** The probabilities of some picture. */
inline std::vector<float> run(OrtSession* session) {
  std::vector<float> pixels(64);
  for (size_t i = 0; i < pixels.size(); i++) pixels[i] = static_cast<float>(i % 7) / 7;
  Value image = floats(pixels, {1, 1, 8, 8}), probabilities;
  const char *in = "image", *out = "probabilities";
  const OrtValue* inputs[] = {image};
  EXPECT_OK(api().Run(session, nullptr, &in, inputs, 1, &out, 1, probabilities.out()));
  return content<float>(probabilities);
}
