// GridSample, AffineGrid.
#include <algorithm>
#include <cmath>

#include "nd_index.h"
#include "op_test.h"

namespace ortolan::test {
namespace {

/** The bilinear sample at pixel (x, y) with zeros outside. */
double bilinear(const Tensor& image, int64_t channel, double x, double y) {
  int64_t height = image.shape()[2], width = image.shape()[3];
  double sum = 0;
  for (int64_t r = 0; r < height; ++r) {
    for (int64_t c = 0; c < width; ++c) {
      double weight = std::max(0.0, 1 - std::fabs(x - static_cast<double>(c))) *
                      std::max(0.0, 1 - std::fabs(y - static_cast<double>(r)));
      sum += weight * image.data<float>()[(channel * height + r) * width + c];
    }
  }
  return sum;
}

TEST(GridSample, BilinearFollowsTheDefinition) {
  Tensor image = random_tensor<float>({1, 2, 4, 5}, test_seed()),
         grid = random_tensor<float>({1, 3, 6, 2}, test_seed() + 1, -1.3, 1.3);
  for (bool corners : {false, true}) {
    std::vector<double> expected;
    for_each_index({2, 3, 6}, [&](const Index& i) {
      const float* point = grid.data<float>() + (i[1] * 6 + i[2]) * 2;
      double x = corners ? (point[0] + 1) / 2 * 4 : ((point[0] + 1) * 5 - 1) / 2,
             y = corners ? (point[1] + 1) / 2 * 3 : ((point[1] + 1) * 4 - 1) / 2;
      expected.push_back(bilinear(image, i[0], x, y));
    });
    EXPECT_TRUE(near(OpTest("GridSample", 16).set("align_corners", corners).input(image).input(grid).run_tensor(),
                     {1, 2, 3, 6}, expected, 1e-4));
  }
}

/** The position within [0, size) that stands for `at` under a padding; -1 where nothing does. */
int64_t padded(int64_t at, int64_t size, const std::string& padding, bool corners) {
  if (at >= 0 && at < size) return at;
  if (padding == "zeros") return -1;
  if (padding == "border") return at < 0 ? 0 : size - 1;
  int64_t period = corners ? 2 * (size - 1) : 2 * size;
  at = ((at % period) + period) % period;
  return at < size ? at : corners ? period - at : period - 1 - at;
}

TEST(GridSample, PaddingsOfImages) {
  const Shape shape{2, 3, 5, 4};
  auto run = [&]<class T>(TypeTag<T>, double tolerance, const std::string& padding, bool corners) {
    Tensor image = random_tensor<T>(shape, test_seed(), -90, 90),
           grid = random_tensor<float>({2, 7, 31, 2}, test_seed() + 1, -2.4f, 2.4f);
    for (int i = 0; i < 6; ++i) grid.mutable_data<float>()[i] = i % 2 ? 1.0f : -1.0f;
    std::vector<double> pixels = doubles(image), expected;
    for_each_index({2, 3, 7, 31}, [&](const Index& i) {
      const float* point = grid.data<float>() + ((i[0] * 7 + i[2]) * 31 + i[3]) * 2;
      double place[2], sum = 0;
      for (int d = 0; d < 2; ++d) {
        auto size = static_cast<double>(shape[2 + d]), at = static_cast<double>(point[1 - d]);
        place[d] = corners ? (at + 1) / 2 * (size - 1) : ((at + 1) * size - 1) / 2;
      }
      for (int corner = 0; corner < 4; ++corner) {
        double weight = 1;
        int64_t offset = i[0] * 3 + i[1];
        bool inside = true;
        for (int d = 0; d < 2; ++d) {
          auto low = static_cast<int64_t>(std::floor(place[d])), step = int64_t{(corner >> d) & 1};
          weight *= 1 - std::fabs(place[d] - static_cast<double>(low + step));
          int64_t at = padded(low + step, shape[2 + d], padding, corners);
          inside = inside && at >= 0;
          offset = offset * shape[2 + d] + at;
        }
        if (inside) sum += weight * pixels[static_cast<size_t>(offset)];
      }
      expected.push_back(std::is_integral_v<T> ? std::trunc(sum) : sum);
    });
    OpTest test("GridSample", 16);
    test.set("padding_mode", padding.c_str()).set("align_corners", corners).input(image).input(grid);
    EXPECT_TRUE(near(test.run_tensor(), {2, 3, 7, 31}, expected, tolerance)) << padding << corners;
  };
  for (const char* padding : {"zeros", "border", "reflection"}) {
    for (bool corners : {false, true}) {
      run(TypeTag<float>{}, 1e-4, padding, corners);
      run(TypeTag<double>{}, 1e-4, padding, corners);
      run(TypeTag<Half>{}, 6e-2, padding, corners);
      run(TypeTag<int32_t>{}, 1, padding, corners);
    }
  }
}

TEST(GridSample, WhatWeighsNothingIsNotLookedAt) {
  const float far = INFINITY;
  OpTest test("GridSample", 16);
  test.set("align_corners", true).input<float>({1, 1, 3, 3}, {1, far, far, far, far, far, far, far, 5});
  test.input<float>({1, 1, 3, 2}, {-1, -1, 1, 1, 9, 9});
  EXPECT_TRUE(near(test.run_tensor(), {1, 1, 1, 3}, {1, 5, 0}));
}

TEST(GridSample, PaddingsAndOddCoordinates) {
  auto sample = [](const char* mode, const char* padding, std::vector<float> point) {
    return OpTest("GridSample", 20)
        .set("mode", mode)
        .set("padding_mode", padding)
        .input<float>({1, 1, 1, 4}, {1, 2, 3, 4})
        .input<float>({1, 1, 1, 2}, point)
        .run_tensor();
  };
  for (const char* mode : {"linear", "nearest", "cubic"}) {
    EXPECT_TRUE(near(sample(mode, "border", {5, 0}), {1, 1, 1, 1}, {4}));
    EXPECT_TRUE(near(sample(mode, "zeros", {5, 0}), {1, 1, 1, 1}, {0}));
    for (const char* padding : {"zeros", "border", "reflection"}) {
      for (float odd : {NAN, INFINITY, -INFINITY, 1e30f})
        EXPECT_EQ(sample(mode, padding, {odd, odd}).element_count(), 1);
    }
  }
  EXPECT_TRUE(near(sample("nearest", "reflection", {1.25f, 0}), {1, 1, 1, 1}, {4}));
  EXPECT_NE(OpTest("GridSample", 16)
                .input<float>({1, 1, 1, 1}, {1})
                .input<float>({1, 1, 1, 3}, {0, 0, 0})
                .error()
                .find("the grid's last dimension is 3"),
            std::string::npos);
  EXPECT_NE(OpTest("GridSample", 16)
                .input<float>({1, 1, 0, 1}, {})
                .input<float>({1, 1, 1, 2}, {0, 0})
                .error()
                .find("the input of shape [1,1,0,1] is empty, so nothing can be sampled"),
            std::string::npos);
}

TEST(GridSample, ReflectsPlacesFarOutside) {
  for (const char* mode : {"linear", "nearest", "cubic"}) {
    OpTest test("GridSample", 20);
    test.set("mode", mode).set("padding_mode", "reflection").set("align_corners", 1);
    test.input<float>({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}).input<float>({1, 1, 1, 2}, {1e10f, -1e10f});
    EXPECT_TRUE(near(test.run_tensor(), {1, 1, 1, 1}, {5})) << mode;
  }
}

TEST(AffineGrid, IdentityIsTheGridItself) {
  Tensor theta = tensor_of<float>({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  Tensor grid =
      OpTest("AffineGrid", 20).set("align_corners", 1).input(theta).input<int64_t>({4}, {1, 1, 2, 2}).run_tensor();
  EXPECT_TRUE(near(grid, {1, 2, 2, 2}, {-1, -1, 1, -1, -1, 1, 1, 1}));
  Tensor centred = OpTest("AffineGrid", 20).input(theta).input<int64_t>({4}, {1, 1, 1, 2}).run_tensor();
  EXPECT_TRUE(near(centred, {1, 1, 2, 2}, {-0.5, 0, 0.5, 0}));
  EXPECT_NE(
      OpTest("AffineGrid", 20).input(theta).input<int64_t>({4}, {2, 1, 2, 2}).error().find("theta has shape [1,2,3]"),
      std::string::npos);
  EXPECT_NE(OpTest("AffineGrid", 20).input(theta).input<int64_t>({3}, {1, 1, 2}).error().find("size has 3 entries"),
            std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
