// RoiAlign, MaxRoiPool and NonMaxSuppression.
#include <algorithm>
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

Tensor ramp(Shape shape) {
  Tensor tensor(ElementType::kFloat, shape);
  for (int64_t i = 0; i < tensor.element_count(); ++i) tensor.mutable_data<float>()[i] = static_cast<float>(i);
  return tensor;
}

OpTest roi_align(int opset, std::vector<float> roi, int64_t batch = 0) {
  return OpTest("RoiAlign", opset)
      .input(ramp({1, 1, 6, 6}))
      .input<float>({1, 4}, roi)
      .input<int64_t>({1}, {batch})
      .set("output_height", 2)
      .set("output_width", 2)
      .set("sampling_ratio", 2);
}

/** On a ramp x + 6 y, the mean of symmetric samples is the value at the bin's center. */
TEST(RoiAlign, MeanOfARampIsItsCenter) {
  auto expected = [](double shift) {
    std::vector<double> values;
    for (double y : {1.5, 2.5}) {
      for (double x : {1.75, 3.25}) values.push_back(x - shift + 6 * (y - shift));
    }
    return values;
  };
  EXPECT_TRUE(near(roi_align(10, {1, 1, 4, 3}).run_tensor(), {1, 1, 2, 2}, expected(0)));
  EXPECT_TRUE(near(roi_align(16, {1, 1, 4, 3}).run_tensor(), {1, 1, 2, 2}, expected(0.5)));
}

TEST(RoiAlign, RegionsOfPixelCornersAreAPixelWideAtLeast) {
  Tensor y = roi_align(10, {1, 1, 1.25f, 1}).run_tensor();
  EXPECT_TRUE(near(y, {1, 1, 2, 2}, {1.25 + 6 * 1.25, 1.75 + 6 * 1.25, 1.25 + 6 * 1.75, 1.75 + 6 * 1.75}));
}

/** Bilinear between pixels, as the border up to a pixel beyond it, and 0 farther out. */
double bilinear(const std::vector<double>& plane, int64_t height, int64_t width, double y, double x) {
  if (y < -1 || y > static_cast<double>(height) || x < -1 || x > static_cast<double>(width)) return 0;
  double sum = 0, at[] = {std::max(y, 0.0), std::max(x, 0.0)};
  int64_t sizes[] = {height, width};
  for (int corner = 0; corner < 4; ++corner) {
    double weight = 1;
    int64_t offset = 0;
    for (int d = 0; d < 2; ++d) {
      double place = std::min(at[d], static_cast<double>(sizes[d] - 1));
      auto low = static_cast<int64_t>(place), index = std::min(low + ((corner >> d) & 1), sizes[d] - 1);
      double part = place - static_cast<double>(low);
      weight *= ((corner >> d) & 1) != 0 ? part : 1 - part;
      offset = offset * sizes[d] + index;
    }
    sum += weight * plane[static_cast<size_t>(offset)];
  }
  return sum;
}

TEST(RoiAlign, RegionsOfManySizes) {
  for (Shape shape : {Shape{1, 3, 13, 9}, Shape{1, 2, 1, 8}}) {
    for (int64_t ratio : {1, 2, 3, 9}) {
      const int64_t channels = shape[1], height = shape[2], width = shape[3], plane = height * width;
      Tensor x = random_tensor<double>(shape, test_seed()), rois = random_tensor<double>({9, 4}, 5, -3, 15);
      std::vector<double> pixels = doubles(x), corners = doubles(rois), expected;
      for (int64_t i = 0; i < 9 * channels * 5 * 7; ++i) {
        const double* roi = corners.data() + i / (channels * 35) * 4;
        auto first = pixels.begin() + i / 35 % channels * plane;
        const std::vector<double> image(first, first + plane);
        double sum = 0, high = (roi[3] - roi[1]) / 5, wide = (roi[2] - roi[0]) / 7;
        for (int64_t s = 0; s < ratio * ratio; ++s) {
          auto place = [&](int64_t bin, int64_t sample) {
            return static_cast<double>(bin) + (static_cast<double>(sample) + 0.5) / static_cast<double>(ratio);
          };
          sum += bilinear(image, height, width, roi[1] - 0.5 + high * place(i % 35 / 7, s / ratio),
                          roi[0] - 0.5 + wide * place(i % 7, s % ratio));
        }
        expected.push_back(sum / static_cast<double>(ratio * ratio));
      }
      auto run = [&](const Tensor& images, const Tensor& regions) {
        OpTest test("RoiAlign", 16);
        test.input(images).input(regions).input<int64_t>({9}, std::vector<int64_t>(9, 0)).set("sampling_ratio", ratio);
        return test.set("output_height", 5).set("output_width", 7).run_tensor();
      };
      EXPECT_TRUE(near(run(x, rois), {9, channels, 5, 7}, expected, 1e-12)) << ratio;
      auto floats = [](const Tensor& from) {
        Tensor to(ElementType::kFloat, from.shape());
        std::copy_n(from.data<double>(), from.element_count(), to.mutable_data<float>());
        return to;
      };
      EXPECT_TRUE(near(run(floats(x), floats(rois)), {9, channels, 5, 7}, expected, 2e-5)) << ratio;
    }
  }
}

TEST(RoiAlign, HostileInputs) {
  EXPECT_NE(roi_align(16, {1, 1, 4, 3}, 1).error().find("batch_indices holds 1"), std::string::npos);
  EXPECT_NE(roi_align(16, {1, 1, 4, 3}, -1).error().find("batch_indices holds -1"), std::string::npos);
  EXPECT_TRUE(near(roi_align(16, {1e30f, 1e30f, 1e30f, 1e30f}).run_tensor(), {1, 1, 2, 2}, {0, 0, 0, 0}));
  EXPECT_TRUE(near(roi_align(16, {NAN, NAN, NAN, NAN}).run_tensor(), {1, 1, 2, 2}, {0, 0, 0, 0}));
  EXPECT_NE(roi_align(16, {0, 0, 1e9f, 1e9f}).set("sampling_ratio", 0).error().find("sampling_ratio"),
            std::string::npos);
}

TEST(MaxRoiPool, LargestOfEachCell) {
  auto run = [](std::vector<float> roi) {
    return OpTest("MaxRoiPool", 1).input(ramp({2, 1, 4, 4})).input<float>({1, 5}, roi).ints("pooled_shape", {2, 2});
  };
  EXPECT_TRUE(near(run({1, 0, 0, 3, 3}).run_tensor(), {1, 1, 2, 2}, {21, 23, 29, 31}));
  EXPECT_TRUE(near(run({0, 9, 9, 12, 12}).run_tensor(), {1, 1, 2, 2}, {0, 0, 0, 0}));
  EXPECT_NE(run({2, 0, 0, 3, 3}).error().find("image 2"), std::string::npos);
  EXPECT_NE(run({-1, 0, 0, 3, 3}).error().find("image -1"), std::string::npos);
}

TEST(MaxRoiPool, RegionsOfManySizes) {
  const Shape shape{2, 3, 37, 41};
  Tensor x = random_tensor<float>(shape, test_seed()), corners = random_tensor<float>({30, 4}, test_seed() + 1, -9, 50);
  Tensor rois(ElementType::kFloat, Shape{30, 5});
  std::vector<double> expected;
  for (int64_t i = 0; i < 30; ++i) {
    float* roi = rois.mutable_data<float>() + 5 * i;
    roi[0] = static_cast<float>(i % 2);
    for (int k = 0; k < 4; ++k) roi[k + 1] = std::round(corners.data<float>()[4 * i + k]);
    for (int64_t cell = 0; cell < 3 * 4 * 8; ++cell) {
      int64_t at[] = {cell / 8 % 4, cell % 8}, cells[] = {4, 8}, begin[2], end[2];
      for (int d = 0; d < 2; ++d) {
        auto first = static_cast<int64_t>(roi[2 - d]), last = static_cast<int64_t>(roi[4 - d]);
        int64_t size = std::max<int64_t>(last - first + 1, 1);
        begin[d] = std::clamp<int64_t>(at[d] * size / cells[d] + first, 0, shape[2 + d]);
        end[d] = std::clamp<int64_t>(((at[d] + 1) * size + cells[d] - 1) / cells[d] + first, 0, shape[2 + d]);
      }
      const float* plane = x.data<float>() + ((i % 2) * 3 + cell / 32) * 37 * 41;
      double largest = begin[0] < end[0] && begin[1] < end[1] ? -INFINITY : 0;
      for (int64_t r = begin[0]; r < end[0]; ++r) {
        for (int64_t c = begin[1]; c < end[1]; ++c) largest = std::max<double>(largest, plane[r * 41 + c]);
      }
      expected.push_back(largest);
    }
  }
  OpTest test("MaxRoiPool", 1);
  test.input(x).input(rois).ints("pooled_shape", {4, 8});
  EXPECT_TRUE(near(test.run_tensor(), {30, 3, 4, 8}, expected, 0));
}

OpTest suppression(std::vector<float> boxes, std::vector<float> scores, int64_t count, float overlap, float score) {
  int64_t n = static_cast<int64_t>(scores.size());
  return OpTest("NonMaxSuppression", 11)
      .input<float>({1, n, 4}, boxes)
      .input<float>({1, 1, n}, scores)
      .input<int64_t>({}, {count})
      .input<float>({}, {overlap})
      .input<float>({}, {score});
}

TEST(NonMaxSuppression, KeepsTheBest) {
  std::vector<float> boxes = {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, 10, 1, 11, 1, 11, 0, 10};
  std::vector<float> scores = {0.8f, 0.9f, 0.5f, 0.6f};
  Tensor y = suppression(boxes, scores, 9, 0.5f, 0.0f).run_tensor();
  EXPECT_TRUE(equal<int64_t>(y, {2, 3}, {0, 0, 1, 0, 0, 3}));
  y = suppression(boxes, scores, 1, 0.5f, 0.0f).run_tensor();
  EXPECT_TRUE(equal<int64_t>(y, {1, 3}, {0, 0, 1}));
  y = suppression(boxes, scores, 9, 1.0f, 0.55f).run_tensor();
  EXPECT_TRUE(equal<int64_t>(y, {3, 3}, {0, 0, 1, 0, 0, 0, 0, 0, 3}));
  y = OpTest("NonMaxSuppression", 10).input<float>({1, 4, 4}, boxes).input<float>({1, 1, 4}, scores).run_tensor();
  EXPECT_TRUE(equal<int64_t>(y, {0, 3}, {}));
}

/** The boxes that stay, found one after the other. */
std::vector<int64_t> greedy(const std::vector<float>& boxes, const std::vector<float>& scores, int64_t count,
                            float overlap, float score) {
  std::vector<int64_t> order, kept;
  for (int64_t i = 0; i < static_cast<int64_t>(scores.size()); ++i) {
    if (scores[i] > score) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  auto hides = [&](const float* a, const float* b) {
    float height = std::min(a[2], b[2]) - std::max(a[0], b[0]), width = std::min(a[3], b[3]) - std::max(a[1], b[1]);
    if (!(height > 0 && width > 0)) return false;
    float common = height * width, areas = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]);
    return common / (areas - common) > overlap;
  };
  for (int64_t i : order) {
    if (static_cast<int64_t>(kept.size()) == count) break;
    bool hidden = std::any_of(kept.begin(), kept.end(), [&](int64_t k) { return hides(&boxes[4 * i], &boxes[4 * k]); });
    if (!hidden) kept.push_back(i);
  }
  return kept;
}

TEST(NonMaxSuppression, ManyBoxesOfFewScores) {
  for (int64_t n : {1, 5, 33, 700}) {
    Tensor places = random_tensor<float>({n, 4}, test_seed(), 0, 60), levels = random_tensor<float>({n}, 7, -9, 30);
    std::vector<float> boxes, scores;
    for (int64_t i = 0; i < n; ++i) {
      const float* p = places.data<float>() + 4 * i;
      for (float side : {p[0], p[1], p[0] + p[2] / 3, p[1] + p[3] / 3}) boxes.push_back(side);
      scores.push_back(std::trunc(levels.data<float>()[i]) * (i % 7 == 0 ? -0.0f : 0.1f));
    }
    for (int64_t count : {3, 40, 1000}) {
      for (float score : {-2.0f, 1.0f}) {
        std::vector<int64_t> expected;
        for (int64_t i : greedy(boxes, scores, count, 0.2f, score)) {
          expected.insert(expected.end(), {int64_t{0}, int64_t{0}, i});
        }
        Tensor y = suppression(boxes, scores, count, 0.2f, score).run_tensor();
        EXPECT_TRUE(equal<int64_t>(y, {static_cast<int64_t>(expected.size()) / 3, 3}, expected)) << n << ' ' << count;
      }
    }
  }
}

TEST(NonMaxSuppression, HostileInputs) {
  std::vector<float> odd = {NAN, 0, 1, 1, -INFINITY, 0, INFINITY, 1, 0, 0, 0, 0};
  Tensor y = suppression(odd, {NAN, 1, NAN}, INT64_MIN, 0.5f, 0.0f).run_tensor();
  EXPECT_EQ(y.shape()[0], 0);
  EXPECT_EQ(suppression(odd, {NAN, 1, 2}, INT64_MAX, 0.5f, -1.0f).run_tensor().shape()[0], 2);
  EXPECT_NE(suppression(odd, {1, 1, 1}, 1, 1.5f, 0).error().find("iou_threshold"), std::string::npos);
  EXPECT_NE(OpTest("NonMaxSuppression")
                .input<float>({1, 1, 4}, {0, 0, 1, 1})
                .input<float>({1, 1, 2}, {1, 1})
                .error()
                .find("boxes have shape [1,1,4] and scores [1,1,2]"),
            std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
