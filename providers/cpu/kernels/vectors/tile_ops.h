// Tile instructions of AMX, tile numbers being template arguments. Included as vec.h is, by files *_amx.cc only. The
// compiler's own intrinsics do not tell it that tiles are loaded from memory and stored there; these do.
#pragma once

#include <cstdint>

#include "cpu/kernels/vectors/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {

constexpr int kTileRegisters = 8;
constexpr int kTileHeight = 16;
constexpr int kTileRowBytes = 64;
constexpr int kTileBytes = kTileHeight * kTileRowBytes;

/** The shape of each tile: the 64 bytes that a configuration is loaded from. Tiles that are not set may not be used. */
struct alignas(64) TileShapes {
  uint8_t palette = 1, start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  constexpr TileShapes& set(int tile, int height, int bytes) {
    rows[tile] = static_cast<uint8_t>(height);
    row_bytes[tile] = static_cast<uint16_t>(height == 0 ? 0 : bytes);
    return *this;
  }
};
static_assert(sizeof(TileShapes) == 64);

/** Makes the calling thread's tiles of these shapes, all zero. */
ORTOLAN_INLINE void tile_configure(const TileShapes& shapes) { asm volatile("ldtilecfg %0" ::"m"(shapes) : "memory"); }

/** Until this, each switch of threads and each signal has the tiles to save. */
ORTOLAN_INLINE void tile_release() { asm volatile("tilerelease" ::: "memory"); }

/** Tiles for the length of a block; they may be given other shapes meanwhile. */
class TileScope {
 public:
  __attribute__((always_inline)) explicit TileScope(const TileShapes& shapes) { tile_configure(shapes); }
  __attribute__((always_inline)) ~TileScope() { tile_release(); }
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;
};

template <int kTile>
ORTOLAN_INLINE void tile_zero() {
  asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
}

/** Rows lie `stride` bytes apart, at any address. */
template <int kTile>
ORTOLAN_INLINE void tile_load(const void* rows, int64_t stride = kTileRowBytes) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(rows), "r"(stride), "i"(kTile) : "memory");
}

/** The same for data that is read once. */
template <int kTile>
ORTOLAN_INLINE void tile_load_streamed(const void* rows, int64_t stride = kTileRowBytes) {
  asm volatile("tileloaddt1 (%0,%1,1), %%tmm%c2" ::"r"(rows), "r"(stride), "i"(kTile) : "memory");
}

template <int kTile>
ORTOLAN_INLINE void tile_store(void* rows, int64_t stride = kTileRowBytes) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(rows), "r"(stride), "i"(kTile) : "memory");
}

// Sums (fp32 or int32, rows x columns) += left x right. A row of `left` holds pairs of bfloat16 or groups of four
// bytes along k; row r of `right` holds the r-th of them for each column.

/** Denormals count as zero, and sums that become denormal are zero. */
template <int kSums, int kLeft, int kRight>
ORTOLAN_INLINE void tile_add_bf16_products() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSums), "i"(kLeft), "i"(kRight));
}

/** Sums wrap around. The signs are those of the left and the right bytes. */
template <bool kLeftSigned, bool kRightSigned, int kSums, int kLeft, int kRight>
ORTOLAN_INLINE void tile_add_byte_products() {
  if constexpr (kLeftSigned && kRightSigned) {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSums), "i"(kLeft), "i"(kRight));
  } else if constexpr (kLeftSigned) {
    asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSums), "i"(kLeft), "i"(kRight));
  } else if constexpr (kRightSigned) {
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSums), "i"(kLeft), "i"(kRight));
  } else {
    asm volatile("tdpbuud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSums), "i"(kLeft), "i"(kRight));
  }
}

constexpr TileShapes whole_tiles() {
  TileShapes shapes;
  for (int tile = 0; tile < kTileRegisters; ++tile) shapes.set(tile, kTileHeight, kTileRowBytes);
  return shapes;
}
inline constexpr TileShapes kWholeTiles = whole_tiles();

/** What a table of kernels calls before and after them. */
inline void begin_whole_tiles() { tile_configure(kWholeTiles); }
inline void end_tiles() { tile_release(); }

// The sums of a block of kHigh x kWide tiles are tiles 0 to 3, row after row.

template <int kHigh, int kWide>
ORTOLAN_INLINE void zero_sums() {
  tile_zero<0>();
  if constexpr (kWide == 2) tile_zero<1>();
  if constexpr (kHigh == 2) tile_zero<2>();
  if constexpr (kHigh == 2 && kWide == 2) tile_zero<3>();
}

template <int kHigh, int kWide, class Sum>
ORTOLAN_INLINE void store_sums(Sum* sums, int64_t ld, int64_t second = kTileHeight) {
  const int64_t stride = ld * static_cast<int64_t>(sizeof(Sum));
  tile_store<0>(sums, stride);
  if constexpr (kWide == 2) tile_store<1>(sums + kTileHeight, stride);
  if constexpr (kHigh == 2) tile_store<2>(sums + second * ld, stride);
  if constexpr (kHigh == 2 && kWide == 2) tile_store<3>(sums + second * ld + kTileHeight, stride);
}

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
