// Depthwise convolution of bytes with channels last for one instruction set. Sums run over words of four taps where
// those have a product, else in fp32, where they are exact with the zero point of x as without it. Included as vec.h
// is.
#pragma once

#include "cpu/kernels/convolution_int8/depthwise_int8_kernels.h"
#include "cpu/kernels/vectors/vec_bytes.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

/** What the zero point of x adds to the sums of a vector of channels. */
ORTOLAN_INLINE Vf sums_of_zeros(const DepthwiseBytesRun& run, int64_t channel) {
  Vf sum = {};
  if (run.x_zero == 0) return sum;
  for (int64_t i = 0; i < run.rows; ++i) {
    const float* w = run.weights + i * run.weight_row + channel;
    for (int64_t j = 0; j < run.columns; ++j, w += run.channels) sum = sum + load(w);
  }
  return sum * set1(static_cast<float>(run.x_zero));
}

template <int kOutputs>
ORTOLAN_INLINE void store_block(const DepthwiseBytesRun& run, int64_t channel, int64_t output,
                                const Vf (&sums)[kOutputs]) {
  const Vi bias = run.bias == nullptr ? Vi{} : load(run.bias + channel);
  const Vf scale = run.scale_per_channel ? load(run.scale + channel) : set1(run.scale[0]);
#if defined(__AVX512BW__)
  if constexpr (kOutputs == 4) {
    Vf scaled[4];
#pragma GCC unroll 4
    for (int o = 0; o < 4; ++o) scaled[o] = to_float(to_int(sums[o]) + bias) * scale;
    const __m512i zero = _mm512_set1_epi16(static_cast<int16_t>(run.y_zero));
    const __m512i bytes = round_to_bytes<4>(scaled, zero, run.y_signed);
    auto* y = reinterpret_cast<__m128i*>(run.y + output * run.channels + channel);
    const auto next = [&] { y = reinterpret_cast<__m128i*>(reinterpret_cast<uint8_t*>(y) + run.channels); };
    _mm_storeu_si128(y, _mm512_extracti32x4_epi32(bytes, 0)), next();
    _mm_storeu_si128(y, _mm512_extracti32x4_epi32(bytes, 1)), next();
    _mm_storeu_si128(y, _mm512_extracti32x4_epi32(bytes, 2)), next();
    _mm_storeu_si128(y, _mm512_extracti32x4_epi32(bytes, 3));
    return;
  }
#endif
  const Vf zero = set1(static_cast<float>(run.y_zero));
#pragma GCC unroll 4
  for (int o = 0; o < kOutputs; ++o) {
    requantize_vector(to_int(sums[o]) + bias, scale, zero, run.y_signed, kLanes, run.y,
                      (output + o) * run.channels + channel);
  }
}

/** One vector of channels of kOutputs neighbours. */
template <class T, int kOutputs>
ORTOLAN_INLINE void convolve_block(const DepthwiseBytesRun& run, int64_t channel, int64_t output, Vf zeros) {
  Vf sums[kOutputs] = {};
  const T* first = reinterpret_cast<const T*>(run.x) + output * run.output_step + channel;
  for (int64_t i = 0; i < run.rows; ++i) {
    const T* x = first + i * run.row_step;
    const float* w = run.weights + i * run.weight_row + channel;
    for (int64_t j = 0; j < run.columns; ++j, x += run.column_step, w += run.channels) {
      const Vf weight = load(w);
#pragma GCC unroll 4
      for (int o = 0; o < kOutputs; ++o) {
        sums[o] = fma(to_float(widen_bytes(x + o * run.output_step)), weight, sums[o]);
      }
    }
  }
#pragma GCC unroll 4
  for (int o = 0; o < kOutputs; ++o) sums[o] = sums[o] - zeros;
  store_block(run, channel, output, sums);
}

template <class T>
void convolve_run(const DepthwiseBytesRun& run) {
  for (int64_t c = 0; c < run.channels; c += kLanes) {
    const int64_t channel = least(c, run.channels - kLanes);
    const Vf zeros = sums_of_zeros(run, channel);
    int64_t output = 0;
    for (; output + 4 <= run.outputs; output += 4) convolve_block<T, 4>(run, channel, output, zeros);
    for (; output < run.outputs; ++output) convolve_block<T, 1>(run, channel, output, zeros);
  }
}

void convolve(const DepthwiseBytesRun& run) { run.x_signed ? convolve_run<int8_t>(run) : convolve_run<uint8_t>(run); }

#if defined(__AVX512VNNI__)
constexpr int kWordVectors = kWordChannels / kLanes;

/** The words of one column from four lines; `flip` makes bytes unsigned. */
ORTOLAN_INLINE void interleave(const uint8_t* const* lines, __mmask64 channels, __m512i flip, int32_t* words) {
  __m512i x[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) x[i] = _mm512_xor_si512(_mm512_maskz_loadu_epi8(channels, lines[i]), flip);
  const __m512i a = _mm512_unpacklo_epi8(x[0], x[1]), b = _mm512_unpacklo_epi8(x[2], x[3]);
  const __m512i c = _mm512_unpackhi_epi8(x[0], x[1]), d = _mm512_unpackhi_epi8(x[2], x[3]);
  store(words, (Vi)_mm512_unpacklo_epi16(a, b));
  store(words + kLanes, (Vi)_mm512_unpackhi_epi16(a, b));
  store(words + 2 * kLanes, (Vi)_mm512_unpacklo_epi16(c, d));
  store(words + 3 * kLanes, (Vi)_mm512_unpackhi_epi16(c, d));
}

ORTOLAN_INLINE __mmask64 first_bytes(int64_t n) { return n < 64 ? (uint64_t{1} << n) - 1 : ~uint64_t{0}; }

void write_words(const DepthwiseWordsRun& run) {
  const __mmask64 channels = first_bytes(run.channels);
  const __m512i flip = _mm512_set1_epi8(run.x_signed ? static_cast<char>(128) : 0);
  int32_t* words = run.words;
  for (int64_t j = run.first_column; j < run.first_column + run.columns; ++j) {
    const bool inside = j >= 0 && j < run.in_columns;
    for (int64_t r = 0; r < run.word_rows; ++r, words += kWordChannels) {
      const uint8_t* lines[kWordRows];
      for (int64_t i = 0; i < kWordRows; ++i) {
        const int64_t row = r * kWordRows + i;
        lines[i] = inside ? run.rows[row] + j * run.row_steps[row] : run.nothing;
      }
      interleave(lines, channels, flip, words);
    }
  }
}

/** The sums of words as bytes, stored. */
struct WordFinish {
  __m512i zero;
  __mmask64 channels;
  bool is_signed;
  Vf scale[kWordVectors];

  explicit WordFinish(const DepthwiseWordsRun& run)
      : zero(_mm512_set1_epi16(static_cast<int16_t>(run.y_zero))),
        channels(first_bytes(run.channels)),
        is_signed(run.y_signed) {
    for (int v = 0; v < kWordVectors; ++v) scale[v] = load(run.scale + v * kLanes);
  }
  ORTOLAN_INLINE void store_bytes(const WordFinish& f, const Vi (&sums)[kWordVectors], uint8_t* y) {
    Vf scaled[kWordVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kWordVectors; ++v) scaled[v] = to_float(sums[v]) * f.scale[v];
    _mm512_mask_storeu_epi8(y, f.channels, round_to_mixed_bytes(scaled, f.zero, f.is_signed));
  }
};

/** The words of one tap of kOutputs neighbours, `step` words apart. */
template <int kOutputs>
ORTOLAN_INLINE void add_words(const int32_t* words, int64_t step, const Vi (&weights)[kWordVectors],
                              Vi (&sums)[kOutputs][kWordVectors]) {
#pragma GCC unroll 4
  for (int v = 0; v < kWordVectors; ++v) {
#pragma GCC unroll 2
    for (int o = 0; o < kOutputs; ++o) {
      const __m512i word = (__m512i)load(words + o * step + v * kLanes);
      sums[o][v] = (Vi)_mm512_dpbusd_epi32((__m512i)sums[o][v], word, (__m512i)weights[v]);
    }
  }
}

ORTOLAN_INLINE void load_weights(const int8_t* from, Vi (&weights)[kWordVectors]) {
#pragma GCC unroll 4
  for (int v = 0; v < kWordVectors; ++v) weights[v] = (Vi)_mm512_loadu_si512(from + v * kVectorBytes);
}

/** kOutputs neighbours from `output` on; `kept` are the weights of kTaps words or, where that is 0, nothing. */
template <int kOutputs, int kTaps>
ORTOLAN_INLINE void convolve_words_at(const DepthwiseWordsRun& run, const Vi (&kept)[kTaps + 1][kWordVectors],
                                      const WordFinish& finish, int64_t output) {
  const int64_t step = run.stride * run.word_rows * kWordChannels,
                across = run.dilation * run.word_rows * kWordChannels;
  const int32_t* x = run.words + output * step;
  Vi sums[kOutputs][kWordVectors];
#pragma GCC unroll 2
  for (int o = 0; o < kOutputs; ++o) {
#pragma GCC unroll 4
    for (int v = 0; v < kWordVectors; ++v) sums[o][v] = load(run.start + v * kLanes);
  }
  if constexpr (kTaps != 0) {
#pragma GCC unroll 4
    for (int k = 0; k < kTaps; ++k) add_words<kOutputs>(x + k * across, step, kept[k], sums);
  } else {
    const int8_t* from = run.weights;
    for (int64_t k = 0; k < run.taps_across; ++k) {
      for (int64_t r = 0; r < run.word_rows; ++r, from += kWordVectors * kVectorBytes) {
        Vi weights[kWordVectors];
        load_weights(from, weights);
        add_words<kOutputs>(x + k * across + r * kWordChannels, step, weights, sums);
      }
    }
  }
#pragma GCC unroll 2
  for (int o = 0; o < kOutputs; ++o) WordFinish::store_bytes(finish, sums[o], run.y + (output + o) * run.output_step);
}

template <int kTaps>
void convolve_written_words(const DepthwiseWordsRun& given) {
  const DepthwiseWordsRun run = given;
  const WordFinish finish(run);
  Vi kept[kTaps + 1][kWordVectors];
  for (int k = 0; k < kTaps; ++k) load_weights(run.weights + k * kWordVectors * kVectorBytes, kept[k]);
  int64_t output = 0;
  for (; output + 2 <= run.outputs; output += 2) convolve_words_at<2, kTaps>(run, kept, finish, output);
  if (output < run.outputs) convolve_words_at<1, kTaps>(run, kept, finish, output);
}

void convolve_words(const DepthwiseWordsRun& run) {
  write_words(run);
  run.taps_across == 3 && run.word_rows == 1 ? convolve_written_words<3>(run) : convolve_written_words<0>(run);
}
#else
constexpr void (*convolve_words)(const DepthwiseWordsRun&) = nullptr;
#endif

}  // namespace

extern const DepthwiseInt8Kernels kDepthwiseInt8;
const DepthwiseInt8Kernels kDepthwiseInt8 = {kLanes, convolve, convolve_words};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
