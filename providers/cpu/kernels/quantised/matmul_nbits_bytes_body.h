// Products of bytes with weights of 2, 4 and 8 bits for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/quantised/matmul_nbits_finish.h"
#include "cpu/kernels/vectors/vec_pairs.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

template <int kBits>
constexpr int kWordValues = 32 / kBits;

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kByteRows = 6, kBytePanels = 2;
#else
constexpr int kByteRows = 4, kBytePanels = 1;
#endif

#if defined(__AVX2__) || defined(__ARM_FEATURE_DOTPROD)
#if defined(__AVX512F__)
typedef __m512i ByteVector;
ORTOLAN_INLINE ByteVector add_words(ByteVector a, ByteVector b) { return _mm512_add_epi16(a, b); }
ORTOLAN_INLINE ByteVector multiply_words(ByteVector a, ByteVector b) { return _mm512_madd_epi16(a, b); }
ORTOLAN_INLINE ByteVector multiply_unsigned(ByteVector a, ByteVector b) { return _mm512_maddubs_epi16(a, b); }
ORTOLAN_INLINE ByteVector multiply_signed(ByteVector a, ByteVector b) {
  const ByteVector turned = _mm512_mask_sub_epi8(b, _mm512_movepi8_mask(a), _mm512_setzero_si512(), b);
  return _mm512_maddubs_epi16(_mm512_abs_epi8(a), turned);
}
#elif defined(__AVX2__)
typedef __m256i ByteVector;
ORTOLAN_INLINE ByteVector add_words(ByteVector a, ByteVector b) { return _mm256_add_epi16(a, b); }
ORTOLAN_INLINE ByteVector multiply_words(ByteVector a, ByteVector b) { return _mm256_madd_epi16(a, b); }
ORTOLAN_INLINE ByteVector multiply_unsigned(ByteVector a, ByteVector b) { return _mm256_maddubs_epi16(a, b); }
ORTOLAN_INLINE ByteVector multiply_signed(ByteVector a, ByteVector b) {
  return _mm256_maddubs_epi16(_mm256_abs_epi8(a), _mm256_sign_epi8(b, a));
}
#endif

/**
 * Sums of four products of bytes in each lane. Where there is an instruction for it, weights are unsigned. Else pairs
 * of products are summed in words, which hold those of a run of groups: for 2 and 4 bits of 32 elements, whose products
 * are at most 15 * 127 each; for 8 bits of one group. Weights of 8 bits are taken less 128 (kLessMiddle) where only
 * numbers of equal signs have a product.
 */
#if defined(__AVX512VNNI__)
constexpr bool kWholeSums = true, kLessMiddle = false;
template <int kBits>
ORTOLAN_INLINE Vi add_products(Vi sum, Vi weights, Vi bytes) {
  return (Vi)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)weights, (__m512i)bytes);
}
ORTOLAN_INLINE Vi add_word_products(Vi sum, Vi a, Vi b) {
  return (Vi)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
}
#elif defined(__AVXVNNI__)
constexpr bool kWholeSums = true, kLessMiddle = false;
template <int kBits>
ORTOLAN_INLINE Vi add_products(Vi sum, Vi weights, Vi bytes) {
  return (Vi)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)weights, (__m256i)bytes);
}
ORTOLAN_INLINE Vi add_word_products(Vi sum, Vi a, Vi b) {
  return (Vi)_mm256_dpwssd_avx_epi32((__m256i)sum, (__m256i)a, (__m256i)b);
}
#elif defined(__ARM_FEATURE_DOTPROD)
#if defined(__ARM_FEATURE_MATMUL_INT8)
constexpr bool kWholeSums = true, kLessMiddle = false;
#else
constexpr bool kWholeSums = true, kLessMiddle = true;
#endif
template <int kBits>
ORTOLAN_INLINE Vi add_products(Vi sum, Vi weights, Vi bytes) {
#if defined(__ARM_FEATURE_MATMUL_INT8)
  if constexpr (kBits == 8) return (Vi)vusdotq_s32((int32x4_t)sum, (uint8x16_t)weights, (int8x16_t)bytes);
#endif
  const Vi signs = kBits == 8 ? weights ^ static_cast<int32_t>(0x80808080u) : weights;
  return (Vi)vdotq_s32((int32x4_t)sum, (int8x16_t)signs, (int8x16_t)bytes);
}
ORTOLAN_INLINE Vi add_word_products(Vi sum, Vi a, Vi b) { return add_pair_products(sum, a, b); }
#else
constexpr bool kWholeSums = false, kLessMiddle = true;
template <int kBits>
ORTOLAN_INLINE Vi add_products(Vi words, Vi weights, Vi bytes) {
  if constexpr (kBits == 8) {
    return (Vi)multiply_signed((ByteVector)(weights ^ static_cast<int32_t>(0x80808080u)), (ByteVector)bytes);
  } else {
    return (Vi)add_words((ByteVector)words, multiply_unsigned((ByteVector)weights, (ByteVector)bytes));
  }
}
ORTOLAN_INLINE Vi add_word_products(Vi sum, Vi a, Vi b) {
  return sum + (Vi)multiply_words((ByteVector)a, (ByteVector)b);
}
#endif
template <int kBits>
constexpr int64_t kRun = kWholeSums   ? INT64_MAX / 2
                         : kBits == 8 ? 1
                                      : 32 / kWordValues<kBits>;

ORTOLAN_INLINE Vi broadcast_bytes(const int8_t* p) {
  int32_t word;
  __builtin_memcpy(&word, p, 4);
  return set1i(word);
}

/** Takes each column's zero, times the sum of A's block, off the sums. */
template <int MR, int V>
ORTOLAN_INLINE void start_from_zeros(const NBitsPanels& b, int64_t at, const int32_t* less_sum, Vi (&sum)[MR][V]) {
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) {
    const Vi zero = lane_bytes(b.zeros + (at + v * b.blocks) * kLanes);
#pragma GCC unroll 6
    for (int r = 0; r < MR; ++r) sum[r][v] = add_word_products(sum[r][v], zero, set1i(less_sum[r * b.blocks]));
  }
}

/** Asks for what one row, which is multiplied as fast as weights come from memory, reads of a panel some groups later;
    behind the panel's end that is the one V further on. */
template <int V>
ORTOLAN_INLINE void fetch_words(const int32_t* words, int64_t stride, int64_t group) {
  constexpr int64_t kAhead = 4096 / 4;
  const int64_t at = group * kLanes + kAhead;
  __builtin_prefetch(words + at + (at < stride ? 0 : (V - 1) * stride), 0, 2);
}

/** Groups [group, end) of MR rows and V panels. */
template <int kBits, int MR, int V>
ORTOLAN_INLINE void add_groups(const int32_t* words, int64_t stride, const int8_t* a, int64_t a_stride, int64_t group,
                               int64_t end, Vi (&sum)[MR][V]) {
  constexpr int kSize = kWordValues<kBits>, kParts = 8 / kBits;
  const Vi mask = set1i(kBits == 2 ? 0x03030303 : 0x0f0f0f0f);
  for (; group < end; ++group) {
    Vi w[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      w[v] = load(words + v * stride + group * kLanes);
      if (MR == 1) fetch_words<V>(words + v * stride, stride, group);
    }
    const int8_t* x = a + group * kSize;
#pragma GCC unroll 4
    for (int part = 0; part < kParts; ++part) {
#pragma GCC unroll 6
      for (int r = 0; r < MR; ++r) {
        const Vi bytes = broadcast_bytes(x + r * a_stride + 4 * part);
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) {
          const Vi q = kBits == 8 ? w[v] : (w[v] >> (kBits * part)) & mask;
          sum[r][v] = add_products<kBits>(sum[r][v], q, bytes);
        }
      }
    }
  }
}

/** The same, by way of sums in words. */
template <int kBits, int MR, int V>
ORTOLAN_INLINE void add_runs(const int32_t* words, int64_t stride, const int8_t* a, int64_t a_stride, int64_t group,
                             int64_t end, Vi (&sum)[MR][V]) {
  for (; group < end; group += kRun<kBits>) {
    Vi in_words[MR][V] = {};
    add_groups<kBits, MR, V>(words, stride, a, a_stride, group, least(end, group + kRun<kBits>), in_words);
#pragma GCC unroll 6
    for (int r = 0; r < MR; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[r][v] = add_word_products(sum[r][v], in_words[r][v], set1i(0x00010001));
    }
  }
}

template <int kBits, int MR, int V>
void multiply_bytes(const NBitsPanels& b, int64_t panel, const NBitsBytes& a, int64_t row, const NBitsResult& result) {
  const int64_t stride = b.groups * kLanes, per_block = b.block / kWordValues<kBits>;
  const int32_t* words = b.words + panel * stride;
  const int8_t* bytes = a.bytes + row * a.stride;
  const bool zeros = b.zeros != nullptr;
  Vf total[MR][V] = {};
  for (int64_t block = 0; block < b.blocks; ++block) {
    Vi sum[MR][V];
#pragma GCC unroll 6
    for (int r = 0; r < MR; ++r) {
      const int32_t start = kBits == 8 && kLessMiddle ? 0 : a.start[(row + r) * b.blocks + block];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[r][v] = set1i(start);
    }
    if (zeros) start_from_zeros<MR, V>(b, (panel * b.blocks) + block, a.less_sum + row * b.blocks + block, sum);
    const int64_t group = block * per_block, end = least(b.groups, group + per_block);
    if constexpr (kWholeSums) {
      add_groups<kBits, MR, V>(words, stride, bytes, a.stride, group, end, sum);
    } else {
      add_runs<kBits, MR, V>(words, stride, bytes, a.stride, group, end, sum);
    }
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      const int64_t at = (panel + v) * b.blocks + block;
      const Vf scale = load(b.scales + at * kLanes);
#pragma GCC unroll 6
      for (int r = 0; r < MR; ++r) {
        total[r][v] = fma(to_float(sum[r][v]) * set1(a.scales[(row + r) * b.blocks + block]), scale, total[r][v]);
      }
    }
  }
  for (int r = 0; r < MR; ++r) {
    for (int v = 0; v < V; ++v) store_result(result, row + r, v * kLanes, total[r][v]);
  }
}

template <int kBits, int MR>
ORTOLAN_INLINE void bytes_of(int64_t rows, int panels, const NBitsPanels& b, int64_t panel, const NBitsBytes& a,
                             int64_t row, const NBitsResult& result) {
  if (rows == MR) {
    if constexpr (MR == 1) {
      if (panels == 4) return multiply_bytes<kBits, 1, 4>(b, panel, a, row, result);
      if (panels == 3) return multiply_bytes<kBits, 1, 3>(b, panel, a, row, result);
    }
    if constexpr (MR == 1 || kBytePanels == 2) {
      if (panels == 2) return multiply_bytes<kBits, MR, 2>(b, panel, a, row, result);
    }
    return multiply_bytes<kBits, MR, 1>(b, panel, a, row, result);
  }
  if constexpr (MR > 1) bytes_of<kBits, MR - 1>(rows, panels, b, panel, a, row, result);
}

template <int kBits>
void multiply_bytes(const NBitsPanels& b, int64_t panel, int panels, const NBitsBytes& a, int64_t rows,
                    const NBitsResult& result) {
  const int64_t tiles = (rows + kByteRows - 1) / kByteRows;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t row = rows * i / tiles, end = rows * (i + 1) / tiles;
    bytes_of<kBits, kByteRows>(end - row, panels, b, panel, a, row, result);
  }
}

void any_bytes(const NBitsPanels& b, int64_t panel, int panels, const NBitsBytes& a, int64_t rows,
               const NBitsResult& result) {
  if (b.bits == 2) return multiply_bytes<2>(b, panel, panels, a, rows, result);
  if (b.bits == 4) return multiply_bytes<4>(b, panel, panels, a, rows, result);
  multiply_bytes<8>(b, panel, panels, a, rows, result);
}
#else
constexpr auto any_bytes = nullptr;
#endif

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
