// What programs that were linked with other releases find in the library.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "onnxruntime_c_api.h"

namespace {

const std::string kFolder = std::string(ORTOLAN_BINARY_DIR) + "/lib/";

TEST(ExportedVersions, EveryNodeHasTheWayInAndTheOldAppendFunctions) {
  void* library = dlopen((kFolder + "libortolan.so.1").c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  std::ifstream versions(std::string(ORTOLAN_SOURCE_DIR) + "/symbols/versions.txt");
  size_t count = 0;
  for (std::string version; std::getline(versions, version);) {
    if (version.rfind("VERS_", 0) != 0) {
      continue;
    }
    version = version.substr(0, version.find(' '));
    ++count;
    using GetApiBase = const OrtApiBase* (*)();
    auto get = reinterpret_cast<GetApiBase>(dlvsym(library, "OrtGetApiBase", version.c_str()));
    ASSERT_NE(get, nullptr) << version;
    EXPECT_EQ(get()->GetApi(17), OrtGetApiBase()->GetApi(30)) << version;
    for (const char* provider : {"CPU", "CUDA", "Tensorrt", "Dnnl", "ROCM", "MIGraphX"}) {
      const std::string name = std::string("OrtSessionOptionsAppendExecutionProvider_") + provider;
      EXPECT_NE(dlvsym(library, name.c_str(), version.c_str()), nullptr) << name << " " << version;
    }
  }
  EXPECT_GT(count, 60u);
  EXPECT_EQ(dlvsym(library, "OrtGetApiBase", "VERS_9.9.9"), nullptr);
  dlclose(library);
}

TEST(ExportedVersions, TheNamesOfTheOfficialLibraryLeadHere) {
  for (const char* name : {"libonnxruntime.so.1", "libonnxruntime.so", "libonnxruntime.so.1.21"}) {
    void* library = dlopen((kFolder + "compat/" + name).c_str(), RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    EXPECT_EQ(dlsym(library, "OrtGetApiBase"), dlsym(RTLD_DEFAULT, "OrtGetApiBase")) << name;
    dlclose(library);
  }
}

TEST(ExportedVersions, AnAbsentProviderIsAStatusThatSaysHowToGetIt) {
  const OrtApi* api = OrtGetApiBase()->GetApi(30);
  OrtSessionOptions* options = nullptr;
  ASSERT_EQ(api->CreateSessionOptions(&options), nullptr);
  OrtStatus* status = OrtSessionOptionsAppendExecutionProvider_Tensorrt(options, 0);
  api->ReleaseSessionOptions(options);
  ASSERT_NE(status, nullptr);
  const std::string text = api->GetErrorMessage(status);
  EXPECT_NE(text.find("TensorRT execution provider is not available"), std::string::npos) << text;
  EXPECT_NE(text.find("RegisterExecutionProviderLibrary"), std::string::npos) << text;
  api->ReleaseStatus(status);
}

}  // namespace
