// Convolutions and pools over four and five spatial dimensions, against their definitions in double.
#include <cmath>

#include "nd_index.h"
#include "op_test.h"

namespace ortolan::test {
namespace {

struct Window {
  std::vector<int64_t> kernel, strides, dilations, pads;
};

/** The element of an area that a window's tap meets, -1 outside. */
int64_t element(const Window& w, const Index& at, const Index& tap, const Shape& area) {
  int64_t number = 0;
  for (size_t i = 0; i < tap.size(); ++i) {
    int64_t place = at[i] * w.strides[i] - w.pads[i] + tap[i] * w.dilations[i];
    if (place < 0 || place >= area[i]) return -1;
    number = number * area[i] + place;
  }
  return number;
}

Shape spatial(const Shape& shape) { return Shape(shape.begin() + 2, shape.end()); }

Shape result_shape(const Window& w, const Shape& x, int64_t channels) {
  Shape y{x[0], channels};
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    int64_t padded = x[i + 2] + w.pads[i] + w.pads[i + w.kernel.size()];
    y.push_back((padded - (w.kernel[i] - 1) * w.dilations[i] - 1) / w.strides[i] + 1);
  }
  return y;
}

OpTest windowed(const char* op, const Window& w, int opset = 17) {
  OpTest test(op, opset);
  return test.ints("kernel_shape", w.kernel).ints("strides", w.strides).ints("pads", w.pads);
}

const Window kFour{{2, 1, 3, 2}, {1, 2, 1, 2}, {1, 1, 2, 1}, {1, 0, 2, 0, 0, 0, 1, 1}};
const Window kFive{{1, 2, 1, 2, 2}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, std::vector<int64_t>(10, 0)};

/** Calls body(image, group, output channel of it, input channel of it, position, tap, place) for each product. */
template <class Body>
void for_products(const Window& w, const Shape& positions, const Shape& area, const Shape& counts, Body&& body) {
  Shape kernel(w.kernel.begin(), w.kernel.end());
  for_each_index(counts, [&](const Index& c) {
    for_each_index(positions, [&](const Index& at) {
      for_each_index(kernel, [&](const Index& tap) {
        int64_t place = element(w, at, tap, area);
        if (place >= 0) body(c, flat(positions, at), flat(kernel, tap), place);
      });
    });
  });
}

template <class T>
void expect_convolved(const Window& w, const Shape& x_shape, int64_t groups, double tolerance, uint32_t seed) {
  int64_t inputs = x_shape[1] / groups, outputs = 3;
  Shape w_shape{groups * outputs, inputs}, y_shape = result_shape(w, x_shape, groups * outputs);
  for (int64_t k : w.kernel) w_shape.push_back(k);
  Tensor x = random_tensor<T>(x_shape, seed), weights = random_tensor<T>(w_shape, seed + 1),
         bias = random_tensor<T>({groups * outputs}, seed + 2);
  auto dx = doubles(x), dw = doubles(weights), db = doubles(bias);
  int64_t positions = y_shape.count_from(2), plane = x_shape.count_from(2), taps = w_shape.count_from(2);
  std::vector<double> y(static_cast<size_t>(y_shape.element_count()));
  for (size_t i = 0; i < y.size(); ++i) y[i] = db[i / positions % (groups * outputs)];
  for_products(w, spatial(y_shape), spatial(x_shape), {x_shape[0], groups, outputs, inputs},
               [&](const Index& c, int64_t position, int64_t tap, int64_t place) {
                 int64_t out = c[1] * outputs + c[2];
                 y[(c[0] * groups * outputs + out) * positions + position] +=
                     dw[(out * inputs + c[3]) * taps + tap] *
                     dx[(c[0] * x_shape[1] + c[1] * inputs + c[3]) * plane + place];
               });
  OpTest test = windowed("Conv", w, 22);
  test.input(x).input(weights).input(bias).set("group", groups).ints("dilations", w.dilations);
  EXPECT_TRUE(near(test.run_tensor(), y_shape, y, tolerance));
}

TEST(WindowsNd, Conv) {
  uint32_t seed = test_seed();
  expect_convolved<float>(kFour, {2, 4, 3, 5, 6, 4}, 2, 1e-4, seed);
  expect_convolved<double>(kFour, {2, 4, 3, 5, 6, 4}, 1, 1e-12, seed);
  expect_convolved<Half>(kFour, {1, 2, 3, 5, 6, 4}, 1, 2e-2, seed);
  expect_convolved<BFloat16>(kFive, {1, 2, 2, 3, 2, 3, 2}, 2, 1e-1, seed);
  expect_convolved<float>(kFive, {0, 2, 2, 3, 2, 3, 2}, 2, 1e-4, seed);
}

TEST(WindowsNd, ConvTranspose) {
  uint32_t seed = test_seed();
  for (int64_t groups : {1, 2}) {
    Window w{{2, 1, 3, 2}, {1, 2, 1, 2}, {1, 1, 1, 1}, {1, 0, 1, 0, 0, 0, 1, 1}};
    Shape x_shape{2, 4, 2, 3, 3, 2}, w_shape{4, 2, 2, 1, 3, 2}, y_shape{2, 2 * groups};
    for (size_t i = 0; i < 4; ++i) {
      y_shape.push_back((x_shape[i + 2] - 1) * w.strides[i] + w.kernel[i] - w.pads[i] - w.pads[i + 4]);
    }
    Tensor x = random_tensor<float>(x_shape, seed), weights = random_tensor<float>(w_shape, seed + 1),
           bias = random_tensor<float>({2 * groups}, seed + 2);
    auto dx = doubles(x), dw = doubles(weights), db = doubles(bias);
    int64_t plane = y_shape.count_from(2), positions = x_shape.count_from(2), inputs = 4 / groups;
    std::vector<double> y(static_cast<size_t>(y_shape.element_count()));
    for (size_t i = 0; i < y.size(); ++i) y[i] = db[i / plane % (2 * groups)];
    for_products(w, spatial(x_shape), spatial(y_shape), {2, groups, 2, inputs},
                 [&](const Index& c, int64_t position, int64_t tap, int64_t place) {
                   int64_t in = c[1] * inputs + c[3], out = c[1] * 2 + c[2];
                   y[(c[0] * 2 * groups + out) * plane + place] +=
                       dw[(in * 2 + c[2]) * 12 + tap] * dx[(c[0] * 4 + in) * positions + position];
                 });
    OpTest test = windowed("ConvTranspose", w, 11);
    test.input(x).input(weights).input(bias).set("group", groups);
    EXPECT_TRUE(near(test.run_tensor(), y_shape, y, 1e-4)) << groups;
  }
}

TEST(WindowsNd, Pools) {
  Shape x_shape{2, 2, 3, 5, 6, 4}, y_shape = result_shape(kFour, x_shape, 2);
  Tensor x = random_tensor<float>(x_shape, test_seed());
  auto dx = doubles(x);
  int64_t plane = x_shape.count_from(2);
  std::vector<double> largest, mean, padded_mean, norm;
  std::vector<int64_t> places, column_places;
  Shape area = spatial(x_shape), kernel(kFour.kernel.begin(), kFour.kernel.end());
  for_each_index(y_shape, [&](const Index& index) {
    Index at(index.begin() + 2, index.end()), best_at;
    int64_t first = (index[0] * 2 + index[1]) * plane, best = -1, count = 0, all = 0;
    double sum = 0, squares = 0;
    for_each_index(kernel, [&](const Index& tap) {
      ++all;
      int64_t place = element(kFour, at, tap, area);
      if (place < 0) return;
      ++count, sum += dx[first + place], squares += dx[first + place] * dx[first + place];
      if (best < 0 || dx[first + place] > dx[first + best]) best = place;
    });
    int64_t rest = best, column = 0, scale = 1;
    Index coordinates(4);
    for (size_t i = 4; i-- > 0; rest /= area[i]) coordinates[i] = rest % area[i];
    for (size_t i = 0; i < 4; scale *= area[i], ++i) column += coordinates[i] * scale;
    largest.push_back(dx[first + best]), places.push_back(first + best), column_places.push_back(first + column);
    mean.push_back(sum / static_cast<double>(count)), padded_mean.push_back(sum / static_cast<double>(all));
    norm.push_back(std::sqrt(squares));
  });
  for (int64_t order : {0, 1}) {
    auto outputs =
        windowed("MaxPool", kFour).input(x).ints("dilations", kFour.dilations).set("storage_order", order).run(2);
    EXPECT_TRUE(near(outputs[0].tensor(), y_shape, largest));
    EXPECT_TRUE(equal<int64_t>(outputs[1].tensor(), y_shape, order ? column_places : places));
  }
  auto average = [&](int64_t count_pad) {
    return windowed("AveragePool", kFour, 22)
        .input(x)
        .ints("dilations", kFour.dilations)
        .set("count_include_pad", count_pad);
  };
  EXPECT_TRUE(near(average(0).run_tensor(), y_shape, mean));
  EXPECT_TRUE(near(average(1).run_tensor(), y_shape, padded_mean));
  EXPECT_TRUE(
      near(windowed("LpPool", kFour, 22).input(x).ints("dilations", kFour.dilations).run_tensor(), y_shape, norm));
}

TEST(WindowsNd, BytesAndErrors) {
  Window w{{2, 2, 2, 2}, {2, 2, 2, 2}, {1, 1, 1, 1}, std::vector<int64_t>(8, 0)};
  Tensor x(ElementType::kInt8, {1, 1, 2, 2, 2, 2});
  for (int i = 0; i < 16; ++i) x.mutable_data<int8_t>()[i] = static_cast<int8_t>(i - 20);
  EXPECT_TRUE(equal<int8_t>(windowed("MaxPool", w).input(x).run_tensor(), {1, 1, 1, 1, 1, 1}, {-5}));
  OpTest bad = windowed("Conv", w);
  bad.input(random_tensor<float>({1, 2, 2, 2, 2, 2}, 1)).input(random_tensor<float>({1, 1, 2, 2, 2, 2}, 1));
  EXPECT_NE(bad.error().find("input [1,2,2,2,2,2] has 2 channels but weights [1,1,2,2,2,2]"), std::string::npos);
  w.strides[3] = 0;
  EXPECT_NE(windowed("MaxPool", w).input(x).error().find("attribute 'strides' holds 0"), std::string::npos);
  w.strides[3] = INT64_MIN;
  EXPECT_NE(windowed("MaxPool", w).input(x).error().find("attribute 'strides' holds -9223372036854775808"),
            std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
