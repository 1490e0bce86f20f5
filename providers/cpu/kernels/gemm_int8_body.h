// Register tiles of integer products for one instruction set. Included as vec.h is.
#pragma once

#include <type_traits>

#include "cpu/kernels/gemm_int8_finish.h"
#include "cpu/kernels/gemm_int8_pairs.h"
#include "cpu/kernels/isa_level.h"
#include "cpu/kernels/vec_bytes.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

#if defined(__AVX512VNNI__)
constexpr int kGroup = 4;
ORTOLAN_INLINE Vi dot(Vi sum, Vi a, Vi b) { return (Vi)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)b); }
#elif defined(__AVX512F__)
constexpr int kGroup = 2;
ORTOLAN_INLINE Vi dot(Vi sum, Vi a, Vi b) { return sum + (Vi)_mm512_madd_epi16((__m512i)a, (__m512i)b); }
#elif defined(__AVX2__)
constexpr int kGroup = 2;
ORTOLAN_INLINE Vi dot(Vi sum, Vi a, Vi b) { return sum + (Vi)_mm256_madd_epi16((__m256i)a, (__m256i)b); }
#elif defined(__SSE2__)
constexpr int kGroup = 2;
ORTOLAN_INLINE Vi dot(Vi sum, Vi a, Vi b) { return sum + (Vi)_mm_madd_epi16((__m128i)a, (__m128i)b); }
#else
constexpr int kGroup = 2;
ORTOLAN_INLINE Vi dot(Vi sum, Vi a, Vi b) {
  return sum + ((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16);
}
#endif

constexpr int kLineWords = 16;  // of a cache line
constexpr int kInt8Vectors = kLanes == 16 ? 3 : 2;
constexpr int kInt8TileRows = kLanes == 16 ? 8 : kLanes == 8 ? 6 : 4;

ORTOLAN_INLINE Vi broadcast_group(const uint8_t* p) {
  int32_t word;
  __builtin_memcpy(&word, p, 4);
  return set1i(word);
}

// The sums of a tile as they begin. Columns past the last are never stored, so what they begin with does not matter.
template <int NV>
ORTOLAN_INLINE void begin_sums(const Int8Block& g, Vi* first) {
#pragma GCC unroll 3
  for (int j = 0; j < NV; ++j) {
    const auto* start = reinterpret_cast<const float*>(g.start);
    first[j] = start == nullptr ? Vi{} : bits(load_columns(start + j * kLanes, g.columns - j * kLanes));
  }
}

template <int MR, int NV>
ORTOLAN_INLINE void store_tile(const Int8Block& g, int64_t row, const Vi (&sum)[MR][NV]) {
#pragma GCC unroll 3
  for (int j = 0; j < NV; ++j) {
    const int64_t column = j * kLanes, columns = g.columns - column;
    float* c = as_floats(g.c) + row * g.ldc + column;
    if (g.scale == nullptr) {
#pragma GCC unroll 8
      for (int i = 0; i < MR; ++i) store_columns(c + i * g.ldc, columns, from_bits(sum[i][j]));
      continue;
    }
    const Vf scale = load_columns(g.scale + column, columns), bias = bias_of(g, column);
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i) {
      store_columns(c + i * g.ldc, columns, finished(g, sum[i][j], scale, bias, row + i, column));
    }
  }
}

// Fetches what is read after a block a little at a time, spread over the block's work.
struct FetchAhead {
  static constexpr int64_t kEvery = 16;  // groups
  static constexpr int64_t kLine = 64, kMostLines = 8;
  const char* at;
  const char* end;
  int64_t step;

  FetchAhead(const Int8Block& g, int64_t tile, int64_t tiles)
      : at(static_cast<const char*>(g.next)), end(at + g.next_bytes), step(0) {
    const int64_t turns = (g.groups + kEvery - 1) / kEvery;
    if (turns == 0) return;
    const int64_t lines = (g.next_bytes + kLine * turns * tiles - 1) / (kLine * turns * tiles);
    step = kLine * least(lines, kMostLines);
    at += tile * turns * step;
  }
  void turn() {
    for (const char* last = at + step; at < last; at += kLine) {
      if (at < end) __builtin_prefetch(at, 0, 2);
    }
  }
};

// How a group's products are added, and whether panels have spare groups or rows of A spare words.
struct AnyGroups {
  static constexpr bool kSpareGroups = false, kSpareWords = false;
  __attribute__((always_inline)) static Vi add(Vi sum, Vi a, Vi b) { return dot(sum, a, b); }
};

template <class Dot, int MR, int NV>
ORTOLAN_INLINE void add_groups(const Int8Block& g, int64_t count, const uint8_t* a, const int32_t* b,
                               Vi (&sum)[MR][NV]) {
#pragma GCC unroll 2
  for (int64_t k = 0; k < count; ++k, a += g.a_step, b += NV * kLanes) {
    Vi bv[NV];
#pragma GCC unroll 3
    for (int j = 0; j < NV; ++j) {
      bv[j] = load(b + j * kLanes);
      if (j * kLanes % kLineWords == 0) __builtin_prefetch(b + (8 * NV + j) * kLanes, 0, 3);
    }
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i) {
      const Vi x = broadcast_group(a + i * g.a_stride);
#pragma GCC unroll 3
      for (int j = 0; j < NV; ++j) sum[i][j] = Dot::add(sum[i][j], x, bv[j]);
    }
  }
}

// The table may come from a file: what it says leads to groups of this panel at worst.
template <class Dot, int MR, int NV>
ORTOLAN_INLINE void add_spare_groups(const Int8Block& g, const uint8_t* a, Vi (&sum)[MR][NV]) {
  const int64_t spare = GemmInt8Kernels::spare_groups(g.groups);
  const int32_t *words = g.b + g.groups * NV * kLanes, *table = words + spare * NV * kLanes;
  const int64_t count = least(table[0], spare);
  for (int64_t i = 0; i < count; ++i, words += NV * kLanes) {
    const auto group = static_cast<uint32_t>(table[1 + i]);
    add_groups<Dot>(g, 1, a + (group < g.groups ? group : 0) * g.a_step, words, sum);
  }
}

// Likewise.
template <class Dot, int MR, int NV>
ORTOLAN_INLINE void add_spare_words(const Int8Block& g, const uint8_t* a, Vi (&sum)[MR][NV]) {
#pragma GCC unroll 8
  for (int i = 0; i < MR; ++i) {
    const auto* row = reinterpret_cast<const int32_t*>(a + i * g.a_stride);
    const int64_t count = least(row[-1], GemmInt8Kernels::spare_words(g.groups));
    const int32_t* other = row - 1;
    for (int64_t n = 0; n < count; ++n) {
      const auto group = static_cast<uint32_t>(*--other);
      const int32_t* b = g.b + (group < g.groups ? group : 0) * NV * kLanes;
      const Vi word = set1i(*--other);
#pragma GCC unroll 3
      for (int j = 0; j < NV; ++j) sum[i][j] = Dot::add(sum[i][j], word, load(b + j * kLanes));
    }
  }
}

template <class Dot, int MR, int NV>
void tile(const Int8Block& g, int64_t row, FetchAhead ahead) {
  Vi sum[MR][NV];
  begin_sums<NV>(g, sum[0]);
#pragma GCC unroll 8
  for (int i = 1; i < MR; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < NV; ++j) sum[i][j] = sum[0][j];
  }
  const uint8_t* a = g.a + row * g.a_stride;
  const int32_t* b = g.b;
  for (int64_t k = 0; k < g.groups; k += FetchAhead::kEvery) {
    ahead.turn();
    const int64_t count = least(FetchAhead::kEvery, g.groups - k);
    add_groups<Dot>(g, count, a, b, sum);
    a += count * g.a_step;
    b += count * NV * kLanes;
  }
  if constexpr (Dot::kSpareGroups) add_spare_groups<Dot>(g, g.a + row * g.a_stride, sum);
  if constexpr (Dot::kSpareWords) add_spare_words<Dot>(g, g.a + row * g.a_stride, sum);
  store_tile(g, row, sum);
}

template <class Dot, int NV, int MR>
ORTOLAN_INLINE void tile_of(int64_t rows, const Int8Block& g, int64_t row, FetchAhead ahead) {
  if (rows == MR) return tile<Dot, MR, NV>(g, row, ahead);
  if constexpr (MR > 1) tile_of<Dot, NV, MR - 1>(rows, g, row, ahead);
}

template <class Dot, int NV>
void block(const Int8Block& g) {
  const int64_t tiles = (g.rows + kInt8TileRows - 1) / kInt8TileRows;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t row = g.rows * i / tiles, end = g.rows * (i + 1) / tiles;
    tile_of<Dot, NV, kInt8TileRows>(end - row, g, row, FetchAhead(g, i, tiles));
  }
}

template <class Dot>
void any_block(int vectors, const Int8Block& g) {
  if (vectors == 1) return block<Dot, 1>(g);
  if (vectors == 2) return block<Dot, 2>(g);
  if constexpr (kInt8Vectors == 3) block<Dot, 3>(g);
}

void to_floats(const Int8Block& g) {
  for (int64_t j = 0; j < g.columns; j += kLanes) {
    const Vf scale = load_columns(g.scale + j, g.columns - j), bias = bias_of(g, j);
    for (int64_t i = 0; i < g.rows; ++i) {
      float* c = as_floats(g.c) + i * g.ldc + j;
      const Vi sum = bits(load_columns(c, g.columns - j));
      store_columns(c, g.columns - j, finished(g, sum, scale, bias, i, j));
    }
  }
}

ORTOLAN_INLINE Vi widen(const uint8_t* p, bool is_signed) {
  return is_signed ? __builtin_convertvector(*reinterpret_cast<const SignedBytes*>(p), Vi)
                   : __builtin_convertvector(*reinterpret_cast<const Bytes*>(p), Vi);
}

ORTOLAN_INLINE int32_t widen_one(const uint8_t* p, bool is_signed) { return is_signed ? static_cast<int8_t>(*p) : *p; }

// Elements become `value - shift`; groups of four keep the low byte of each, groups of two the low half.
template <class Word, class Read>
ORTOLAN_INLINE Word join_group(Word shift, Word& sum, Read read) {
  constexpr int kBits = 32 / kGroup;
  constexpr int32_t kMask = kGroup == 4 ? 0xff : 0xffff;
  Word word = shift ^ shift;
  for (int i = 0; i < kGroup; ++i) {
    const Word value = read(i) - shift;
    sum = sum + value;
    word = word | ((value & kMask) << (kBits * i));
  }
  return word;
}

// The words of kLanes columns.
template <bool kSigned>
ORTOLAN_INLINE Vi join_vectors(const uint8_t* const* rows, int64_t column, int32_t shift, Vi& sum) {
#if defined(__AVX2__) && !defined(__AVX512F__)  // groups of two, which nothing shifts
  const __m128i pairs = _mm_unpacklo_epi8(_mm_loadu_si64(rows[0] + column), _mm_loadu_si64(rows[1] + column));
  const Vi words = (Vi)(kSigned ? _mm256_cvtepi8_epi16(pairs) : _mm256_cvtepu8_epi16(pairs));
  sum = dot(sum, words, set1i(0x00010001));
  return words;
#else
  return join_group(set1i(shift), sum, [&](int i) { return widen(rows[i] + column, kSigned); });
#endif
}

template <bool kSigned>
ORTOLAN_INLINE int64_t pack_vectors(const uint8_t* const* rows, int64_t columns, int32_t shift, int32_t* to,
                                    int32_t* sums) {
  int64_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) {
    Vi sum = load(sums + c);
    store(to + c, join_vectors<kSigned>(rows, c, shift, sum));
    store(sums + c, sum);
  }
  return c;
}

#if defined(__AVX512VNNI__)
// The first kVectors of four vectors of words, each of which has a byte of each of four rows of 64. Bytes are paired,
// then pairs, so that each 128-bit part has four whole columns; then the parts are put in order.
template <int kVectors>
ORTOLAN_INLINE void join_rows(const __m512i (&rows)[4], Vi (&words)[kVectors]) {
  const __m512i low_a = _mm512_unpacklo_epi8(rows[0], rows[1]), low_b = _mm512_unpacklo_epi8(rows[2], rows[3]);
  const __m512i high_a = _mm512_unpackhi_epi8(rows[0], rows[1]), high_b = _mm512_unpackhi_epi8(rows[2], rows[3]);
  const __m512i w0 = _mm512_unpacklo_epi16(low_a, low_b), w1 = _mm512_unpackhi_epi16(low_a, low_b);
  const __m512i w2 = _mm512_unpacklo_epi16(high_a, high_b), w3 = _mm512_unpackhi_epi16(high_a, high_b);
  const __m512i a = _mm512_shuffle_i32x4(w0, w1, 0x44), b = _mm512_shuffle_i32x4(w2, w3, 0x44);
  words[0] = (Vi)_mm512_shuffle_i32x4(a, b, 0x88);
  if constexpr (kVectors > 1) words[1] = (Vi)_mm512_shuffle_i32x4(a, b, 0xdd);
  if constexpr (kVectors > 2) {
    const __m512i c = _mm512_shuffle_i32x4(w0, w1, 0xee), d = _mm512_shuffle_i32x4(w2, w3, 0xee);
    words[2] = (Vi)_mm512_shuffle_i32x4(c, d, 0x88);
    if constexpr (kVectors > 3) words[3] = (Vi)_mm512_shuffle_i32x4(c, d, 0xdd);
  }
}

// The words of at most 64 columns, those past the last 0; the sums grow.
template <int kVectors>
ORTOLAN_INLINE void pack_columns(const uint8_t* const* rows, __mmask64 used, __m512i flip, int32_t* to,
                                 Vi (&sums)[kVectors]) {
  __m512i bytes[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) bytes[i] = _mm512_xor_si512(_mm512_maskz_loadu_epi8(used, rows[i]), flip);
  Vi words[kVectors];
  join_rows(bytes, words);
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    store(to + v * kLanes, words[v]);
    sums[v] = dot(sums[v], set1i(0x01010101), words[v]);
  }
}

ORTOLAN_INLINE __mmask64 first_columns(int64_t n) { return ~uint64_t{0} >> (64 - n); }
ORTOLAN_INLINE __m512i flips(bool flip, __mmask64 used) {
  return _mm512_maskz_set1_epi8(used, flip ? static_cast<char>(0x80) : 0);
}

int64_t pack_vectors(const uint8_t* const* rows, int64_t columns, bool, bool flip, int32_t* to, int32_t* sums) {
  const __m512i mask = flips(flip, ~uint64_t{0});
  int64_t c = 0;
  for (; c + 64 <= columns; c += 64) {
    const uint8_t* const from[] = {rows[0] + c, rows[1] + c, rows[2] + c, rows[3] + c};
    Vi sum[] = {load(sums + c), load(sums + c + kLanes), load(sums + c + 2 * kLanes), load(sums + c + 3 * kLanes)};
    pack_columns(from, ~uint64_t{0}, mask, to + c, sum);
    for (int v = 0; v < 4; ++v) store(sums + c + v * kLanes, sum[v]);
  }
  for (; c + kLanes <= columns; c += kLanes) {
    const uint8_t* const from[] = {rows[0] + c, rows[1] + c, rows[2] + c, rows[3] + c};
    Vi sum[] = {load(sums + c)};
    pack_columns(from, first_columns(kLanes), mask, to + c, sum);
    store(sums + c, sum[0]);
  }
  return c;
}

constexpr int64_t kRowsAhead = 64;

template <int NV>
void pack_panel_rows(const PanelRows& p, int32_t* to, int32_t* sums) {
  const __mmask64 used = first_columns(p.columns);
  const __m512i mask = flips(p.flip, used);
  Vi sum[NV] = {};
  const uint8_t* rows[] = {p.rows, p.rows + p.stride, p.rows + 2 * p.stride, p.rows + 3 * p.stride};
  for (int64_t g = 0; g < p.groups; ++g, to += NV * kLanes) {
    pack_columns(rows, used, mask, to, sum);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      __builtin_prefetch(rows[i] + kRowsAhead * p.stride);
      rows[i] += 4 * p.stride;
    }
  }
#pragma GCC unroll 3
  for (int v = 0; v < NV; ++v) {
    const int64_t left = p.columns - v * kLanes;
    auto* s = reinterpret_cast<float*>(sums + v * kLanes);
    store_columns(s, left, from_bits(bits(load_columns(s, left)) + sum[v]));
  }
}
#else
int64_t pack_vectors(const uint8_t* const* rows, int64_t columns, bool is_signed, bool flip, int32_t* to,
                     int32_t* sums) {
  const int32_t shift = flip ? 128 : 0;
  return is_signed ? pack_vectors<true>(rows, columns, shift, to, sums)
                   : pack_vectors<false>(rows, columns, shift, to, sums);
}
#endif

void pack_group(const uint8_t* const* rows, int64_t columns, bool is_signed, bool flip, int32_t* to, int32_t* sums) {
  for (int64_t c = pack_vectors(rows, columns, is_signed, flip, to, sums); c < columns; ++c) {
    to[c] = join_group(flip ? 128 : 0, sums[c], [&](int i) { return widen_one(rows[i] + c, is_signed); });
  }
}

void pack_rows(int vectors, const PanelRows& p, int32_t* to, int32_t* sums) {
#if defined(__AVX512VNNI__)
  if (vectors == 1) return pack_panel_rows<1>(p, to, sums);
  if (vectors == 2) return pack_panel_rows<2>(p, to, sums);
  pack_panel_rows<3>(p, to, sums);
#else
  const uint8_t* rows[kGroup];
  for (int64_t g = 0; g < p.groups; ++g, to += vectors * kLanes) {
    for (int i = 0; i < kGroup; ++i) rows[i] = p.rows + (g * kGroup + i) * p.stride;
    pack_group(rows, p.columns, p.is_signed, p.flip, to, sums);
    for (int64_t c = p.columns; c < vectors * kLanes; ++c) to[c] = 0;
  }
#endif
}

typedef uint8_t ManyBytes __attribute__((vector_size(2 * kLanes)));
typedef int8_t ManySignedBytes __attribute__((vector_size(2 * kLanes)));
typedef int16_t Halves __attribute__((vector_size(4 * kLanes)));

template <class FromBytes>
int32_t widen_row(const uint8_t* from, int64_t count, int16_t* to) {
  Vi sums{};
  int64_t i = 0;
  for (; kGroup == 2 && i + 2 * kLanes <= count; i += 2 * kLanes) {
    FromBytes bytes;
    __builtin_memcpy(&bytes, from + i, sizeof bytes);
    const Halves wide = __builtin_convertvector(bytes, Halves);
    __builtin_memcpy(to + i, &wide, sizeof wide);
    sums = dot(sums, (Vi)wide, set1i(0x00010001));
  }
  int32_t total = 0;
  for (int lane = 0; lane < kLanes; ++lane) total += sums[lane];
  constexpr bool kSigned = std::is_same_v<FromBytes, ManySignedBytes>;
  for (; i < count; ++i) total += to[i] = static_cast<int16_t>(widen_one(from + i, kSigned));
  return total;
}

int32_t widen_row(const uint8_t* from, int64_t count, bool is_signed, int16_t* to) {
  return is_signed ? widen_row<ManySignedBytes>(from, count, to) : widen_row<ManyBytes>(from, count, to);
}

void correct_row(int32_t* c, int64_t columns, int32_t a_zero, const int32_t* adjusted, int32_t row_sum,
                 const int32_t* b_zero) {
  for (int64_t j = 0; j < columns; ++j) {
    const uint32_t less = static_cast<uint32_t>(a_zero) * static_cast<uint32_t>(adjusted[j]) +
                          static_cast<uint32_t>(row_sum) * static_cast<uint32_t>(b_zero[j]);
    c[j] = static_cast<int32_t>(static_cast<uint32_t>(c[j]) - less);
  }
}

}  // namespace

#if defined(__AVX2__) && !defined(__AVX512F__)
constexpr GemmInt8Kernels kOfRightWeights = {.isa = kLevel,
                                             .lanes = kLanes,
                                             .max_vectors = kInt8Vectors,
                                             .tile_rows = kInt8TileRows,
                                             .group = kPairsGroup,
                                             .block = any_block<PairsOfBytes>,
                                             .to_floats = to_floats,
                                             .pack_group = pack_words<true>,
                                             .pack_rows = pack_rows_of_words<true>,
                                             .widen_row = nullptr,
                                             .correct_row = correct_row,
                                             .spread_large = spread_large};
constexpr GemmInt8Kernels kOfLeftWeights = {.isa = kLevel,
                                            .lanes = kLanes,
                                            .max_vectors = kInt8Vectors,
                                            .tile_rows = kInt8TileRows,
                                            .group = kPairsGroup,
                                            .block = any_block<PairsOfWeights>,
                                            .to_floats = to_floats,
                                            .pack_group = pack_words<false>,
                                            .pack_rows = pack_rows_of_words<false>,
                                            .widen_row = nullptr,
                                            .correct_row = correct_row,
                                            .spread_row = spread_large_words};
constexpr const GemmInt8Kernels *kOfWeights = &kOfRightWeights, *kOfRows = &kOfLeftWeights;
#else
constexpr const GemmInt8Kernels *kOfWeights = nullptr, *kOfRows = nullptr;
#endif

extern const GemmInt8Kernels kGemmInt8;
const GemmInt8Kernels kGemmInt8 = {.isa = kLevel,
                                   .lanes = kLanes,
                                   .max_vectors = kInt8Vectors,
                                   .tile_rows = kInt8TileRows,
                                   .group = kGroup,
                                   .block = any_block<AnyGroups>,
                                   .to_floats = to_floats,
                                   .pack_group = pack_group,
                                   .pack_rows = pack_rows,
                                   .widen_row = widen_row,
                                   .correct_row = correct_row,
                                   .of_weights = kOfWeights,
                                   .of_rows = kOfRows};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
