// The flat API: names that are slots, and the early form with counted objects and factories.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>

#include "ortolan.h"

namespace {

TEST(Flat, AFunctionIsItsSlot) {
  OrtStatus* status = OrtCreateStatus(ORT_EP_FAIL, "text");
  EXPECT_EQ(OrtGetErrorCode(status), ORT_EP_FAIL);
  EXPECT_EQ(OrtGetErrorMessage(status), OrtGetApiBase()->GetApi(30)->GetErrorMessage(status));
  OrtReleaseStatus(status);
  EXPECT_EQ(OrtGetBuildInfoString(), OrtGetApiBase()->GetApi(30)->GetBuildInfoString());
}

TEST(OperatorCatalog, FormsAreSortedAndDoNotOverlap) {
  size_t count = 0;
  const OrtOperatorForm* forms = OrtOperatorCatalog(&count);
  ASSERT_GT(count, 400u);
  for (size_t i = 1; i < count; ++i) {
    auto key = [](const OrtOperatorForm& form) {
      std::string domain = form.domain;
      return std::tuple(domain == "ai.onnx" ? "" : domain, std::string(form.name), form.since_version);
    };
    EXPECT_LT(key(forms[i - 1]), key(forms[i]));
    bool same = std::string(forms[i].domain) == forms[i - 1].domain && std::string(forms[i].name) == forms[i - 1].name;
    if (!same) continue;
    EXPECT_LT(forms[i - 1].until_version, forms[i].since_version) << forms[i].name;
    EXPECT_GE(forms[i - 1].until_version, forms[i - 1].since_version) << forms[i].name;
  }
}

TEST(OperatorCatalog, TypesAreThoseOfSchemaAndKernels) {
  size_t count = 0;
  const OrtOperatorForm* forms = OrtOperatorCatalog(&count);
  const OrtOperatorForm* range = std::find_if(forms, forms + count, [](const OrtOperatorForm& form) {
    return std::string(form.domain) == "ai.onnx" && std::string(form.name) == "OneHot" && form.until_version == 0;
  });
  ASSERT_NE(range, forms + count);
  EXPECT_EQ(range->since_version, 11);
  EXPECT_STREQ(range->provider, "CPUExecutionProvider");
  ASSERT_EQ(range->inputs.count, 3u);
  EXPECT_STREQ(range->inputs.values[0].name, "indices");
  EXPECT_STREQ(range->inputs.values[0].parameter, "T1");
  EXPECT_NE(std::string(range->inputs.values[0].types).find("tensor(int64)"), std::string::npos);
  EXPECT_EQ(std::string(range->inputs.values[0].types).find("string"), std::string::npos);
  EXPECT_NE(std::string(range->outputs.values[0].types).find("tensor(string)"), std::string::npos);
}

TEST(Early, AFactoryCountsItsOwners) {
  OrtProviderFactoryInterface** factory = nullptr;
  ASSERT_EQ(OrtCreateCpuExecutionProviderFactory(1, &factory), nullptr);
  ASSERT_NE(factory, nullptr);
  EXPECT_EQ((*factory)->parent.AddRef(factory), 2u);
  EXPECT_EQ(OrtAddRefToObject(factory), 3u);
  EXPECT_EQ(OrtReleaseObject(factory), 2u);
  EXPECT_EQ((*factory)->parent.Release(factory), 1u);
  EXPECT_EQ(OrtReleaseObject(factory), 0u);
  EXPECT_EQ(OrtReleaseObject(factory), 0u) << "an object that is gone is left alone";
}

TEST(Early, NullAndUnknownObjectsAreLeftAlone) {
  int unknown = 0;
  EXPECT_EQ(OrtReleaseObject(nullptr), 0u);
  EXPECT_EQ(OrtAddRefToObject(&unknown), 0u);
  EXPECT_EQ(OrtReleaseObject(&unknown), 0u);
}

TEST(Early, AProviderHasAFactoryWhereItsLibraryIs) {
  using Create = OrtStatus* (*)(int, OrtProviderFactoryInterface***);
  const std::tuple<Create, const char*, const char*> kBundled[] = {
      {OrtCreateCUDAExecutionProviderFactory, "CUDA", "libonnxruntime_ep_cuda.so"},
      {OrtCreateOpenCLExecutionProviderFactory, "OpenCL", "libonnxruntime_ep_opencl.so"},
      {OrtCreateVulkanExecutionProviderFactory, "Vulkan", "libonnxruntime_ep_vulkan.so"}};
  for (const auto& [create, name, library] : kBundled) {
    OrtProviderFactoryInterface* nothing = nullptr;
    OrtProviderFactoryInterface** factory = &nothing;
    OrtStatus* status = create(0, &factory);
    if (std::filesystem::exists(std::filesystem::path(ORTOLAN_BINARY_DIR) / "lib" / library)) {
      ASSERT_EQ(status, nullptr) << OrtGetErrorMessage(status);
      ASSERT_NE(factory, &nothing);
      EXPECT_EQ(OrtReleaseObject(factory), 0u);
      continue;
    }
    ASSERT_NE(status, nullptr) << name;
    EXPECT_EQ(factory, nullptr);
    EXPECT_EQ(OrtGetErrorCode(status), ORT_FAIL);
    const std::string text = OrtGetErrorMessage(status);
    EXPECT_NE(text.find(std::string(name) + " execution provider is not available"), std::string::npos) << text;
    EXPECT_NE(text.find(library), std::string::npos) << text;
    OrtReleaseStatus(status);
  }
}

TEST(Early, AppendRefusesNull) {
  OrtStatus* status = OrtSessionOptionsAppendExecutionProvider(nullptr, nullptr);
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(OrtGetErrorCode(status), ORT_INVALID_ARGUMENT);
  EXPECT_STREQ(OrtGetErrorMessage(status), "argument 'options' must not be NULL");
  OrtReleaseStatus(status);
}

TEST(Early, OptionsEndByEitherFunction) {
  OrtSessionOptions* options = OrtCreateSessionOptions();
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(OrtReleaseObject(options), 0u);
  options = OrtCreateSessionOptions();
  ASSERT_NE(options, nullptr);
  OrtReleaseSessionOptions(options);
  OrtRunOptions* run_options = OrtCreateRunOptions();
  ASSERT_NE(run_options, nullptr);
  OrtReleaseRunOptions(run_options);
}

}  // namespace
