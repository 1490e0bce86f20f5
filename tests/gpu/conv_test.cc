// Conv and FusedConv against double.
#include <gtest/gtest.h>

#include <algorithm>

#include "gpu/window_reference.h"

namespace ortolan::gpu::test {
namespace {

Tensor halves(const Tensor& x) { return floats(x.shape, x.floats(), ElementType::kFloat16); }

struct ConvCase {
  WindowCase window;
  int64_t images, channels, rows, group = 1;

  Tensor image() const { return random_floats(with_planes(images, channels, window.in), 1); }
  Tensor weights() const { return random_floats(with_planes(rows, channels / group, window.kernel), 2, -1, 1); }
  Tensor bias() const { return random_floats({rows}, 3); }
  TestNode node() const {
    TestNode node{"Conv", window.attributes()};
    node.attributes["group"] = group;
    return node;
  }
};

class Conv : public testing::TestWithParam<NamedDevice> {
 protected:
  Tensor run(const TestNode& node, const std::vector<NodeInput>& inputs) {
    return run_node(*GetParam().device, node, inputs)[0];
  }
  /** With weights as an input and as a constant, with and without a bias. */
  void expect_conv(const ConvCase& c) {
    Tensor x = c.image(), w = c.weights(), bias = c.bias();
    Tensor wanted = convolution(c.window, c.group, x, w, &bias);
    expect_near(run(c.node(), {{x}, {w}, {bias}}), wanted, 1e-5f, 1e-4f);
    expect_near(run(c.node(), {{x}, constant(w), constant(bias)}), wanted, 1e-5f, 1e-4f);
    expect_near(run(c.node(), {{x}, constant(w)}), convolution(c.window, c.group, x, w, nullptr), 1e-5f, 1e-4f);
  }
  /** With bias, residual and ReLU. */
  void expect_fused(const ConvCase& c) {
    Tensor x = c.image(), w = c.weights(), bias = c.bias();
    Tensor sum = convolution(c.window, 1, x, w, &bias), residual = random_floats(sum.shape, 7);
    std::vector<float> values = sum.floats(), more = residual.floats();
    for (size_t i = 0; i < values.size(); i++) values[i] = std::max(0.0f, values[i] + more[i]);
    TestNode node = c.node();
    node.op = "FusedConv";
    node.domain = "com.microsoft";
    node.since_version = 1;
    node.attributes["activation"] = std::string("Relu");
    expect_near(run(node, {{x}, constant(w), constant(bias), {residual}}), floats(sum.shape, values), 1e-5f, 1e-4f);
  }
};

TEST_P(Conv, Pointwise) {
  expect_conv({{{5, 5}, {1, 1}}, 1, 3, 4});
  expect_conv({{{4, 4}, {1, 1}}, 2, 5, 9});
  expect_conv({{{1, 1}, {1, 1}}, 2, 5, 17});
  expect_conv({{{7, 11}, {1, 1}, {2, 2}}, 2, 5, 3});
  expect_conv({{{7, 11}, {1, 1}, {2, 3}, {}, {1, 0}, {0, 2}}, 1, 2, 3});
}

TEST_P(Conv, ThreeByThree) {
  expect_conv({{{8, 8}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 2, 3, 8});
  expect_conv({{{7, 9}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 1, 5, 9});
  expect_conv({{{3, 3}, {3, 3}}, 1, 2, 1});
  expect_conv({{{6, 20}, {3, 3}}, 1, 2, 7});
  expect_conv({{{17, 16}, {3, 3}, {2, 2}, {}, {1, 1}, {1, 1}}, 1, 4, 10});
}

TEST_P(Conv, ThreeByThreeInManyTiles) {
  expect_conv({{{12, 12}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 2, 16, 17});
  expect_conv({{{13, 11}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 1, 19, 16});
  expect_conv({{{6, 71}, {3, 3}, {}, {}, {0, 1}, {2, 0}}, 1, 16, 16});
  expect_conv({{{80}, {3}, {}, {}, {1}, {1}}, 1, 16, 16});
}

TEST_P(Conv, ThreeByThreeInBandsAndStrips) {
  if (GetParam().device->traits().kind != DeviceClass::kWide) GTEST_SKIP() << "has no such transforms";
  expect_conv({{{122, 119}, {3, 3}, {}, {}, {1, 2}, {1, 0}}, 1, 16, 17});
  expect_conv({{{8, 450}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 1, 16, 16});
}

TEST_P(Conv, PlanesWithAColumnBeyondTheVectors) {
  expect_conv({{{7, 7}, {1, 1}}, 2, 5, 17});
  expect_conv({{{5, 10}, {1, 1}}, 1, 4, 9});
  expect_conv({{{14, 14}, {1, 1}}, 1, 6, 8, 2});
  expect_conv({{{7, 7}, {1, 1}}, 1, 3, 3});
  expect_fused({{{7, 7}, {1, 1}}, 2, 4, 10});
  expect_fused({{{10, 10}, {1, 1}}, 1, 3, 8});
}

TEST_P(Conv, ThreeByThreeOnSmallPlanes) {
  expect_conv({{{7, 7}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 2, 64, 65});
  expect_conv({{{6, 8}, {3, 3}, {}, {}, {0, 2}, {2, 1}}, 1, 66, 64});
  expect_conv({{{4, 3}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 1, 64, 70});
  expect_conv({{{11, 5}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 1, 64, 64});
  expect_fused({{{7, 7}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 2, 64, 72});
}

TEST_P(Conv, SmallPlanesByColumnsOfTaps) {
  expect_conv({{{7, 7}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 2, 5, 17});
  expect_conv({{{14, 14}, {3, 3}, {2, 2}, {}, {1, 1}, {1, 1}}, 1, 4, 9});
  expect_conv({{{14, 14}, {3, 3}, {2, 2}, {}, {0, 0}, {1, 1}}, 2, 4, 8, 2});
  expect_conv({{{7, 7}, {5, 5}, {}, {}, {2, 2}, {2, 2}}, 1, 3, 9});
  expect_conv({{{21, 22}, {3, 5}, {3, 3}, {}, {1, 1}, {0, 2}}, 1, 3, 5});
  expect_conv({{{3, 7, 7}, {2, 3, 3}, {}, {}, {1, 1, 1}, {0, 1, 1}}, 1, 2, 9});
  expect_fused({{{7, 7}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 1, 3, 9});
}

TEST_P(Conv, StridesDilationsAndPads) {
  expect_conv({{{13, 10}, {5, 3}, {2, 3}, {1, 2}, {2, 1}, {0, 3}}, 2, 3, 5});
  expect_conv({{{13, 10}, {2, 3}, {3, 2}, {2, 3}, {1, 0}, {1, 4}}, 1, 2, 3});
  expect_conv({{{4, 4}, {2, 2}, {4, 4}, {}, {0, 0}, {3, 3}}, 1, 2, 3});
  expect_conv({{{2, 2}, {3, 3}, {1, 1}, {}, {4, 4}, {4, 4}}, 1, 2, 3});
  expect_conv({{{224 / 8, 30}, {7, 7}, {2, 2}, {}, {3, 3}, {3, 3}}, 1, 3, 4});
}

TEST_P(Conv, Groups) {
  expect_conv({{{6, 7}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 2, 6, 9, 3});
  expect_conv({{{6, 7}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 2, 5, 5, 5});
  expect_conv({{{9, 19}, {3, 3}, {2, 2}, {}, {1, 1}, {1, 1}}, 2, 4, 8, 4});
  expect_conv({{{60, 75}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 1, 2, 2, 2});
  expect_conv({{{51, 75}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 1, 2, 2, 2});
  expect_conv({{{7, 7}, {5, 5}, {}, {}, {2, 2}, {2, 2}}, 2, 3, 3, 3});
  expect_conv({{{14, 70}, {5, 5}, {2, 2}, {}, {1, 20}, {3, 2}}, 1, 2, 2, 2});
  expect_conv({{{9, 40}, {7, 7}, {3, 3}, {}, {3, 3}, {3, 3}}, 1, 2, 4, 2});
  expect_conv({{{5, 5}, {1, 1}}, 2, 4, 6, 2});
  expect_conv({{{12, 33}, {5, 5}, {1, 1}, {2, 2}, {4, 4}, {4, 4}}, 1, 3, 3, 3});
}

TEST_P(Conv, OneAndThreeDimensions) {
  expect_conv({{{23}, {5}, {2}, {}, {2}, {2}}, 2, 3, 4});
  expect_conv({{{23}, {3}, {}, {4}}, 1, 4, 4, 4});
  expect_conv({{{4, 5, 6}, {3, 2, 3}, {1, 2, 2}, {}, {1, 0, 1}, {1, 1, 1}}, 2, 2, 3});
  expect_conv({{{4, 5, 6}, {2, 2, 2}}, 1, 2, 3});
}

TEST_P(Conv, ManyChannels) { expect_conv({{{3, 4}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 1, 130, 3}); }

TEST_P(Conv, AutomaticPads) {
  ConvCase upper{{{7, 8}, {3, 2}, {2, 2}, {}, {1, 0}, {1, 0}}, 1, 2, 3};
  Tensor x = upper.image(), w = upper.weights();
  std::map<std::string, Attribute, std::less<>> attributes = {{"strides", Shape{2, 2}}};
  attributes["auto_pad"] = std::string("SAME_UPPER");
  expect_near(run({"Conv", attributes}, {{x}, {w}}), convolution(upper.window, 1, x, w, nullptr), 1e-5f, 1e-4f);
  WindowCase lower = upper.window;
  lower.in = {8, 9};
  lower.begin = {1, 1};
  lower.end = {0, 0};
  x = random_floats({1, 2, 8, 9}, 4);
  attributes["auto_pad"] = std::string("SAME_LOWER");
  expect_near(run({"Conv", attributes, 1}, {{x}, {w}}), convolution(lower, 1, x, w, nullptr), 1e-5f, 1e-4f);
  attributes["auto_pad"] = std::string("VALID");
  attributes["pads"] = Shape{5, 5, 5, 5};
  lower.begin = {0, 0};
  expect_near(run({"Conv", attributes}, {{x}, {w}}), convolution(lower, 1, x, w, nullptr), 1e-5f, 1e-4f);
}

TEST_P(Conv, Nothing) {
  Tensor w = random_floats({4, 3, 1, 1}, 1);
  EXPECT_EQ(run({"Conv"}, {{floats({0, 3, 5, 5}, {})}, {w}}).shape, (Shape{0, 4, 5, 5}));
  Tensor bias = floats({2}, {1, 2}), y = floats({1, 2, 2, 1}, {1, 1, 2, 2});
  expect_near(run({"Conv"}, {{floats({1, 0, 2, 1}, {})}, {floats({2, 0, 1, 1}, {})}, {bias}}), y);
}

TEST_P(Conv, Halves) {
  for (int64_t group : {2, 6}) {
    for (int64_t size : {1, 3}) {
      ConvCase c{{{6, 9}, {size, size}, {}, {}, {size / 2, size / 2}, {size / 2, size / 2}}, 2, 6, 12, group};
      Tensor x = halves(c.image()), w = halves(c.weights()), bias = halves(c.bias());
      Tensor wanted = halves(convolution(c.window, group, x, w, &bias));
      expect_near(run(c.node(), {{x}, {w}, {bias}}), wanted, 2e-3f, 2e-3f);
      expect_near(run(c.node(), {{x}, constant(w), constant(bias)}), wanted, 2e-3f, 2e-3f);
    }
  }
}

TEST_P(Conv, HalvesOnSmallPlanes) {
  for (int64_t channels : {3, 64}) {
    for (Shape kernel : {Shape{1, 1}, Shape{3, 3}}) {
      Shape pads = {kernel[0] / 2, kernel[1] / 2};
      ConvCase c{{{7, 7}, kernel, {}, {}, pads, pads}, 1, channels, 3 * channels};
      Tensor x = halves(c.image()), w = halves(c.weights()), bias = halves(c.bias());
      Tensor wanted = halves(convolution(c.window, 1, x, w, &bias));
      expect_near(run(c.node(), {{x}, constant(w), constant(bias)}), wanted, 1e-3f, 3e-3f);
    }
  }
}

TEST_P(Conv, FusedWithResidualAndActivation) {
  const ConvCase cases[] = {{{{6, 9}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 2, 3, 10},
                            {{{7, 37}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 1, 16, 16}};
  for (const ConvCase& c : cases) expect_fused(c);
}

TEST_P(Conv, HalvesInManyTiles) {
  ConvCase c{{{12, 12}, {3, 3}, {}, {}, {1, 1}, {1, 1}}, 1, 16, 16};
  Tensor x = halves(c.image()), w = halves(c.weights()), bias = halves(c.bias());
  Tensor wanted = halves(convolution(c.window, 1, x, w, &bias));
  expect_near(run(c.node(), {{x}, constant(w), constant(bias)}), wanted, 2e-3f, 5e-3f);
}

TEST_P(Conv, Errors) {
  auto text_of = [&](const TestNode& node, const Tensor& x, const Tensor& w,
                     const NodeInput& added = missing()) -> std::string {
    try {
      run(node, {{x}, {w}, missing(), added});
    } catch (const Error& error) {
      return error.what();
    }
    return "it ran";
  };
  Tensor x = random_floats({1, 4, 5, 5}, 1);
  EXPECT_EQ(text_of({"Conv"}, x, random_floats({2, 3, 3, 3}, 1)),
            "node 'n' (Conv): 4 channels in 1 groups do not fit weights of 2 x 3");
  EXPECT_EQ(text_of({"Conv"}, x, random_floats({2, 4, 6, 3}, 1)),
            "node 'n' (Conv): a window of 6 does not fit into 5 elements with their pads");
  EXPECT_EQ(text_of({"Conv", {{"strides", Shape{1}}}}, x, random_floats({2, 4, 3, 3}, 1)),
            "node 'n' (Conv): strides has 1 values; it needs 2");
  Tensor many = random_floats({1, 1, 2, 2, 2, 2}, 1);
  EXPECT_EQ(refusal_of(*GetParam().device, {"Conv"}, {{many}, {many}}), "input 0 has rank 6; supported: 3 to 5");
  const TestNode fused{"FusedConv", {}, 1, "com.microsoft"};
  const Tensor row = random_floats({1, 1, 3}, 1), one = random_floats({1, 1, 1}, 2);
  EXPECT_EQ(text_of(fused, row, one, {random_floats({1, 1}, 4)}),
            "node 'n' (FusedConv): Z, which is added, does not have the output's shape");
}

INSTANTIATE_TEST_SUITE_P(Devices, Conv, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
