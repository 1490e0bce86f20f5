// Tests of pooling against direct definitions, on every instruction set.
#include "cpu/kernels/convolution/pooling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/small_float.h"
#include "base/threads/thread_pool.h"
#include "isa_test.h"

namespace ortolan::cpu::kernels {
namespace {

int64_t volume(const int64_t (&dims)[3]) { return dims[0] * dims[1] * dims[2]; }

struct Taps {
  std::vector<int64_t> inside;  // indices in the plane
  int64_t padded = 0;           // taps inside the padded plane
};

Taps taps_of(const PoolGeometry& g, int64_t out) {
  const int64_t o[] = {out / (g.out[2] * g.out[1]), out / g.out[2] % g.out[1], out % g.out[2]};
  Taps taps;
  for (int64_t tap = 0; tap < volume(g.kernel); ++tap) {
    const int64_t t[] = {tap / (g.kernel[2] * g.kernel[1]), tap / g.kernel[2] % g.kernel[1], tap % g.kernel[2]};
    bool inside = true, padded = true;
    int64_t at = 0;
    for (int a = 0; a < 3; ++a) {
      const int64_t i = o[a] * g.stride[a] + t[a] * g.dilation[a] - g.pad_begin[a];
      inside = inside && i >= 0 && i < g.in[a];
      padded = padded && i < g.in[a] + g.pad_end[a];
      at = at * g.in[a] + i;
    }
    if (inside) taps.inside.push_back(at);
    taps.padded += padded;
  }
  return taps;
}

class Pooling : public IsaTest {
 protected:
  PoolGeometry random_geometry() {
    PoolGeometry g;
    g.planes = integer(1, integer(0, 3) == 0 ? 40 : 4);
    const int rank = static_cast<int>(integer(1, 3));
    for (int a = 3 - rank; a < 3; ++a) {
      g.kernel[a] = integer(1, 6);
      g.stride[a] = integer(1, 3);
      g.dilation[a] = integer(1, 2);
      g.pad_begin[a] = integer(0, g.kernel[a] - 1);
      g.pad_end[a] = integer(0, g.kernel[a] - 1);
      g.in[a] = (g.kernel[a] - 1) * g.dilation[a] + integer(1, a == 2 && g.planes < 4 ? 150 : 12);
      const int64_t reach = g.in[a] + g.pad_begin[a] + g.pad_end[a] - (g.kernel[a] - 1) * g.dilation[a] - 1;
      g.out[a] = (reach + integer(0, 1) * (g.stride[a] - 1)) / g.stride[a] + 1;  // sometimes rounded up
      if ((g.out[a] - 1) * g.stride[a] >= g.in[a] + g.pad_begin[a]) --g.out[a];
    }
    return g;
  }

  template <class T>
  void check_max(const PoolGeometry& g) {
    std::vector<T> x(g.planes * volume(g.in)), y(g.planes * volume(g.out)), z(y.size());
    for (T& v : x) v = static_cast<T>(integer(std::is_unsigned_v<T> ? 0 : -100, 100));
    std::vector<int64_t> rows(y.size()), columns(y.size());
    max_pool<T>(&pool_, g, x.data(), y.data(), nullptr, false);
    max_pool<T>(&pool_, g, x.data(), z.data(), rows.data(), false);
    max_pool<T>(&pool_, g, x.data(), z.data(), columns.data(), true);
    EXPECT_EQ(y, z);
    for (size_t i = 0; i < y.size(); ++i) {
      const int64_t plane = i / volume(g.out), offset = plane * volume(g.in);
      T best = std::numeric_limits<T>::lowest();
      int64_t at = -1;
      for (int64_t tap : taps_of(g, i % volume(g.out)).inside) {
        if (at < 0 || x[offset + tap] > best) best = x[offset + tap], at = tap;
      }
      ASSERT_EQ(y[i], best) << i;
      if (at < 0) continue;
      ASSERT_EQ(rows[i], offset + at);
      const int64_t w = at % g.in[2], h = at / g.in[2] % g.in[1], d = at / (g.in[2] * g.in[1]);
      ASSERT_EQ(columns[i], offset + (w * g.in[1] + h) * g.in[0] + d);
    }
  }

  base::ThreadPool pool_{[] {
    base::ThreadPool::Options options;
    options.threads = 2;
    return options;
  }()};
};

TEST_P(Pooling, MaxOfEveryType) {
  for (int round = 0; round < 60 && !HasFatalFailure(); ++round) {
    const PoolGeometry g = random_geometry();
    check_max<float>(g);
    check_max<double>(g);
    check_max<int16_t>(g);
    check_max<int8_t>(g);
    check_max<uint8_t>(g);
  }
}

// Any bits: numbers of both signs, zeros, infinities and what is no number.
TEST_P(Pooling, MaxOfHalves) {
  auto number = [](uint16_t bits, bool bfloat16) {
    return bfloat16 ? std::bit_cast<float>(uint32_t{bits} << 16) : base::half_value(bits);
  };
  for (int round = 0; round < 120 && !HasFatalFailure(); ++round) {
    const bool bfloat16 = round % 2 == 1;
    const PoolGeometry g = random_geometry();
    std::vector<uint16_t> x(g.planes * volume(g.in)), y(g.planes * volume(g.out));
    const int64_t odd = integer(0, 2);  // of three elements, none or some are special
    for (uint16_t& bits : x) {
      const uint16_t special[] = {0, 0x8000, 0x7C00, 0xFC00, 0x7F80, 0xFF80, 0x7FFF, 0xFFFF, 0x7C01, 0xFC01, 0x0001};
      bits = integer(0, 2) < odd ? special[integer(0, 10)] : static_cast<uint16_t>(integer(0, 0xFFFF));
    }
    max_pool_halves(&pool_, g, bfloat16 ? 0x7F80 : 0x7C00, x.data(), y.data());
    for (size_t i = 0; i < y.size(); ++i) {
      const int64_t offset = static_cast<int64_t>(i) / volume(g.out) * volume(g.in);
      float best = -std::numeric_limits<float>::infinity();
      for (int64_t tap : taps_of(g, static_cast<int64_t>(i) % volume(g.out)).inside) {
        const float v = number(x[offset + tap], bfloat16);
        if (v > best || (v == best && !std::signbit(v))) best = v;
      }
      ASSERT_EQ(number(y[i], bfloat16), best) << "round " << round << " at " << i;
      ASSERT_EQ(y[i] >> 15 != 0, std::signbit(best)) << "round " << round << " at " << i;
    }
  }
}

TEST_P(Pooling, AverageAndLp) {
  for (int round = 0; round < 100; ++round) {
    const PoolGeometry g = random_geometry();
    std::vector<float> x(g.planes * volume(g.in)), mean(g.planes * volume(g.out)), padded_mean(mean), l2(mean),
        l3(mean);
    for (float& v : x) v = static_cast<float>(integer(-100, 100)) / 16;
    average_pool(&pool_, g, false, x.data(), mean.data());
    average_pool(&pool_, g, true, x.data(), padded_mean.data());
    lp_pool(&pool_, g, 2, x.data(), l2.data());
    lp_pool(&pool_, g, 3, x.data(), l3.data());
    for (size_t i = 0; i < mean.size(); ++i) {
      const Taps taps = taps_of(g, i % volume(g.out));
      double sum = 0, squares = 0, cubes = 0;
      for (int64_t tap : taps.inside) {
        const double v = x[i / volume(g.out) * volume(g.in) + tap];
        sum += v;
        squares += v * v;
        cubes += std::fabs(v * v * v);
      }
      if (!taps.inside.empty()) {
        ASSERT_NEAR(mean[i], sum / double(taps.inside.size()), 1e-5);
      }
      ASSERT_NEAR(padded_mean[i], sum / double(taps.padded), 1e-5);
      ASSERT_NEAR(l2[i], std::sqrt(squares), 1e-4);
      ASSERT_NEAR(l3[i], std::cbrt(cubes), 1e-4);
    }
  }
}

TEST_P(Pooling, MaxOfChannelsLast) {
  for (int round = 0; round < 60; ++round) {
    const PoolGeometry g = random_geometry();
    const int64_t channels = integer(1, 90), in = volume(g.in), out = volume(g.out);
    std::vector<uint8_t> x(g.planes * in * channels), y(g.planes * out * channels);
    for (uint8_t& v : x) v = static_cast<uint8_t>(integer(0, 255));
    max_pool_channels_last(&pool_, g, channels, x.data(), y.data());
    for (int64_t i = 0; i < g.planes * out; ++i) {
      const Taps taps = taps_of(g, i % out);
      for (int64_t c = 0; c < channels; ++c) {
        uint8_t best = 0;
        for (int64_t tap : taps.inside) best = std::max(best, x[(i / out * in + tap) * channels + c]);
        ASSERT_EQ(y[i * channels + c], best) << i << ", channel " << c;
      }
    }
  }
}

TEST_P(Pooling, AbsurdWindowsTakeNoMemory) {
  PoolGeometry g;
  g.planes = 1;
  for (int a = 1; a < 3; ++a) {
    g.in[a] = 3, g.out[a] = 2;
    g.kernel[a] = g.stride[a] = g.pad_begin[a] = int64_t{1} << 30;
  }
  const float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  float y[4];
  max_pool<float>(nullptr, g, x, y, nullptr, false);
  EXPECT_EQ(y[3], 9);
  average_pool<float>(nullptr, g, false, x, y);
  EXPECT_EQ(y[3], 5);
}

ORTOLAN_FOR_EACH_ISA(Pooling);

}  // namespace
}  // namespace ortolan::cpu::kernels
