// Packing of operands of integer products for one instruction set. Included as vec.h is.
#pragma once

#include <type_traits>

#include "cpu/kernels/quantised/gemm_int8_dot.h"
#include "cpu/kernels/quantised/gemm_int8_kernels.h"
#include "cpu/kernels/vectors/vec_bytes.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

ORTOLAN_INLINE Vi widen(const uint8_t* p, bool is_signed) {
  return is_signed ? widen_bytes(reinterpret_cast<const int8_t*>(p)) : widen_bytes(p);
}

ORTOLAN_INLINE int32_t widen_one(const uint8_t* p, bool is_signed) { return is_signed ? static_cast<int8_t>(*p) : *p; }

#if defined(__AVX2__) && !defined(__AVX512F__)
// The words of kLanes columns, each of a byte of each of four rows, whose bits of `flips` are turned.
ORTOLAN_INLINE __m256i join_four(const uint8_t* const* rows, int64_t column, __m128i flips) {
  const auto row = [&](int i) __attribute__((always_inline)) {
    return _mm_xor_si128(_mm_loadu_si64(rows[i] + column), flips);
  };
  const __m128i low = _mm_unpacklo_epi8(row(0), row(1)), high = _mm_unpacklo_epi8(row(2), row(3));
  return _mm256_set_m128i(_mm_unpackhi_epi16(low, high), _mm_unpacklo_epi16(low, high));
}
#endif

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

#if !defined(__AVX512VNNI__) && !defined(__AVXVNNI__)
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
#endif

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
#elif defined(__AVXVNNI__)
int64_t pack_vectors(const uint8_t* const* rows, int64_t columns, bool, bool flip, int32_t* to, int32_t* sums) {
  const __m128i flips = _mm_set1_epi8(flip ? static_cast<char>(0x80) : 0);
  int64_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) {
    const Vi words = (Vi)join_four(rows, c, flips);
    store(to + c, words);
    store(sums + c, dot(load(sums + c), set1i(0x01010101), words));
  }
  return c;
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

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
