// Convolution of bytes: weights times gathered panels of bytes, exact, with zero points and requantisation.
#include "cpu/kernels/conv_int8.h"

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "cpu/kernels/gemm_int8_kernels.h"
#include "cpu/kernels/kernel_table.h"

namespace ortolan::cpu::kernels {

struct PackedConvWeightsInt8::Storage {
  const GemmInt8Kernels* kernels;
  int64_t groups, group_rows, k;  // output channels of a group; length of the sums
  bool is_signed;
  AlignedBuffer data;  // for each group, what pack_left writes

  LeftInt8 group(int64_t g) const {
    const auto* bytes = data.as<uint8_t>() + g * group_bytes();
    const int64_t stride = left_row_bytes(*kernels, k);
    return {bytes, stride, reinterpret_cast<const int32_t*>(bytes + group_rows * stride), kernels->a_shift(is_signed)};
  }
  int64_t group_bytes() const { return left_bytes(*kernels, group_rows, k); }
};

PackedConvWeightsInt8::PackedConvWeightsInt8() = default;
PackedConvWeightsInt8::~PackedConvWeightsInt8() = default;
PackedConvWeightsInt8::PackedConvWeightsInt8(PackedConvWeightsInt8&&) noexcept = default;
PackedConvWeightsInt8& PackedConvWeightsInt8::operator=(PackedConvWeightsInt8&&) noexcept = default;
PackedConvWeightsInt8::PackedConvWeightsInt8(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
int64_t PackedConvWeightsInt8::bytes() const noexcept {
  return storage_ == nullptr ? 0 : static_cast<int64_t>(storage_->data.bytes());
}

namespace {

constexpr double kGrainOps = 2e6;
constexpr int64_t kWidest = 64;  // columns of a panel at most

int64_t volume(const int64_t (&dims)[3]) { return dims[0] * dims[1] * dims[2]; }

struct Job {
  const ConvGeometry& g;
  const ConvInt8& operands;
  const PackedConvWeightsInt8::Storage& w;
  PanelSplit split;
};

// Bytes that one tap of one channel meets, for `count` outputs from `first`; padding is the zero point.
void gather_row(const ConvGeometry& g, const uint8_t* x, int64_t tap, int64_t first, int64_t count, uint8_t zero,
                uint8_t* to) {
  const int64_t kw = tap % g.kernel[2], kh = tap / g.kernel[2] % g.kernel[1], kd = tap / (g.kernel[2] * g.kernel[1]);
  for (int64_t done = 0; done < count;) {
    const int64_t out = first + done, ow = out % g.out[2], run = std::min(count - done, g.out[2] - ow);
    const int64_t h = out / g.out[2] % g.out[1] * g.stride[1] - g.pad_begin[1] + kh * g.dilation[1];
    const int64_t d = out / (g.out[2] * g.out[1]) * g.stride[0] - g.pad_begin[0] + kd * g.dilation[0];
    const int64_t w = ow * g.stride[2] - g.pad_begin[2] + kw * g.dilation[2];
    const bool inside = h >= 0 && h < g.in[1] && d >= 0 && d < g.in[0];
    if (!inside) {
      std::memset(to + done, zero, run);
    } else {
      const uint8_t* row = x + (d * g.in[1] + h) * g.in[2];
      for (int64_t i = 0; i < run; ++i) {
        const int64_t at = w + i * g.stride[2];
        to[done + i] = at >= 0 && at < g.in[2] ? row[at] : zero;
      }
    }
    done += run;
  }
}

// The panel of one group and the sums of its columns.
void gather_panel(const Job& job, const uint8_t* x, int64_t panel, int32_t* packed, int32_t* sums) {
  const GemmInt8Kernels& kernels = *job.w.kernels;
  const int64_t columns = job.split.columns(panel), width = job.split.width(panel), taps = volume(job.g.kernel);
  const int64_t first = job.split.first_column(panel), plane = volume(job.g.in);
  const bool flip = kernels.b_shift(job.operands.x_signed) != 0;
  uint8_t bytes[4][kWidest];
  const uint8_t* rows[4] = {bytes[0], bytes[1], bytes[2], bytes[3]};
  std::fill_n(sums, width, 0);
  for (int64_t k = 0; k < job.w.k; k += kernels.group, packed += width) {
    for (int r = 0; r < kernels.group; ++r) {
      if (k + r < job.w.k) {
        gather_row(job.g, x + (k + r) / taps * plane, (k + r) % taps, first, columns,
                   static_cast<uint8_t>(job.operands.x_zero), bytes[r]);
      } else {
        std::memset(bytes[r], flip ? 128 : 0, columns);
      }
    }
    kernels.pack_group(rows, columns, job.operands.x_signed, flip, packed, sums);
    std::fill(packed + columns, packed + width, 0);
  }
}

int32_t weight_zero(const Job& job, int64_t channel) {
  if (job.operands.w_zero == nullptr) return 0;
  const int64_t i = job.operands.w_zero_per_channel ? channel : 0;
  return job.w.is_signed ? static_cast<const int8_t*>(job.operands.w_zero)[i]
                         : static_cast<const uint8_t*>(job.operands.w_zero)[i];
}

// Calls finish(plane, first column, columns, sums of that plane's row) for every row of every panel.
template <class Finish>
void for_each_row(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
                  const PackedConvWeightsInt8& weights, Finish finish) {
  const auto& w = *weights.storage();
  if (g.batch * g.out_channels * volume(g.out) == 0) return;
  const Job job{g, operands, w, PanelSplit(volume(g.out), *w.kernels)};
  const int64_t panels = job.split.count(), width = job.split.width(0), groups = w.kernels->groups(w.k);
  const double ops = 2.0 * static_cast<double>(w.group_rows * width) * static_cast<double>(w.k + 1);
  base::parallel_for(
      pool, g.batch * g.groups * panels, static_cast<int64_t>(kGrainOps / ops) + 1, [&](int64_t begin, int64_t end) {
        auto* packed = thread_scratch<int32_t>(Scratch::kColumns, groups * width + 1024);
        auto* c = thread_scratch<int32_t>(Scratch::kTile, w.group_rows * width);
        auto* a_zeros = thread_scratch<int32_t>(Scratch::kSums, w.group_rows);
        int32_t sums[kWidest], x_zeros[kWidest];
        std::fill_n(x_zeros, kWidest, operands.x_zero - w.kernels->b_shift(operands.x_signed));
        for (int64_t unit = begin; unit < end; ++unit) {
          const int64_t panel = unit % panels, image_group = unit / panels, group = image_group % g.groups;
          const auto* x =
              static_cast<const uint8_t*>(operands.x) + image_group * (g.in_channels / g.groups) * volume(g.in);
          gather_panel(job, x, panel, packed, sums);
          const LeftInt8 left = w.group(group);
          const int64_t columns = job.split.columns(panel);
          w.kernels->block(job.split.vectors(panel),
                           {left.data, left.stride, packed, c, width, w.group_rows, columns, groups});
          for (int64_t row = 0; row < w.group_rows; ++row) {
            a_zeros[row] = weight_zero(job, group * w.group_rows + row) + left.shift;
          }
          correct_block(*w.kernels, w.k, {a_zeros, true, x_zeros}, left.row_sums, sums, w.group_rows, columns, c,
                        width);
          for (int64_t row = 0; row < w.group_rows; ++row) {
            finish(image_group * w.group_rows + row, job.split.first_column(panel), columns, c + row * width);
          }
        }
      });
}

}  // namespace

PackedConvWeightsInt8 pack_conv_weights_int8(const ConvGeometry& g, const void* weights, bool is_signed,
                                             const GemmInt8Kernels* chosen) {
  auto storage = std::make_unique<PackedConvWeightsInt8::Storage>();
  auto& s = *storage;
  s.kernels = chosen != nullptr ? chosen : kernels().gemm_int8;
  s.groups = g.groups;
  s.group_rows = g.out_channels / g.groups;
  s.k = g.in_channels / g.groups * volume(g.kernel);
  s.is_signed = is_signed;
  s.data = AlignedBuffer(static_cast<size_t>(g.groups * s.group_bytes()));
  for (int64_t group = 0; group < g.groups; ++group) {
    const auto* from = static_cast<const uint8_t*>(weights) + group * s.group_rows * s.k;
    pack_left(*s.kernels, s.group_rows, s.k, {from, s.k, false, is_signed},
              s.data.as<uint8_t>() + group * s.group_bytes());
  }
  return PackedConvWeightsInt8(std::move(storage));
}

void conv_int8(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
               const PackedConvWeightsInt8& weights, int32_t* y) {
  const int64_t plane_size = volume(g.out);
  for_each_row(pool, g, operands, weights, [&](int64_t plane, int64_t first, int64_t count, const int32_t* sums) {
    std::copy(sums, sums + count, y + plane * plane_size + first);
  });
}

template <class T>
void qlinear_conv(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& operands,
                  const PackedConvWeightsInt8& weights, const int32_t* bias, const float* scale, bool scale_per_channel,
                  int32_t y_zero, T* y) {
  const int64_t plane_size = volume(g.out);
  const auto requantize_channel = kernels().convert->requantize_channel;
  for_each_row(pool, g, operands, weights, [&](int64_t plane, int64_t first, int64_t count, const int32_t* sums) {
    const int64_t channel = plane % g.out_channels;
    requantize_channel(sums, count, bias == nullptr ? 0 : bias[channel], scale[scale_per_channel ? channel : 0], y_zero,
                       std::is_signed_v<T>, y + plane * plane_size + first);
  });
}

template void qlinear_conv(base::ThreadPool*, const ConvGeometry&, const ConvInt8&, const PackedConvWeightsInt8&,
                           const int32_t*, const float*, bool, int32_t, int8_t*);
template void qlinear_conv(base::ThreadPool*, const ConvGeometry&, const ConvInt8&, const PackedConvWeightsInt8&,
                           const int32_t*, const float*, bool, int32_t, uint8_t*);

}  // namespace ortolan::cpu::kernels
