// The places and weights by which resizing goes along one axis.
#pragma once

#include "gpu/core/graph/graph.h"

namespace ortolan::gpu {

/** What the attributes of Resize say, or Upsample and Resize 10 stand for. */
struct ResizeAttributes {
  enum class Mode { kNearest, kLinear, kCubic };
  Mode mode = Mode::kNearest;
  std::string coordinates, nearest;  // as in Resize 11; "simple" is the rounding of Resize 10
  double cubic_a = -0.75;
  bool excludes_outside = false, antialias = false;
  float extrapolation = 0.0f;
};
ResizeAttributes resize_attributes(const Node& node);

/** An axis: its sizes, and the part of the input that is spread over the output (all but for tf_crop_and_resize). */
struct ResizeAxis {
  int64_t from = 0, to = 0;
  double scale = 1, start = 0, end = 1;
};

/** Output place i is the sum of weights[i * taps + t] times input place places[i * taps + t]; a first place of -1: it
 *  lies outside and takes the extrapolation value. In mode nearest there is one tap of weight 1. */
struct ResizeTable {
  int64_t taps = 1;
  std::vector<int32_t> places;
  std::vector<float> weights;
  bool changes_nothing = false;
};
/** axis.from must not be 0. */
ResizeTable resize_table(const ResizeAttributes& attributes, const ResizeAxis& axis);

}  // namespace ortolan::gpu
