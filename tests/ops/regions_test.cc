// RoiAlign, MaxRoiPool and NonMaxSuppression.
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

TEST(NonMaxSuppression, HostileInputs) {
  std::vector<float> odd = {NAN, 0, 1, 1, -INFINITY, 0, INFINITY, 1, 0, 0, 0, 0};
  Tensor y = suppression(odd, {NAN, 1, NAN}, INT64_MIN, 0.5f, 0.0f).run_tensor();
  EXPECT_EQ(y.shape()[0], 0);
  EXPECT_EQ(suppression(odd, {NAN, 1, 2}, INT64_MAX, 0.5f, -1.0f).run_tensor().shape()[0], 2);
  EXPECT_NE(suppression(odd, {1, 1, 1}, 1, 1.5f, 0).error().find("iou_threshold"), std::string::npos);
  EXPECT_NE(OpTest("NonMaxSuppression").input<float>({1, 1, 4}, {0, 0, 1, 1}).input<float>({1, 1, 2}, {1, 1}).error(),
            "");
}

}  // namespace
}  // namespace ortolan::test
