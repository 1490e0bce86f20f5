// Resize, Upsample, GridSample, AffineGrid, Col2Im.
#include <cmath>

#include "../thrown_text.h"
#include "nd_index.h"
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
