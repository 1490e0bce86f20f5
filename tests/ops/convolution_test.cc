// Conv, ConvTranspose, ConvInteger and QLinearConv against plain loops in double.
#include "op_test.h"

namespace ortolan::test {
namespace {

/** A convolution of spatial rank 1 to 3; missing leading dimensions are 1. */
struct ConvCase {
  std::vector<int64_t> in, kernel, stride, dilation, pads;
  int64_t batch = 1, channels = 1, outputs = 1, group = 1;
  bool bias = false;
};

/** The value of `list` at dimension d of three, where the first ones may be missing. */
int64_t at(const std::vector<int64_t>& list, int d, int64_t fallback, size_t rank) {
  int missing = 3 - static_cast<int>(rank);
  return d < missing || list.empty() ? fallback : list[d - missing];
}

/** Calls body(output position, input position, tap) for all three-dimensional positions inside the input. */
template <class Body>
Shape for_taps(const ConvCase& c, Body&& body) {
  size_t rank = c.in.size();
  int64_t in[3], k[3], s[3], dil[3], pad[3], out[3];
  Shape spatial;
  for (int d = 0; d < 3; ++d) {
    in[d] = at(c.in, d, 1, rank), k[d] = at(c.kernel, d, 1, rank);
    s[d] = at(c.stride, d, 1, rank), dil[d] = at(c.dilation, d, 1, rank);
    pad[d] = c.pads.empty() ? 0 : at(c.pads, d, 0, rank);
    int missing = 3 - static_cast<int>(rank);
    int64_t end = c.pads.empty() || d < missing ? 0 : c.pads[d - missing + rank];
    out[d] = (in[d] + pad[d] + end - (k[d] - 1) * dil[d] - 1) / s[d] + 1;
    if (d >= missing) spatial.push_back(out[d]);
  }
  for (int64_t o = 0; o < out[0] * out[1] * out[2]; ++o) {
    int64_t place[3] = {o / (out[1] * out[2]), o / out[2] % out[1], o % out[2]};
    for (int64_t t = 0; t < k[0] * k[1] * k[2]; ++t) {
      int64_t tap[3] = {t / (k[1] * k[2]), t / k[2] % k[1], t % k[2]}, flat = 0;
      bool inside = true;
      for (int d = 0; d < 3; ++d) {
        int64_t p = place[d] * s[d] - pad[d] + tap[d] * dil[d];
        inside = inside && p >= 0 && p < in[d];
        flat = flat * in[d] + p;
      }
      if (inside) body(o, flat, t);
    }
  }
  return spatial;
}

struct Operands {
  Tensor x, w, b;
};

template <class T>
Operands operands(const ConvCase& c, double low = -1, double high = 1) {
  Shape x{c.batch, c.channels}, w{c.outputs, c.channels / c.group};
  for (int64_t d : c.in) x.push_back(d);
  for (int64_t d : c.kernel) w.push_back(d);
  return {random_tensor<T>(x, 11, low, high), random_tensor<T>(w, 12, low, high), random_tensor<T>({c.outputs}, 13)};
}

std::vector<double> reference(const ConvCase& c, const std::vector<double>& x, const std::vector<double>& w,
                              const std::vector<double>& bias, Shape& shape) {
  int64_t plane = 1, taps = 1, area = 1;
  for (int64_t d : c.in) plane *= d;
  for (int64_t d : c.kernel) taps *= d;
  Shape spatial = for_taps(c, [](int64_t, int64_t, int64_t) {});
  for (int64_t d : spatial) area *= d;
  shape = {c.batch, c.outputs};
  for (int64_t d : spatial) shape.push_back(d);
  std::vector<double> y(c.batch * c.outputs * area, 0.0);
  int64_t inputs = c.channels / c.group, outputs = c.outputs / c.group;
  for (int64_t n = 0; n < c.batch; ++n) {
    for (int64_t m = 0; m < c.outputs; ++m) {
      double* out = &y[(n * c.outputs + m) * area];
      for (int64_t o = 0; o < area; ++o) out[o] = bias.empty() ? 0 : bias[m];
      for (int64_t i = 0; i < inputs; ++i) {
        const double* in = &x[(n * c.channels + m / outputs * inputs + i) * plane];
        for_taps(c, [&](int64_t o, int64_t p, int64_t t) { out[o] += in[p] * w[(m * inputs + i) * taps + t]; });
      }
    }
  }
  return y;
}

OpTest conv_node(const ConvCase& c, const char* op, int opset) {
  OpTest test(op, opset);
  if (!c.stride.empty()) test.ints("strides", c.stride);
  if (!c.dilation.empty()) test.ints("dilations", c.dilation);
  if (!c.pads.empty()) test.ints("pads", c.pads);
  test.set("group", c.group);
  return test;
}

const ConvCase kCases[] = {
    {{9}, {3}, {2}, {}, {1, 0}, 2, 3, 4},
    {{7, 8}, {3, 3}, {}, {}, {1, 1, 1, 1}, 1, 3, 5, 1, true},
    {{7, 8}, {1, 1}, {}, {}, {}, 2, 8, 16, 1, true},
    {{9, 9}, {3, 3}, {2, 2}, {}, {0, 1, 1, 0}, 1, 4, 6, 2},
    {{10, 11}, {3, 2}, {1, 2}, {2, 3}, {2, 1, 0, 3}, 2, 4, 4, 4, true},
    {{6, 6}, {3, 3}, {}, {}, {1, 1, 1, 1}, 1, 16, 16, 16},
    {{12, 12}, {3, 3}, {}, {}, {1, 1, 1, 1}, 1, 32, 48, 1, true},
    {{4, 5, 6}, {2, 3, 2}, {1, 2, 1}, {}, {1, 0, 1, 0, 1, 0}, 1, 2, 3, 1, true},
};

template <class T>
void check_cases(double tolerance) {
  for (const ConvCase& c : kCases) {
    Operands in = operands<T>(c);
    OpTest test = conv_node(c, "Conv", 11);
    test.input(in.x).input(in.w);
    if (c.bias) test.input(in.b);
    Shape shape;
    auto expected = reference(c, doubles(in.x), doubles(in.w), c.bias ? doubles(in.b) : std::vector<double>(), shape);
    EXPECT_TRUE(near(test.run_tensor(), shape, expected, tolerance)) << "case " << &c - kCases;
  }
}

TEST(Conv, Float) { check_cases<float>(2e-5); }
TEST(Conv, Double) { check_cases<double>(1e-12); }
TEST(Conv, Half) { check_cases<Half>(4e-3); }

TEST(Conv, AutoPad) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    bool same = std::string(mode) != "VALID", upper = std::string(mode) == "SAME_UPPER";
    ConvCase c{{6, 7}, {3, 2}, {2, 2}, {}, {}, 1, 2, 3};
    // 6 -> 3 needs 1 in all, 7 -> 4 needs 1.
    if (same) c.pads = upper ? std::vector<int64_t>{0, 0, 1, 1} : std::vector<int64_t>{1, 1, 0, 0};
    Operands in = operands<float>(c);
    Shape shape;
    auto expected = reference(c, doubles(in.x), doubles(in.w), {}, shape);
    Tensor y = OpTest("Conv", 1).input(in.x).input(in.w).ints("strides", {2, 2}).set("auto_pad", mode).run_tensor();
    EXPECT_TRUE(near(y, shape, expected)) << mode;
  }
}

template <class T>
Tensor with_long_stride() {
  OpTest node("Conv", 11);
  node.input<T>({1, 1, 5}, {1, 2, 3, 4, 5}).template input<T>({1, 1, 3}, {7, 8, 9});
  return node.ints("pads", {2, 2}).ints("strides", {INT64_MAX}).run_tensor();
}

TEST(Conv, StridesMayBeAsLargeAsNumbersGo) {
  EXPECT_TRUE(near(with_long_stride<float>(), {1, 1, 1}, {9}));
  EXPECT_TRUE(near(with_long_stride<double>(), {1, 1, 1}, {9}));
}

TEST(Conv, EmptyBatch) {
  Tensor y = OpTest("Conv")
                 .input(random_tensor<float>({0, 1, 4, 4}, 1))
                 .input(random_tensor<float>({2, 1, 3, 3}, 2))
                 .run_tensor();
  EXPECT_TRUE(near(y, {0, 2, 2, 2}, {}));
}

TEST(Conv, Errors) {
  auto error = [](Shape x, Shape w, const char* name, AttributeValue value) {
    return OpTest("Conv")
        .input(random_tensor<float>(x, 1))
        .input(random_tensor<float>(w, 2))
        .attribute(name, value)
        .error();
  };
  EXPECT_NE(error({1, 3, 4, 4}, {2, 2, 3, 3}, "group", int64_t{1}).find("3 channels"), std::string::npos);
  EXPECT_NE(error({1, 2, 4, 4}, {2, 2, 3, 3}, "group", int64_t{0}).find("group is 0"), std::string::npos);
  EXPECT_NE(error({1, 2, 4, 4}, {3, 1, 3, 3}, "group", int64_t{2}).find("multiple of group"), std::string::npos);
  EXPECT_NE(error({1, 1, 2, 2}, {1, 1, 3, 3}, "group", int64_t{1}).find("larger than"), std::string::npos);
  EXPECT_NE(error({1, 1, 4, 4}, {1, 1, 3, 3}, "strides", std::vector<int64_t>{0, 1}).find("strides"),
            std::string::npos);
  EXPECT_NE(error({1, 1, 4, 4}, {1, 1, 3, 3}, "kernel_shape", std::vector<int64_t>{2, 2}).find("kernel_shape"),
            std::string::npos);
  EXPECT_NE(error({1, 1, 4, 4}, {1, 1, 3, 3}, "dilations", std::vector<int64_t>{INT64_MAX, 1})
                .find("the product 2 * 9223372036854775807 overflows"),
            std::string::npos);
}

struct TransposeCase {
  ConvCase conv;  // `in` is the small side; pads cut the result
  std::vector<int64_t> output_padding;
};

/** Scatters every input element through the kernel. */
std::vector<double> transposed(const TransposeCase& c, const std::vector<double>& x, const std::vector<double>& w,
                               int64_t (&out)[2]) {
  const ConvCase& v = c.conv;
  for (int d = 0; d < 2; ++d) {
    out[d] = (v.in[d] - 1) * v.stride[d] + (v.kernel[d] - 1) * v.dilation[d] + 1 + c.output_padding[d] - v.pads[d] -
             v.pads[d + 2];
  }
  int64_t inputs = v.channels / v.group, outputs = v.outputs / v.group;
  std::vector<double> y(v.batch * v.outputs * out[0] * out[1], 0.0);
  for (int64_t n = 0; n < v.batch; ++n)
    for (int64_t i = 0; i < v.channels; ++i)
      for (int64_t m = 0; m < outputs; ++m)
        for (int64_t p = 0; p < v.in[0] * v.in[1]; ++p)
          for (int64_t t = 0; t < v.kernel[0] * v.kernel[1]; ++t) {
            int64_t r = p / v.in[1] * v.stride[0] + t / v.kernel[1] * v.dilation[0] - v.pads[0];
            int64_t q = p % v.in[1] * v.stride[1] + t % v.kernel[1] * v.dilation[1] - v.pads[1];
            if (r < 0 || r >= out[0] || q < 0 || q >= out[1]) continue;
            int64_t channel = i / inputs * outputs + m;
            y[((n * v.outputs + channel) * out[0] + r) * out[1] + q] +=
                x[(n * v.channels + i) * v.in[0] * v.in[1] + p] * w[(i * outputs + m) * v.kernel[0] * v.kernel[1] + t];
          }
  return y;
}

template <class T>
void check_transposed(double tolerance) {
  const TransposeCase cases[] = {
      {{{3, 4}, {3, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1, 2, 3}, {0, 0}},
      {{{3, 4}, {3, 2}, {2, 3}, {1, 1}, {1, 0, 0, 1}, 2, 4, 6, 2}, {1, 0}},
      {{{4, 4}, {2, 2}, {2, 2}, {2, 1}, {1, 1, 1, 1}, 1, 3, 3, 3}, {1, 1}},
  };
  for (const TransposeCase& c : cases) {
    const ConvCase& v = c.conv;
    Tensor x = random_tensor<T>({v.batch, v.channels, v.in[0], v.in[1]}, 1);
    Tensor w = random_tensor<T>({v.channels, v.outputs / v.group, v.kernel[0], v.kernel[1]}, 2);
    int64_t out[2];
    auto expected = transposed(c, doubles(x), doubles(w), out);
    OpTest test = conv_node(v, "ConvTranspose", 11);
    Tensor y = test.input(x).input(w).ints("output_padding", c.output_padding).run_tensor();
    EXPECT_TRUE(near(y, {v.batch, v.outputs, out[0], out[1]}, expected, tolerance)) << &c - cases;
  }
}

TEST(ConvTranspose, Float) { check_transposed<float>(1e-5); }
TEST(ConvTranspose, Double) { check_transposed<double>(1e-12); }
TEST(ConvTranspose, Half) { check_transposed<Half>(4e-3); }

TEST(ConvTranspose, OutputShape) {
  // Full size 5, wanted 4: one is cut, behind for SAME_UPPER, in front else.
  auto run = [](const char* mode) {
    return OpTest("ConvTranspose")
        .input<float>({1, 1, 2}, {1, 10})
        .input<float>({1, 1, 3}, {1, 2, 3})
        .ints("strides", {2})
        .ints("output_shape", {4})
        .set("auto_pad", mode)
        .run_tensor();
  };
  EXPECT_TRUE(near(run("SAME_UPPER"), {1, 1, 4}, {1, 2, 13, 20}));
  EXPECT_TRUE(near(run("NOTSET"), {1, 1, 4}, {2, 13, 20, 30}));
}

TEST(ConvTranspose, PadsOfAutoPadAreNeverNegative) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER"}) {
    Tensor y = OpTest("ConvTranspose")
                   .input<float>({1, 1, 2}, {1, 10})
                   .input<float>({1, 1, 2}, {1, 2})
                   .ints("strides", {3})
                   .set("auto_pad", mode)
                   .run_tensor();
    EXPECT_TRUE(near(y, {1, 1, 5}, {1, 2, 0, 10, 20})) << mode;
  }
}

TEST(ConvInteger, EveryCase) {
  for (const ConvCase& c : kCases) {
    Operands in = operands<uint8_t>(c, 0, 255);
    auto x = doubles(in.x), w = doubles(in.w);
    for (double& v : x) v -= 7;
    for (double& v : w) v -= 3;
    Shape shape;
    auto expected = reference(c, x, w, {}, shape);
    OpTest test = conv_node(c, "ConvInteger", 10);
    Tensor y = test.input(in.x).input(in.w).input<uint8_t>({}, {7}).input<uint8_t>({}, {3}).run_tensor();
    EXPECT_TRUE(near(y, shape, expected, 0)) << "case " << &c - kCases;
  }
}

TEST(QLinearConv, PerChannel) {
  ConvCase c{{5, 5}, {3, 3}, {}, {}, {1, 1, 1, 1}, 1, 3, 4};
  Operands in = operands<int8_t>(c, -128, 127);
  std::vector<float> scales = {0.01f, 0.02f, 0.005f, 0.03f};
  std::vector<int32_t> bias = {100, -50, 0, 7};
  Tensor y = conv_node(c, "QLinearConv", 10)
                 .input(in.x)
                 .input<float>({}, {0.05f})
                 .input<int8_t>({}, {4})
                 .input(in.w)
                 .input<float>({4}, scales)
                 .input<int8_t>({4}, {0, 0, 0, 0})
                 .input<float>({}, {0.2f})
                 .input<int8_t>({}, {-3})
                 .input<int32_t>({4}, bias)
                 .run_tensor();
  auto x = doubles(in.x);
  for (double& v : x) v -= 4;
  Shape shape;
  auto sums = reference(c, x, doubles(in.w), {bias.begin(), bias.end()}, shape), actual = doubles(y);
  for (size_t i = 0; i < sums.size(); ++i) {
    double expected = std::clamp(std::nearbyint(sums[i] * 0.05 * scales[i / 25] / 0.2) - 3, -128.0, 127.0);
    EXPECT_NEAR(actual[i], expected, 1) << i;
  }
}

}  // namespace
}  // namespace ortolan::test
