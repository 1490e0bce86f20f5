// Resize, Upsample.
#include <algorithm>
#include <cmath>

#include "../thrown_text.h"
#include "op_test.h"

namespace ortolan::test {
namespace {

using Attributes = std::vector<std::pair<std::string, std::string>>;

std::string get(const Attributes& attributes, const std::string& name, const std::string& fallback) {
  for (const auto& [key, value] : attributes) {
    if (key == name) return value;
  }
  return fallback;
}

double kernel(const std::string& mode, double x) {
  x = std::fabs(x);
  if (mode == "linear") return std::max(0.0, 1 - x);
  constexpr double a = -0.75;
  if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

/** One line resized, straight from the definition. */
std::vector<double> resized(const std::vector<double>& line, int64_t to, double scale, const Attributes& attributes) {
  std::string mode = get(attributes, "mode", "nearest"),
              how = get(attributes, "coordinate_transformation_mode", "half_pixel");
  bool exclude = get(attributes, "exclude_outside", "0") == "1", antialias = get(attributes, "antialias", "0") == "1";
  auto size = static_cast<double>(line.size());
  std::vector<double> result;
  for (int64_t i = 0; i < to; ++i) {
    double x = static_cast<double>(i), source = (x + 0.5) / scale - 0.5;
    if (how == "asymmetric") source = x / scale;
    if (how == "align_corners") source = to == 1 ? 0 : x * (size - 1) / (size * scale - 1);
    if (how == "pytorch_half_pixel" && to == 1) source = 0;
    auto at = [&](double p) { return line[static_cast<size_t>(std::clamp(p, 0.0, size - 1))]; };
    if (mode == "nearest") {
      std::string round = get(attributes, "nearest_mode", "round_prefer_floor");
      double p = round == "floor"               ? std::floor(source)
                 : round == "ceil"              ? std::ceil(source)
                 : round == "round_prefer_ceil" ? std::floor(source + 0.5)
                                                : std::ceil(source - 0.5);
      result.push_back(at(p));
      continue;
    }
    double stretch = antialias ? std::min(1.0, scale) : 1, sum = 0, total = 0;
    for (double p = std::floor(source) - 40; p <= source + 41; ++p) {
      bool outside = p < 0 || p > size - 1;
      double weight = exclude && outside ? 0 : kernel(mode, (p - source) * stretch);
      sum += weight * at(p);
      total += weight;
    }
    result.push_back(sum / total);
  }
  return result;
}

/** The reference for [rows, columns], one dimension after the other. */
std::vector<double> reference(const Tensor& input, Shape to, const std::vector<double>& scales,
                              const Attributes& attributes) {
  int64_t rows = input.shape()[0], columns = input.shape()[1];
  auto values = doubles(input);
  std::vector<std::vector<double>> wide;
  for (int64_t r = 0; r < rows; ++r) {
    wide.push_back(
        resized({values.begin() + r * columns, values.begin() + (r + 1) * columns}, to[1], scales[1], attributes));
  }
  std::vector<double> result(static_cast<size_t>(to.element_count()));
  for (int64_t c = 0; c < to[1]; ++c) {
    std::vector<double> line;
    for (const auto& row : wide) line.push_back(row[static_cast<size_t>(c)]);
    auto tall = resized(line, to[0], scales[0], attributes);
    for (int64_t r = 0; r < to[0]; ++r) result[static_cast<size_t>(r * to[1] + c)] = tall[static_cast<size_t>(r)];
  }
  return result;
}

OpTest resize(const Tensor& input, const std::vector<float>& scales, const Attributes& attributes, int opset = 18) {
  OpTest test("Resize", opset);
  for (const auto& [name, value] : attributes) {
    if (name == "exclude_outside" || name == "antialias") test.set(name, int64_t{1});
    if (name != "exclude_outside" && name != "antialias") test.set(name, value.c_str());
  }
  return test.input(input).no_input().input<float>({static_cast<int64_t>(scales.size())}, scales);
}

TEST(Resize, FollowsTheDefinition) {
  Tensor input = random_tensor<float>({7, 5}, test_seed());
  const std::vector<std::vector<float>> scale_sets = {{2, 2}, {3, 0.6f}, {0.5f, 1.5f}, {0.3f, 0.4f}, {1, 2.5f}};
  for (const auto& scales : scale_sets) {
    std::vector<double> exact(scales.begin(), scales.end());
    Shape to{static_cast<int64_t>(std::floor(7 * exact[0])), static_cast<int64_t>(std::floor(5 * exact[1]))};
    for (const char* how : {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"}) {
      std::vector<Attributes> sets;
      for (const char* round : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
        sets.push_back({{"nearest_mode", round}});
      for (const char* mode : {"linear", "cubic"}) {
        sets.push_back({{"mode", mode}});
        sets.push_back({{"mode", mode}, {"exclude_outside", "1"}});
        sets.push_back({{"mode", mode}, {"antialias", "1"}});
      }
      for (Attributes attributes : sets) {
        attributes.emplace_back("coordinate_transformation_mode", how);
        Tensor result = resize(input, scales, attributes).run_tensor();
        EXPECT_TRUE(near(result, to, reference(input, to, exact, attributes), 1e-4))
            << how << " " << scales[0] << " " << attributes[0].second;
      }
    }
  }
}

TEST(Resize, SizesAxesPoliciesAndTypes) {
  Tensor input = random_tensor<float>({1, 2, 4, 6}, test_seed());
  auto sized = [&](std::vector<int64_t> sizes, const char* policy) {
    return OpTest("Resize", 18)
        .ints("axes", {2, 3})
        .set("keep_aspect_ratio_policy", policy)
        .input(input)
        .no_input()
        .no_input()
        .input<int64_t>({2}, sizes)
        .run_tensor()
        .shape();
  };
  EXPECT_EQ(sized({8, 9}, "stretch"), (Shape{1, 2, 8, 9}));
  EXPECT_EQ(sized({8, 9}, "not_larger"), (Shape{1, 2, 6, 9}));
  EXPECT_EQ(sized({8, 9}, "not_smaller"), (Shape{1, 2, 8, 12}));
  Tensor bytes = OpTest("Resize", 13)
                     .set("mode", "linear")
                     .set("coordinate_transformation_mode", "asymmetric")
                     .input<uint8_t>({2}, {10, 20})
                     .no_input()
                     .input<float>({1}, {2})
                     .run_tensor();
  EXPECT_TRUE(equal<uint8_t>(bytes, {4}, {10, 15, 20, 20}));
  Tensor words =
      OpTest("Resize", 13).input<std::string>({2}, {"a", "b"}).no_input().input<float>({1}, {2}).run_tensor();
  EXPECT_TRUE(equal<std::string>(words, {4}, {"a", "a", "b", "b"}));
  Tensor crop = OpTest("Resize", 11)
                    .set("mode", "linear")
                    .set("coordinate_transformation_mode", "tf_crop_and_resize")
                    .set("extrapolation_value", 9.f)
                    .input<float>({3}, {1, 2, 3})
                    .input<float>({2}, {0.5f, 1.5f})
                    .input<float>({0}, {})
                    .input<int64_t>({1}, {3})
                    .run_tensor();
  EXPECT_TRUE(near(crop, {3}, {2, 3, 9}));
}

TEST(Resize, AxesStandInAttributesSinceOpset18) {
  auto run = [](int opset, std::vector<float> scales) {
    OpTest test("Resize", opset);
    test.ints("axes", {0}).input<float>({2, 2}, {1, 2, 3, 4}).no_input();
    return test.input(tensor_of<float>({static_cast<int64_t>(scales.size())}, scales)).run_tensor();
  };
  EXPECT_TRUE(near(run(13, {1, 2}), {2, 4}, {1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_TRUE(near(run(18, {2}), {4, 2}, {1, 2, 1, 2, 3, 4, 3, 4}));
}

TEST(Resize, AScalarStaysItself) {
  EXPECT_TRUE(near(OpTest("Resize", 13).input<float>({}, {7}).no_input().input<float>({0}, {}).run_tensor(), {}, {7}));
}

// Here the taps on either side are more than int64 counts.
TEST(Resize, RefusesTinyScalesOfAntialias) {
  Tensor x(ElementType::kUInt8, Shape{1 << 22});
  std::vector<std::optional<Value>> inputs = {x, tensor_of<float>({2}, {-9e11f, 9e11f}),
                                              tensor_of<float>({1}, {2e-19f})};
  NodeCase resize{"Resize", "", 18, inputs};
  resize.attributes = {{"mode", std::string("cubic")},
                       {"antialias", int64_t{1}},
                       {"coordinate_transformation_mode", std::string("tf_crop_and_resize")}};
  EXPECT_TRUE(throws("too small for antialias", [&] { run_node(resize, Way::kKnownShapes, 1, {}); }));
}

TEST(Resize, RefusesNonsense) {
  Tensor input = random_tensor<float>({2, 2}, test_seed());
  EXPECT_NE(resize(input, {-1, 1}, {}).error().find("scales must be positive"), std::string::npos);
  EXPECT_NE(resize(input, {1}, {}).error().find("scales has 1 entries for 2 dimensions"), std::string::npos);
  EXPECT_NE(resize(input, {1e30f, 1}, {}).error().find("the output size 2.0000000300949324e+30 is out of range"),
            std::string::npos);
  EXPECT_NE(resize(input, {NAN, 1}, {}).error().find("the scale nan is out of range"), std::string::npos);
  EXPECT_NE(resize(input, {1, 1}, {{"mode", "round"}}).error().find("mode 'round' is unknown"), std::string::npos);
  EXPECT_NE(
      OpTest("Resize", 13).input(input).error().find("attributes and inputs do not determine output 0: its type would"),
      std::string::npos);
  EXPECT_NE(OpTest("Resize", 13)
                .input(input)
                .no_input()
                .no_input()
                .input<int64_t>({2}, {-1, 2})
                .error()
                .find("the output size -1 is out of range"),
            std::string::npos);
  EXPECT_NE(OpTest("Resize", 13)
                .input<float>({0, 2}, {})
                .no_input()
                .no_input()
                .input<int64_t>({2}, {1, 2})
                .error()
                .find("the input of shape [0,2] is empty, so it cannot be resized to"),
            std::string::npos);
}

TEST(Upsample, EveryForm) {
  std::vector<double> doubled = {1, 1, 2, 2, 1, 1, 2, 2};
  OpTest first("Upsample", 1);
  first.set("height_scale", 2.f).set("width_scale", 2.f).set("mode", "nearest").input<float>({1, 1, 1, 2}, {1, 2});
  EXPECT_TRUE(near(first.run_tensor(), {1, 1, 2, 4}, doubled));
  OpTest second("Upsample", 7);
  second.attribute("scales", std::vector<float>{1, 1, 2, 2}).input<float>({1, 1, 1, 2}, {1, 2});
  EXPECT_TRUE(near(second.run_tensor(), {1, 1, 2, 4}, doubled));
  EXPECT_TRUE(
      near(OpTest("Upsample", 9).input<float>({1, 1, 1, 2}, {1, 2}).input<float>({4}, {1, 1, 2, 2}).run_tensor(),
           {1, 1, 2, 4}, doubled));
  Tensor down =
      OpTest("Resize", 10).input<float>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}).input<float>({2}, {0.6f, 0.6f}).run_tensor();
  EXPECT_TRUE(near(down, {1, 2}, {1, 3}));
}

}  // namespace
}  // namespace ortolan::test
