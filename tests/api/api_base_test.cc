// OrtGetApiBase, levels, versions, statuses.
#include <gtest/gtest.h>

#include <string>

#include "ortolan.h"

namespace {

const OrtApi& api() { return *OrtGetApiBase()->GetApi(ORT_API_VERSION); }

TEST(ApiBase, EveryLevelGetsTheSameTable) {
  for (uint32_t level = 1; level <= ORT_API_VERSION; ++level) {
    EXPECT_EQ(OrtGetApiBase()->GetApi(level), &api()) << level;
  }
}

TEST(ApiBase, AnUnknownLevelGetsNoTableAndALineOnStderr) {
  for (uint32_t level : {0u, 32u, 0xFFFFFFFFu}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(OrtGetApiBase()->GetApi(level), nullptr);
    const std::string line = testing::internal::GetCapturedStderr();
    EXPECT_NE(line.find("The requested API version [" + std::to_string(level) +
                        "] is not available, only API versions [1, 31] are supported in this build."),
              std::string::npos)
        << line;
    EXPECT_EQ(line.back(), '\n');
  }
}

TEST(ApiBase, TheVersionLooksLikeTheOfficialOneAndTheBuildInfoNamesUs) {
  const std::string version = OrtGetApiBase()->GetVersionString();
  EXPECT_EQ(version.rfind("1.31.", 0), 0u) << version;
  EXPECT_EQ(OrtGetVersionString(), version);
  EXPECT_NE(std::string(api().GetBuildInfoString()).find("Ortolan"), std::string::npos);
}

TEST(ApiBase, UnknownExperimentalFunctionsAndTrainingAreNull) {
  EXPECT_EQ(api().GetExperimentalFunction("OrtNoSuchFunction"), nullptr);
  EXPECT_EQ(api().GetTrainingApi(ORT_API_VERSION), nullptr);
}

TEST(Status, KeepsCodeAndText) {
  OrtStatus* status = api().CreateStatus(ORT_NOT_FOUND, "nothing here");
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(api().GetErrorCode(status), ORT_NOT_FOUND);
  EXPECT_STREQ(api().GetErrorMessage(status), "nothing here");
  api().ReleaseStatus(status);
}

TEST(Status, TakesNullAndOk) {
  OrtStatus* status = api().CreateStatus(ORT_OK, nullptr);
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(api().GetErrorCode(status), ORT_OK);
  EXPECT_STREQ(api().GetErrorMessage(status), "");
  api().ReleaseStatus(status);
  api().ReleaseStatus(nullptr);
  EXPECT_EQ(api().GetErrorCode(nullptr), ORT_OK);
  EXPECT_STREQ(api().GetErrorMessage(nullptr), "");
}

TEST(Coverage, ListsEverySlotInOrderAndAllAreImplemented) {
  size_t count = 0;
  const OrtApiSlot* slots = OrtApiCoverage(&count);
  ASSERT_EQ(count, 428u + 20 + 16 + 13 + 16 + 74);
  uint32_t expected = 0;
  for (size_t i = 0; i < count; ++i) {
    expected = i > 0 && std::string(slots[i].table) == slots[i - 1].table ? expected + 1 : 0;
    EXPECT_EQ(slots[i].slot, expected) << slots[i].name;
    EXPECT_EQ(std::string(slots[i].since).rfind("1.", 0), 0u) << slots[i].name;
    EXPECT_TRUE(slots[i].implemented) << slots[i].name;
  }
  EXPECT_STREQ(slots[0].name, "CreateStatus");
  EXPECT_STREQ(slots[427].name, "GetModelPackageApi");
}

}  // namespace
