// From a convolution node's attributes and shapes to the geometry that the kernels take.
#pragma once

#include "cpu/kernels/convolution/conv_f32.h"
#include "ops/conv_transpose_geometry.h"
#include "runtime/kernels/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

/** The most spatial dimensions that there is a geometry for. */
inline constexpr size_t kMaxSpatial = 3;

/** The attributes of a Conv-like node. Read when the kernel is made; where weights are unknown then, at the first use
   of a run. Spatial rank 1 to 3. */
class ConvolutionAttributes {
 public:
  /** `weights` is the input that holds [out, in/group, kernel…]. Throws for attributes that can never be right, and
      for more dimensions, unless `any_rank`: then those runs must not ask for a geometry. */
  ConvolutionAttributes(const KernelInfo& info, size_t weights, bool any_rank = false);
  int64_t group() const { return group_; }
  /** Geometry of a run; throws where x, w and the attributes disagree. */
  kernels::ConvGeometry geometry(const Shape& x, const Shape& w, const Shape& y) const;
  /** The part of the geometry that packing weights reads. */
  kernels::ConvGeometry weight_geometry(const Shape& w) const;

 private:
  /** The window for weights of that shape: the one made in advance, or one made into `fresh`. */
  const ops::WindowAttributes& window_for(const Shape& w, std::optional<ops::WindowAttributes>& fresh) const;
  kernels::ConvGeometry weight_geometry(const Shape& w, const ops::WindowAttributes& window) const;

  const Node* node_;
  int64_t group_;
  std::optional<ops::WindowAttributes> window_;
  Shape weights_;  // the shape that window_ was made for
};

/** Outputs of a channel in one image, whose first dimension is the output's dimension `first`; 0 where they are not
   known before a run. */
int64_t output_positions(const KernelInfo& info, size_t first = 2);

/** How a convolution's weights are packed, as far as they do not say it themselves. */
struct ConvForm {
  kernels::ConvGeometry geometry;
  kernels::ConvPacking packing = {};
  void append_to(std::string& text) const;
};

/** "3x3" for weights [out, in/group, 3, 3]: for a report on a kernel. */
std::string window_text(const Shape& weights);

/** Geometry of a ConvTranspose with weights [in, out/group, kernel…]. */
kernels::ConvGeometry transposed_geometry(const ops::ConvTransposeAttributes& attributes, const Shape& x,
                                          const Shape& w, const Shape& y);

}  // namespace ortolan::cpu
