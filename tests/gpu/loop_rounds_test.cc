// Kernels that loop along data, where the driver ends an item's loops after some rounds.
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/core/elements/row_items.h"
#include "gpu/single_node.h"
#include "gpu/testdevice/test_device.h"
#include "thrown_text.h"

namespace ortolan::gpu::test {
namespace {

constexpr int64_t kLong = 640000;

bool ends_loops(const Device& device) { return device.traits().max_rounds < kLong; }

TEST(LoopRounds, LongRowsHaveMoreItems) {
  DeviceTraits traits;
  traits.kind = DeviceClass::kLanes;
  traits.max_group_items = 1024;
  EXPECT_EQ(row_items(traits, 1 << 20), 8);
  traits.max_rounds = 65535;
  EXPECT_EQ(row_items(traits, 1000), 8);
  EXPECT_EQ(row_items(traits, kLong), 64);
  EXPECT_EQ(row_items(traits, int64_t{1} << 40), 1024);
  for (int64_t columns = 1; columns < 10000000; columns = columns * 3 + 1) {
    EXPECT_LE(row_rounds(columns, row_items(traits, columns)), traits.max_rounds) << columns;
  }
}

/** One sum along a column, whose items would each loop along all of it: rows take its place. */
TEST(LoopRounds, ColumnsBecomeRows) {
  TestDeviceOptions options;
  options.max_rounds = 300;
  TestDevice device(options);
  Tensor x = random_floats({1000, 32}, 1);
  std::vector<float> values = x.floats(), sums(32);
  for (size_t i = 0; i < values.size(); i++) sums[i % 32] += values[i];
  Tensor axes = integers({1}, {0});
  expect_near(run_node(device, {"ReduceSum", {{"keepdims", int64_t{0}}}}, {{x}, constant(axes)})[0],
              floats({32}, sums));
}

TEST(LoopRounds, WhatCannotBeSharedIsAnErrorThatSaysSo) {
  TestDeviceOptions options;
  options.max_rounds = 300;
  TestDevice device(options);
  const Tensor axis = integers({}, {0});
  expect_near(run_node(device, {"CumSum"}, {{floats({3}, {1, 2, 3})}, constant(axis)})[0], floats({3}, {1, 3, 6}));
  EXPECT_TRUE(ortolan::test::throws<Error>("loops 301 times, and the driver of", [&] {
    run_node(device, {"CumSum"}, {{random_floats({301}, 1)}, constant(axis)});
  }));
}

TEST(LoopRounds, WindowsSayTheirTaps) {
  TestDeviceOptions options;
  options.max_rounds = 300;
  TestDevice device(options);
  const Tensor x = random_floats({1, 1, 4}, 1), taps = random_floats({1, 1, 301}, 2);
  const Tensor channels = random_floats({1, 301, 1, 1}, 3);
  EXPECT_TRUE(ortolan::test::throws<Error>("loops 303 times", [&] {
    run_node(device, {"ConvTranspose"}, {{x}, constant(taps)});
  }));
  EXPECT_TRUE(ortolan::test::throws<Error>("loops 301 times", [&] {
    run_node(device, {"LRN", {{"size", int64_t{301}}}}, {{channels}});
  }));
}

class LongLoops : public testing::TestWithParam<NamedDevice> {};

TEST_P(LongLoops, MomentsOfALongRow) {
  Device& device = *GetParam().device;
  if (!ends_loops(device)) GTEST_SKIP() << "loops go on";
  Tensor x = random_floats({1, 1, kLong}, 1);
  std::vector<float> wanted = x.floats();
  double mean = 0, square = 0;
  for (float value : wanted) mean += value / double{kLong};
  for (float value : wanted) square += (value - mean) * (value - mean) / double{kLong};
  for (float& value : wanted) value = static_cast<float>((value - mean) / std::sqrt(square + 1e-5));
  Tensor one = floats({1}, {1}), zero = floats({1}, {0});
  expect_near(run_node(device, {"InstanceNormalization"}, {{x}, {one}, {zero}})[0], floats({1, 1, kLong}, wanted));
}

TEST_P(LongLoops, SumsOfLongRowsAndColumns) {
  Device& device = *GetParam().device;
  if (!ends_loops(device)) GTEST_SKIP() << "loops go on";
  Tensor x = random_floats({kLong, 16}, 2);
  std::vector<float> values = x.floats();
  std::vector<double> sums(16);
  for (size_t i = 0; i < values.size(); i++) sums[i % 16] += values[i] / double{kLong};
  Tensor axes = integers({1}, {0});
  expect_near(run_node(device, {"ReduceMean", {{"keepdims", int64_t{0}}}}, {{x}, constant(axes)})[0],
              floats({16}, {sums.begin(), sums.end()}));
}

TEST_P(LongLoops, WhatWouldEndEarlyDoesNotRun) {
  Device& device = *GetParam().device;
  if (!ends_loops(device)) GTEST_SKIP() << "loops go on";
  EXPECT_TRUE(ortolan::test::throws<Error>("ends loops after", [&] {
    run_node(device, {"CumSum"}, {{random_floats({kLong}, 3)}, constant(integers({}, {0}))});
  }));
  const bool is_seen = device.traits().max_binding_bytes >= 65 * sizeof(float) * kLong;  // of B, padded
  EXPECT_TRUE(ortolan::test::throws<Error>(is_seen ? "ends loops after" : "a launch sees", [&] {
    run_node(device, {"MatMul"}, {{random_floats({1, kLong}, 4)}, {random_floats({kLong, 2}, 5)}});
  }));
}

INSTANTIATE_TEST_SUITE_P(Devices, LongLoops, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
