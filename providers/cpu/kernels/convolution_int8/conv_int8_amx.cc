// Sums of a convolution of bytes in AMX tiles.
#define ORTOLAN_ISA amx
#include "cpu/kernels/convolution_int8/conv_int8_kernels.h"
#include "cpu/kernels/quantised/gemm_int8_kernels.h"
#include "cpu/kernels/vectors/tile_bytes.h"

namespace ortolan::cpu::kernels::amx {

extern const GemmInt8Kernels kGemmInt8;

namespace {

template <bool kWeightsSigned, bool kImageSigned, int kHigh, int kWide>
void sum_tiles(const TileConvBlock& b, int64_t position, TileFetch& fetch) {
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
  TileFetch fetch(b.next, b.step_count * kHigh * kTileBytes, products);
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

void join_rows(const uint8_t* const* rows, int64_t count, int32_t* to, int32_t* sums) {
  kGemmInt8.pack_group(rows, count, /*is_signed=*/false, /*flip=*/false, to, sums);
}

}  // namespace

extern const TileConvKernels kTileConv;
const TileConvKernels kTileConv = {
    begin_whole_tiles,
    end_tiles,
    join_rows,
    {{block<false, false>, block<false, true>}, {block<true, false>, block<true, true>}}};

}  // namespace ortolan::cpu::kernels::amx
