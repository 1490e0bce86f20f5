// Products with weights of 2, 4 and 8 bits for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/quantised/matmul_nbits_bytes_body.h"
#include "cpu/kernels/quantised/matmul_nbits_finish.h"
#include "cpu/kernels/vectors/isa_level.h"
#include "cpu/kernels/vectors/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

constexpr int kRowPanels = 4;

template <int kBits>
constexpr int shift_of(int i) {
  return 8 * (i % 4) + kBits * (i / 4);
}

#if defined(__AVX512F__)
constexpr bool kLooksUp = true;
/** Uses the low four bits of each index. */
ORTOLAN_INLINE Vf look_up(Vf table, const float*, Vi index) {
  return (Vf)_mm512_permutexvar_ps((__m512i)index, (__m512)table);
}
ORTOLAN_INLINE Vf load_table(const float* table) { return load(table); }
#else
constexpr bool kLooksUp = false;
ORTOLAN_INLINE Vf look_up(Vf, const float* table, Vi index) {
#if defined(__AVX2__)
  return (Vf)_mm256_i32gather_ps(table, (__m256i)(index & 15), 4);
#else
  Vf v = {};
  for (int i = 0; i < kLanes; ++i) v[i] = table[index[i] & 15];
  return v;
#endif
}
ORTOLAN_INLINE Vf load_table(const float*) { return Vf{}; }
#endif

/** What an element is worth more by value_of than without scale and zero. */
template <int kBits, bool kTable>
constexpr float kExcess = kBits == 8 || kTable || kLooksUp ? 0 : 1 << (kBits - 1);

template <int kBits>
ORTOLAN_INLINE Vi load_words(const int32_t* p) {
  if constexpr (kBits == 8) return load(p) ^ static_cast<int32_t>(0x80808080u);
  return load(p);
}

template <int kBits, bool kTable>
ORTOLAN_INLINE Vf value_of(Vi word, int i, Vf table, const float* list) {
  if constexpr (kBits == 8) return to_float((word << (24 - 8 * i)) >> 24);
  if constexpr (kTable || kLooksUp) return look_up(table, list, word >> shift_of<kBits>(i));
  return to_float((word >> shift_of<kBits>(i)) & ((1 << kBits) - 1));
}

/** The zeros of block `at` (counted through all panels), less the middle; 0 where there are none. */
ORTOLAN_INLINE Vf zeros_of(const NBitsPanels& b, int64_t at) {
  if (b.zeros != nullptr) return to_float(zero_offsets(b, at));
  return b.zero_values != nullptr ? load(b.zero_values + at * kLanes) : Vf{};
}

ORTOLAN_INLINE bool has_zeros(const NBitsPanels& b) { return b.zeros != nullptr || b.zero_values != nullptr; }

template <int kBits, bool kTable, int V>
void multiply_row(const NBitsPanels& b, int64_t panel, const float* a, const float* sums, const NBitsResult& result) {
  constexpr int kSize = kWordValues<kBits>;
  const int64_t stride = b.groups * kLanes, per_block = b.block / kSize;
  const int32_t* words = b.words + panel * stride;
  const Vf table = load_table(b.table);
  const bool zeros = has_zeros(b) || kExcess<kBits, kTable> != 0;
  Vf total[V] = {};
  for (int64_t block = 0, group = 0; block < b.blocks; ++block) {
    Vf sum[V] = {};
    for (const int64_t end = least(b.groups, group + per_block); group < end; ++group) {
      Vi w[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        w[v] = load_words<kBits>(words + v * stride + group * kLanes);
        __builtin_prefetch(words + v * stride + (group + 12) * kLanes, 0, 3);
      }
      const float* x = a + group * kSize;
#pragma GCC unroll 16
      for (int i = 0; i < kSize; ++i) {
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) {
          sum[v] = fma(set1(x[i]), value_of<kBits, kTable>(w[v], i, table, b.table), sum[v]);
        }
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      const int64_t at = (panel + v) * b.blocks + block;
      if (zeros) sum[v] = sum[v] - (zeros_of(b, at) + set1(kExcess<kBits, kTable>)) * set1(sums[block]);
      total[v] = fma(load(b.scales + at * kLanes), sum[v], total[v]);
    }
  }
  for (int v = 0; v < V; ++v) store_result(result, 0, v * kLanes, total[v]);
}

template <int kBits, bool kTable>
void multiply_row(const NBitsPanels& b, int64_t panel, int panels, const float* a, const float* sums,
                  const NBitsResult& result) {
  if (panels == 4) return multiply_row<kBits, kTable, 4>(b, panel, a, sums, result);
  if (panels == 3) return multiply_row<kBits, kTable, 3>(b, panel, a, sums, result);
  if (panels == 2) return multiply_row<kBits, kTable, 2>(b, panel, a, sums, result);
  multiply_row<kBits, kTable, 1>(b, panel, a, sums, result);
}

void any_row(const NBitsPanels& b, int64_t panel, int panels, const float* a, const float* sums,
             const NBitsResult& result) {
  if (b.has_table) return multiply_row<4, true>(b, panel, panels, a, sums, result);
  if (b.bits == 2) return multiply_row<2, false>(b, panel, panels, a, sums, result);
  if (b.bits == 4) return multiply_row<4, false>(b, panel, panels, a, sums, result);
  multiply_row<8, false>(b, panel, panels, a, sums, result);
}

template <int kBits, bool kTable>
void dequantize(const NBitsPanels& b, int64_t panel, int64_t k, int64_t count, float* rows, int64_t step) {
  constexpr int kSize = kWordValues<kBits>;
  const Vf table = load_table(b.table);
  const int32_t* words = b.words + (panel * b.groups + k / kSize) * kLanes;
  for (int64_t done = 0; done < count;) {
    const int64_t at = panel * b.blocks + (k + done) / b.block;
    const int64_t end = least(count, ((k + done) / b.block + 1) * b.block - k);
    const Vf scale = load(b.scales + at * kLanes);
    const Vf shift = (zeros_of(b, at) + set1(kExcess<kBits, kTable>)) * scale;
    for (; done < end; words += kLanes) {
      const Vi w = load_words<kBits>(words);
      const int64_t here = least(kSize, end - done);
      if (here == kSize) {
#pragma GCC unroll 16
        for (int i = 0; i < kSize; ++i) {
          store(rows + (done + i) * step, value_of<kBits, kTable>(w, i, table, b.table) * scale - shift);
        }
      } else {
        Vf values[kSize];
#pragma GCC unroll 16
        for (int i = 0; i < kSize; ++i) values[i] = value_of<kBits, kTable>(w, i, table, b.table) * scale - shift;
        for (int64_t i = 0; i < here; ++i) store(rows + (done + i) * step, values[i]);
      }
      done += here;
    }
  }
}

void any_dequantize(const NBitsPanels& b, int64_t panel, int64_t k, int64_t count, float* rows, int64_t step) {
  if (b.has_table) return dequantize<4, true>(b, panel, k, count, rows, step);
  if (b.bits == 2) return dequantize<2, false>(b, panel, k, count, rows, step);
  if (b.bits == 4) return dequantize<4, false>(b, panel, k, count, rows, step);
  dequantize<8, false>(b, panel, k, count, rows, step);
}

/** The largest magnitude as the bits of a float, which are ordered as the magnitudes are and NaN above all of them. */
ORTOLAN_INLINE int32_t largest_magnitude(const float* a, int64_t count) {
  Vi largest = {};
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t n = least(kLanes, count - i);
    const Vi magnitude = bits(vabs(n == kLanes ? load(a + i) : load_n(a + i, n)));
    largest = magnitude > largest ? magnitude : largest;
  }
  int32_t most = 0;
  for (int i = 0; i < kLanes; ++i) most = largest[i] > most ? largest[i] : most;
  return most;
}

bool quantize_block(const float* a, int64_t valid, int64_t count, int8_t* bytes, float& scale, int32_t& total) {
  const int32_t magnitude = largest_magnitude(a, valid);
  const bool fits = fits_bytes(magnitude);
  total = 0, scale = 0;
  if (!fits || magnitude == 0) {
    __builtin_memset(bytes, 0, static_cast<size_t>(count));
    return fits;
  }
  const float most = __builtin_bit_cast(float, magnitude), inverse = 127 / most;
  Vi sum = {};
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t n = least(kLanes, valid - i);
    const Vf x = n == kLanes ? load(a + i) : n > 0 ? load_n(a + i, n) : Vf{};
    const Vi q = to_int(rint(x * set1(inverse)));
    *reinterpret_cast<LaneBytes*>(bytes + i) = __builtin_convertvector(q, LaneBytes);
    sum = sum + q;
  }
  for (int i = 0; i < kLanes; ++i) total += sum[i];
  scale = most / 127;
  return true;
}

bool quantize_row(const float* a, int64_t k, int64_t padded, int64_t block, int8_t* bytes, float* scales,
                  int32_t* sums) {
  bool fits = true;
  for (int64_t first = 0, i = 0; first < padded; first += block, ++i) {
    fits &= quantize_block(a + first, least(block, k - first), least(block, padded - first), bytes + first, scales[i],
                           sums[i]);
  }
  return fits;
}

}  // namespace

extern const NBitsKernels kNBits;
const NBitsKernels kNBits = {
    kLevel, kLanes, kRowPanels, kBytePanels, kByteRows, any_row, any_dequantize, any_bytes, quantize_row,
};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
