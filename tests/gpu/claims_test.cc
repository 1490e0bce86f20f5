// Which nodes are left to others for the device's sake.
#include <gtest/gtest.h>

#include "gpu/single_node.h"
#include "gpu/testdevice/test_device.h"

namespace ortolan::gpu::test {
namespace {

TEST(Claims, TensorsThatNoBufferHoldsAreRefused) {
  TestDeviceOptions options;
  options.max_buffer_bytes = 1024;
  TestDevice device(options);
  Tensor small = floats({1, 4}, {1, 2, 3, 4}), fits = random_floats({4, 64}, 1), large = random_floats({4, 65}, 1);
  EXPECT_EQ(refusal_of(device, {"MatMul"}, {{small}, {fits, true}}), "");
  EXPECT_EQ(refusal_of(device, {"MatMul"}, {{small}, {large, true}}),
            "its tensor 'in' has 1040 bytes; a buffer of the device may have 1024");
  EXPECT_EQ(refusal_of(device, {"Relu"}, {{large}}),
            "its tensor 'in' has 1040 bytes; a buffer of the device may have 1024");
}

}  // namespace
}  // namespace ortolan::gpu::test
