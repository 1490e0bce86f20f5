// Pools over windows and planes against double.
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>

#include "gpu/window_reference.h"

namespace ortolan::gpu::test {
namespace {

/** What a pool makes of the elements of a window; `padded` counts pads too. */
using Reduce = std::function<double(const std::vector<double>& inside, int64_t padded)>;

double largest(const std::vector<double>& inside, int64_t) {
  double most = -FLT_MAX;
  for (double v : inside) most = std::max(most, v);
  return most;
}
double sum_of(const std::vector<double>& inside) {
  double sum = 0;
  for (double v : inside) sum += v;
  return sum;
}
double mean(const std::vector<double>& inside, int64_t) { return sum_of(inside) / static_cast<double>(inside.size()); }
double mean_with_pads(const std::vector<double>& inside, int64_t padded) {
  return sum_of(inside) / static_cast<double>(padded);
}
Reduce norm(double p) {
  return [p](const std::vector<double>& inside, int64_t) {
    double sum = 0;
    for (double v : inside) sum += std::pow(std::fabs(v), p);
    return std::pow(sum, 1 / p);
  };
}

Tensor pooled(const WindowCase& window, const Tensor& x, const Reduce& reduce) {
  int64_t planes = x.shape[0] * x.shape[1], in = element_count(window.in);
  std::vector<float> image = x.floats(), y;
  for (int64_t plane = 0; plane < planes; plane++) {
    for_each_place(window.out(), [&](const Shape& place, int64_t) {
      std::vector<double> inside;
      int64_t padded = 0;
      for_each_place(window.kernel, [&](const Shape& tap, int64_t) {
        int64_t element = element_at(window, place, tap);
        padded += element != -2;
        if (element >= 0) inside.push_back(image[plane * in + element]);
      });
      y.push_back(static_cast<float>(reduce(inside, padded)));
    });
  }
  return floats(with_planes(x.shape[0], x.shape[1], window.out()), y, x.type);
}

const WindowCase kCases[] = {
    {{6, 7}, {2, 2}, {2, 2}},
    {{7, 9}, {3, 3}, {2, 2}, {}, {1, 1}, {1, 1}},
    {{7, 9}, {3, 2}, {2, 3}, {2, 1}, {1, 1}, {0, 1}, true},
    {{8, 8}, {3, 3}, {2, 2}, {}, {0, 0}, {1, 1}, true},
    {{5, 5}, {5, 5}},
    {{1, 1}, {1, 1}},
    {{4, 30}, {3, 3}, {}, {}, {1, 1}, {1, 1}},
    {{70, 75}, {3, 3}, {}, {}, {1, 1}, {1, 1}},
    {{30, 140}, {3, 3}, {2, 2}, {}, {1, 1}, {1, 1}},
    {{5, 7}, {2, 3}, {1, 3}, {}, {0, 1}, {1, 2}},
    {{19}, {4}, {3}, {2}, {2}, {1}, true},
    {{4, 5, 6}, {2, 3, 2}, {2, 1, 2}, {1, 1, 2}, {0, 1, 1}, {1, 1, 0}},
};

class Pool : public testing::TestWithParam<NamedDevice> {
 protected:
  Tensor run(const TestNode& node, const Tensor& x) { return run_node(*GetParam().device, node, {{x}})[0]; }
};

TEST_P(Pool, WindowsOfManyForms) {
  for (const WindowCase& window : kCases) {
    Tensor x = random_floats(with_planes(2, 3, window.in), 1);
    TestNode node{"MaxPool", window.attributes()};
    expect_near(run(node, x), pooled(window, x, largest));
    node.op = "AveragePool";
    expect_near(run(node, x), pooled(window, x, mean));
    node.attributes["count_include_pad"] = int64_t{1};
    expect_near(run(node, x), pooled(window, x, mean_with_pads));
  }
}

TEST_P(Pool, Norms) {
  for (int64_t p : {1, 2, 3}) {
    Tensor x = random_floats({1, 2, 7, 9}, 1);
    TestNode node{"LpPool", kCases[2].attributes(), 18};
    node.attributes["p"] = p;
    expect_near(run(node, x), pooled(kCases[2], x, norm(static_cast<double>(p))), 1e-4f);
  }
}

TEST_P(Pool, AutomaticPadsAndAnOldOpset) {
  WindowCase window{{7, 8}, {3, 2}, {2, 2}, {}, {1, 0}, {1, 0}};
  Tensor x = random_floats({1, 2, 7, 8}, 1);
  TestNode node{"MaxPool", {{"kernel_shape", Shape{3, 2}}, {"strides", Shape{2, 2}}}, 1};
  node.attributes["auto_pad"] = std::string("SAME_LOWER");
  expect_near(run(node, x), pooled(window, x, largest));
}

TEST_P(Pool, AWindowOfPadsAlone) {
  Tensor x = random_floats({1, 1, 2}, 1);
  WindowCase window{{2}, {2}, {}, {}, {2}, {0}};
  expect_near(run({"MaxPool", window.attributes()}, x), pooled(window, x, largest));
}

TEST_P(Pool, Halves) {
  Tensor x = random_floats({2, 3, 7, 9}, 1), half = floats(x.shape, x.floats(), ElementType::kFloat16);
  expect_near(run({"MaxPool", kCases[1].attributes()}, half), pooled(kCases[1], half, largest), 1e-3f);
  expect_near(run({"AveragePool", kCases[1].attributes()}, half), pooled(kCases[1], half, mean), 1e-3f, 1e-3f);
  WindowCase all{{7, 9}, {7, 9}};
  expect_near(run({"GlobalAveragePool"}, half), pooled(all, half, mean), 1e-3f, 1e-3f);
}

TEST_P(Pool, Planes) {
  for (int64_t size : {1, 7, 63, 65, 130}) {
    Tensor x = random_floats({2, 3, size}, static_cast<unsigned>(size));
    WindowCase all{{size}, {size}};
    expect_near(run({"GlobalMaxPool"}, x), pooled(all, x, largest));
    expect_near(run({"GlobalAveragePool"}, x), pooled(all, x, mean));
    expect_near(run({"GlobalLpPool", {}, 2}, x), pooled(all, x, norm(2)), 1e-4f);
    expect_near(run({"GlobalLpPool", {{"p", 3.0f}}, 1}, x), pooled(all, x, norm(3)), 1e-4f);
  }
  EXPECT_EQ(run({"GlobalMaxPool"}, random_floats({2, 3, 2, 2, 2}, 1)).shape, (Shape{2, 3, 1, 1, 1}));
  EXPECT_EQ(run({"GlobalMaxPool"}, floats({0, 3, 4}, {})).shape, (Shape{0, 3, 1}));
}

TEST_P(Pool, Refusals) {
  Tensor x = integers({1, 1, 2}, {1, 2}, ElementType::kInt8);
  EXPECT_EQ(refusal_of(*GetParam().device, {"MaxPool", {{"kernel_shape", Shape{2}}}}, {{x}}),
            "input 0 is int8; supported: float, float16");
  EXPECT_EQ(refusal_of(*GetParam().device, {"GlobalMaxPool"}, {{x}}), "input 0 is int8; supported: float, float16");
}

TEST_P(Pool, ErrorsInAttributes) {
  try {
    run({"MaxPool"}, random_floats({1, 1, 2, 2}, 1));
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "node 'n' (MaxPool): kernel_shape has 0 values for 2 spatial dimensions, or differs from the weights'");
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Pool, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
