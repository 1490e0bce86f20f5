// Transposed convolution in fp32, NC + spatial layout, any groups, spatial rank 1 to 3.
#pragma once

#include <vector>

#include "cpu/kernels/convolution/conv_f32.h"

namespace ortolan::cpu::kernels {

// Below, `pad_begin` of a geometry is what is cut from the front of the result; `out` says where it is cut at the end.

/**
 * Weights laid out for the kernels. The results that lie a whole number of strides apart meet every stride-th tap, as
 * in a convolution of stride 1: there are weights for each such phase, for all together stride[0] * stride[1] *
 * stride[2] of them. Transposed convolutions at once may share them.
 */
class PackedTransposedWeights {
 public:
  /** How conv_transpose() works with them and the instruction set that it uses, as PackedConvWeights says. */
  const char* method() const noexcept;
  const char* isa() const noexcept;
  bool empty() const noexcept { return phases_.empty(); }

 private:
  friend PackedTransposedWeights pack_conv_transpose_weights(base::ThreadPool*, const ConvGeometry&, const float*,
                                                             const ConvPacking&);
  friend void conv_transpose(base::ThreadPool*, const ConvGeometry&, const float*, const PackedTransposedWeights&,
                             const ConvEpilogue&, float*);
  std::vector<PackedConvWeights> phases_;  // the last dimension's run fastest; empty where no tap is met
};

/** Whether phases are possible, and do not spend most products on padding. Reads all of the geometry but the batch. */
bool suits_phases(const ConvGeometry& geometry);

/**
 * Packs weights [in_channels][out_channels/groups][kernel...]. Of the geometry, only channels, groups, kernel, stride
 * and dilation are read, so one packing serves every input size. `pool` may be nullptr.
 */
PackedTransposedWeights pack_conv_transpose_weights(base::ThreadPool* pool, const ConvGeometry& geometry,
                                                    const float* weights, const ConvPacking& packing = {});

/**
 * The transposed convolution of x, then the epilogue, whose residual must be nullptr. Infinities and packed weights: as
 * for conv(). `pool` may be nullptr. Throws base::Error where padding cuts more than phases can (see suits_phases).
 */
void conv_transpose(base::ThreadPool* pool, const ConvGeometry& geometry, const float* x,
                    const PackedTransposedWeights& weights, const ConvEpilogue& epilogue, float* y);

/** The same with weights as they came, for any geometry: shares of each tap by a product, which are then added up. */
void conv_transpose(base::ThreadPool* pool, const ConvGeometry& geometry, const float* x, const float* weights,
                    const ConvEpilogue& epilogue, float* y);

}  // namespace ortolan::cpu::kernels
