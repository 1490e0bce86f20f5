// Tile instructions in terms of AVX-512, with the order of roundings that the manual gives for TDPBF16PS.
#include "amx_emulator/tile_unit.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

namespace ortolan::tests {
namespace {

// Denormals are zero and results flush, whatever the program's own mode is.
class TileRounding {
 public:
  TileRounding() : before_(_mm_getcsr()) { _mm_setcsr(0x9fc0); }
  ~TileRounding() { _mm_setcsr(before_); }
  TileRounding(const TileRounding&) = delete;
  TileRounding& operator=(const TileRounding&) = delete;

 private:
  unsigned before_;
};

__m512 upper_halves(__m512i pairs) {
  return _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xffff0000u))));
}

__m512 lower_halves(__m512i pairs) { return _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)); }

int32_t byte_at(const char* row, int i, bool is_signed) {
  return is_signed ? static_cast<int8_t>(row[i]) : static_cast<uint8_t>(row[i]);
}

}  // namespace

void TileUnit::configure(const void* memory) {
  uint8_t bytes[64];
  std::memcpy(bytes, memory, sizeof bytes);
  if (bytes[0] == 0) return release();
  if (bytes[0] != 1) throw TileFault("LDTILECFG: palette is neither 0 nor 1");
  if (std::any_of(bytes + 2, bytes + 16, [](uint8_t b) { return b != 0; }) ||
      std::any_of(bytes + 32, bytes + 48, [](uint8_t b) { return b != 0; }) ||
      std::any_of(bytes + 56, bytes + 64, [](uint8_t b) { return b != 0; })) {
    throw TileFault("LDTILECFG: reserved bytes are not zero");
  }
  uint16_t row_bytes[kTiles];
  std::memcpy(row_bytes, bytes + 16, sizeof row_bytes);
  for (int t = 0; t < kTiles; ++t) {
    if (row_bytes[t] > kRowBytes || bytes[48 + t] > kRows) throw TileFault("LDTILECFG: tile too large");
    if ((row_bytes[t] == 0) != (bytes[48 + t] == 0)) throw TileFault("LDTILECFG: tile with rows or columns alone");
  }
  std::memcpy(row_bytes_, row_bytes, sizeof row_bytes_);
  std::memcpy(rows_, bytes + 48, sizeof rows_);
  std::memset(data_, 0, sizeof data_);
  configured_ = true;
}

void TileUnit::store_configuration(void* memory) const {
  uint8_t bytes[64] = {};
  if (configured_) {
    bytes[0] = 1;
    std::memcpy(bytes + 16, row_bytes_, sizeof row_bytes_);
    std::memcpy(bytes + 48, rows_, sizeof rows_);
  }
  std::memcpy(memory, bytes, sizeof bytes);
}

void TileUnit::release() {
  configured_ = false;
  std::memset(rows_, 0, sizeof rows_);
  std::memset(row_bytes_, 0, sizeof row_bytes_);
  std::memset(data_, 0, sizeof data_);
}

TileUnit::Shape TileUnit::shape(int tile) const {
  if (!configured_) throw TileFault("a tile instruction without configuration");
  if (rows_[tile] == 0) throw TileFault("a tile that the configuration leaves empty");
  return {rows_[tile], row_bytes_[tile]};
}

TileUnit::Shape TileUnit::product_shape(int sums, int a, int b) const {
  if (sums == a || sums == b || a == b) throw TileFault("a product that names a tile twice");
  const Shape s = shape(sums), left = shape(a), right = shape(b);
  if (s.row_bytes % 4 != 0 || left.row_bytes % 4 != 0 || right.row_bytes % 4 != 0) {
    throw TileFault("a product of rows that are no multiple of 4 bytes");
  }
  if (s.rows != left.rows || s.row_bytes != right.row_bytes || left.row_bytes != 4 * right.rows) {
    throw TileFault("a product of tiles whose shapes do not fit");
  }
  return {s.rows, s.row_bytes};
}

void TileUnit::clear_beyond(int tile, Shape shape) {
  for (int i = 0; i < kRows; ++i) {
    const int kept = i < shape.rows ? shape.row_bytes : 0;
    std::memset(data_[tile][i] + kept, 0, kRowBytes - kept);
  }
}

void TileUnit::zero(int tile) {
  shape(tile);
  std::memset(data_[tile], 0, sizeof data_[tile]);
}

void TileUnit::load(int tile, const char* memory, int64_t stride) {
  const Shape s = shape(tile);
  for (int i = 0; i < s.rows; ++i) std::memcpy(data_[tile][i], memory + i * stride, s.row_bytes);
  clear_beyond(tile, s);
}

void TileUnit::store(int tile, char* memory, int64_t stride) {
  const Shape s = shape(tile);
  for (int i = 0; i < s.rows; ++i) std::memcpy(memory + i * stride, data_[tile][i], s.row_bytes);
}

void TileUnit::multiply_bf16(int sums, int a, int b) {
  const Shape s = product_shape(sums, a, b);
  const int pairs = shape(a).row_bytes / 4;
  const TileRounding rounding;
  for (int i = 0; i < s.rows; ++i) {
    __m512 first = _mm512_setzero_ps(), second = first;
    for (int k = 0; k < pairs; ++k) {
      int32_t pair;
      std::memcpy(&pair, data_[a][i] + 4 * k, sizeof pair);
      const __m512i left = _mm512_set1_epi32(pair), right = _mm512_load_si512(data_[b][k]);
      first = _mm512_fmadd_ps(lower_halves(left), lower_halves(right), first);
      second = _mm512_fmadd_ps(upper_halves(left), upper_halves(right), second);
    }
    const __m512 old = _mm512_load_ps(data_[sums][i]);
    _mm512_store_ps(data_[sums][i], _mm512_add_ps(old, _mm512_add_ps(first, second)));
  }
  clear_beyond(sums, s);
}

void TileUnit::multiply_bytes(ByteSigns signs, int sums, int a, int b) {
  const Shape s = product_shape(sums, a, b);
  const int groups = shape(a).row_bytes / 4;
  const bool a_signed = signs == ByteSigns::kSS || signs == ByteSigns::kSU;
  const bool b_signed = signs == ByteSigns::kSS || signs == ByteSigns::kUS;
  for (int i = 0; i < s.rows; ++i) {
    uint32_t row[kRowBytes / 4];
    std::memcpy(row, data_[sums][i], sizeof row);
    for (int k = 0; k < groups; ++k) {
      for (int j = 0; j < s.row_bytes; ++j) {
        row[j / 4] +=
            static_cast<uint32_t>(byte_at(data_[a][i], 4 * k + j % 4, a_signed) * byte_at(data_[b][k], j, b_signed));
      }
    }
    std::memcpy(data_[sums][i], row, sizeof row);
  }
  clear_beyond(sums, s);
}

}  // namespace ortolan::tests
