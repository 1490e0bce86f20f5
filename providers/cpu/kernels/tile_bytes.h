// One step of a block of byte products in tiles. Included as vec.h is, by files *_amx.cc only.
#pragma once

#include "cpu/kernels/tile_ops.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {

// Sums of a block of kHigh x kWide tiles are tiles 0 to 3, row after row.
constexpr int kLeftTile = 4, kRightTile = 6;

constexpr TileShapes whole_tiles() {
  TileShapes shapes;
  for (int tile = 0; tile < kTileRegisters; ++tile) shapes.set(tile, kTileHeight, kTileRowBytes);
  return shapes;
}
inline constexpr TileShapes kWholeTiles = whole_tiles();

// Fetches memory a few lines at a time.
struct TileFetch {
  static constexpr int64_t kLine = 64;
  const uint8_t* at;
  int64_t lines;  // at a time

  /** `bytes` in so many times. */
  __attribute__((always_inline)) TileFetch(const void* from, int64_t bytes, int64_t times)
      : at(static_cast<const uint8_t*>(from)),
        lines(from == nullptr ? 0 : (bytes / kLine + times - 1) / most(times, 1)) {}
  __attribute__((always_inline)) void operator()() {
    for (int64_t i = 0; i < lines; ++i, at += kLine) __builtin_prefetch(at, 0, 2);
  }
};

template <int kHigh, int kWide>
ORTOLAN_INLINE void zero_sums() {
  tile_zero<0>();
  if constexpr (kWide == 2) tile_zero<1>();
  if constexpr (kHigh == 2) tile_zero<2>();
  if constexpr (kHigh == 2 && kWide == 2) tile_zero<3>();
}

/** The sums of both operands' next 16 words. Tiles of an operand lie left_next and 64 bytes apart. */
template <bool kLeftSigned, bool kRightSigned, int kHigh, int kWide, class Between>
ORTOLAN_INLINE void add_words(const uint8_t* left, int64_t left_stride, int64_t left_next, const void* right,
                              int64_t right_stride, Between between) {
  tile_load<kRightTile>(right, right_stride);
  tile_load<kLeftTile>(left, left_stride);
  tile_add_byte_products<kLeftSigned, kRightSigned, 0, kLeftTile, kRightTile>();
  between();
  if constexpr (kWide == 2) {
    tile_load<kRightTile + 1>(static_cast<const uint8_t*>(right) + kTileRowBytes, right_stride);
    tile_add_byte_products<kLeftSigned, kRightSigned, 1, kLeftTile, kRightTile + 1>();
    between();
  }
  if constexpr (kHigh == 2) {
    tile_load<kLeftTile + 1>(left + left_next, left_stride);
    tile_add_byte_products<kLeftSigned, kRightSigned, 2, kLeftTile + 1, kRightTile>();
    between();
    if constexpr (kWide == 2) {
      tile_add_byte_products<kLeftSigned, kRightSigned, 3, kLeftTile + 1, kRightTile + 1>();
      between();
    }
  }
}

template <int kHigh, int kWide>
ORTOLAN_INLINE void store_sums(int32_t* sums, int64_t ld, int64_t second = kTileHeight) {
  const int64_t stride = ld * static_cast<int64_t>(sizeof(int32_t));
  tile_store<0>(sums, stride);
  if constexpr (kWide == 2) tile_store<1>(sums + kTileHeight, stride);
  if constexpr (kHigh == 2) tile_store<2>(sums + second * ld, stride);
  if constexpr (kHigh == 2 && kWide == 2) tile_store<3>(sums + second * ld + kTileHeight, stride);
}

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
