// One step of a block of byte products in tiles. Included as vec.h is, by files *_amx.cc only.
#pragma once

#include "cpu/kernels/vectors/tile_ops.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {

constexpr int kLeftTile = 4, kRightTile = 6;

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

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
