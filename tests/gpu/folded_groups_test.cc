// Launches of more groups than a device has along an axis.
#include "gpu/core/convolution/folded_groups.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gpu/single_node.h"
#include "gpu/testdevice/test_device.h"

namespace ortolan::gpu::test {
namespace {

using Groups = std::array<uint32_t, 3>;

TEST(FoldedGroups, AnAxisThatHasRoomStays) {
  EXPECT_EQ(folded_groups({64, 2, 1}, {64, 2, 1}), (Groups{64, 2, 1}));
  EXPECT_EQ(folded_groups({1, 1, 7}, {8, 8, 8}), (Groups{1, 1, 7}));
}

TEST(FoldedGroups, OthersFillTheAxesEvenly) {
  EXPECT_EQ(folded_groups({65, 1, 1}, {64, 64, 64}), (Groups{33, 2, 1}));
  EXPECT_EQ(folded_groups({1, 1, 65}, {64, 64, 64}), (Groups{33, 2, 1}));
  EXPECT_EQ(folded_groups({1, 70000, 3}, {0x7fffffff, 65535, 65535}), (Groups{210000, 1, 1}));
  EXPECT_EQ(folded_groups({4097, 1, 1}, {64, 64, 64}), (Groups{63, 33, 2}));
  EXPECT_EQ(folded_groups({0x7fffffff, 1, 1}, {65535, 65535, 65535}), (Groups{65535, 32769, 1}));
}

TEST(FoldedGroups, AllShapesHaveRoomForAll) {
  const Groups most = {5, 7, 100};
  for (uint32_t x = 1; x < 30; x++) {
    for (uint32_t y : {1u, 6u, 7u, 8u, 20u}) {
      for (uint32_t z : {1u, 3u, 5u}) {
        Groups folded = folded_groups({x, y, z}, most);
        EXPECT_GE(folded[0] * folded[1] * folded[2], x * y * z);
        for (int axis = 0; axis < 3; axis++) EXPECT_LE(folded[axis], most[axis]) << x << ' ' << y << ' ' << z;
      }
    }
  }
}

/** The test device refuses launches with more. */
TEST(FoldedGroups, LaunchesAreFoldedOnDevicesWithALimit) {
  TestDeviceOptions options;
  options.max_groups = {3, 2, 50};
  TestDevice device(options);
  Tensor x = random_floats({40, 3, 7}, 1);
  std::vector<float> values = x.floats();
  for (float& value : values) value = std::max(value, 0.0f);
  expect_near(run_node(device, {"Relu"}, {{x}})[0], floats({40, 3, 7}, values));
  Tensor rows = run_node(device, {"Softmax"}, {{x}})[0];
  expect_near(rows, run_node(*all_devices()[0].device, {"Softmax"}, {{x}})[0]);
  EXPECT_GE(device.work().groups, 120);
}

class FewGroups : public testing::TestWithParam<NamedDevice> {};

/** A row more than a launch's first axis has groups. */
TEST_P(FewGroups, RowsBeyondAnAxis) {
  Device& device = *GetParam().device;
  if (!device.traits().limits_groups()) GTEST_SKIP() << "has no limit";
  const int64_t rows = int64_t{device.traits().max_groups[0]} + 1;
  if (rows > (1 << 20)) GTEST_SKIP() << "has room for all rows of a test";
  Tensor x = random_floats({rows, 3}, 1);
  std::vector<float> wanted = x.floats();
  for (float* row = wanted.data(); row != wanted.data() + wanted.size(); row += 3) {
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += std::exp(row[i]);
    for (int i = 0; i < 3; i++) row[i] = static_cast<float>(std::exp(row[i]) / sum);
  }
  expect_near(run_node(device, {"Softmax"}, {{x}})[0], floats({rows, 3}, wanted));
}

INSTANTIATE_TEST_SUITE_P(Devices, FewGroups, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
