// ConvTranspose against double.
#include <gtest/gtest.h>

#include "gpu/window_reference.h"
#include "thrown_text.h"

namespace ortolan::gpu::test {
namespace {

struct TransposeCase {
  WindowCase window;  // its input is the result's: the convolution that is turned around
  Shape in;
  int64_t images, channels, rows, group = 1;  // rows: channels of the result

  Tensor image() const { return random_floats(with_planes(images, channels, in), 1); }
  Tensor weights() const { return random_floats(with_planes(channels, rows / group, window.kernel), 2, -1, 1); }
};

/** Every element of x goes to the places that its taps name. */
Tensor reference(const TransposeCase& c, const Tensor& image, const Tensor& weights, const Tensor& bias) {
  int64_t places = element_count(c.in), out = element_count(c.window.in), taps = element_count(c.window.kernel);
  int64_t group_rows = c.rows / c.group, group_channels = c.channels / c.group;
  std::vector<float> x = image.floats(), w = weights.floats(), offset = bias.floats();
  std::vector<double> sums(static_cast<size_t>(c.images * c.rows * out));
  for (size_t i = 0; i < sums.size(); i++) sums[i] = offset[i / out % c.rows];
  for (int64_t plane = 0; plane < c.images * c.channels; plane++) {
    int64_t channel = plane % c.channels, first = plane / c.channels * c.rows + channel / group_channels * group_rows;
    for_each_place(c.in, [&](const Shape& place, int64_t at) {
      for_each_place(c.window.kernel, [&](const Shape& tap, int64_t t) {
        int64_t element = element_at(c.window, place, tap);
        for (int64_t row = 0; element >= 0 && row < group_rows; row++) {
          sums[(first + row) * out + element] +=
              double{x[plane * places + at]} * w[(channel * group_rows + row) * taps + t];
        }
      });
    });
  }
  return floats(with_planes(c.images, c.rows, c.window.in), {sums.begin(), sums.end()});
}

class ConvTranspose : public testing::TestWithParam<NamedDevice> {
 protected:
  Tensor run(const TestNode& node, const std::vector<NodeInput>& inputs) {
    return run_node(*GetParam().device, node, inputs)[0];
  }
  void expect_transposed(const TransposeCase& c, std::map<std::string, Attribute, std::less<>> more = {}) {
    Tensor x = c.image(), w = c.weights(), bias = random_floats({c.rows}, 3);
    TestNode node{"ConvTranspose", c.window.attributes()};
    node.attributes["group"] = c.group;
    node.attributes.merge(more);
    Tensor wanted = reference(c, x, w, bias);
    expect_near(run(node, {{x}, {w}, {bias}}), wanted, 1e-5f, 1e-4f);
    expect_near(run(node, {{x}, constant(w), constant(bias)}), wanted, 1e-5f, 1e-4f);
  }
};

TEST_P(ConvTranspose, StridesPadsAndDilations) {
  expect_transposed({{{5, 5}, {3, 3}}, {3, 3}, 1, 1, 2});
  expect_transposed({{{8, 10}, {2, 2}, {2, 2}}, {4, 5}, 2, 3, 17});
  expect_transposed({{{5, 8}, {3, 3}, {2, 3}, {}, {1, 1}, {1, 0}}, {3, 3}, 1, 2, 3});
  expect_transposed({{{7, 7}, {2, 2}, {1, 1}, {3, 2}, {0, 1}, {1, 0}}, {5, 6}, 1, 2, 3});
  expect_transposed({{{9, 5}, {1, 1}, {2, 1}}, {5, 5}, 1, 2, 3});
}

TEST_P(ConvTranspose, Groups) {
  expect_transposed({{{5, 6}, {3, 3}}, {3, 4}, 2, 4, 6, 2});
  expect_transposed({{{8, 8}, {2, 2}, {2, 2}}, {4, 4}, 2, 5, 5, 5});
}

TEST_P(ConvTranspose, OneAndThreeDimensions) {
  expect_transposed({{{11}, {3}, {2}}, {5}, 2, 3, 4});
  expect_transposed({{{4, 5, 7}, {2, 3, 3}, {1, 1, 2}}, {3, 3, 3}, 1, 2, 3});
}

TEST_P(ConvTranspose, OutputPaddingAndShape) {
  TransposeCase c{{{10, 8}, {3, 3}, {3, 2}, {}}, {3, 3}, 1, 2, 3};
  expect_transposed(c, {{"output_padding", Shape{1, 1}}});
  TransposeCase cut{{{8, 6}, {3, 3}, {3, 2}, {}, {1, 1}, {0, 0}}, {3, 3}, 1, 2, 3};
  Tensor x = cut.image(), w = cut.weights(), none = floats({3}, {0, 0, 0});
  TestNode node{"ConvTranspose", {{"strides", Shape{3, 2}}, {"output_shape", Shape{8, 6}}}};
  expect_near(run(node, {{x}, {w}}), reference(cut, x, w, none), 1e-5f, 1e-4f);
  node.attributes["output_shape"] = Shape{1, 3, 8, 6};
  expect_near(run(node, {{x}, {w}}), reference(cut, x, w, none), 1e-5f, 1e-4f);
}

TEST_P(ConvTranspose, AutomaticPads) {
  TransposeCase c{{{6, 6}, {3, 3}, {2, 2}, {}, {0, 0}, {1, 1}}, {3, 3}, 1, 2, 3};
  Tensor x = c.image(), w = c.weights(), none = floats({3}, {0, 0, 0});
  TestNode node{"ConvTranspose", {{"strides", Shape{2, 2}}, {"auto_pad", std::string("SAME_UPPER")}}};
  expect_near(run(node, {{x}, {w}}), reference(c, x, w, none), 1e-5f, 1e-4f);
  c.window.begin = {1, 1};
  c.window.end = {0, 0};
  node.attributes["auto_pad"] = std::string("SAME_LOWER");
  expect_near(run(node, {{x}, {w}}), reference(c, x, w, none), 1e-5f, 1e-4f);
}

TEST_P(ConvTranspose, NothingToAdd) {
  Tensor bias = floats({2}, {1, 2});
  Tensor y = run({"ConvTranspose"}, {{floats({1, 0, 2, 1}, {})}, {floats({0, 2, 1, 1}, {})}, {bias}});
  expect_near(y, floats({1, 2, 2, 1}, {1, 1, 2, 2}));
}

TEST_P(ConvTranspose, Halves) {
  TransposeCase c{{{8, 10}, {2, 2}, {2, 2}}, {4, 5}, 2, 3, 7};
  auto half = [](const Tensor& t) { return floats(t.shape, t.floats(), ElementType::kFloat16); };
  Tensor x = half(c.image()), w = half(c.weights()), bias = half(random_floats({7}, 3));
  Tensor wanted = half(reference(c, x, w, bias));
  TestNode node{"ConvTranspose", c.window.attributes(), 11};
  expect_near(run(node, {{x}, {w}, {bias}}), wanted, 2e-3f, 2e-3f);
}

TEST_P(ConvTranspose, WeightsThatDoNotFit) {
  try {
    run({"ConvTranspose"}, {{random_floats({1, 4, 5, 5}, 1)}, {random_floats({3, 2, 3, 3}, 1)}});
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "node 'n' (ConvTranspose): 4 channels in 1 groups do not fit weights for 3");
  }
}

TEST_P(ConvTranspose, NumbersBeyondWhatKernelsCount) {
  const Tensor x = random_floats({1, 1, 2, 2}, 1), w = random_floats({1, 1, 2, 2}, 1);
  const std::pair<TestNode, std::string> cases[] = {
      {{"ConvTranspose", {{"output_padding", std::vector<int64_t>{0, INT64_MAX}}}, 11}, "output_padding holds"},
      {{"ConvTranspose",
        {{"dilations", std::vector<int64_t>{INT32_MAX, 1}}, {"output_shape", std::vector<int64_t>{2, 2}}},
        11},
       "its places reach"}};
  for (const auto& [node, part] : cases) {
    EXPECT_TRUE(ortolan::test::throws<Error>(part, [&] { run(node, {{x}, {w}}); }));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ConvTranspose, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
