// Windows that slide over images: convolutions and pools, of one to three spatial dimensions.
#pragma once

#include <array>

#include "gpu/core/operators.h"

namespace ortolan::gpu {

using Triple = std::array<int64_t, 3>;

/** Geometry with three spatial dimensions; those that a node lacks come first and have size 1. */
struct Window {
  int64_t images = 0, channels = 0;
  Triple in = {1, 1, 1}, out = {1, 1, 1}, kernel = {1, 1, 1};
  Triple stride = {1, 1, 1}, dilation = {1, 1, 1}, begin = {0, 0, 0}, end = {0, 0, 0};  // begin and end: pads
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  /** What an item goes through that loops over the taps, the loops' ends included. */
  int64_t rounds() const { return kernel[0] * (kernel[1] * (kernel[2] + 1) + 1); }
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
};

/** The attributes of a node for input 0, [N, C, spatial...], without what depends on auto_pad: `out` is not set, and
 * pads are as given. `kernel` is used where the node has no kernel_shape. Throws where attributes and shape do not fit.
 */
Window window_attributes(const Lowering& l, const Shape& kernel = {});
/** The same with pads as auto_pad wants them and the number of windows. */
Window window_of(const Lowering& l, const Shape& kernel = {});
/** [N, channels, spatial...] of the window's output, with as many spatial dimensions as input 0 has. */
Shape output_shape(const Lowering& l, const Window& window, int64_t channels);
/** Why a node cannot be taken of whose attribute `name` a value is 2^31 or more, as an output without elements may have
 * it; "" where it can. */
std::string refuse_beyond(const Node& node, const char* name);
/** Why a window cannot be taken: its rank, types or pads; "" where it can. */
std::string refuse_window(const Candidate& candidate);

/** The three numbers as a parameter block takes them. */
inline std::vector<int64_t> fields(const Triple& triple) { return {triple.begin(), triple.end()}; }

}  // namespace ortolan::gpu
