// Tests of convolutions of bytes on tiles with tiles in plain C++, so that they run on every processor: as exact as
// those of vectors, for every number of threads.
#include "cpu/kernels/convolution_int8/conv_int8_tiles.h"

#include <gtest/gtest.h>

#include <random>

#include "conv_reference.h"
#include "cpu/kernels/convolution_int8/conv_int8_weights.h"
#include "pools.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kRows = 16, kWords = 16;

template <class W, class X>
void plain_block(const TileConvBlock& b) {
  for (int64_t row = 0; row < b.tiles_high * kRows; ++row) {
    for (int64_t p = 0; p < (b.positions + 15) / 16 * 16; ++p) {
      int32_t sum = 0;
      for (int64_t i = 0; i < b.step_count * kWords; ++i) {
        const int64_t step = i / kWords, line = i % kWords;
        const auto* w = reinterpret_cast<const W*>(b.weights + (step * b.tiles_high + row / kRows) * 1024 +
                                                   row % kRows * 64 + line * 4);
        const auto* x = reinterpret_cast<const X*>(b.x + b.steps[step] + line * b.pitch + p);
        for (int byte = 0; byte < 4; ++byte) sum += w[byte] * x[byte];
      }
      b.sums[row * b.ld + p] = sum;
    }
  }
}

void join_rows(const uint8_t* const* rows, int64_t count, int32_t* to, int32_t*) {
  for (int64_t i = 0; i < count; ++i) {
    for (int row = 0; row < 4; ++row) reinterpret_cast<uint8_t*>(to + i)[row] = rows[row][i];
  }
}

constexpr TileConvKernels kPlainTiles = {[] {},
                                         [] {},
                                         join_rows,
                                         {{plain_block<uint8_t, uint8_t>, plain_block<uint8_t, int8_t>},
                                          {plain_block<int8_t, uint8_t>, plain_block<int8_t, int8_t>}}};

PackedConvWeightsInt8 packed_in_tiles(const ConvGeometry& g, const uint8_t* weights, bool is_signed) {
  auto storage = std::make_unique<PackedConvWeightsInt8::Storage>();
  storage->kernels = &kernels().gemm_int8->without_tiles();
  storage->depthwise = false;
  storage->tiles = TileConvWeights(g, weights, is_signed, kPlainTiles);
  return PackedConvWeightsInt8(std::move(storage));
}

std::vector<uint8_t> drawn(int64_t count, std::minstd_rand& random) {
  std::vector<uint8_t> bytes(static_cast<size_t>(count));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() >> 8);
  return bytes;
}

ConvGeometry in_slices(ConvGeometry g, int64_t slices, int64_t pad) {
  g.in[0] = slices, g.out[0] = slices + 2 * pad, g.pad_begin[0] = pad;
  return g;
}

ConvGeometry images(ConvGeometry g, int64_t batch) {
  g.batch = batch;
  return g;
}

// Layers that threads part by positions, by channels and by images; whose lines are gathered; in groups and slices.
std::vector<ConvGeometry> tile_layers() {
  return {plane(64, 100, 1, 20, 3, 1),
          images(plane(72, 200, 1, 7, 3, 1), 3),
          images(plane(3, 40, 1, 30, 7, 2), 2),
          images(plane(96, 64, 2, 9, 1, 1), 5),
          images(plane(160, 33, 1, 10, 3, 2), 2),
          images(in_slices(plane(64, 32, 1, 6, 3, 1), 3, 1), 2)};
}

TEST(TileConvolutions, AreExactForEveryNumberOfThreads) {
  std::minstd_rand random(5);
  for (const ConvGeometry& g : tile_layers()) {
    ASSERT_TRUE(TileConvWeights::suit(g));
    for (int form = 0; form < 8; ++form) {
      const bool x_signed = form & 1, w_signed = form & 2, with_zeros = form & 4;
      const auto x = drawn(g.batch * g.in_channels * volume(g.in), random);
      const auto w = drawn(g.out_channels * g.in_channels / g.groups * volume(g.kernel), random);
      const auto w_zero = drawn(g.out_channels, random);
      const ConvInt8 operands{x.data(), x_signed, x_signed ? -7 : 130, with_zeros ? w_zero.data() : nullptr, true};
      std::vector<int32_t> want(static_cast<size_t>(g.batch * g.out_channels * volume(g.out)));
      conv_int8(nullptr, g, operands,
                pack_conv_weights_int8(g, w.data(), w_signed, 0, &kernels().gemm_int8->without_tiles()), want.data());
      const PackedConvWeightsInt8 packed = packed_in_tiles(g, w.data(), w_signed);
      for (int threads : {1, 2, 3, 4, 16, 64}) {
        std::vector<int32_t> y(want.size(), 77);
        conv_int8(&pool_of(threads), g, operands, packed, y.data());
        ASSERT_EQ(y, want) << g.in_channels << " to " << g.out_channels << " channels, form " << form << ", " << threads
                           << " threads";
      }
    }
  }
}

}  // namespace
}  // namespace ortolan::cpu::kernels
