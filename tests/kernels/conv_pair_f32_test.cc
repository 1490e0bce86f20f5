// Tests of pairs of convolutions: the two one after the other give the same, on every instruction set and by any number
// of threads; and of their division among 1 to 128 threads.
#include "cpu/kernels/convolution/conv_pair_f32.h"

#include <algorithm>
#include <cmath>

#include "base/cpu_features.h"
#include "conv_reference.h"
#include "cpu/kernels/convolution/conv_division.h"
#include "isa_test.h"
#include "pools.h"
#include "schedule.h"

namespace ortolan::cpu::kernels {
namespace {

struct PairCase {
  int64_t batch, depth, channels, rows, width, window, step;
  Activation first, second;
};

/** A side of square images whose channels are so many times what is computed one convolution after the other. */
int64_t large_side(int64_t channels, double times) {
  const double floats = times * static_cast<double>(base::cpu_features().l2_bytes) / 8 / sizeof(float);
  return static_cast<int64_t>(std::sqrt(floats / static_cast<double>(channels))) + 1;
}

class ConvPairF32 : public IsaTest {
 protected:
  void set(const PairCase& c) {
    first_ = plane(c.depth, c.channels, 1, c.rows, 1, 1);
    second_ = plane(c.channels, c.channels, c.channels, c.rows, c.window, c.step);
    first_.batch = second_.batch = c.batch;
    first_.in[2] = first_.out[2] = second_.in[2] = c.width;
    set_out(second_, {0, c.window / 2, c.window / 2});
    x_ = normal(c.batch * c.depth * volume(first_.in));
    first_bias_ = normal(c.channels), second_bias_ = normal(c.channels);
    ConvPacking packing;
    packing.slices = 0;
    first_weights_ = pack_conv_weights(nullptr, first_, normal(c.channels * c.depth).data(), packing);
    second_weights_ = pack_conv_weights(nullptr, second_, normal(c.channels * c.window * c.window).data(), packing);
    first_epilogue_ = {first_bias_.data(), nullptr, c.first};
    second_epilogue_ = {second_bias_.data(), nullptr, c.second};
  }
  int64_t between_count() const { return second_.batch * second_.in_channels * volume(second_.in); }
  std::vector<float> blank() const {
    return std::vector<float>(second_.batch * second_.out_channels * volume(second_.out), 77);
  }
  std::vector<float> apart() const {
    std::vector<float> between(between_count()), y = blank();
    conv(nullptr, first_, x_.data(), first_weights_, first_epilogue_, between.data());
    conv(nullptr, second_, between.data(), second_weights_, second_epilogue_, y.data());
    return y;
  }
  /** Counts in asked_ how often memory for all values between was asked for. */
  std::vector<float> paired(base::ThreadPool* pool) {
    std::vector<float> between, y = blank();
    const ConvPair pair{first_, second_, first_weights_, second_weights_, first_epilogue_, second_epilogue_};
    conv_pair(
        pool, pair, x_.data(),
        [&](int64_t floats) {
          EXPECT_EQ(floats, between_count());
          ++asked_;
          between.resize(floats);
          return between.data();
        },
        y.data());
    return y;
  }
  ConvGeometry first_, second_;
  std::vector<float> x_, first_bias_, second_bias_;
  PackedConvWeights first_weights_, second_weights_;
  ConvEpilogue first_epilogue_, second_epilogue_;
  int asked_ = 0;
};

// Bands end within vectors, sums run in blocks, channels are no multiple of a tile.
TEST_P(ConvPairF32, LargeOnesGoThroughTheCachesAndGiveTheSame) {
  const Activation clip{UnaryOp::kClip, -1, 1}, silu{UnaryOp::kSilu}, none;
  const int64_t side = large_side(37, 3);
  for (const PairCase& c : {PairCase{1, 5, 37, side, side, 3, 1, clip, none},
                            {2, 16, 37, side, side + 3, 3, 2, silu, clip},
                            {1, 3, 37, side / 2, 2 * side + 5, 5, 2, none, silu},
                            {1, 260, 130, large_side(130, 3), large_side(130, 3) + 1, 7, 1, clip, clip}}) {
    set(c);
    asked_ = 0;
    const std::vector<float> y = paired(nullptr);
    EXPECT_EQ(asked_, 0) << "computed one after the other";
    EXPECT_EQ(y, apart()) << c.rows << "x" << c.width << " window " << c.window;
  }
}

TEST_P(ConvPairF32, SmallOnesAndOthersGoOneAfterTheOther) {
  const Activation relu{UnaryOp::kRelu};
  for (const PairCase& c : {PairCase{1, 8, 24, 9, 11, 3, 1, relu, relu},
                            {3, 8, 10, 7, 7, 5, 2, relu, {}},
                            {1, 4, 37, large_side(37, 3), large_side(37, 3), 4, 1, {}, relu},
                            {1, 4, 1, large_side(1, 3), large_side(1, 3), 3, 1, {}, relu}}) {
    set(c);
    asked_ = 0;
    EXPECT_EQ(paired(nullptr), apart());
    EXPECT_EQ(asked_, 1);
  }
}

TEST_P(ConvPairF32, ThreadsDoNotChangeResults) {
  const Activation clip{UnaryOp::kClip, 0, 6};
  for (int64_t step : {1, 2}) {
    set({1, 12, 50, large_side(50, 4), large_side(50, 4) + 1, 3, step, clip, clip});
    const std::vector<float> alone = paired(nullptr);
    for (int threads : kThreadCounts) {
      EXPECT_EQ(paired(&pool_of(threads)), alone) << threads << " threads";
    }
  }
}

TEST_P(ConvPairF32, PaddingBeyondTheImage) {
  set({1, 4, 64, large_side(64, 3), large_side(64, 3), 3, 1, {}, {}});
  second_.pad_begin[1] = 5, second_.pad_begin[2] = 4;
  set_out(second_, {0, 6, 3});
  EXPECT_EQ(paired(nullptr), apart());
  EXPECT_EQ(asked_, 0);
}

// Whole bands read nothing but padding, beside a plane with a column more than whole vectors.
TEST_P(ConvPairF32, RowsOfPaddingAlone) {
  const int64_t side = large_side(8, 6) / 8 * 8 + 9;  // not even a tile of channels stays near whole
  set({1, 4, 8, side, side, 3, 1, {}, {}});
  set_out(second_, {0, side / 2, 1});
  EXPECT_EQ(paired(nullptr), apart());
  EXPECT_EQ(asked_, 0);
}

// Channels that are whole pages apart.
TEST_P(ConvPairF32, PlanesOfWholePages) {
  const int64_t rows = large_side(64, 3) * large_side(64, 3) / 1024 + 1;
  set({1, 20, 64, 32 * rows, 32, 3, 1, {}, {}});
  EXPECT_EQ(paired(nullptr), apart());
  EXPECT_EQ(asked_, 0);
}

ORTOLAN_FOR_EACH_ISA(ConvPairF32);

std::vector<PairSize> pair_sizes() {
  std::vector<PairSize> all;
  for (int64_t images : {1, 8}) {
    for (int64_t scale : {1, 2, 3}) {  // 224x224 pictures and larger ones
      all.push_back({images, 16, 96, 112 * scale, 112 * scale, 56 * scale, 56 * scale, 3, 2, 8, 16});
      all.push_back({images, 24, 144, 56 * scale, 56 * scale, 56 * scale, 56 * scale, 3, 1, 8, 16});
      all.push_back({images, 32, 192, 28 * scale, 28 * scale, 14 * scale, 14 * scale, 5, 2, 6, 8});
    }
  }
  all.push_back({1, 4, 16, 1, 1 << 20, 1, 1 << 20, 3, 1, 4, 4});
  all.push_back({1, 4, 16, 1 << 20, 1, 1 << 20, 1, 3, 1, 4, 4});
  return all;
}

std::vector<double> costs_of(const PairSize& s, const PairDivision& d) {
  std::vector<double> costs;
  for (int64_t image = 0; image < s.images; ++image) {
    for (int64_t row = 0; row < s.out_rows; row += d.rows) {
      for (int64_t channel = 0; channel < s.channels; channel += d.channels) {
        const auto rows = static_cast<double>(std::min(d.rows, s.out_rows - row));
        costs.push_back(pair_task_ns(s, rows, static_cast<double>(std::min(d.channels, s.channels - channel))));
      }
    }
  }
  return costs;
}

TEST(ConvPairDivision, KeepsValuesNearAndThreadsBusy) {
  constexpr int64_t kL2Bytes = 2 << 20;
  for (const PairSize& s : pair_sizes()) {
    int banded = 0;
    for (int threads = 1; threads <= kMostThreads; ++threads) {
      const PairDivision d = divide_pair(s, kL2Bytes, threads);
      if (d.is_apart()) continue;
      ++banded;
      ASSERT_TRUE(d.rows <= s.out_rows && d.channels <= s.channels);
      EXPECT_TRUE(d.channels == s.channels || d.channels % s.unit == 0);
      EXPECT_LE(s.rows_between(d.rows) * s.in_width * d.channels * 4, kL2Bytes / 6);
      const std::vector<double> costs = costs_of(s, d);
      const double total = pair_ns(s, {s.out_rows, s.channels}, 1);
      EXPECT_LE(time_of(costs, threads), 2 * total / threads) << s.in_width << " " << s.channels << ": " << threads;
      EXPECT_TRUE(costs.size() <= static_cast<size_t>(threads) || costs.front() >= kLeastTaskNs);
    }
    EXPECT_TRUE(banded > 0 || s.channels * s.in_rows * s.in_width * s.images * 4 <= kL2Bytes / 8 || s.in_width > 10000)
        << s.in_width << " " << s.channels;
  }
}

TEST(ConvPairDivision, DependsOnTheCaches) {
  const PairSize s{1, 24, 144, 56, 56, 56, 56, 3, 1, 8, 16};
  EXPECT_TRUE(divide_pair(s, 64 << 20, 1).is_apart());
  EXPECT_FALSE(divide_pair(s, 512 << 10, 1).is_apart());
  EXPECT_TRUE(
      divide_pair({1, 24, 8, 1, 1 << 20, 1, 1 << 20, 3, 1, 8, 16}, 512 << 10, 1).is_apart());  // one row too long
}

}  // namespace
}  // namespace ortolan::cpu::kernels
