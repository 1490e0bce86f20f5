// Depthwise convolution of bytes with channels last: rows of output, split where the taps inside the image change.
#include "cpu/kernels/depthwise_int8.h"

#include <algorithm>
#include <vector>

#include "base/thread_pool.h"
#include "cpu/kernels/depthwise_int8_kernels.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/window_reach.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kGrain = 32768;  // multiplications worth a thread

/** The weights as [tap][channel] without their zero points. */
std::vector<float> weights_by_tap(const ConvGeometry& g, const ConvInt8& operands, const PackedConvWeightsInt8& w) {
  const int64_t taps = g.kernel[1] * g.kernel[2];
  const auto value = [&](const void* p, int64_t i) {
    return w.is_signed() ? int{static_cast<const int8_t*>(p)[i]} : int{static_cast<const uint8_t*>(p)[i]};
  };
  std::vector<float> result(static_cast<size_t>(g.out_channels * taps));
  for (int64_t c = 0; c < g.out_channels; ++c) {
    const int zero = operands.w_zero ? value(operands.w_zero, operands.w_zero_per_channel ? c : 0) : 0;
    for (int64_t t = 0; t < taps; ++t) {
      result[t * g.out_channels + c] = static_cast<float>(value(w.depthwise_bytes(), c * taps + t) - zero);
    }
  }
  return result;
}

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

}  // namespace

bool takes_channels_last(const ConvGeometry& g) {
  const bool flat = g.kernel[0] == 1 && g.in[0] == 1 && g.out[0] == 1 && g.pad_begin[0] == 0;
  const bool few_taps = g.kernel[1] <= 256 && g.kernel[2] <= 256 && g.kernel[1] * g.kernel[2] <= 256;
  return flat && few_taps && g.stride[0] == 1 && g.groups == g.in_channels && g.groups == g.out_channels &&
         g.out_channels >= kernels().depthwise_int8->least_channels;
}

void depthwise_channels_last(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
                             const PackedConvWeightsInt8& weights, const Requantization& after, uint8_t* y) {
  const std::vector<float> by_tap = weights_by_tap(g, operands, weights);
  std::vector<Reach> columns(static_cast<size_t>(g.out[2]));
  for (int64_t i = 0; i < g.out[2]; ++i) columns[i] = reach_of(g, 2, i);
  const int64_t channels = g.out_channels, line = g.in[2] * channels, out_line = g.out[2] * channels;
  DepthwiseBytesRun run{};
  run.x_signed = operands.x_signed, run.x_zero = operands.x_zero;
  run.row_step = g.dilation[1] * line, run.column_step = g.dilation[2] * channels;
  run.channels = channels, run.output_step = g.stride[2] * channels, run.weight_row = g.kernel[2] * channels;
  run.bias = after.bias, run.scale = after.scale, run.scale_per_channel = after.scale_per_channel;
  run.y_zero = after.y_zero, run.y_signed = after.y_signed;
  const auto* x = static_cast<const uint8_t*>(operands.x);
  const int64_t work = out_line * g.kernel[1] * g.kernel[2];
  base::parallel_for(pool, g.batch * g.out[1], kGrain / (work + 1) + 1, [&](int64_t begin, int64_t end) {
    Row row(g, columns, run);
    for (int64_t i = begin; i < end; ++i) {
      row.run(x + i / g.out[1] * g.in[1] * line, by_tap.data(), i % g.out[1], y + i * out_line);
    }
  });
}

}  // namespace ortolan::cpu::kernels
