// DFT, STFT, window functions and MelWeightMatrix against their sums in double.
#include <cmath>
#include <complex>
#include <numbers>

#include "op_test.h"

namespace ortolan::test {
namespace {

using Complex = std::complex<double>;

std::vector<Complex> transform(const std::vector<Complex>& x, bool inverse) {
  size_t n = x.size();
  std::vector<Complex> y(n);
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = 0; i < n; ++i) {
      double angle = 2 * std::numbers::pi * static_cast<double>(i * k % n) / static_cast<double>(n);
      y[k] += x[i] * std::polar(1.0, inverse ? angle : -angle);
    }
    if (inverse) y[k] /= static_cast<double>(n);
  }
  return y;
}

std::vector<double> flat(const std::vector<Complex>& x, size_t count) {
  std::vector<double> y;
  for (size_t i = 0; i < count; ++i) y.push_back(x[i].real()), y.push_back(x[i].imag());
  return y;
}

TEST(DFT, EveryLength) {
  for (int64_t n : {1, 2, 3, 8, 12, 31, 64, 100}) {
    for (bool inverse : {false, true}) {
      Tensor x = random_tensor<float>({1, n, 2}, test_seed());
      auto values = doubles(x);
      std::vector<Complex> signal;
      for (int64_t i = 0; i < n; ++i) signal.emplace_back(values[2 * i], values[2 * i + 1]);
      Tensor y = OpTest("DFT", 17).input(x).set("inverse", inverse).run_tensor();
      EXPECT_TRUE(near(y, {1, n, 2}, flat(transform(signal, inverse), n), 1e-5)) << n << " " << inverse;
    }
  }
}

TEST(DFT, OnesidedAndBack) {
  for (int64_t n : {6, 7}) {
    Tensor x = random_tensor<double>({1, n, 1}, test_seed());
    std::vector<Complex> signal;
    for (double v : doubles(x)) signal.emplace_back(v, 0);
    Tensor half = OpTest("DFT", 20).input(x).set("onesided", 1).run_tensor();
    EXPECT_TRUE(near(half, {1, n / 2 + 1, 2}, flat(transform(signal, false), n / 2 + 1), 1e-12));
    Tensor back =
        OpTest("DFT", 20).input(half).input<int64_t>({}, {n}).set("onesided", 1).set("inverse", 1).run_tensor();
    EXPECT_TRUE(near(back, {1, n, 1}, doubles(x), 1e-12));
  }
}

TEST(DFT, LengthAxisAndErrors) {
  Tensor x = random_tensor<float>({2, 3, 4, 1}, 1);
  auto node = [&](int64_t length, int64_t axis) {
    return OpTest("DFT", 20).input(x).input<int64_t>({}, {length}).input<int64_t>({}, {axis});
  };
  auto v = doubles(x);
  Tensor y = node(5, 1).run_tensor();
  std::vector<double> expected(2 * 5 * 4 * 2);
  for (int b = 0; b < 2; ++b) {
    for (int c = 0; c < 4; ++c) {
      std::vector<Complex> line(5);
      for (int i = 0; i < 3; ++i) line[i] = v[(b * 3 + i) * 4 + c];
      auto result = transform(line, false);
      for (int i = 0; i < 5; ++i) {
        expected[((b * 5 + i) * 4 + c) * 2] = result[i].real();
        expected[((b * 5 + i) * 4 + c) * 2 + 1] = result[i].imag();
      }
    }
  }
  EXPECT_TRUE(near(y, {2, 5, 4, 2}, expected));
  EXPECT_NE(node(0, 1).error().find("dft_length is 0"), std::string::npos);
  EXPECT_NE(node(5, 3).error().find("last dimension"), std::string::npos);
  EXPECT_NE(node(5, 4).error().find("outside"), std::string::npos);
}

TEST(STFT, FramesWithAWindow) {
  Tensor x = random_tensor<float>({2, 10, 1}, 1), window = random_tensor<float>({4}, 2);
  Tensor y = OpTest("STFT", 17).input(x).input<int64_t>({}, {3}).input(window).run_tensor();
  auto v = doubles(x), w = doubles(window);
  std::vector<double> expected;
  for (int b = 0; b < 2; ++b) {
    for (int frame = 0; frame < 3; ++frame) {
      std::vector<Complex> line;
      for (int i = 0; i < 4; ++i) line.emplace_back(v[b * 10 + frame * 3 + i] * w[i], 0);
      for (double part : flat(transform(line, false), 3)) expected.push_back(part);
    }
  }
  EXPECT_TRUE(near(y, {2, 3, 3, 2}, expected));
  auto error = [&](int64_t step, int64_t length) {
    return OpTest("STFT", 17).input(x).input<int64_t>({}, {step}).no_input().input<int64_t>({}, {length}).error();
  };
  EXPECT_NE(error(0, 4).find("frame_step is 0"), std::string::npos);
  EXPECT_NE(error(1, 11).find("frame_length 11"), std::string::npos);
  EXPECT_NE(OpTest("STFT", 17).input(x).input<int64_t>({}, {1}).error().find("neither window nor frame_length"),
            std::string::npos);
}

TEST(Windows, Formulas) {
  for (bool periodic : {true, false}) {
    auto run = [&](const char* op) {
      return OpTest(op, 17).input<int32_t>({}, {6}).set("periodic", periodic).set("output_datatype", 11).run_tensor();
    };
    std::vector<double> hann, hamming, blackman;
    for (int i = 0; i < 6; ++i) {
      double t = 2 * std::numbers::pi * i / (periodic ? 6 : 5);
      hann.push_back(0.5 - 0.5 * std::cos(t));
      hamming.push_back(25.0 / 46 - 21.0 / 46 * std::cos(t));
      blackman.push_back(0.42 - 0.5 * std::cos(t) + 0.08 * std::cos(2 * t));
    }
    EXPECT_TRUE(near(run("HannWindow"), {6}, hann, 1e-12));
    EXPECT_TRUE(near(run("HammingWindow"), {6}, hamming, 1e-12));
    EXPECT_TRUE(near(run("BlackmanWindow"), {6}, blackman, 1e-12));
  }
  std::vector<double> long_one;
  for (int i = 0; i < 1003; ++i) {
    double t = 2 * std::numbers::pi * i / 1003;
    long_one.push_back(0.42 - 0.5 * std::cos(t) + 0.08 * std::cos(2 * t));
  }
  EXPECT_TRUE(near(OpTest("BlackmanWindow", 17).input<int64_t>({}, {1003}).run_tensor(), {1003}, long_one, 1e-7));
  EXPECT_TRUE(near(OpTest("HannWindow", 17).input<int64_t>({}, {0}).run_tensor(), {0}, {}));
  EXPECT_NE(OpTest("HannWindow", 17).input<int64_t>({}, {-1}).error().find("size is -1"), std::string::npos);
}

TEST(MelWeightMatrix, TrianglesPeakAtOne) {
  auto node = [](int64_t rate) {
    return OpTest("MelWeightMatrix", 17)
        .input<int64_t>({}, {4})
        .input<int64_t>({}, {64})
        .input<int64_t>({}, {rate})
        .input<float>({}, {0})
        .input<float>({}, {4000});
  };
  Tensor y = node(8192).run_tensor();
  ASSERT_EQ(join(y.shape()), "[33,4]");
  auto v = doubles(y);
  for (int column = 0; column < 4; ++column) {
    double largest = 0;
    for (int row = 0; row < 33; ++row) largest = std::max(largest, v[row * 4 + column]);
    EXPECT_EQ(largest, 1) << column;
  }
  EXPECT_NE(node(0).error().find("sample_rate is 0"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
