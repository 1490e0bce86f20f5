// Col2Im.
#include <algorithm>
#include <complex>
#include <random>

#include "nd_index.h"
#include "op_test.h"

namespace ortolan::test {
namespace {

TEST(Col2Im, BoolAndComplex) {
  auto run = []<class T>(const std::vector<T>& columns) {
    OpTest test("Col2Im", 18);
    test.input(tensor_of<T>({1, 2, 2}, columns)).input(tensor_of<int64_t>({1}, {3}));
    return test.input(tensor_of<int64_t>({1}, {2})).run_tensor();
  };
  Tensor any(ElementType::kBool, {1, 2, 2}), expected(ElementType::kBool, {1, 1, 3});
  const bool columns[] = {false, true, true, false}, sums[] = {false, true, false};
  std::copy_n(columns, 4, any.mutable_data<bool>());
  std::copy_n(sums, 3, expected.mutable_data<bool>());
  OpTest test("Col2Im", 18);
  EXPECT_TRUE(same_value(test.input(any).input<int64_t>({1}, {3}).input<int64_t>({1}, {2}).run_tensor(), expected));
  using C = std::complex<double>;
  EXPECT_TRUE(equal<C>(run(std::vector<C>{{1, 1}, {2, 0}, {0, 3}, {4, 4}}), {1, 1, 3}, {{1, 1}, {2, 3}, {4, 4}}));
  EXPECT_TRUE(equal<int8_t>(run(std::vector<int8_t>{1, 100, 100, 4}), {1, 1, 3}, {1, -56, 4}));
  OpTest text("Col2Im", 18);
  text.input<std::string>({1, 1, 1}, {"a"}).input<int64_t>({1}, {1}).input<int64_t>({1}, {1});
  EXPECT_NE(text.error().find("the sum of strings"), std::string::npos);
}

/** Every block's element goes to its place in the image, in double. */
void expect_blocks(std::mt19937& random) {
  auto draw = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % uint32_t(high - low + 1));
  };
  const size_t rank = 1 + random() % 3;
  std::vector<int64_t> image, block, strides, dilations, begins, ends, counts;
  for (size_t d = 0; d < rank; ++d) {
    block.push_back(draw(1, 3)), strides.push_back(draw(1, 4)), dilations.push_back(draw(1, 3));
    begins.push_back(draw(0, 3)), ends.push_back(draw(0, 3));
    const int64_t reach = dilations[d] * (block[d] - 1) + 1;
    image.push_back(std::max(reach, draw(1, d + 1 == rank ? 45 : 9)));
    counts.push_back((image[d] + begins[d] + ends[d] - reach) / strides[d] + 1);
  }
  const Shape taps(block.begin(), block.end()), places(counts.begin(), counts.end());
  Shape whole{2, 3};
  whole.append(image.begin(), image.end());
  Tensor x = random_tensor<float>({2, 3 * taps.element_count(), places.element_count()}, uint32_t(random()));
  std::vector<double> expected(static_cast<size_t>(whole.element_count()));
  const Shape of_image(image.begin(), image.end());
  int64_t from = 0;
  for (int64_t channel = 0; channel < 6; ++channel) {
    for_each_index(taps, [&](const Index& tap) {
      for_each_index(places, [&](const Index& place) {
        Index at(rank);
        bool inside = true;
        for (size_t d = 0; d < rank; ++d) {
          at[d] = place[d] * strides[d] - begins[d] + tap[d] * dilations[d];
          inside = inside && at[d] >= 0 && at[d] < image[d];
        }
        const double value = double(x.data<float>()[from++]);
        if (inside) expected[size_t(channel * of_image.element_count() + flat(of_image, at))] += value;
      });
    });
  }
  std::vector<int64_t> pads = begins;
  pads.insert(pads.end(), ends.begin(), ends.end());
  OpTest test("Col2Im", 18);
  test.ints("strides", strides).ints("dilations", dilations).ints("pads", pads).input(x);
  test.input<int64_t>({int64_t(rank)}, image).input<int64_t>({int64_t(rank)}, block);
  EXPECT_TRUE(near(test.run_tensor(), whole, expected)) << join(whole);
}

TEST(Col2Im, AgreesWithOneByOne) {
  std::mt19937 random(test_seed());
  for (int i = 0; i < 60; ++i) expect_blocks(random);
}

TEST(Col2Im, AddsOverlappingBlocks) {
  OpTest test("Col2Im", 18);
  test.input<float>({1, 2, 3}, {1, 2, 3, 4, 5, 6}).input<int64_t>({1}, {4}).input<int64_t>({1}, {2});
  EXPECT_TRUE(near(test.run_tensor(), {1, 1, 4}, {1, 6, 8, 6}));
  auto error = [](std::vector<int64_t> image, std::vector<int64_t> block) {
    auto size = static_cast<int64_t>(image.size()), other = static_cast<int64_t>(block.size());
    return OpTest("Col2Im", 18)
        .input<float>({1, 2, 3}, {1, 2, 3, 4, 5, 6})
        .input<int64_t>({size}, image)
        .input<int64_t>({other}, block)
        .error();
  };
  EXPECT_NE(error({5}, {2}).find("must be 4"), std::string::npos) << error({5}, {2});
  EXPECT_NE(error({1}, {2}).find("a block of size 2 does not fit dimension 0 of the padded image"), std::string::npos);
  EXPECT_NE(error({4}, {0}).find("block_shape holds 0"), std::string::npos);
  EXPECT_NE(error({4, 4}, {2}).find("image_shape has 2 entries and block_shape 1"), std::string::npos);
  EXPECT_NE(error({-4}, {2}).find("image_shape holds -4"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
