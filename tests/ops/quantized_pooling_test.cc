// Pools and reductions of quantised bytes, channels second and last, against real arithmetic.
#include <cmath>
#include <limits>

#include "byte_reference.h"
#include "nd_index.h"

namespace ortolan::test {
namespace {

OpTest node(const char* op) { return OpTest(op, 1, "com.microsoft"); }

/** [N, C, H, W] as [N, H, W, C]. */
Shape last(const Shape& s) { return {s[0], s[2], s[3], s[1]}; }
Shape laid_out(const Shape& s, bool channels_last) { return channels_last ? last(s) : s; }
int64_t place(const Shape& s, bool channels_last, int64_t n, int64_t c, int64_t h, int64_t w) {
  return channels_last ? ((n * s[2] + h) * s[3] + w) * s[1] + c : ((n * s[1] + c) * s[2] + h) * s[3] + w;
}

struct Window {
  int64_t kernel, stride, pad;
};

/** Calls body(place of the result, places in the window) for each result. */
template <class Body>
void for_windows(const Shape& in, const Shape& out, bool channels_last, Window window, Body&& body) {
  for_each_index(out, [&](const Index& at) {
    std::vector<int64_t> taps;
    for (int64_t i = 0; i < window.kernel * window.kernel; ++i) {
      int64_t h = at[2] * window.stride - window.pad + i / window.kernel;
      int64_t w = at[3] * window.stride - window.pad + i % window.kernel;
      bool inside = h >= 0 && h < in[2] && w >= 0 && w < in[3];
      if (inside) taps.push_back(place(in, channels_last, at[0], at[1], h, w));
    }
    body(place(out, channels_last, at[0], at[1], at[2], at[3]), taps);
  });
}

OpTest& set_window(OpTest& test, Window w) {
  return test.ints("kernel_shape", {w.kernel, w.kernel})
      .ints("strides", {w.stride, w.stride})
      .ints("pads", {w.pad, w.pad, w.pad, w.pad});
}

template <class T>
class BytePools : public OnBytes<T> {
 protected:
  void check_average(const Shape& in, const Shape& out, Window window, bool channels_last, bool count_pad) {
    RandomBytes<T> x(laid_out(in, channels_last), test_seed());
    OpTest test = node("QLinearAveragePool").set("channels_last", channels_last).set("count_include_pad", count_pad);
    x.add_to(set_window(test, window));
    test.template input<float>({}, {0.04f}).template input<T>({}, {T(5)});
    std::vector<double> expected(static_cast<size_t>(out.element_count()));
    for_windows(in, out, channels_last, window, [&](int64_t result, const std::vector<int64_t>& taps) {
      for (int64_t tap : taps) expected[result] += x.value(tap);
      expected[result] /= count_pad ? double(window.kernel * window.kernel) : double(taps.size());
    });
    EXPECT_TRUE((codes_near<T>(test.run_tensor(), laid_out(out, channels_last), expected, 0.04f, 5)));
  }
  void check_global(const Shape& in, bool channels_last) {
    RandomBytes<T> x(laid_out(in, channels_last), test_seed());
    OpTest test = node("QLinearGlobalAveragePool").set("channels_last", channels_last);
    x.add_to(test);
    test.template input<float>({}, {0.01f}).template input<T>({}, {T(5)});
    std::vector<double> expected(static_cast<size_t>(in[0] * in[1]));
    for_each_index(in, [&](const Index& at) {
      expected[at[0] * in[1] + at[1]] +=
          x.value(place(in, channels_last, at[0], at[1], at[2], at[3])) / double(in[2] * in[3]);
    });
    EXPECT_TRUE((codes_near<T>(test.run_tensor(), laid_out({in[0], in[1], 1, 1}, channels_last), expected, 0.01f, 5)));
  }
};
TYPED_TEST_SUITE(BytePools, ByteTypes);

TYPED_TEST(BytePools, Average) {
  for (bool channels_last : {false, true}) {
    this->check_average({2, 3, 6, 8}, {2, 3, 3, 4}, {2, 2, 0}, channels_last, false);
    this->check_average({1, 17, 5, 5}, {1, 17, 5, 5}, {3, 1, 1}, channels_last, false);
    this->check_average({1, 40, 5, 7}, {1, 40, 3, 4}, {3, 2, 1}, channels_last, true);
    this->check_average({0, 2, 4, 4}, {0, 2, 2, 2}, {2, 2, 0}, channels_last, false);
  }
}

TYPED_TEST(BytePools, Global) {
  for (bool channels_last : {false, true}) {
    this->check_global({2, 3, 5, 7}, channels_last);
    this->check_global({1, 70, 8, 9}, channels_last);
    this->check_global({3, 1, 1, 1}, channels_last);
    this->check_global({0, 3, 2, 2}, channels_last);
  }
}

TYPED_TEST(BytePools, NhwcMaxPool) {
  Shape in{2, 19, 6, 7}, out{2, 19, 3, 4};
  RandomBytes<TypeParam> x(last(in), test_seed());
  OpTest test = node("NhwcMaxPool");
  set_window(test, {3, 2, 1}).input(x.bytes);
  std::vector<TypeParam> expected(static_cast<size_t>(out.element_count()), std::numeric_limits<TypeParam>::min());
  for_windows(in, out, true, {3, 2, 1}, [&](int64_t result, const std::vector<int64_t>& taps) {
    for (int64_t tap : taps) expected[result] = std::max(expected[result], x.bytes.template data<TypeParam>()[tap]);
  });
  EXPECT_TRUE(equal<TypeParam>(test.run_tensor(), last(out), expected));
}

TYPED_TEST(BytePools, Reductions) {
  Shape shape{3, 4, 35};
  RandomBytes<TypeParam> x(shape, test_seed());
  std::vector<double> means(12), sums(3 * 35);
  for_each_index(shape, [&](const Index& at) {
    means[at[0] * 4 + at[1]] += x.value(flat(shape, at)) / 35;
    sums[at[0] * 35 + at[2]] += x.bytes.template data<TypeParam>()[flat(shape, at)];
  });
  OpTest mean = node("QLinearReduceMean").ints("axes", {-1}).set("keepdims", 0);
  x.add_to(mean);
  mean.template input<float>({}, {0.02f}).template input<TypeParam>({}, {5});
  EXPECT_TRUE((codes_near<TypeParam>(mean.run_tensor(), {3, 4}, means, 0.02f, 5)));
  Tensor sum = node("ReduceSumInteger").ints("axes", {1}).input(x.bytes).run_tensor();
  EXPECT_EQ(sum.type(), std::is_signed_v<TypeParam> ? ElementType::kInt32 : ElementType::kUInt32);
  EXPECT_EQ(sum.shape(), (Shape{3, 1, 35}));
  EXPECT_EQ(doubles(sum), sums);
  EXPECT_EQ(node("ReduceSumInteger").input(x.bytes).set("keepdims", 0).run_tensor().rank(), 0u);
}

TEST(QLinearAveragePool, Errors) {
  auto test = [](const char* op, Shape shape) {
    Tensor x(ElementType::kUInt8, shape);
    std::fill_n(x.mutable_data<uint8_t>(), x.element_count(), uint8_t{1});
    OpTest result = node(op);
    return result.input(x).input<float>({}, {1}).no_input().input<float>({}, {1});
  };
  EXPECT_NE(test("QLinearAveragePool", {1, 1, 3}).ints("kernel_shape", {2, 2}).error().find("rank"), std::string::npos);
  EXPECT_NE(test("QLinearAveragePool", {1, 1, 3}).error().find("kernel_shape is missing"), std::string::npos);
  EXPECT_NE(test("QLinearAveragePool", {1, 1, 3}).ints("kernel_shape", {-1}).error().find("kernel_shape"),
            std::string::npos);
  EXPECT_NE(
      test("QLinearGlobalAveragePool", {3}).error().find("input 0 has rank 1 (shape [3]), but it must be 2 or more"),
      std::string::npos);
  EXPECT_NE(test("QLinearGlobalAveragePool", {1, 1, 0}).error().find("empty planes"), std::string::npos);
  EXPECT_NE(test("QLinearReduceMean", {2, 2}).ints("axes", {2}).error().find("axis 2 is outside [-2, 1] for rank 2"),
            std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
