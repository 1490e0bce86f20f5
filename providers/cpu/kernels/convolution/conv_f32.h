// Convolution in fp32, NC + spatial layout, any groups, spatial rank 1 to 3.
#pragma once

#include <cstdint>
#include <memory>

#include "cpu/kernels/elementwise/activation.h"

namespace ortolan::base {
class ThreadPool;
}

namespace ortolan::cpu::kernels {

/**
 * Shapes of a convolution. Spatial rank 1 to 3; unused leading dimensions stay 1 (pads 0), so the last is always [2].
 * For a transposed convolution `in` and `out` keep their meaning: the input's and the result's size.
 */
struct ConvGeometry {
  int64_t batch = 1;
  int64_t groups = 1;
  int64_t in_channels = 0;   // all groups together
  int64_t out_channels = 0;  // all groups together
  int64_t in[3] = {1, 1, 1};
  int64_t out[3] = {1, 1, 1};
  int64_t kernel[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1};
  int64_t dilation[3] = {1, 1, 1};
  int64_t pad_begin[3] = {0, 0, 0};
};

/** After the sums: y = activation(y + bias[channel] + residual). `residual` has y's layout and may be y. */
struct ConvEpilogue {
  const float* bias = nullptr;
  const float* residual = nullptr;
  Activation activation;
};

/** Weights laid out for the kernels; convolutions at once may share them. */
class PackedConvWeights {
 public:
  PackedConvWeights();
  ~PackedConvWeights();
  PackedConvWeights(PackedConvWeights&&) noexcept;
  PackedConvWeights& operator=(PackedConvWeights&&) noexcept;
  int64_t bytes() const noexcept;
  bool empty() const noexcept { return storage_ == nullptr; }
  /** How conv() works with them ("direct", "winograd", "depthwise" or "tiles"), and the instruction set that it uses:
      where tiles, also how many products of bf16 make one of fp32. */
  const char* method() const noexcept;
  const char* isa() const noexcept;

  struct Storage;
  const Storage* storage() const noexcept { return storage_.get(); }
  explicit PackedConvWeights(std::unique_ptr<Storage> storage);

 private:
  std::unique_ptr<Storage> storage_;
};

struct GemmF32Kernels;

/** How weights are packed. */
struct ConvPacking {
  const GemmF32Kernels* kernels = nullptr;  // of an instruction set; nullptr: the best that this processor has
  /** Where tiles of bfloat16 are used, into how many slices operands are split: 3 is at least as exact as fp32
      arithmetic, 2 and 1 are less exact and faster; 0: no tiles. base::fp32_precision() may ask for fewer. */
  int slices = 3;
  bool winograd = true;   // Winograd's transform may be used, unless base::fp32_precision() is kExact
  int64_t positions = 0;  // outputs of a channel in one image; 0: not known
};

/** What pack_conv_weights makes of weights, unless their values forbid tiles: split into so many slices (0: none), or
    else transformed by Winograd's way. */
struct ConvMethod {
  int slices;
  bool winograd;
};
ConvMethod conv_method(const ConvGeometry& geometry, const ConvPacking& packing);

/**
 * Packs weights [out_channels][in_channels/groups][kernel...]. Of the geometry, only channels, groups, kernel, stride
 * and dilation are read, so one packing serves every input size; packing.positions says which size it is best for.
 * `pool` may be nullptr.
 */
PackedConvWeights pack_conv_weights(base::ThreadPool* pool, const ConvGeometry& geometry, const float* weights,
                                    const ConvPacking& packing = {});

/**
 * y = conv(x, weights), then the epilogue. Geometry must agree with the packed weights; pads are not negative. `pool`
 * may be nullptr. Where 3x3 weights are applied by Winograd's transform, an infinite input element also makes NaN of
 * outputs next to those that it reaches.
 */
void conv(base::ThreadPool* pool, const ConvGeometry& geometry, const float* x, const PackedConvWeights& weights,
          const ConvEpilogue& epilogue, float* y);

}  // namespace ortolan::cpu::kernels
