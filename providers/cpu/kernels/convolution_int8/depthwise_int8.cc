// Depthwise convolution of bytes with channels last: rows of output, split where the taps inside the image change.
#include "cpu/kernels/convolution_int8/depthwise_int8.h"

#include <algorithm>
#include <vector>

#include "base/memory/packed_parts.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/convolution/window_reach.h"
#include "cpu/kernels/convolution_int8/conv_int8_weights.h"
#include "cpu/kernels/convolution_int8/depthwise_int8_kernels.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/scratch.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr double kDepthwiseByteNs = 0.05;  // a product, with a share of what its sum becomes

int byte_value(const void* p, int64_t i, bool is_signed) {
  return is_signed ? int{static_cast<const int8_t*>(p)[i]} : int{static_cast<const uint8_t*>(p)[i]};
}

/** Calls take(channel, tap, weight without its zero point) for all weights. */
template <class Take>
void for_each_weight(const ConvGeometry& g, const void* bytes, bool is_signed, const ConvInt8& operands, Take take) {
  const int64_t taps = g.kernel[1] * g.kernel[2];
  for (int64_t c = 0; c < g.out_channels; ++c) {
    const int64_t at = operands.w_zero_per_channel ? c : 0;
    const int zero = operands.w_zero ? byte_value(operands.w_zero, at, is_signed) : 0;
    for (int64_t t = 0; t < taps; ++t) take(c, t, byte_value(bytes, c * taps + t, is_signed) - zero);
  }
}

/** The weights as [tap][channel] without their zero points. */
std::vector<float> weights_by_tap(const ConvGeometry& g, const ConvInt8& operands, const PackedConvWeightsInt8& w) {
  std::vector<float> result(static_cast<size_t>(g.out_channels * g.kernel[1] * g.kernel[2]));
  for_each_weight(g, w.depthwise_bytes(), w.is_signed(), operands, [&](int64_t channel, int64_t tap, int weight) {
    result[static_cast<size_t>(tap * g.out_channels + channel)] = static_cast<float>(weight);
  });
  return result;
}

bool has_zero_points(const ConvGeometry& g, const ConvInt8& operands) {
  const auto* zeros = static_cast<const uint8_t*>(operands.w_zero);
  const int64_t count = zeros == nullptr ? 0 : operands.w_zero_per_channel ? g.out_channels : 1;
  return std::any_of(zeros, zeros + count, [](uint8_t zero) { return zero != 0; });
}

int64_t groups_of_words(const ConvGeometry& g) { return (g.out_channels + kWordChannels - 1) / kWordChannels; }
int64_t word_rows(const ConvGeometry& g) { return (g.kernel[1] + kWordRows - 1) / kWordRows; }
int64_t group_size(const ConvGeometry& g) { return g.kernel[2] * word_rows(g) * kWordChannels * kWordRows; }

/** One row of output. */
class Row {
 public:
  Row(const ConvGeometry& geometry, const std::vector<Reach>& columns, DepthwiseBytesRun run)
      : g(geometry), columns_(columns), run_(run) {}

  /** `image` and `y` begin at the row's image and at the row. */
  void run(const uint8_t* image, const float* weights, int64_t row, uint8_t* y) {
    const Reach down = reach_of(g, 1, row);
    run_.rows = down.count;
    for (int64_t out = 0, end; out < g.out[2]; out = end) {
      const Reach& across = columns_[out];
      for (end = out + 1; end < g.out[2] && same_taps(across, columns_[end]); ++end) {
      }
      run_.columns = across.count;
      run_.outputs = end - out;
      run_.x = image + (down.at * g.in[2] + across.at) * run_.channels;
      run_.weights = weights + (down.tap * g.kernel[2] + across.tap) * run_.channels;
      run_.y = y + out * run_.channels;
      kernels().depthwise_int8->convolve(run_);
    }
  }

 private:
  static bool same_taps(const Reach& a, const Reach& b) { return a.tap == b.tap && a.count == b.count; }

  const ConvGeometry& g;
  const std::vector<Reach>& columns_;
  DepthwiseBytesRun run_;
};

/** Rows of output by words: a row's channels in groups, its columns in chunks whose words stay in the first cache. */
class WordRows {
 public:
  WordRows(const ConvGeometry& geometry, const ConvInt8& operands, const DepthwiseWords& words,
           const Requantization& after)
      : g(geometry),
        words_(words),
        nothing_(kWordChannels, static_cast<uint8_t>(operands.x_zero)),
        starts_(words.sums.bytes()),
        scales_(words.sums.bytes()) {
    run_.nothing = nothing_.data();
    run_.x_signed = operands.x_signed;
    run_.in_columns = g.in[2];
    run_.word_rows = word_rows(g);
    run_.taps_across = g.kernel[2], run_.dilation = g.dilation[2], run_.stride = g.stride[2];
    run_.output_step = g.out_channels;
    run_.y_zero = after.y_zero, run_.y_signed = after.y_signed;
    const int32_t x_zero = operands.x_zero + (operands.x_signed ? 128 : 0);
    const int64_t count = groups_of_words(g) * kWordChannels;
    const auto* sums = words.sums.as<int32_t>();
    for (int64_t i = 0; i < count; ++i) {
      const int64_t channel = i / kWordChannels * kWordChannels + channel_of_word(i % kWordChannels);
      const bool known = channel < g.out_channels;
      const int32_t bias = known && after.bias != nullptr ? after.bias[channel] : 0;
      starts_.as<int32_t>()[i] = static_cast<int32_t>(
          static_cast<uint32_t>(bias) - static_cast<uint32_t>(x_zero) * static_cast<uint32_t>(sums[channel]));
      scales_.as<float>()[i] = known ? after.scale[after.scale_per_channel ? channel : 0] : 0;
    }
  }

  /** `image` and `y` begin at the row's image and at the row. */
  void run(const uint8_t* image, int64_t row, uint8_t* y) const {
    const int64_t reach = (g.kernel[2] - 1) * g.dilation[2] + 1, size = run_.word_rows * kWordChannels;
    const int64_t chunk = std::clamp<int64_t>((kChunkWords / size - reach) / g.stride[2] + 1, 8, g.out[2]);
    DepthwiseWordsRun run = run_;
    const Scratch<int32_t> words(((chunk - 1) * g.stride[2] + reach) * size);
    run.words = words.data();
    const uint8_t* lines[kMostTaps + kWordRows];
    int64_t steps[kMostTaps + kWordRows];
    run.rows = lines, run.row_steps = steps;
    for (int64_t c = 0; c < g.out_channels; c += kWordChannels) {
      find_lines(image + c, row, lines, steps);
      run.channels = std::min(kWordChannels, g.out_channels - c);
      run.weights = words_.weights.as<int8_t>() + c / kWordChannels * group_size(g);
      run.start = starts_.as<int32_t>() + c, run.scale = scales_.as<float>() + c;
      for (int64_t out = 0; out < g.out[2]; out += chunk) {
        run.outputs = std::min(chunk, g.out[2] - out);
        run.first_column = out * g.stride[2] - g.pad_begin[2];
        run.columns = (run.outputs - 1) * g.stride[2] + reach;
        run.y = y + out * g.out_channels + c;
        kernels().depthwise_int8->convolve_words(run);
      }
    }
  }

 private:
  static constexpr int64_t kChunkWords = 6144, kMostTaps = 256;

  /** The image's lines at the taps down; beside the image, and up to a whole word, those of nothing. */
  void find_lines(const uint8_t* image, int64_t row, const uint8_t** lines, int64_t* steps) const {
    for (int64_t i = 0; i < run_.word_rows * kWordRows; ++i) {
      const int64_t at = row * g.stride[1] - g.pad_begin[1] + i * g.dilation[1];
      const bool inside = i < g.kernel[1] && at >= 0 && at < g.in[1];
      lines[i] = inside ? image + at * g.in[2] * g.in_channels : nothing_.data();
      steps[i] = inside ? g.in_channels : 0;
    }
  }

  const ConvGeometry& g;
  const DepthwiseWords& words_;
  std::vector<uint8_t> nothing_;
  AlignedBuffer starts_, scales_;
  DepthwiseWordsRun run_{};
};

/** Calls run(image, row, y) for all rows of output. */
template <class Run>
void for_each_row(base::ThreadPool* pool, const ConvGeometry& g, const void* x, uint8_t* y, Run run) {
  const int64_t out_line = g.out[2] * g.out_channels, image = g.in[1] * g.in[2] * g.in_channels;
  const double row_ns = static_cast<double>(out_line * g.kernel[1] * g.kernel[2]) * kDepthwiseByteNs;
  base::parallel_for(pool, g.batch * g.out[1], least_items(row_ns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      run(static_cast<const uint8_t*>(x) + i / g.out[1] * image, i % g.out[1], y + i * out_line);
    }
  });
}

void convolve_by_taps(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
                      const PackedConvWeightsInt8& weights, const Requantization& after, uint8_t* y) {
  const std::vector<float> by_tap = weights_by_tap(g, operands, weights);
  std::vector<Reach> columns(static_cast<size_t>(g.out[2]));
  for (int64_t i = 0; i < g.out[2]; ++i) columns[i] = reach_of(g, 2, i);
  const int64_t channels = g.out_channels;
  DepthwiseBytesRun run{};
  run.x_signed = operands.x_signed, run.x_zero = operands.x_zero;
  run.row_step = g.dilation[1] * g.in[2] * channels, run.column_step = g.dilation[2] * channels;
  run.channels = channels, run.output_step = g.stride[2] * channels, run.weight_row = g.kernel[2] * channels;
  run.bias = after.bias, run.scale = after.scale, run.scale_per_channel = after.scale_per_channel;
  run.y_zero = after.y_zero, run.y_signed = after.y_signed;
  for_each_row(pool, g, operands.x, y, [&](const uint8_t* image, int64_t row, uint8_t* to) {
    Row(g, columns, run).run(image, by_tap.data(), row, to);
  });
}

}  // namespace

bool takes_channels_last(const ConvGeometry& g) {
  const bool flat = g.kernel[0] == 1 && g.in[0] == 1 && g.out[0] == 1 && g.pad_begin[0] == 0;
  const bool few_taps = g.kernel[1] <= 256 && g.kernel[2] <= 256 && g.kernel[1] * g.kernel[2] <= 256;
  return flat && few_taps && g.stride[0] == 1 && g.groups == g.in_channels && g.groups == g.out_channels &&
         g.out_channels >= kernels().depthwise_int8->least_channels;
}

DepthwiseWords depthwise_words(const ConvGeometry& g, const void* bytes, bool is_signed, const ConvInt8& operands) {
  DepthwiseWords words;
  if (kernels().depthwise_int8->convolve_words == nullptr) return words;
  const int64_t size = group_size(g), row_size = kWordChannels * kWordRows;
  const bool kept = base::parts_are_kept();
  if (kept && base::kept_choice(2) == 0) return words;
  words.weights = AlignedBuffer(static_cast<size_t>(groups_of_words(g) * size), Lifetime::kSession);
  words.sums =
      AlignedBuffer(static_cast<size_t>(groups_of_words(g) * kWordChannels) * sizeof(int32_t), Lifetime::kSession);
  if (kept) return words;
  auto* weights = words.weights.as<int8_t>();
  auto* sums = words.sums.as<int32_t>();
  std::fill_n(weights, groups_of_words(g) * size, int8_t{0});
  std::fill_n(sums, groups_of_words(g) * kWordChannels, 0);
  int64_t places[kWordChannels];
  for (int64_t i = 0; i < kWordChannels; ++i) places[channel_of_word(i)] = i * kWordRows;
  bool fit = true;
  for_each_weight(g, bytes, is_signed, operands, [&](int64_t channel, int64_t tap, int weight) {
    const int64_t row = tap / g.kernel[2], across = tap % g.kernel[2];
    const int64_t group = channel / kWordChannels * size;
    const int64_t word = (across * word_rows(g) + row / kWordRows) * row_size + places[channel % kWordChannels];
    weights[group + word + row % kWordRows] = static_cast<int8_t>(weight);
    sums[channel] += weight;
    fit = fit && weight == static_cast<int8_t>(weight);
  });
  return base::note_choice(fit ? 1 : 0) != 0 ? std::move(words) : DepthwiseWords{};
}

void depthwise_channels_last(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
                             const PackedConvWeightsInt8& weights, const Requantization& after, uint8_t* y) {
  DepthwiseWords own;
  const DepthwiseWords* words = &weights.storage()->words;
  if (words->empty() || has_zero_points(g, operands)) {
    own = depthwise_words(g, weights.depthwise_bytes(), weights.is_signed(), operands);
    words = &own;
  }
  if (words->empty() || kernels().depthwise_int8->convolve_words == nullptr) {
    return convolve_by_taps(pool, g, operands, weights, after, y);
  }
  const WordRows rows(g, operands, *words, after);
  for_each_row(pool, g, operands.x, y,
               [&](const uint8_t* image, int64_t row, uint8_t* to) { rows.run(image, row, to); });
}

}  // namespace ortolan::cpu::kernels
