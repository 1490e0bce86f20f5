// Sums of a convolution of bytes in AMX tiles.
#define ORTOLAN_ISA amx
#include "cpu/kernels/conv_int8_kernels.h"
#include "cpu/kernels/tile_bytes.h"

namespace ortolan::cpu::kernels::amx {
namespace {

constexpr int64_t kLine = 64;

// Fetches memory a few lines at a time.
struct Fetch {
  const uint8_t* at;
  int64_t lines;

  __attribute__((always_inline)) void operator()() {
    for (int64_t i = 0; i < lines; ++i, at += kLine) __builtin_prefetch(at, 0, 2);
  }
};

template <bool kWeightsSigned, bool kImageSigned, int kHigh, int kWide>
void sum_tiles(const TileConvBlock& b, int64_t position, Fetch& fetch) {
  const uint8_t* weights = b.weights;
  zero_sums<kHigh, kWide>();
  for (int64_t s = 0; s < b.step_count; ++s, weights += kHigh * kTileBytes) {
    add_words<kWeightsSigned, kImageSigned, kHigh, kWide>(weights, kTileRowBytes, kTileBytes,
                                                          b.x + b.steps[s] + position, b.pitch * 4, fetch);
  }
  store_sums<kHigh, kWide>(b.sums + position, b.ld);
}

template <bool kWeightsSigned, bool kImageSigned, int kHigh>
void sum_positions(const TileConvBlock& b) {
  const int64_t products = (b.positions + 15) / 16 * b.step_count * kHigh;
  Fetch fetch{b.next, 0};
  if (b.next != nullptr) fetch.lines = (b.step_count * kHigh * kTileHeight + products - 1) / products;
  int64_t position = 0;
  for (; position + 16 < b.positions; position += 32) {
    sum_tiles<kWeightsSigned, kImageSigned, kHigh, 2>(b, position, fetch);
  }
  if (position < b.positions) sum_tiles<kWeightsSigned, kImageSigned, kHigh, 1>(b, position, fetch);
}

template <bool kWeightsSigned, bool kImageSigned>
void block(const TileConvBlock& b) {
  if (b.tiles_high == 2) return sum_positions<kWeightsSigned, kImageSigned, 2>(b);
  sum_positions<kWeightsSigned, kImageSigned, 1>(b);
}

void begin() { tile_configure(kWholeTiles); }
void end() { tile_release(); }

}  // namespace

extern const TileConvKernels kTileConv;
const TileConvKernels kTileConv = {
    begin, end, {{block<false, false>, block<false, true>}, {block<true, false>, block<true, true>}}};

}  // namespace ortolan::cpu::kernels::amx
