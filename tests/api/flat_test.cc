// The flat API: names that are slots, and the early form with counted objects and factories.
#include <gtest/gtest.h>

#include <string>

#include "ortolan.h"

namespace {

TEST(Flat, AFunctionIsItsSlot) {
  OrtStatus* status = OrtCreateStatus(ORT_EP_FAIL, "text");
  EXPECT_EQ(OrtGetErrorCode(status), ORT_EP_FAIL);
  EXPECT_EQ(OrtGetErrorMessage(status), OrtGetApiBase()->GetApi(30)->GetErrorMessage(status));
  OrtReleaseStatus(status);
  EXPECT_EQ(OrtGetBuildInfoString(), OrtGetApiBase()->GetApi(30)->GetBuildInfoString());
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

TEST(Early, AnAbsentProviderHasAFactoryFunctionThatSaysSo) {
  using Create = OrtStatus* (*)(int, OrtProviderFactoryInterface***);
  const std::pair<Create, const char*> kAbsent[] = {{OrtCreateCUDAExecutionProviderFactory, "CUDA"},
                                                    {OrtCreateOpenCLExecutionProviderFactory, "OpenCL"},
                                                    {OrtCreateVulkanExecutionProviderFactory, "Vulkan"}};
  for (const auto& [create, name] : kAbsent) {
    OrtProviderFactoryInterface* nothing = nullptr;
    OrtProviderFactoryInterface** factory = &nothing;
    OrtStatus* status = create(0, &factory);
    ASSERT_NE(status, nullptr) << name;
    EXPECT_EQ(factory, nullptr);
    EXPECT_EQ(OrtGetErrorCode(status), ORT_FAIL);
    const std::string text = OrtGetErrorMessage(status);
    EXPECT_NE(text.find(std::string(name) + " execution provider is not available"), std::string::npos) << text;
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
