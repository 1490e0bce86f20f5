// Convolution of 8-bit integers with exact 32-bit sums, NC + spatial layout.
#pragma once

#include <cstdint>

#include "cpu/kernels/convolution/conv_f32.h"
#include "cpu/kernels/quantised/gemm_int8.h"

namespace ortolan::cpu::kernels {

/** Weights [out_channels][in_channels/groups][kernel...] of bytes, one packed matrix a group. */
class PackedConvWeightsInt8 {
 public:
  PackedConvWeightsInt8();
  ~PackedConvWeightsInt8();
  PackedConvWeightsInt8(PackedConvWeightsInt8&&) noexcept;
  PackedConvWeightsInt8& operator=(PackedConvWeightsInt8&&) noexcept;
  int64_t bytes() const noexcept;
  bool empty() const noexcept { return storage_ == nullptr; }
  /** How a convolution works with them, "direct", "winograd", "depthwise" or "tiles", and the instruction set that it
   * uses. */
  const char* method() const noexcept;
  const char* isa() const noexcept;

  /** The bytes as they came, [channel][tap]; only those of a depthwise convolution are kept, else nullptr. */
  const void* depthwise_bytes() const noexcept;
  bool is_signed() const noexcept;

  struct Storage;
  const Storage* storage() const noexcept { return storage_.get(); }
  explicit PackedConvWeightsInt8(std::unique_ptr<Storage> storage);

 private:
  std::unique_ptr<Storage> storage_;
};

/**
 * Outputs of a tile on a side, 2 or 4, where a convolution is better done by Winograd's transforms of tiles, else 0.
 * `positions` are the outputs of a channel in one image, 0 where they are not known.
 */
int winograd_outputs_int8(const ConvGeometry& geometry, int64_t positions);

/** `winograd`: outputs of such tiles, 0 for none; weights whose sums would not be exact that way are packed as for
   fewer, or none. */
PackedConvWeightsInt8 pack_conv_weights_int8(const ConvGeometry& geometry, const void* weights, bool is_signed,
                                             int winograd = 0, const GemmInt8Kernels* kernels = nullptr);

/**
 * The operands of an integer convolution. Padding counts as x_zero (so as nothing). `w_zero` has one value of the
 * weights' type, or out_channels of them where per channel, or is nullptr for zero.
 */
struct ConvInt8 {
  const void* x = nullptr;
  bool x_signed = false;
  int32_t x_zero = 0;
  const void* w_zero = nullptr;
  bool w_zero_per_channel = false;
};

/** y (int32) = conv(x - x_zero, w - w_zero). `pool` may be nullptr. */
void conv_int8(base::ThreadPool* pool, const ConvGeometry& geometry, const ConvInt8& operands,
               const PackedConvWeightsInt8& weights, int32_t* y);

/**
 * y = saturate(round_half_even((conv + bias[channel]) * scale[channel]) + y_zero): the quantised convolution, where
 * scale = x_scale * w_scale / y_scale, one value or, where per channel, out_channels of them. T: int8_t, uint8_t.
 */
template <class T>
void qlinear_conv(base::ThreadPool* pool, const ConvGeometry& geometry, const ConvInt8& operands,
                  const PackedConvWeightsInt8& weights, const int32_t* bias, const float* scale, bool scale_per_channel,
                  int32_t y_zero, T* y);

}  // namespace ortolan::cpu::kernels
