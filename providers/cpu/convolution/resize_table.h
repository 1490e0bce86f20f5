// The positions and weights by which resizing interpolates along one dimension.
#pragma once

#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "ops/resize_scales.h"

namespace ortolan::cpu {

enum class ResizeMode { kNearest, kLinear, kCubic };
enum class Coordinates {
  kHalfPixel,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixelForNn,
  kTfCropAndResize,
  kHalfPixelSymmetric,
};
enum class NearestMode { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil, kSimple };

/** The attributes of Resize (or what Upsample and Resize 10 stand for). Throws kInvalidGraph for unknown names. */
struct ResizeAttributes {
  explicit ResizeAttributes(const graph::Node& node);
  ResizeMode mode;
  Coordinates coordinates;
  NearestMode nearest;
  double cubic_a;
  bool exclude_outside;
  bool antialias;
  float extrapolation;
};

/** Output position i is the sum of weights[i * taps + j] times input position[i * taps + j]; a first position of -1
    means that it lies outside and takes the extrapolation value. In nearest mode there is one tap of weight 1. */
struct ResizeTable {
  int taps = 1;
  std::vector<int64_t> positions;
  std::vector<float> weights;
  bool identity = false;  // every output position is the input's at the same place
};

/** The table for one dimension; `axis.from` must not be 0. */
ResizeTable resize_table(const ResizeAttributes& attributes, const ops::ResizeAxis& axis);

}  // namespace ortolan::cpu
