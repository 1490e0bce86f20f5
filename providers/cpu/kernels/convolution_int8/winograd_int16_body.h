// Winograd's transforms in whole numbers for one instruction set: a lane is a word of a tile. Included as vec.h is.
#pragma once

#include <type_traits>

#include "cpu/kernels/convolution_int8/winograd_int16.h"
#include "cpu/kernels/vectors/vec_bytes.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

typedef int16_t Halves __attribute__((vector_size(kVectorBytes)));  // two of each word

// Elements 0 to kSide - 1 from each of kLanes places.
#if defined(__AVX2__) && !defined(__AVX512F__)
ORTOLAN_INLINE __m256i two_places(const int32_t* a, const int32_t* b) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a))),
                                 _mm_loadu_si128(reinterpret_cast<const __m128i*>(b)), 1);
}
ORTOLAN_INLINE void load_words(const int32_t* x, const TilePlace* at, Halves (&d)[4]) {
  __m256i p[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) p[i] = two_places(x + at[i].in, x + at[i + 4].in);
  const __m256i a = _mm256_unpacklo_epi32(p[0], p[1]), b = _mm256_unpacklo_epi32(p[2], p[3]);
  const __m256i c = _mm256_unpackhi_epi32(p[0], p[1]), e = _mm256_unpackhi_epi32(p[2], p[3]);
  d[0] = (Halves)_mm256_unpacklo_epi64(a, b);
  d[1] = (Halves)_mm256_unpackhi_epi64(a, b);
  d[2] = (Halves)_mm256_unpacklo_epi64(c, e);
  d[3] = (Halves)_mm256_unpackhi_epi64(c, e);
}
ORTOLAN_INLINE void load_words(const int32_t* x, const TilePlace* at, Halves (&d)[6]) {
  Halves first[4], last[4];
  load_words(x, at, first);
  load_words(x + 2, at, last);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) d[i] = first[i];
  d[4] = last[2];
  d[5] = last[3];
}
#else
template <int kSide>
ORTOLAN_INLINE void load_words(const int32_t* x, const TilePlace* at, Halves (&d)[kSide]) {
  int32_t words[kSide][kLanes];
  for (int i = 0; i < kLanes; ++i) {
    for (int j = 0; j < kSide; ++j) words[j][i] = x[at[i].in + j];
  }
  for (int j = 0; j < kSide; ++j) d[j] = (Halves)load(words[j]);
}
#endif

ORTOLAN_INLINE void transform_words(const Halves (&d)[4], Halves (&t)[4]) {
  t[0] = d[0] - d[2];
  t[1] = d[1] + d[2];
  t[2] = d[2] - d[1];
  t[3] = d[1] - d[3];
}
ORTOLAN_INLINE void transform_words(const Halves (&d)[6], Halves (&t)[6]) {
  const Halves a = d[4] - (d[2] << 2), b = d[3] - (d[1] << 2), c = d[4] - d[2];
  const Halves e = d[3] - d[1], twice = e + e;
  t[0] = ((d[0] - d[2]) << 2) + c;
  t[1] = a + b;
  t[2] = a - b;
  t[3] = c + twice;
  t[4] = c - twice;
  t[5] = d[5] - d[3] - (twice + twice);
}

template <int kSide>
ORTOLAN_INLINE void input_vector(const int32_t* x, int64_t row, const TilePlace* at, int64_t step, int32_t* v) {
  Halves rows[kSide][kSide];
#pragma GCC unroll 6
  for (int r = 0; r < kSide; ++r) {
    Halves d[kSide];
    load_words(x + r * row, at, d);
    transform_words(d, rows[r]);
  }
#pragma GCC unroll 6
  for (int j = 0; j < kSide; ++j) {
    Halves d[kSide], t[kSide];
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i) d[i] = rows[i][j];
    transform_words(d, t);
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i) store(v + (kSide * i + j) * step, (Vi)t[i]);
  }
}

template <int kSide>
void transform_tiles(const WordTiles& words, const PanelTiles& tiles) {
  for (int64_t p = 0; p < words.planes; ++p) {
    const int32_t* x = words.x + p * words.plane;
    int32_t* v = words.v + p * tiles.width;
    for (int64_t c = 0; c < tiles.width; c += kLanes) {
      input_vector<kSide>(x, words.row, tiles.places + c, tiles.step, v + c);
    }
  }
}

// One line of products, transformed back: each output times a factor that it has of 2 or 3.
constexpr int kPowers2[] = {1, 1};        // of two in that factor
constexpr int kPowers4[] = {3, 2, 1, 1};  // and of two in that factor, beside 3
ORTOLAN_INLINE void restore_line(const Vi (&m)[4], Vi (&y)[2]) {
  y[0] = m[0] + m[0] + m[1] + m[2];
  y[1] = m[1] - m[2] - (m[3] + m[3]);
}
ORTOLAN_INLINE void restore_line(const Vi (&m)[6], Vi (&y)[4]) {
  const Vi sum = m[1] + m[2], difference = m[1] - m[2], outer = m[3] + m[4], apart = m[3] - m[4];
  const Vi first = m[0] + sum, three = m[5] + m[5] + m[5] + apart;
  const Vi half = first + first + m[0];
  y[0] = half + half + outer;
  y[1] = difference + difference + apart;
  y[2] = sum + outer;
  y[3] = difference + three + three;
}

ORTOLAN_INLINE Vi without_factor(Vi y, int row, int column, std::integral_constant<int, 2>) {
  return y >> (kPowers2[row] + kPowers2[column]);
}
ORTOLAN_INLINE Vi without_factor(Vi y, int row, int column, std::integral_constant<int, 4>) {
  constexpr int32_t kInverseOf9 = 954437177;
  return (y * kInverseOf9) >> (kPowers4[row] + kPowers4[column]);
}

// The outputs of one vector of tiles.
template <int kOut>
ORTOLAN_INLINE void restored(const int32_t* m, int64_t step, Vi (&y)[kOut][kOut]) {
  constexpr int kSide = kOut + 2;
  Vi columns[kSide][kOut];
#pragma GCC unroll 6
  for (int j = 0; j < kSide; ++j) {
    Vi line[kSide];
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i) line[i] = load(m + (kSide * i + j) * step);
    restore_line(line, columns[j]);
  }
#pragma GCC unroll 4
  for (int r = 0; r < kOut; ++r) {
    Vi line[kSide];
#pragma GCC unroll 6
    for (int j = 0; j < kSide; ++j) line[j] = columns[j][r];
    restore_line(line, y[r]);
#pragma GCC unroll 4
    for (int c = 0; c < kOut; ++c) y[r][c] = without_factor(y[r][c], r, c, std::integral_constant<int, kOut>());
  }
}

template <int kOut>
void to_windows(const int32_t* m, const PanelTiles& tiles, int32_t* to) {
  for (int64_t c = 0; c < tiles.width; c += kLanes) {
    Vi y[kOut][kOut];
    restored<kOut>(m + c, tiles.step, y);
    for (int i = 0; i < kOut * kOut; ++i, to += kLanes) store(to, y[i / kOut][i % kOut]);
  }
}

// One channel's outputs as they are written.
struct TileChannel {
  Vi add, times;
  const int32_t* window_sums;  // of a vector of tiles, or nullptr
  Vf scale;
  int32_t zero;
  bool is_signed;
  int64_t row;
};

template <int kOut, class T>
ORTOLAN_INLINE void store_outputs(const TilePlace& place, const T* from, int64_t from_step, int64_t row, T* y) {
  for (int r = 0; r < place.rows; ++r, from += from_step) {
    T* to = y + place.out + r * row;
    if (place.columns == kOut) {
      __builtin_memcpy(to, from, kOut * sizeof(T));
    } else {
      for (int c = 0; c < place.columns; ++c) to[c] = from[c];
    }
  }
}

template <int kOut>
ORTOLAN_INLINE void store_sums(const Vi (&y)[kOut][kOut], const TileChannel& channel, const TilePlace* places,
                               int32_t* to) {
  for (int lane = 0; lane < kLanes; ++lane) {
    int32_t tile[kOut][kOut];
    for (int i = 0; i < kOut * kOut; ++i) tile[i / kOut][i % kOut] = y[i / kOut][i % kOut][lane];
    store_outputs<kOut>(places[lane], tile[0], kOut, channel.row, to);
  }
}

ORTOLAN_INLINE void store_bytes(const Vi (&y)[4][4], const TileChannel& channel, const TilePlace* places, bool whole,
                                uint8_t* to) {
  uint8_t bytes[4][4 * kLanes];
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
    Vf scaled[4];
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) scaled[c] = to_float(y[r][c]) * channel.scale;
    round_lane_by_lane(scaled, channel.zero, channel.is_signed, whole ? to + places->out + r * channel.row : bytes[r]);
  }
  for (int lane = 0; !whole && lane < kLanes; ++lane) {
    store_outputs<4>(places[lane], bytes[0] + 4 * lane, 4 * kLanes, channel.row, to);
  }
}

ORTOLAN_INLINE void store_bytes(const Vi (&y)[2][2], const TileChannel& channel, const TilePlace* places, bool,
                                uint8_t* to) {
  uint8_t bytes[4 * kLanes];
  Vf scaled[4];
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) scaled[c] = to_float(y[c / 2][c % 2]) * channel.scale;
  round_lane_by_lane(scaled, channel.zero, channel.is_signed, bytes);
  for (int lane = 0; lane < kLanes; ++lane) {
    store_outputs<2>(places[lane], bytes + 4 * lane, 2, channel.row, to);
  }
}

template <int kOut>
ORTOLAN_INLINE void outputs_of_channel(const int32_t* m, const TileChannel& channel, const PanelTiles& tiles,
                                       int64_t at, Vi (&y)[kOut][kOut]) {
  restored<kOut>(m + at, tiles.step, y);
#pragma GCC unroll 4
  for (int r = 0; r < kOut; ++r) {
#pragma GCC unroll 4
    for (int c = 0; c < kOut; ++c) {
      y[r][c] = y[r][c] + channel.add;
      if (channel.window_sums == nullptr) continue;
      y[r][c] = y[r][c] - channel.times * load(channel.window_sums + kOut * kOut * at + (kOut * r + c) * kLanes);
    }
  }
}

template <int kOut>
void finish_tiles(const TileSums& sums, const PanelTiles& tiles) {
  for (int64_t i = 0; i < sums.channels; ++i) {
    TileChannel channel{set1i(sums.add[i]), {}, sums.window_sums, {}, sums.y_zero, sums.y_signed, sums.row};
    if (sums.window_sums != nullptr) channel.times = set1i(sums.times[i]);
    if (sums.scale != nullptr) channel.scale = set1(sums.scale[sums.scale_per_channel ? i : 0]);
    for (int64_t at = 0; at < tiles.columns; at += kLanes) {
      Vi y[kOut][kOut];
      outputs_of_channel<kOut>(sums.m + i * tiles.width, channel, tiles, at, y);
      if (sums.scale == nullptr) {
        store_sums(y, channel, tiles.places + at, static_cast<int32_t*>(sums.y) + i * sums.plane);
      } else {
        store_bytes(y, channel, tiles.places + at, tiles.rows[at / kLanes],
                    static_cast<uint8_t*>(sums.y) + i * sums.plane);
      }
    }
  }
}

}  // namespace

extern const WinogradInt16Kernels kWinogradInt16;
const WinogradInt16Kernels kWinogradInt16 = {
    {{transform_tiles<4>, finish_tiles<2>, to_windows<2>}, {transform_tiles<6>, finish_tiles<4>, to_windows<4>}}};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
