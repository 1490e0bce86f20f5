// Resize and Upsample against a sum over all axes at once, and GridSample against the same in double.
#include <algorithm>
#include <cmath>
#include <span>

#include "gpu/numbered.h"

namespace ortolan::gpu::test {
namespace {

using Taps = std::vector<std::pair<int64_t, double>>;  // places and weights

double keys(double x, double a) {
  x = std::fabs(x);
  if (x < 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

double source_of(const std::string& mode, int64_t i, int64_t from, int64_t to) {
  double scale = static_cast<double>(to) / static_cast<double>(from), x = static_cast<double>(i);
  if (mode == "asymmetric") return x / scale;
  if (mode == "align_corners") return to == 1 ? 0 : x * static_cast<double>(from - 1) / static_cast<double>(to - 1);
  if (mode == "pytorch_half_pixel" && to == 1) return 0;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / scale;
  return (x + 0.5) / scale - 0.5;
}

/** All input places with a weight that is not 0; the kernel is stretched where `antialias` and it shrinks. */
Taps taps_of(const std::string& mode, double source, int64_t from, double stretch, bool excludes) {
  Taps taps;
  double sum = 0;
  for (int64_t at = -20; at < from + 20; at++) {
    double distance = (static_cast<double>(at) - source) * stretch;
    double weight = mode == "linear" ? std::max(0.0, 1 - std::fabs(distance)) : keys(distance, -0.75);
    bool outside = at < 0 || at >= from;
    if (weight == 0 || (outside && excludes)) continue;
    taps.push_back({std::clamp<int64_t>(at, 0, from - 1), weight});
    sum += weight;
  }
  for (auto& [place, weight] : taps) weight /= sum;
  return taps;
}

Tensor in_double(const Tensor& from) {
  const std::vector<float> values = from.floats();
  const std::vector<double> wide(values.begin(), values.end());
  auto bytes = std::as_bytes(std::span(wide));
  return {ElementType::kDouble, from.shape, {bytes.begin(), bytes.end()}};
}

class Resize : public testing::TestWithParam<NamedDevice> {
 protected:
  Tensor run(const TestNode& node, const std::vector<NodeInput>& inputs) {
    return run_node(*GetParam().device, node, inputs)[0];
  }
  /** The last two axes of [1, 2, h, w]. */
  Tensor mixed(const Tensor& x, int64_t height, int64_t width,
               const std::function<Taps(int64_t, int64_t, int64_t)>& taps) {
    std::vector<float> in = x.floats(), out;
    for (int64_t c = 0; c < 2; c++) {
      for (int64_t i = 0; i < height; i++) {
        for (int64_t j = 0; j < width; j++) {
          double sum = 0;
          for (auto [row, down] : taps(i, x.shape[2], height)) {
            for (auto [column, across] : taps(j, x.shape[3], width)) {
              sum += down * across * in[(c * x.shape[2] + row) * x.shape[3] + column];
            }
          }
          out.push_back(static_cast<float>(sum));
        }
      }
    }
    return floats({1, 2, height, width}, out);
  }
};

TEST_P(Resize, InterpolationInAllCoordinates) {
  Tensor x = random_floats({1, 2, 5, 7}, 1);
  for (std::string mode : {"linear", "cubic"}) {
    for (std::string coordinates : {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"}) {
      for (auto [height, width] : {std::pair<int64_t, int64_t>{10, 14}, {3, 70}, {5, 1}}) {
        TestNode node{"Resize", {{"mode", mode}, {"coordinate_transformation_mode", coordinates}}};
        Tensor wanted = mixed(x, height, width, [&](int64_t i, int64_t from, int64_t to) {
          return taps_of(mode, source_of(coordinates, i, from, to), from, 1, false);
        });
        expect_near(run(node, {{x}, missing(), missing(), {integers({4}, {1, 2, height, width})}}), wanted, 1e-4f,
                    1e-5f);
      }
    }
  }
}

TEST_P(Resize, AntialiasAndExcludedOutside) {
  Tensor x = random_floats({1, 2, 9, 12}, 2);
  for (std::string mode : {"linear", "cubic"}) {
    for (bool excludes : {false, true}) {
      TestNode node{"Resize", {{"mode", mode}, {"antialias", int64_t{1}}, {"exclude_outside", int64_t{excludes}}}};
      Tensor wanted = mixed(x, 4, 17, [&](int64_t i, int64_t from, int64_t to) {
        double stretch = std::min(1.0, static_cast<double>(to) / static_cast<double>(from));
        return taps_of(mode, source_of("half_pixel", i, from, to), from, stretch, excludes);
      });
      expect_near(run(node, {{x}, missing(), missing(), {integers({4}, {1, 2, 4, 17})}}), wanted, 1e-4f, 1e-5f);
    }
  }
}

TEST_P(Resize, OtherTypes) {
  std::vector<int64_t> bytes;
  for (int64_t i = 0; i < 24; i++) bytes.push_back(i * 37 % 256);
  auto run_linear = [&](const Tensor& x) {
    return run({"Resize", {{"mode", "linear"}}}, {{x}, missing(), {floats({4}, {1, 1, 2, 1.5f})}});
  };
  for (ElementType type : {ElementType::kUint8, ElementType::kInt8, ElementType::kFloat16}) {
    Tensor x = type == ElementType::kFloat16 ? floats({1, 2, 3, 4}, random_floats({24}, 3).floats(), type)
                                             : integers({1, 2, 3, 4}, bytes, type);
    Tensor wanted = mixed(x, 6, 6, [&](int64_t i, int64_t from, int64_t to) {
      return taps_of("linear", source_of("half_pixel", i, from, to), from, 1, false);
    });
    Tensor actual = run_linear(x);
    EXPECT_EQ(actual.type, type);
    expect_near(floats(actual.shape, actual.floats()), wanted, 1e-3f, type == ElementType::kFloat16 ? 1e-3f : 0.51f);
  }
}

TEST_P(Resize, NearestRoundings) {
  for (ElementType type : kTypesBySize) {
    Tensor x = numbered({1, 1, 4, 6}, type);
    for (std::string rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
      auto nearest = [&](int64_t i, int64_t from, int64_t to) {
        double at = source_of("asymmetric", i, from, to), whole = std::floor(at), rest = at - whole;
        bool up = rounding == "ceil" ? rest > 0 : rounding == "round_prefer_floor" ? rest > 0.5 : rest >= 0.5;
        return std::min(static_cast<int64_t>(whole) + (up && rounding != "floor"), from - 1);
      };
      TestNode node{"Resize", {{"nearest_mode", rounding}, {"coordinate_transformation_mode", "asymmetric"}}};
      expect_same(run(node, {{x}, missing(), {floats({4}, {1, 1, 2, 0.5f})}}),
                  moved(x, {1, 1, 8, 3}, [&](const Coordinates& c) {
                    return Coordinates{0, 0, nearest(c[2], 4, 8), nearest(c[3], 6, 3)};
                  }));
    }
  }
}

TEST_P(Resize, CropsWithAValueOutside) {
  Tensor x = floats({1, 1, 1, 3}, {1, 2, 3});
  for (std::string mode : {"nearest", "linear"}) {
    TestNode node{
        "Resize",
        {{"mode", mode}, {"coordinate_transformation_mode", "tf_crop_and_resize"}, {"extrapolation_value", 9.0f}}};
    Tensor roi = floats({8}, {0, 0, 0, -0.5f, 1, 1, 1, 1});
    for (const Tensor& places : {roi, in_double(roi)}) {
      expect_near(run(node, {{x}, {places}, missing(), {integers({4}, {1, 1, 1, 4})}}),
                  floats({1, 1, 1, 4}, {9, 1, 2, 3}));
    }
  }
}

TEST_P(Resize, ACropOfNothingNeedsNoRegion) {
  TestNode node{"Resize", {{"coordinate_transformation_mode", "tf_crop_and_resize"}}};
  Tensor x = floats({3}, {1, 2, 3});
  EXPECT_EQ(run(node, {{x}, {floats({0}, {})}, missing(), {integers({1}, {0})}}).shape, (Shape{0}));
}

TEST_P(Resize, ATableTooLongForTheHostIsRefused) {
  const std::string error = error_of([&] {
    run({"Resize"}, {{floats({3}, {1, 2, 3})}, missing(), missing(), {integers({1}, {int64_t{1} << 30})}});
  });
  EXPECT_NE(error.find("1073741824 places of 1 taps along one axis are more than the 67108864"), std::string::npos)
      << error;
}

TEST_P(Resize, AxesAndRatios) {
  Tensor x = numbered({2, 3, 4}, ElementType::kFloat);
  TestNode node{"Resize", {{"axes", std::vector<int64_t>{2, -2}}, {"keep_aspect_ratio_policy", "not_larger"}}};
  EXPECT_EQ(run(node, {{x}, missing(), missing(), {integers({2}, {8, 9})}}).shape, (Shape{2, 6, 8}));
  EXPECT_EQ(run(node, {{x}, missing(), missing(), {integers({2}, {int64_t{1} << 32, 9})}}).shape, (Shape{2, 9, 12}))
      << "only what is made has to be small";
  node.attributes["keep_aspect_ratio_policy"] = "not_smaller";
  EXPECT_EQ(run(node, {{x}, missing(), missing(), {integers({2}, {8, 9})}}).shape, (Shape{2, 9, 12}));
}

TEST_P(Resize, OldOpsets) {
  Tensor x = numbered({1, 1, 2, 3}, ElementType::kFloat);
  Tensor doubled = moved(x, {1, 1, 4, 6}, [](const Coordinates& c) { return Coordinates{0, 0, c[2] / 2, c[3] / 2}; });
  std::vector<float> scales = {1, 1, 2, 2};
  expect_same(run({"Upsample", {{"scales", scales}}, 7}, {{x}}), doubled);
  expect_same(run({"Upsample", {}, 9}, {{x}, {floats({4}, scales)}}), doubled);
  expect_same(run({"Resize", {}, 10}, {{x}, {floats({4}, scales)}}), doubled);
  expect_same(run({"Upsample", {{"height_scale", 2.0f}, {"width_scale", 2.0f}}, 1}, {{x}}), doubled);
}

TEST_P(Resize, SameSizeNothingAndErrors) {
  Tensor x = numbered({1, 1, 2, 3}, ElementType::kFloat);
  expect_same(run({"Resize", {{"mode", "cubic"}}}, {{x}, missing(), {floats({4}, {1, 1, 1, 1})}}), x);
  EXPECT_EQ(run({"Resize"}, {{x}, missing(), missing(), {integers({4}, {1, 1, 0, 3})}}).shape, (Shape{1, 1, 0, 3}));
  EXPECT_EQ(error_of([&] {
              run({"Resize"}, {{x}, missing(), {floats({4}, {1, 1, 1, -1})}});
            }),
            "node 'n' (Resize): the scale -1.000000 is not positive");
  EXPECT_EQ(error_of([&] {
              run({"Resize"}, {{x}, missing(), {floats({2}, {1, 1})}});
            }),
            "node 'n' (Resize): there are 2 scales for 4 axes");
  EXPECT_EQ(
      refusal_of(*GetParam().device, {"Resize", {{"mode", "linear"}}}, {{numbered({1, 1, 2, 3}, ElementType::kInt64)}}),
      "input 0 is int64; supported: float, float16, uint8, int8");
}

// GridSample.

double folded(double x, double low, double high) {
  if (high <= low) return low;
  while (x < low || x > high) x = x < low ? 2 * low - x : 2 * high - x;
  return x;
}

struct Sampler {
  std::string mode, padding;
  bool corners;

  Taps taps(double coordinate, int64_t size) const {
    auto length = static_cast<double>(size);
    double x = corners ? (coordinate + 1) / 2 * (length - 1) : ((coordinate + 1) * length - 1) / 2;
    if (mode == "nearest") return {{place(std::nearbyint(x), size), 1}};
    if (mode == "linear" && padding == "border") x = std::clamp(x, 0.0, length - 1);
    if (mode == "linear" && padding == "reflection") x = folded(x, corners ? 0 : -0.5, length - (corners ? 1 : 0.5));
    if (mode == "cubic" && padding == "reflection") x = folded(x, corners ? 0 : -0.5, length - (corners ? 1 : 0.5));
    Taps result;
    for (int64_t at = -20; at < size + 20; at++) {
      double distance = x - static_cast<double>(at);
      double weight = mode == "linear" ? std::max(0.0, 1 - std::fabs(distance)) : keys(distance, -0.75);
      if (weight != 0) result.push_back({place(static_cast<double>(at), size), weight});
    }
    return result;
  }
  int64_t place(double at, int64_t size) const {
    auto length = static_cast<double>(size);
    if (at >= 0 && at < length) return static_cast<int64_t>(at);
    if (padding == "zeros") return -1;
    if (padding == "reflection") at = folded(at, corners ? 0 : -0.5, length - (corners ? 1 : 0.5));
    return static_cast<int64_t>(std::clamp(at, 0.0, length - 1));
  }
};

TEST_P(Resize, GridSample) {
  Tensor x = random_floats({2, 3, 4, 5}, 5), grid = random_floats({2, 3, 7, 2}, 6, -1.7f, 1.7f);
  std::vector<float> in = x.floats(), at = grid.floats();
  for (std::string mode : {"linear", "nearest", "cubic"}) {
    for (std::string padding : {"zeros", "border", "reflection"}) {
      for (bool corners : {false, true}) {
        Sampler sampler{mode, padding, corners};
        std::vector<float> wanted;
        for (int64_t i = 0; i < 2 * 3 * 21; i++) {
          int64_t n = i / 63, c = i / 21 % 3, point = n * 21 + i % 21;
          double sum = 0;
          for (auto [row, down] : sampler.taps(at[2 * point + 1], 4)) {
            for (auto [column, across] : sampler.taps(at[2 * point], 5)) {
              if (row >= 0 && column >= 0) sum += down * across * in[((n * 3 + c) * 4 + row) * 5 + column];
            }
          }
          wanted.push_back(static_cast<float>(sum));
        }
        TestNode node{"GridSample", {{"mode", mode}, {"padding_mode", padding}, {"align_corners", int64_t{corners}}}};
        expect_near(run(node, {{x}, {grid}}), floats({2, 3, 3, 7}, wanted), 1e-4f, 2e-5f);
      }
    }
  }
}

TEST_P(Resize, GridSampleOfHalvesFarOutsideAndNothing) {
  Tensor x = floats({1, 1, 1, 2}, {1, 3}, ElementType::kFloat16);
  Tensor grid = floats({1, 1, 3, 2}, {0, 0, NAN, 0, INFINITY, 0}, ElementType::kFloat16);
  expect_near(run({"GridSample", {{"mode", "bilinear"}}, 16}, {{x}, {grid}}),
              floats({1, 1, 1, 3}, {2, 0, 0}, ElementType::kFloat16));
  EXPECT_EQ(run({"GridSample"}, {{x}, {floats({1, 0, 3, 2}, {}, ElementType::kFloat16)}}).shape, (Shape{1, 1, 0, 3}));
  EXPECT_EQ(error_of([&] {
              run({"GridSample"}, {{x}, {floats({1, 1, 1, 3}, {0, 0, 0})}});
            }),
            "node 'n' (GridSample): the input must be images and the grid pairs for each of them");
}

INSTANTIATE_TEST_SUITE_P(Devices, Resize, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
