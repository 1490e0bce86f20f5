// Tests of Fourier transforms against their sums in long double, on every instruction set.
#include "cpu/kernels/transforms/fourier.h"

#include <complex>
#include <numbers>

#include "../thrown_text.h"
#include "base/error.h"
#include "base/threads/run_scope.h"
#include "isa_test.h"

namespace ortolan::cpu::kernels {
namespace {

using Complex = std::complex<double>;
using Exact = std::complex<long double>;

class FourierTransform : public IsaTest {
 protected:
  std::vector<Complex> line(int64_t length, bool real) {
    std::normal_distribution<double> distribution;
    std::vector<Complex> values;
    for (int64_t i = 0; i < length; ++i) {
      const double re = distribution(random_);
      values.emplace_back(re, real ? 0 : distribution(random_));
    }
    return values;
  }

  static Exact turn(int64_t part, int64_t whole) {
    return std::polar(1.0L, -2 * std::numbers::pi_v<long double> * static_cast<long double>(part % whole) /
                                static_cast<long double>(whole));
  }

  static Exact sum(const std::vector<Complex>& x, int64_t k, bool inverse) {
    const auto n = static_cast<int64_t>(x.size());
    Exact total = 0;
    for (int64_t i = 0; i < n; ++i) {
      const Exact factor = turn(i * k, n);
      total += Exact(x[i]) * (inverse ? std::conj(factor) : factor);
    }
    return total;
  }

  // Results of the lines at `every` so many places against their sums.
  void check(int64_t length, int64_t count, bool real, bool inverse, int64_t every = 1) {
    const Fourier fourier(length, real);
    std::vector<std::vector<Complex>> x;
    for (int64_t l = 0; l < count; ++l) x.push_back(line(length, real));
    FourierLines lines(fourier, count, inverse);
    for (int64_t i = 0; i < 2 * length; ++i) {  // the second time after a run
      if (i == length) lines.run();
      for (int64_t l = 0; l < count; ++l) {
        if (real) {
          lines.real_value(i % length)[l] = x[l][i % length].real();
        } else {
          lines.complex_value(i % length).re[l] = x[l][i % length].real();
          lines.complex_value(i % length).im[l] = x[l][i % length].imag();
        }
      }
    }
    lines.run();
    const double scale = 4e-16 * std::sqrt(static_cast<double>(length)) * (4 + std::log2(static_cast<double>(length)));
    for (int64_t k = 0; k <= (real ? length / 2 : length - 1); k += every) {
      for (int64_t l = 0; l < count; ++l) {
        const Exact want = sum(x[l], k, inverse);
        const Complex got(lines.result(k).re[l], lines.result(k).im[l]);
        ASSERT_LE(std::abs(Exact(got) - want), scale)
            << "result " << k << " of line " << l << ", length " << length << ", " << count << " lines, real " << real;
      }
    }
  }
};

TEST_P(FourierTransform, EveryLength) {
  for (int64_t length = 1; length <= 70; ++length) {
    for (int64_t count : {1, 3, 8}) {
      for (bool real : {false, true}) check(length, count, real, false);
      check(length, count, false, true);
    }
  }
}

// Powers, products of all passes' factors, primes beyond them, and lengths of which only the half has such a prime.
TEST_P(FourierTransform, LongerLengths) {
  for (int64_t length : {128, 210, 400, 512, 841, 961, 1001, 1009, 2 * 509, 2310, 4096}) {
    for (bool real : {false, true}) check(length, 8, real, false, 37);
    check(length, 2, false, true, 37);
  }
}

TEST_P(FourierTransform, OfOneLongLine) {
  for (int64_t length : {48000, 65536, 65537}) check(length, 1, true, false, 9001);
}

TEST_P(FourierTransform, LinesDoNotMeet) {
  const Fourier fourier(12, true);
  FourierLines lines(fourier, 3, false);
  for (int64_t i = 0; i < 12; ++i) {
    lines.real_value(i)[0] = HUGE_VAL, lines.real_value(i)[1] = 1, lines.real_value(i)[2] = NAN;
  }
  lines.run();
  for (int64_t k = 0; k <= 6; ++k) {
    EXPECT_EQ(lines.result(k).re[1], k == 0 ? 12 : 0);
    EXPECT_EQ(lines.result(k).im[1], 0);
  }
}

TEST_P(FourierTransform, LinesAtOnceStayNear) {
  EXPECT_EQ(Fourier(512).lines_at_once(1000), kernels().fourier->lanes);
  EXPECT_EQ(Fourier(512).lines_at_once(1), 1);
  EXPECT_EQ(Fourier(1 << 20).lines_at_once(1000), 1);
  EXPECT_LE(Fourier(2).lines_at_once(1000), Fourier::kMostLines);
}

TEST_P(FourierTransform, CanBeStopped) {
  const Fourier fourier(1 << 20);
  FourierLines lines(fourier, 1, false);
  for (int64_t i = 0; i < fourier.length(); ++i) *lines.complex_value(i).re = *lines.complex_value(i).im = 1;
  const std::atomic<bool> stop{true};
  const base::ScopedRunScope scope(base::RunScope{.terminate = &stop});
  EXPECT_TRUE(test::throws("terminate", [&] { lines.run(); }));
}

ORTOLAN_FOR_EACH_ISA(FourierTransform);

}  // namespace
}  // namespace ortolan::cpu::kernels
