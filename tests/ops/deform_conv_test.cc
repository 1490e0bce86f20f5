// DeformConv against its definition in double.
#include <cmath>
#include <limits>

#include "nd_index.h"
#include "op_test.h"

namespace ortolan::test {
namespace {

struct Case {
  Shape x, w;
  int64_t group = 1, offset_group = 1, stride = 1, dilation = 1, pad = 0;
  bool mask = true, bias = true;
  size_t spatial() const { return x.rank() - 2; }
  Shape y() const {
    Shape shape{x[0], w[0]};
    for (size_t i = 2; i < x.rank(); ++i) {
      shape.push_back((x[i] + 2 * pad - (w[i] - 1) * dilation - 1) / stride + 1);
    }
    return shape;
  }
  Shape with_channels(int64_t channels) const {
    Shape shape = y();
    shape[1] = channels;
    return shape;
  }
};

/** The image at a place between pixels: linear along one dimension after the other; 0 outside. */
double sample(const std::vector<double>& image, const Shape& x, int64_t plane, const std::vector<double>& place) {
  double sum = 0;
  size_t spatial = place.size();
  for (size_t corner = 0; corner < size_t{1} << spatial; ++corner) {
    double weight = 1;
    int64_t offset = plane;
    for (size_t d = 0; d < spatial; ++d) {
      double low = std::floor(place[d]), part = place[d] - low;
      auto index = static_cast<int64_t>(low) + static_cast<int64_t>(corner >> d & 1);
      weight *= (corner >> d & 1) ? part : 1 - part;
      if (index < 0 || index >= x[d + 2]) weight = 0;
      offset = offset * x[d + 2] + index;
    }
    if (weight != 0) sum += weight * image[static_cast<size_t>(offset)];
  }
  return sum;
}

struct Inputs {
  Tensor x, w, offset, bias, mask;
};

std::vector<double> expected(const Case& c, const Inputs& in) {
  auto x = doubles(in.x), w = doubles(in.w), offset = doubles(in.offset), bias = doubles(in.bias),
       mask = doubles(in.mask);
  Shape y = c.y(), kernel(c.w.begin() + 2, c.w.end());
  int64_t taps = kernel.element_count(), positions = y.count_from(2), dims = static_cast<int64_t>(c.spatial());
  std::vector<double> result;
  for_each_index(y, [&](const Index& at) {
    double sum = c.bias ? bias[at[1]] : 0;
    int64_t position = static_cast<int64_t>(result.size()) % std::max<int64_t>(positions, 1);
    for (int64_t i = 0; i < c.w[1]; ++i) {
      int64_t channel = at[1] / (c.w[0] / c.group) * c.w[1] + i;
      int64_t group = at[0] * c.offset_group + channel / (c.x[1] / c.offset_group), tap = 0;
      for_each_index(kernel, [&](const Index& k) {
        std::vector<double> place;
        for (int64_t d = 0; d < dims; ++d) {
          place.push_back(static_cast<double>(at[d + 2] * c.stride - c.pad + k[d] * c.dilation) +
                          offset[((group * taps + tap) * dims + d) * positions + position]);
        }
        double weight = w[(at[1] * c.w[1] + i) * taps + tap];
        double factor = c.mask ? mask[(group * taps + tap) * positions + position] : 1;
        sum += weight * factor * sample(x, c.x, at[0] * c.x[1] + channel, place);
        ++tap;
      });
    }
    result.push_back(sum);
  });
  return result;
}

OpTest node(const Case& c, const Inputs& in, int opset) {
  OpTest test("DeformConv", opset);
  test.input(in.x).input(in.w).input(in.offset);
  c.bias ? test.input(in.bias) : test.no_input();
  if (c.mask) test.input(in.mask);
  size_t n = c.spatial();
  test.set("group", c.group).set("offset_group", c.offset_group).ints("strides", std::vector<int64_t>(n, c.stride));
  return test.ints("dilations", std::vector<int64_t>(n, c.dilation)).ints("pads", std::vector<int64_t>(2 * n, c.pad));
}

template <class T>
Inputs inputs(const Case& c, uint32_t seed) {
  int64_t taps = c.w.count_from(2) * c.offset_group, dims = static_cast<int64_t>(c.spatial());
  return {random_tensor<T>(c.x, seed), random_tensor<T>(c.w, seed + 1),
          random_tensor<T>(c.with_channels(taps * dims), seed + 2, -2.5, 2.5), random_tensor<T>({c.w[0]}, seed + 3),
          random_tensor<T>(c.with_channels(taps), seed + 4, 0, 1)};
}

const Case kCases[] = {
    {{2, 4, 6, 5}, {6, 2, 3, 3}, 2, 2, 1, 1, 1},
    {{1, 2, 9, 9}, {3, 2, 2, 2}, 1, 1, 2, 2, 0, false, false},
    {{1, 6, 7, 4}, {2, 6, 1, 3}, 1, 3, 1, 1, 2, true, false},
    {{2, 2, 11}, {4, 1, 3}, 2, 1, 2, 1, 1},
    {{1, 2, 4, 5, 3}, {2, 2, 2, 3, 2}, 1, 2, 1, 1, 1},
    {{1, 1, 3, 3, 3, 3}, {2, 1, 2, 2, 2, 2}, 1, 1, 1, 1, 0},
    {{0, 2, 5, 5}, {2, 2, 3, 3}},
    {{1, 1, 20, 30}, {1, 1, 3, 3}, 1, 1, 1, 1, 1},
    {{1, 2, 1, 9}, {2, 2, 1, 3}, 1, 1, 1, 1, 1},
    {{1, 2, 9, 1}, {2, 2, 3, 1}, 1, 1, 1, 1, 1},
    {{1, 3, 2, 2}, {2, 3, 2, 2}, 1, 3, 1, 1, 1},
};

TEST(DeformConv, AgainstItsDefinition) {
  uint32_t seed = test_seed();
  for (const Case& c : kCases) {
    auto run = [&]<class T>(TypeTag<T>, double tolerance, int opset) {
      Inputs in = inputs<T>(c, seed++);
      EXPECT_TRUE(near(node(c, in, opset).run_tensor(), c.y(), expected(c, in), tolerance)) << c.x.rank();
    };
    run(TypeTag<float>{}, 1e-4, 19);
    run(TypeTag<double>{}, 1e-12, 19);
    run(TypeTag<Half>{}, 2e-2, 22);
    run(TypeTag<BFloat16>{}, 1e-1, 22);
  }
}

TEST(DeformConv, PlacesThatAreNoNumbers) {
  Case c{{1, 1, 3, 3}, {1, 1, 1, 1}, 1, 1, 1, 1, 0, false, false};
  Inputs in = inputs<float>(c, 1);
  float places[] = {NAN, INFINITY, -INFINITY, 1e38f, -1e38f, 4e9f, -1.0f, 3.0f, 0};
  for (int i = 0; i < 9; ++i) in.offset.mutable_data<float>()[i] = places[i];
  for (int i = 9; i < 18; ++i) in.offset.mutable_data<float>()[i] = 0;
  Tensor y = node(c, in, 19).run_tensor();
  std::vector<double> wanted(9, 0);
  wanted[8] = double{in.x.data<float>()[8]} * in.w.data<float>()[0];
  wanted[6] = double{in.x.data<float>()[3]} * in.w.data<float>()[0];
  EXPECT_TRUE(near(y, {1, 1, 3, 3}, wanted));
  in.x.mutable_data<float>()[0] = INFINITY;  // no sample touches it
  EXPECT_TRUE(near(node(c, in, 19).run_tensor(), {1, 1, 3, 3}, wanted));
}

TEST(DeformConv, RefusesWhatDoesNotFit) {
  Case c = kCases[0];
  Inputs in = inputs<float>(c, 1);
  EXPECT_NE(node(c, in, 19).set("offset_group", 0).error().find("offset_group is 0"), std::string::npos);
  EXPECT_NE(node(c, in, 19).set("offset_group", 3).error().find("not a multiple of offset_group 3"), std::string::npos);
  EXPECT_NE(node(c, in, 19).set("offset_group", INT64_MIN).error().find("offset_group is -9223372036854775808"),
            std::string::npos);
  EXPECT_NE(
      node(c, in, 19).set("group", 3).error().find("input [2,4,6,5] has 4 channels but weights [6,2,3,3] with group"),
      std::string::npos);
  in.offset = random_tensor<float>(c.with_channels(18), 1);
  EXPECT_NE(node(c, in, 19).error().find("offset has shape [2,18,6,5]; dimension 1 must be 36"), std::string::npos);
  in = inputs<float>(c, 1);
  in.mask = random_tensor<float>(c.with_channels(17), 1);
  EXPECT_NE(node(c, in, 19).error().find("mask has shape [2,17,6,5]; dimension 1 must be 18"), std::string::npos);
  in = inputs<float>(c, 1);
  in.bias = random_tensor<float>({5}, 1);
  EXPECT_NE(node(c, in, 19).error().find("the bias has 5 values for 6"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
