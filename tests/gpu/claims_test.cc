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

TEST(Claims, WindowsBeyondWhatKernelsCountAreRefused) {
  TestDevice device{TestDeviceOptions()};
  constexpr int64_t kMost = INT32_MAX;
  Tensor none = floats({0, 1, 4}, {}), weights = floats({1, 1, 2}, {1, 2});
  auto refusal = [&](TestNode node, const char* name, const Shape& values) {
    node.attributes["kernel_shape"] = Shape{2};
    node.attributes[name] = values;
    bool pools = node.op != "ConvTranspose";
    return refusal_of(device, node, pools ? std::vector<NodeInput>{{none}} : std::vector<NodeInput>{{none}, {weights}});
  };
  for (const char* op : {"AveragePool", "MaxPool", "LpPool", "ConvTranspose"}) {
    EXPECT_EQ(refusal({op, {}, 19}, "pads", {0, kMost}), "") << op;
    EXPECT_EQ(refusal({op, {}, 19}, "pads", {0, kMost + 1}), "pads holds 2147483648, beyond what kernels count") << op;
  }
  for (const char* name : {"output_padding", "output_shape"}) {
    EXPECT_EQ(refusal({"ConvTranspose", {}, 11}, name, {kMost}), "") << name;
    EXPECT_EQ(refusal({"ConvTranspose", {}, 11}, name, {kMost + 1}),
              std::string(name) + " holds 2147483648, beyond what kernels count");
  }
}

}  // namespace
}  // namespace ortolan::gpu::test
