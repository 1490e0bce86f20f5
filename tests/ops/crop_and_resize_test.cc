// CropAndResize against its definition in double.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

struct Box {
  double y1, x1, y2, x2;
  int32_t image;
};

double place(double begin, double end, int64_t size, int64_t i, int64_t crop) {
  double last = static_cast<double>(size - 1);
  if (crop == 1) return (begin + end) / 2 * last;
  return (begin + (end - begin) * static_cast<double>(i) / static_cast<double>(crop - 1)) * last;
}

std::vector<double> reference(const Tensor& x, const std::vector<Box>& boxes, int64_t height, int64_t width,
                              bool nearest, double fill) {
  int64_t channels = x.shape()[1], h = x.shape()[2], w = x.shape()[3];
  auto v = doubles(x);
  std::vector<double> result;
  for (const Box& box : boxes) {
    for (int64_t c = 0; c < channels; ++c) {
      auto at = [&](double i, double j) {
        return v[((box.image * channels + c) * h + static_cast<int64_t>(i)) * w + static_cast<int64_t>(j)];
      };
      for (int64_t i = 0; i < height; ++i) {
        for (int64_t j = 0; j < width; ++j) {
          double y = place(box.y1, box.y2, h, i, height), z = place(box.x1, box.x2, w, j, width);
          bool inside = y >= 0 && y <= double(h - 1) && z >= 0 && z <= double(w - 1);
          double t = std::floor(y), b = std::ceil(y), l = std::floor(z), r = std::ceil(z);
          double top = inside ? at(t, l) * (1 - z + l) + at(t, r) * (z - l) : 0;
          double bottom = inside ? at(b, l) * (1 - z + l) + at(b, r) * (z - l) : 0;
          result.push_back(!inside   ? fill
                           : nearest ? at(std::round(y), std::round(z))
                                     : top * (1 - y + t) + bottom * (y - t));
        }
      }
    }
  }
  return result;
}

template <class T>
OpTest node(const Tensor& x, const std::vector<Box>& boxes, int32_t height, int32_t width) {
  std::vector<T> corners;
  std::vector<int32_t> images;
  for (const Box& box : boxes) {
    for (double corner : {box.y1, box.x1, box.y2, box.x2}) corners.push_back(T(static_cast<float>(corner)));
    images.push_back(box.image);
  }
  auto count = static_cast<int64_t>(boxes.size());
  return OpTest("CropAndResize", 1, "com.microsoft")
      .input(x)
      .input(tensor_of<T>({count, 4}, corners))
      .input(tensor_of<int32_t>({count}, images))
      .input(tensor_of<int32_t>({2}, {height, width}));
}

// Corners are sums of powers of 2, so that all types hold them.
const std::vector<Box> kBoxes = {{0, 0, 1, 1, 0}, {-0.25, 0.125, 0.75, 1.25, 1}, {1, 0.75, 0.25, 0.25, 1}};

TEST(CropAndResize, ModesAndTypes) {
  for (auto [height, width] : {std::pair{4, 3}, std::pair{1, 5}, std::pair{2, 1}}) {
    for (bool nearest : {false, true}) {
      Tensor x = random_tensor<float>({2, 3, 5, 6}, test_seed());
      auto expected = reference(x, kBoxes, height, width, nearest, 2.5);
      Shape shape{3, 3, height, width};
      const char* mode = nearest ? "nearest" : "bilinear";
      EXPECT_TRUE(
          near(node<float>(x, kBoxes, height, width).set("mode", mode).set("extrapolation_value", 2.5f).run_tensor(),
               shape, expected));
    }
  }
  Tensor x = random_tensor<double>({2, 1, 4, 4}, test_seed());
  EXPECT_TRUE(
      near(node<double>(x, kBoxes, 3, 3).run_tensor(), {3, 1, 3, 3}, reference(x, kBoxes, 3, 3, false, 0), 1e-12));
  Tensor small = random_tensor<Half>({2, 1, 4, 4}, test_seed());
  EXPECT_TRUE(
      near(node<Half>(small, kBoxes, 3, 3).run_tensor(), {3, 1, 3, 3}, reference(small, kBoxes, 3, 3, false, 0), 2e-3));
}

// Floats count the last position of such a side as its length: taking it there would be the other channel's first
// pixel.
TEST(CropAndResize, LastPixelOfSidesBeyondFloats) {
  constexpr int64_t kSide = (1 << 24) + 4;
  Tensor x(ElementType::kFloat, Shape{1, 2, 1, kSide});
  std::fill_n(x.mutable_data<float>(), kSide, 1.0f);
  std::fill_n(x.mutable_data<float>() + kSide, kSide, 7.0f);
  for (const char* mode : {"nearest", "bilinear"}) {
    for (float begin : {0.0f, 1.0f}) {
      std::vector<std::optional<Value>> inputs = {x, tensor_of<float>({1, 4}, {0, begin, 0, 1}),
                                                  tensor_of<int32_t>({1}, {0}),
                                                  tensor_of<int32_t>({2}, {1, begin == 0 ? 2 : 1})};
      NodeCase crop{"CropAndResize", "com.microsoft", 1, inputs, {{"mode", std::string(mode)}}};
      Tensor y = run_node(crop, Way::kKnownShapes, 1, {})[0].tensor();
      EXPECT_EQ(doubles(y), begin == 0 ? std::vector<double>({1, 1, 7, 7}) : std::vector<double>({1, 7})) << mode;
    }
  }
}

TEST(CropAndResize, EmptyAndHostile) {
  Tensor x = random_tensor<float>({2, 1, 4, 4}, 1);
  EXPECT_EQ(node<float>(x, {}, 3, 3).run_tensor().shape(), (Shape{0, 1, 3, 3}));
  EXPECT_TRUE(near(node<float>(random_tensor<float>({1, 1, 0, 4}, 1), {{0, 0, 1, 1, 0}}, 1, 2).run_tensor(),
                   {1, 1, 1, 2}, {0, 0}));
  double nan = std::nan("");
  EXPECT_TRUE(near(node<float>(x, {{nan, 0, 1, 1, 0}}, 1, 2).run_tensor(), {1, 1, 1, 2}, {0, 0}));
  EXPECT_NE(node<float>(x, {{0, 0, 1, 1, 2}}, 3, 3).error().find("batch index 2"), std::string::npos);
  EXPECT_NE(node<float>(x, {{0, 0, 1, 1, -1}}, 3, 3).error().find("batch index -1"), std::string::npos);
  EXPECT_NE(node<float>(x, {{0, 0, 1, 1, 0}}, 0, 3).error().find("crop_size holds 0"), std::string::npos);
  EXPECT_NE(node<float>(x, {{0, 0, 1, 1, 0}}, 3, INT32_MIN).error().find("crop_size holds"), std::string::npos);
  EXPECT_NE(node<float>(x, {{0, 0, 1, 1, 0}}, 3, 3).set("mode", "cubic").error().find("'cubic'"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
